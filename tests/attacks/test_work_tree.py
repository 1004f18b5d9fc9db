"""An agent edits, moves, removes, links or breaks a person's file, or changes git's own files, without a commit."""

import os

import pytest

from tests.attacks.conftest import EVIL, RULE, TASK, TEXT
from tests.repository.test_hidden import HIDING

pytestmark = pytest.mark.attacks


def replaced(file, text: str) -> None:
    file.write_text(RULE.replace(TEXT, text))


def pipe(file) -> None:
    file.unlink()
    os.mkfifo(file)


def folder(file) -> None:
    file.unlink()
    file.mkdir()


def ignored(file) -> None:
    (file.parents[2] / ".gitignore").write_text(".rawko\n*.md\n")
    (file.parents[1] / ".gitignore").write_text("*\n")
    file.unlink()


def filtered(file) -> None:
    (file.parents[2] / ".gitattributes").write_text("*.md filter=evil eol=crlf export-ignore\n")
    replaced(file, EVIL)


def same_stamp(file) -> None:
    stat = file.stat()
    replaced(file, "Deploy only with fake deploy.")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


WAYS = {
    **HIDING,
    "another text": lambda file: replaced(file, EVIL),
    "an empty file": lambda file: file.write_text(""),
    "blank lines": lambda file: file.write_text("\n" * 1000),
    "another id": lambda file: file.write_text(RULE.replace("mem_a", "mem_b")),
    "no id": lambda file: file.write_text(RULE.replace("id: mem_a\n", "")),
    "two ids": lambda file: file.write_text(RULE.replace("id: mem_a", "id: mem_b\nid: mem_a")),
    "an entry before it": lambda file: file.write_text(f"---\nid: mem_a\ntitle: x\n---\n{EVIL}\n\n{RULE}"),
    "an entry after it": lambda file: file.write_text(f"{RULE}\n---\nid: mem_a\ntitle: x\n---\n{EVIL}\n"),
    "a deletion after it": lambda file: file.write_text(f"{RULE}\n---\nid: d\nkind: delete\nabout: mem_a\n---\n"),
    "a tag": lambda file: file.write_text(RULE.replace("id: mem_a", "id: !!python/object:x mem_a")),
    "an alias": lambda file: file.write_text(RULE.replace("[deploy]", "&x [*x]")),
    "deep": lambda file: file.write_text(RULE.replace("[deploy]", "[" * 5000)),
    "another kind": lambda file: file.write_text(RULE.replace("id: mem_a", "id: mem_a\nkind: trace")),
    "low importance": lambda file: file.write_text(RULE.replace("critical", "low")),
    "a later start": lambda file: file.write_text(RULE.replace("id: mem_a", "id: mem_a\nvalidFrom: 2099-01-01")),
    "an open fence": lambda file: file.write_text(RULE + "```\n"),
    "CRLF": lambda file: file.write_bytes(RULE.replace("\n", "\r\n").replace(TEXT, EVIL).encode()),
    "UTF-16": lambda file: file.write_bytes(RULE.encode("utf-16")),
    "not UTF-8": lambda file: file.write_bytes(RULE.encode() + b"\xff\xfe"),
    "upper case": lambda file: file.rename(file.with_name("A.MD")),
    "a hidden name": lambda file: file.rename(file.with_name(".a.md")),
    "another folder": lambda file: file.rename(file.parents[1] / "a.md"),
    "outside": lambda file: file.rename(file.parents[2] / "a.md"),
    "a pipe": pipe,
    "a folder": folder,
    "no permission": lambda file: file.chmod(0),
    "no permission of the folder": lambda file: file.parent.chmod(0),
    "ignored": ignored,
    "attributes": filtered,
    "old": lambda file: (replaced(file, EVIL), os.utime(file, (1, 1))),
    "the same time and size": same_stamp,
}


@pytest.mark.parametrize("when", ["before the index", "after the index"])
@pytest.mark.parametrize("way", WAYS)
def test_a_changed_file(way, when, ground):
    if when == "after the index":
        ground.repository.sync()
    folder = ground.file.parent
    try:
        WAYS[way](ground.file)
        ground.holds()
    finally:
        if folder.exists():
            folder.chmod(0o755)


GIT_WAYS = {
    "removed from the index": [["rm", "-q", "--cached", ".rawko/memories/a.md"]],
    "removed": [["rm", "-q", ".rawko/memories/a.md"]],
    "moved": [["mv", ".rawko/memories/a.md", ".rawko/memories/b.md"]],
    "assumed unchanged": [["update-index", "--assume-unchanged", ".rawko/memories/a.md"]],
    "not in the work tree": [["update-index", "--skip-worktree", ".rawko/memories/a.md"]],
    "no index": [["read-tree", "--empty"]],
    "sparse": [["sparse-checkout", "set", "--no-cone", "/x"]],
    "stash": [["stash", "-q"]],
    "filters": [["config", "filter.evil.smudge", "sed s/make/fake/"], ["config", "filter.evil.clean", "cat"]],
    "another tree": [["config", "core.worktree", "/tmp"]],
    "bare": [["config", "core.bare", "true"]],
    "another excludes": [["config", "core.excludesFile", "/dev/null"]],
    "another identity": [["config", "user.name", "claude[bot]"], ["config", "user.email", "noreply@anthropic.com"]],
    "an alias for people": [["config", "mailmap.file", "/dev/stdin"]],
}


@pytest.mark.parametrize("edited", [False, True], ids=["unchanged", "edited"])
@pytest.mark.parametrize("way", GIT_WAYS)
def test_git(way, edited, ground, git):
    """What git is told without a commit changes nothing."""
    ground.repository.sync()
    for words in GIT_WAYS[way]:
        git(*words, check=False)
    if edited:
        ground.memories.mkdir(parents=True, exist_ok=True)
        ground.file.unlink(missing_ok=True)
        replaced(ground.file, EVIL)
    ground.holds()


def replaced_object(ground, git) -> None:
    blob = git("rev-parse", "HEAD:.rawko/memories/a.md")
    (ground.project / "evil.md").write_text(RULE.replace(TEXT, EVIL))
    git("replace", blob, git("hash-object", "-w", "evil.md"))


def grafted(ground, git) -> None:
    (ground.project / ".git" / "info").mkdir(exist_ok=True)
    (ground.project / ".git" / "info" / "grafts").write_text(git("rev-parse", "HEAD") + "\n")


def mapped(ground, git) -> None:
    (ground.project / ".mailmap").write_text("Ada Person <ada@example.org> claude[bot] <noreply@anthropic.com>\n")
    (ground.memories / "evil.md").write_text(RULE.replace("mem_a", "evil").replace(TEXT, EVIL))
    git.commit("x", ("claude[bot]", "noreply@anthropic.com"))


def unpacked(ground, git) -> None:
    (ground.project / ".git" / "shallow").write_text(git("rev-parse", "HEAD") + "\n")


def agents_commit(ground, git) -> None:
    replaced(ground.file, EVIL)
    git.commit("x", ("claude[bot]", "noreply@anthropic.com"))


def agents_removal(ground, git) -> None:
    ground.file.unlink()
    git.commit("x", ("claude[bot]", "noreply@anthropic.com"))


def persons_name(ground, git) -> None:
    (ground.memories / "evil.md").write_text(RULE.replace("mem_a", "evil").replace(TEXT, EVIL))
    git.commit("x\n\nCo-Authored-By: Claude <noreply@anthropic.com>")


LIMITS = {
    "agents_commit": "a documented limit: a commit changes what is in use, also an agent's; 'check --staged' rejects it",
    "agents_removal": "a documented limit: a commit removes what is in use, also an agent's; 'check --staged' rejects it",
    "persons_name": "a documented limit: git does not prove who made a commit",
}
HISTORIES = {
    f.__name__: f for f in (replaced_object, grafted, mapped, unpacked, agents_commit, agents_removal, persons_name)
}


@pytest.mark.parametrize("edited", [False, True], ids=["unchanged", "edited"])
@pytest.mark.parametrize(
    "way",
    [pytest.param(way, marks=pytest.mark.xfail(strict=True, reason=LIMITS[way]) if way in LIMITS else ()) for way in HISTORIES],
)  # fmt: skip
def test_gits_own_files(way, edited, ground, git):
    ground.repository.sync()
    HISTORIES[way](ground, git)
    if edited:
        replaced(ground.file, EVIL)
    ground.holds()


def included_pipe(folder) -> None:
    os.mkfifo(folder / "pipe")
    with (folder / "config").open("a") as config:
        config.write("[include]\n\tpath = pipe\n")


def head_pipe(folder) -> None:
    (folder / "HEAD").unlink()
    os.mkfifo(folder / "HEAD")


def broken_settings(folder) -> None:
    (folder / "config").write_text("[[[")


UNREADABLE = pytest.mark.xfail(
    strict=True, reason="a documented limit: a git that cannot be read gives no committed text back"
)


@pytest.mark.parametrize("edited", [False, pytest.param(True, marks=UNREADABLE)], ids=["unchanged", "edited"])
@pytest.mark.parametrize("way", [included_pipe, head_pipe, broken_settings])
def test_a_git_that_cannot_be_read(way, edited, ground):
    ground.repository.sync()
    way(ground.project / ".git")
    if edited:
        replaced(ground.file, EVIL)
    ground.holds()


@pytest.mark.xfail(
    strict=True, reason="a limit: a shallow clone without an index does not know who wrote its first commit"
)
def test_a_shallow_file_before_the_first_index(ground, git):
    unpacked(ground, git)
    ground.holds()


@pytest.mark.parametrize("command", ["inject", "hook", "search"])
@pytest.mark.parametrize("way", ["another text", "removed", "a link", "a pipe", "torn entry", "no folder", "archived"])
def test_through_the_commands(way, command, ground, rawkomem):
    WAYS[way](ground.file)
    call = (
        f'{{"session_id": "s", "cwd": "{ground.project}", "hook_event_name": "UserPromptSubmit", "prompt": "{TASK}"}}'
    )
    words = {"inject": ("inject", TASK), "hook": ("hook", "claude", "prompt"), "search": ("search", "deploy by hand")}
    told = rawkomem.process(*words[command], input=call).stdout
    assert (TEXT if command != "search" else "mem_a") in told and "evil.example" not in told
