"""A purge that is interrupted at any step is ended by whatever command comes next."""

import os

import pytest
from rawkomem.files.layout import Layout
from rawkomem.files.machine_records import note_intent
from rawkomem.files.records import open_intents, read
from rawkomem.repository import purging

from tests.torture.faults import SECRET, VICTIM, holding, prepare

STEPS = ("SinkQueue", "forget_in_ledger", "purge_files", "forget_vectors", "forget_others", "close_intent")
NEXT = (
    ("search", "other"),
    ("list",),
    ("add", "--title", "N", "--body", "New."),
    ("index", "ledger", "verify"),
    ("check",),
)


@pytest.fixture
def leaked(project, rawkomem):
    prepare(project)
    rawkomem("sync")
    return project


class Killed(BaseException):
    """What no handler of ours catches, as a kill."""


def interrupt(monkeypatch, rawkomem, step: str) -> None:
    def killed(*arguments: object) -> None:
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(purging, step, killed)
        rawkomem("purge", VICTIM, "--yes")


@pytest.mark.parametrize("step", STEPS)
def test_any_later_command_ends_it(leaked, rawkomem, monkeypatch, step):
    interrupt(monkeypatch, rawkomem, step)
    layout = Layout(str(leaked / ".rawko"))
    assert open_intents(layout)
    done = rawkomem(*NEXT[STEPS.index(step) % len(NEXT)], check=None)
    assert f"finished removing {VICTIM}" in done.stderr
    assert holding(leaked) == [] and not open_intents(layout)
    assert rawkomem("index", "ledger", "verify").returncode == 0


def test_a_hook_ends_it(leaked, rawkomem, monkeypatch):
    interrupt(monkeypatch, rawkomem, "purge_files")
    rawkomem("hook", "claude", "prompt", input='{"prompt": "what is the other one", "session_id": "s"}')
    assert holding(leaked) == []


def test_an_open_repository_ends_it_before_it_answers(leaked, repository, rawkomem, monkeypatch):
    assert repository.get(VICTIM)
    interrupt(monkeypatch, rawkomem, "purge_files")
    assert VICTIM not in {row.id for row in repository.list()} and holding(leaked) == []


def test_an_intent_holds_no_word_of_the_memory(leaked):
    layout = Layout(str(leaked / ".rawko"))
    note_intent(layout, VICTIM)
    assert read(layout, "SELECT id FROM purges") == [(VICTIM,)]


def test_a_purge_that_cannot_be_ended_is_told_and_answers_are_given(leaked, rawkomem, monkeypatch):
    def no_space(*arguments: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(purging, "forget_in_ledger", no_space)
    failed = rawkomem("purge", VICTIM, "--yes", check=1).stderr
    assert "not finished: No space left" in failed and "the next command" in failed
    later = rawkomem("search", "other more")
    assert "still not finished: No space left" in later.stderr and "mem_more" in later.stdout
    monkeypatch.undo()
    rawkomem("list")
    assert holding(leaked) == []


def test_a_purge_reaches_bundles_alone(leaked, rawkomem):
    for name in ("plan", "more"):
        (leaked / f".rawko/memories/{name}.md").unlink()
    rawkomem("purge", VICTIM, "--yes")
    assert not [place for place in holding(leaked) if "archive" in place]


@pytest.mark.parametrize("broken", ["---\ntitle: [open\n---\n", "\0\0", "---\n: : :\n---\n"])
def test_in_a_file_that_cannot_be_read_the_advice_is_right(project, memories, rawkomem, broken):
    (memories / "x.md").write_text(broken + f"id: {VICTIM}\nThe codename is {SECRET}.\n")
    told = rawkomem("purge", VICTIM, "--yes", check=1).stderr
    assert "memories/x.md" in told and "rawkomem check" in told and "by hand" in told
    assert not open_intents(Layout(str(project / ".rawko")))


def test_what_a_killed_writer_left_must_go_too(leaked, rawkomem, monkeypatch):
    """Where it cannot be removed, the purge is not finished."""
    real = os.unlink

    def refuse(path, *rest, **named):
        if str(path).endswith(".writing"):
            raise PermissionError(13, "Permission denied")
        real(path, *rest, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        assert "not finished" in rawkomem("purge", VICTIM, "--yes", check=1).stderr
    rawkomem("list")
    assert holding(leaked) == []


def test_files_that_were_set_aside_are_named(leaked, rawkomem):
    (leaked / ".rawko/local/local-0.db.aside-1").write_text(SECRET)
    assert "local-0.db.aside-1 is not used and may contain the text" in rawkomem("purge", VICTIM, "--yes").stderr


@pytest.mark.parametrize("folder", ["memories", "archive"])
def test_a_folder_that_cannot_be_listed_ends_no_purge(leaked, rawkomem, monkeypatch, folder):
    scandir, purge_files = os.scandir, purging.purge_files
    closed = os.path.join(str(leaked), ".rawko", folder)

    def fails(path: object) -> object:
        if path == closed:
            raise OSError(5, os.strerror(5))
        return scandir(path)

    def purge_when_it_fails(*arguments: object) -> object:
        with monkeypatch.context() as patch:
            patch.setattr(os, "scandir", fails)
            return purge_files(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(purging, "purge_files", purge_when_it_fails)
        failed = rawkomem("purge", VICTIM, "--yes", check=1).stderr
    assert f"not finished: {folder} cannot be read" in failed
    assert "finished removing" in rawkomem("search", "other more").stderr
    assert holding(leaked) == []
