"""The commands as a user runs them: real processes, real files."""

import json
import os
import subprocess
import sys

import pytest
from rawkomem.files.layout import Layout
from rawkomem.git.runner import may_hold

MEMORY = """---
title: Why apsw
whenToUse: [sqlite|apsw]
tags: [sqlite]
importance: high
discoveredAt: 2026-01-23T10:30:00Z
discoveredBy: planner
---

Many Pythons are built without extension loading, so the standard sqlite3 module cannot load sqlite-vec.
"""


def test_init_lists_every_file_and_changes_none_that_exists(rawkomem, tmp_path_factory):
    folder = tmp_path_factory.mktemp("new")
    dry = rawkomem("init", "--dry-run", cwd=folder).stdout
    assert not (folder / ".rawko").exists()
    written = rawkomem("init", cwd=folder).stdout
    listed = {line.split()[-1] for line in dry.splitlines() if line.startswith("write")}
    made = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert listed == made and "write" in written
    (folder / ".rawko" / "config.yaml").write_text("embedder: static\n")
    assert rawkomem("init", cwd=folder).stdout.count("exists") == len(made)
    assert (folder / ".rawko" / "config.yaml").read_text() == "embedder: static\n"


def test_add_show_search_amend_delete(rawkomem, memories):
    added = rawkomem.json("add", input=MEMORY)
    assert added["path"] == "memories/why-apsw.md" and not added["redacted"]
    before = (memories / "why-apsw.md").read_text()
    found = rawkomem.json("search", "load an extension")
    assert [item["title"] for item in found] == ["Why apsw"] and "sqlite3" in found[0]["text"]
    rawkomem("amend", added["id"], "--title", "Why apsw and not sqlite3", "-t", "db", "-t", "python")
    assert (memories / "why-apsw.md").read_text().startswith(before)
    shown = rawkomem.json("show", "why-apsw")
    assert (shown["title"], shown["tags"], shown["importance"]) == (
        "Why apsw and not sqlite3",
        ["sqlite", "db", "python"],
        "high",
    )
    rawkomem("delete", added["id"], "--reason", "test")
    assert rawkomem.json("search", "load an extension") == []
    assert rawkomem.json("list") == []
    assert [row["status"] for row in rawkomem.json("list", "--include", "deleted")] == ["deleted"]
    assert "Many Pythons" in (memories / "why-apsw.md").read_text()


def test_purge_asks_and_then_removes_for_good(rawkomem, memories):
    id = rawkomem.json("add", input=MEMORY)["id"]
    assert "stopped" in rawkomem("purge", id, input="n\n", check=1).stderr
    assert (memories / "why-apsw.md").exists()
    rawkomem("purge", id, "--yes")
    assert not (memories / "why-apsw.md").exists()
    assert "no memory" in rawkomem("show", id, check=1).stderr


def test_purge_speaks_of_git_history_only_if_git_may_hold_the_text(rawkomem, project, git):
    def told(*titles: str) -> list[bool]:
        return ["git history" in rawkomem("purge", title, "--yes").stderr for title in titles]

    for title in ("kept", "past", "staged", "fresh", "moved"):
        rawkomem("add", "--title", title, "--body", f"{title} text.")
    assert told("fresh") == [False]
    git("add", ".rawko/memories/kept.md", ".rawko/memories/past.md")
    git("commit", "-qm", "a")
    git("rm", "-q", "--cached", ".rawko/memories/past.md")
    git("commit", "-qm", "b")
    layout = Layout(str(project / ".rawko"))
    assert [may_hold(layout, [f"memories/{name}.md"]) for name in ("kept", "past", "new")] == [True, True, False]
    git("add", ".rawko/memories/staged.md")
    assert told("staged", "moved") == [True, True], "the second may be the text of the file that is gone now"
    (project / ".git").rename(project / "no-git")
    rawkomem("add", "--title", "alone", "--body", "Alone.")
    assert told("alone") == [False]


def test_add_from_flags_file_and_editor(rawkomem, memories, project):
    rawkomem(
        "add", "--title", "From flags", "--when", "anchor|buoy", "-w", r"find.*\.md", "-b", "Text.", "-i", "critical"
    )
    (project / "note.md").write_text("# From a file\n\nText.\n")
    rawkomem("add", "--file", "note.md")
    editor = project / "editor.py"
    editor.write_text("import sys\nopen(sys.argv[1], 'w').write('---\\ntitle: From the editor\\n---\\nText.')\n")
    rawkomem("add", "--edit", "--kind", "lesson", env={"EDITOR": f"{sys.executable} {editor}", "VISUAL": ""})
    titles = {row["title"]: row["kind"] for row in rawkomem.json("list")}
    assert titles == {"From flags": "memory", "From a file": "memory", "From the editor": "lesson"}
    assert (memories / "lessons" / "from-the-editor.md").exists()


def test_a_secret_never_reaches_a_file(rawkomem, project):
    key = "AKIA" + "QYLPMN5HFIQR7XYA"
    words = ("add", "--title", f"Key {key}", "-b", f"use {key} for staging", "--when")
    refused = rawkomem(*words, key, check=2)  # the tag, read as a regex, would fire on every task
    assert "'[REDACTED_AWS_KEY]' matches everything: nothing was stored" in refused.stderr
    assert "redacted" in rawkomem(*words, f"deploy to staging with {key}").stderr
    for path in (project / ".rawko").rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes(), path


def test_status_check_sync_rebuild_doctor(rawkomem, memories):
    (memories / "why-apsw.md").write_text(MEMORY)
    (memories / "broken.md").write_text("---\ntitle: A\ntitle: B\n---\n")
    status = rawkomem.json("status")
    assert status["fresh"] and status["files"] == 2 and status["files_hash"] == status["index_hash"]
    checked = {item["file"]: item for item in rawkomem.json("check", check=1)}
    assert checked["memories/broken.md"]["verdict"] == "quarantine"
    assert checked["memories/broken.md"]["problems"][0]["line"] == 3
    assert checked["memories/why-apsw.md"]["verdict"] == "accept"
    assert checked["memories/why-apsw.md"]["titles"] == ["Why apsw"]
    assert "memories/broken.md:3: error   duplicate key" in rawkomem("check", check=1).stdout
    rawkomem("sync")
    assert "2 files, 0 read" in rawkomem("sync").stdout
    assert "2 files, 2 read" in rawkomem("index", "rebuild").stdout
    rawkomem("doctor")


def test_match_and_embed(rawkomem):
    assert "fires" in rawkomem("try", "match", "auth|login", "add login page").stdout
    assert rawkomem.json("try", "match", "auth|login", "add user page", check=1)["fires"] is False
    embedded = rawkomem.json("embed", "hello world")
    assert len(embedded["vector"]) == embedded["dims"] == 384
    assert abs(sum(x * x for x in embedded["vector"]) - 1) < 1e-3


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["show", "nope"], 1, "no memory 'nope'"),
        (["serach", "x"], 2, "there is no command 'serach': did you mean search?"),
        (["search"], 2, "Missing argument"),
        (["search", "x", "--limit", "many"], 2, "not a valid integer"),
        (["search", "x", "--importance", "urgent"], 2, "one of low, medium, high, critical"),
        (["list", "--include", "lost"], 2, "'lost' is not known"),
        (["add", "-b", "no title here"], 2, "needs a title"),
        (["add", "--title", "x", "--importance", "urgent", "-b", "y"], 2, "urgent"),
        (["amend", "nope", "--title", "x"], 1, "no memory"),
    ],
)
def test_mistakes_get_one_clear_line(rawkomem, words, code, says):
    error = rawkomem(*words, check=code).stderr
    assert says in error and error.startswith("rawkomem: ") and len(error.strip().splitlines()) == 1


def test_outside_a_repository(rawkomem, tmp_path_factory):
    error = rawkomem("search", "x", cwd=tmp_path_factory.mktemp("none"), check=1).stderr
    assert "no .rawko folder" in error and "rawkomem init" in error


def test_plain_and_click_parsing_agree(rawkomem, memories):
    """The fast parser and click give the same answer; `--limit=1` is plain, `-n1` is click's."""
    (memories / "why-apsw.md").write_text(MEMORY)
    plain = rawkomem("search", "extension loading", "--json", "--limit=1", "-t", "sqlite").stdout
    clicked = rawkomem("search", "extension loading", "--json", "-n1", "-tsqlite").stdout
    assert plain == clicked and json.loads(plain)


def test_no_colours_unless_on_a_terminal(rawkomem, memories):
    (memories / "why-apsw.md").write_text(MEMORY)
    assert "\x1b" not in rawkomem("list", env={"NO_COLOR": ""}).stdout


def test_a_closed_pipe_is_no_error(project, memories):
    for number in range(300):
        (memories / f"m-{number}.md").write_text(MEMORY)
    command = f"{sys.executable} -m rawkomem list | head -n 1"
    result = subprocess.run(
        command, shell=True, cwd=project, capture_output=True, text=True, env=os.environ, check=True
    )
    assert "Traceback" not in result.stderr and "Broken" not in result.stderr


@pytest.mark.parametrize("words", ["purge", "delete", "delete --archive"])
def test_what_removes_a_memory_without_a_question_takes_no_word_of_a_title(rawkomem, words):
    rawkomem("add", "--title", "Login flow of the shop", "--body", "It asks twice.")
    told = rawkomem(*words.split(), "login", "--yes", check=2)
    assert "is not the id of a memory" in told.stderr and f"rawkomem {words.split()[0]} mem_" in told.stderr
    assert "Login flow" in rawkomem("list").stdout
    rawkomem(*words.split(), "login-flow-of-the-shop", "--yes")
    assert "Login flow" not in rawkomem("list").stdout


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("validUntil: 2020-01-01", "expired"),
        ("validFrom: 2090-01-01", "not yet valid"),
        ("supersededBy: mem_b", "superseded"),
        ("", ""),
    ],
)
def test_a_search_says_which_result_is_not_in_use(line, label, memories, rawkomem):
    """The text of a quarantined or ended memory looked like that of any other."""
    (memories / "a.md").write_text(f"---\nid: mem_a\ntitle: Zebra crossing\n{line}\n---\nZebras cross here.\n")
    (memories / "b.md").write_text("---\nid: mem_b\ntitle: Yaks\n---\nYaks stay.\n")
    first = rawkomem("search", "zebra crossing", "--include", "all").stdout.splitlines()[0]
    assert "Zebra crossing" in first and (f"  {label} · " in first if label else "active" not in first)


def test_a_search_says_what_is_held_back(memories, rawkomem):
    (memories / "a.md").write_text("---\nid: mem_a\ntitle: Zebra crossing\n---\nZebras cross here.\n")
    rawkomem("review", "mem_a", "--hold")
    assert "  quarantined · " in rawkomem("search", "zebra crossing", "--include", "all").stdout
