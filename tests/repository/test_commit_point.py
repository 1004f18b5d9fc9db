"""The rename is the only commit point: what follows it cannot fail a write, and what precedes it stores nothing."""

import json
import os

import apsw
import pytest
from rawkomem.files import ledger, replace
from rawkomem.files.append import RETRY_MS
from rawkomem.index import sync
from rawkomem.model.entries import Entry, Plan
from rawkomem.model.errors import Unwritable
from rawkomem.repository import core

ADD = ("add", "--title", "Parcel", "--body", "Parcels leave at noon.")


def full(*arguments: object, **named: object) -> None:
    raise apsw.FullError("database or disk is full")


def no_space(*arguments: object, **named: object) -> None:
    raise OSError(28, os.strerror(28))


@pytest.mark.parametrize(
    ("module", "name", "failing"),
    [
        (sync, "open_database", full),
        (sync, "hash_of_file", no_space),
        (sync, "_update", full),
        (ledger, "append_blocks", no_space),
        (replace, "sync_folder", no_space),
        (core.Core, "authors", no_space),
    ],
)
def test_what_fails_after_the_rename_is_a_warning(project, memories, rawkomem, monkeypatch, module, name, failing):
    rawkomem("sync")
    for area in ("memories",):
        (project / ".rawko" / area).mkdir(exist_ok=True)
    monkeypatch.setattr(module, name, failing)
    done = rawkomem(*ADD)
    assert "stored" in done.stdout and done.stderr.count("\n") <= 2, done.stderr
    monkeypatch.undo()
    assert [file.name for file in memories.glob("*.md")] == ["parcel.md"]
    assert "Parcel" in rawkomem("search", "parcels").stdout


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_a_vote_that_is_stored_is_acknowledged_where_the_index_fails(memories, rawkomem, monkeypatch, json):
    (memories / "a.md").write_text("---\nid: mem_a\ntitle: A\n---\n\nText.\n")
    rawkomem("sync")
    real, opened = sync.open_database, []

    def fail_after_the_write(path, *rest):
        opened.append(path)
        return full() if (memories / "a.md").read_text().count("helpful") else real(path, *rest)

    monkeypatch.setattr(sync, "open_database", fail_after_the_write)
    done = rawkomem("feedback", "mem_a", "--helpful", *json)
    assert "mem_a" in done.stdout and "written (mem_a), but the index is not up to date" in done.stderr
    monkeypatch.undo()
    assert (memories / "a.md").read_text().count("signal: helpful") == 1


def test_files_of_one_plan_change_together_or_not_at_all(repository, memories, monkeypatch):
    (memories / "one.md").write_text("---\nid: mem_1\ntitle: One\n---\n\nOne.\n")
    before = (memories / "one.md").read_bytes()
    real, renames = os.replace, []

    def second_fails(source, target):
        if str(target).endswith(".md"):
            renames.append(target)
            if len(renames) == 3:
                no_space()
        real(source, target)

    monkeypatch.setattr(os, "replace", second_fails)
    change = Entry(kind="feedback", id="f1", about="mem_1", path="memories/one.md", extra={"signal": "helpful"}, at=2)
    new = (Entry(id="mem_2", title="Two", at=1), Entry(id="mem_3", title="Three", at=1))
    with pytest.raises(Unwritable, match="No space left"):
        repository.core.write(Plan((change, *new), "a test"))
    assert len(renames) >= 3 and [file.name for file in memories.glob("*.md")] == ["one.md"]
    assert (memories / "one.md").read_bytes() == before and os.listdir(memories.parent / "local/tmp") == []


def test_only_a_memory_that_is_in_use_and_says_the_same_is_stored_already(rawkomem):
    for n, change in enumerate((("delete", "--yes"), ("archive",), ("amend", "--title", "Moved"), ("undo",))):
        add = ("add", "--title", f"Parcel {n}", "--body", "Parcels leave at noon.", "--json")
        first = json.loads(rawkomem(*add).stdout)
        again = json.loads(rawkomem(*add).stdout)
        assert (again["id"], first["again"], again["again"]) == (first["id"], False, True)
        rawkomem(change[0], *([] if change[0] == "undo" else [first["id"]]), *change[1:])
        stored = json.loads(rawkomem(*add).stdout)
        assert stored["id"] != first["id"] and not stored["again"], change
        assert f"Parcel {n}" in rawkomem("list").stdout, change


def test_whoever_was_killed_before_the_answer_may_try_again(rawkomem, memories, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-06-01T12:00:00Z")
    first = rawkomem(*ADD)
    again = rawkomem(*ADD, env={"RAWKOMEM_NOW": "2026-06-01T12:05:00Z"})
    assert "stored already" in again.stdout and first.stdout.split()[1] == again.stdout.split()[2]
    assert (memories / "parcel.md").read_text().count("noon") == 1
    later = f"2026-06-01T12:{RETRY_MS // 60_000 + 1}:00Z"
    assert "already has the title" in rawkomem(*ADD, env={"RAWKOMEM_NOW": later}, check=2).stderr
    assert "already" not in rawkomem(*ADD, "--anyway", env={"RAWKOMEM_NOW": later}).stdout
    assert "already" not in rawkomem(*ADD[:-1], "Parcels leave at one.", "--anyway").stdout
    assert [file.read_text().count("Parcels leave") for file in memories.glob("parcel*.md")] == [1, 1, 1]


def test_the_same_words_with_an_earlier_time_are_not_a_second_try(rawkomem, memories):
    for time in ("12:00", "11:59"):
        told = rawkomem(*ADD, env={"RAWKOMEM_NOW": f"2026-06-01T{time}:00Z"}).stdout
        assert "stored already" not in told
    assert sorted(file.name for file in memories.glob("*.md")) == ["parcel-2.md", "parcel.md"]


def test_the_same_amendment_again_counts_unless_another_came_between(rawkomem, memories):
    (memories / "a.md").write_text("---\nid: mem_a\ntitle: A\n---\n\nText.\n")
    for body in ("one", "one", "two", "one"):
        rawkomem("amend", "mem_a", "--body", body)
    assert (memories / "a.md").read_text().count("kind: amend") == 3


def test_an_error_of_the_system_is_one_line(rawkomem, memories, monkeypatch):
    monkeypatch.setattr(core, "load_settings", no_space)
    told = rawkomem("list", check=1).stderr
    assert told.startswith("rawkomem: No space left on device (") and told.count("\n") == 1
    monkeypatch.setenv("RAWKOMEM_DEBUG", "1")
    with pytest.raises(OSError, match="No space left"):
        rawkomem("list")
