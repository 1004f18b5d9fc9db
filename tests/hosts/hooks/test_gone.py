"""A purged text is in no file of the project, of git's own folder and of the home folder; and purge knows every place."""

import gzip
import os
from fnmatch import fnmatch
from pathlib import Path

import apsw
import pytest
from rawkomem.exchange.sinks import SinkQueue
from rawkomem.faces.mcp.tools import VERBS, Caller
from rawkomem.files.blocks import new_row
from rawkomem.files.forgetting import ROWS, how_purged
from rawkomem.files.git_folder import kept_folder
from rawkomem.files.journal import append_blocks
from rawkomem.files.kept_texts import keep_edited, keep_text
from rawkomem.files.layout import Layout
from rawkomem.files.ledger import verify_ledger
from rawkomem.files.private import local_path, open_private
from rawkomem.files.records import close_records, read
from rawkomem.hosts import hook_sessions
from rawkomem.hosts.hook_calls import note_failure
from rawkomem.model.errors import BadInput, Refused
from rawkomem.repository import Repository

from tests.commands import START
from tests.hosts.hooks.payloads import claude
from tests.hosts.hooks.test_request import Agent, opencode
from tests.terminals import converse, scrubbed

WORD = "orchidlantern7731"
CORRECTION = f"no, never use jest here, always use the {WORD} runner for unit tests"
REQUEST = f"Remember that the vault door opens with {WORD} at night."
RULES = f"""# Rules

## Vault

The vault of the staging hosts is called {WORD}. Close it at night, and never open it for a release.

## Makefiles

Use tabs in every Makefile of this project, and write each target with the files that it needs.

## Colors

Use a token of `theme.css` for every color of the shop, never a hex code, and add the token to the page of colors.

## Migrations

Write a migration for each change of a table, run it twice against a copy of the data of the shop, and never edit one
that was released: add another that corrects it.
"""
# Files in the user's own folders that hold no text of a memory, a prompt or a session.
USER_FILES = (
    "XDG_CONFIG_HOME/rawkomem/local/*", "XDG_CONFIG_HOME/rawkomem/secret.lock", "XDG_CACHE_HOME/rawkomem/settings/*.cache",
    "XDG_CACHE_HOME/rawkomem/vectors.db*", "XDG_CACHE_HOME/rawkomem/*.lock",
)  # fmt: skip


@pytest.fixture
def worktree(git, project, tmp_path_factory) -> Path:
    git.commit("start")
    folder = tmp_path_factory.mktemp("trees") / "feature"
    git("worktree", "add", "-q", str(folder), "-b", "feature")
    return folder


@pytest.fixture
def planted(worktree, rawkomem, project, hook, repository, transcripts, monkeypatch):
    """A project in which one word went through every channel."""
    monkeypatch.setattr(hook_sessions, "SETTLE_S", 0)
    layout, outside = repository.layout, transcripts
    for folder in (project, worktree):
        rawkomem("add", "--title", "The vault", "--body", f"Its codename is {WORD}.", cwd=folder)
    rawkomem("search", f"where is {WORD}")
    rawkomem("inject", f"open the {WORD.upper()} vault", "--session", "s-9")
    rawkomem("trace", "add", "--goal", f"Open {WORD}", "--plan", "p")
    hook("claude", "session-start", claude("SessionStart", source="startup"))
    agent = Agent(hook, repository, outside)
    agent.prompt("run the tests")
    agent.answer("I ran the tests with jest. All of them pass.")
    agent.prompt(CORRECTION)
    agent.answer("Understood.")
    agent.prompt(REQUEST)
    agent.answer("I will.")
    talk = [
        ("user", "which vault?"),
        ("assistant", "The old one."),
        ("user", f"we always open {WORD} first, never the old one"),
    ]
    other = Agent(hook, repository, outside, "another")
    other.talk = talk
    other._write()
    rawkomem("learn", str(other.transcript))
    (project / "CLAUDE.md").write_text(RULES)
    rawkomem("import", "CLAUDE.md")
    rawkomem("review", "--all-from", "CLAUDE.md", "--activate", "--yes")
    rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    VERBS["search"].does(repository, Caller("claude"), query=f"vault {WORD}")
    messages = [opencode("user", {"type": "text", "text": f"look at {WORD}"})]
    hook("opencode", "talk", {"session_id": "ses_1", "messages": messages, "cwd": str(project)})
    keep_text(layout, "add", f"Unsaved: {WORD}.\n\nAnother line.\n")
    keep_edited(layout, {"memories/x.md": f"Edited: {WORD}.\n".encode()})
    SinkQueue(layout).add([{"event": "store", "key": "k", "memory": "mem_x", "text": f'"ü\n{WORD}"'}])
    note_failure(layout, "claude", "prompt", f"cannot read {WORD}")
    append_blocks(layout, [new_row("recall", "me", 1, f"not a block: {WORD}")])
    with open_private(local_path(layout, "tmp/1-0.writing"), "w") as stream:
        stream.write(f"left by a kill: {WORD}".encode())
    repository.sync()
    return agent


def holding(*folders: Path, word: str = WORD) -> list[str]:
    """Return the files whose bytes or names hold a word; git's objects are not searched."""
    close_records()
    found = []
    for file in (file for folder in folders for file in folder.rglob("*") if file.is_file()):
        if "objects" not in file.parts:
            data = file.read_bytes()
            data = gzip.decompress(data) if file.suffix == ".gz" else data
            if word.encode() in data.lower() or word in file.name:
                found.append(str(file))
    return found


def user_folders() -> list[Path]:
    return [Path(os.environ[name]) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")]


def assert_places_are_known(layout: Layout, project: Path, worktree: Path) -> None:
    """Purge knows every table and every file that may hold a text."""
    for top in {layout.local, kept_folder(layout), str(worktree / ".rawko" / "local")}:
        files = [os.path.relpath(file, top) for file in Path(top).rglob("*") if file.is_file()]
        assert files and [file for file in files if how_purged(file) is None] == [], "tell FILES in files/forgetting.py"
    home = user_folders()[0].parent
    files = [str(file.relative_to(home)) for file in home.rglob("*") if file.is_file()]
    assert [file for file in files if not any(fnmatch(file, known) for known in USER_FILES)] == []
    databases = [file for top in (project, worktree, home) for file in top.rglob("*.db")]
    assert {file.name.partition("-")[0] for file in databases} == {"local", "index"}, "an index is rebuilt from files"
    for file in (file for file in databases if file.name.startswith("local-")):
        tables = apsw.Connection(str(file)).execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        assert {name for (name,) in tables} == {*ROWS}, "tell ROWS in files/forgetting.py"


def test_a_text_is_gone_from_every_place(planted, project, worktree, rawkomem):
    layout = planted.repository.layout
    assert_places_are_known(layout, project, worktree)
    folders = [project, worktree, *user_folders()]
    before = holding(*folders)
    assert len(before) > 12 and holding(project / ".git")
    with Repository.open(str(project), via="person", warn=lambda text: None) as person:
        purged = person.lifecycle.purge_text(WORD)
        places = {os.path.basename(place) for place in purged.removed}
        assert {"prompts", "drafts", "ledger", "sink_queue", "news", "hook.log", "CLAUDE.md", "x.md"} <= places
        memories = {(one.project, id) for one in purged.left for id in one.memories}
        assert len(memories) == 5 and {where for where, _ in memories} == {"", str(worktree)}
    for where, id in memories:
        rawkomem("purge", id, "--yes", cwd=where or project)
    assert holding(*folders) == []
    assert verify_ledger(layout).problems == ()
    (kept,) = Path(kept_folder(layout), "shortened").iterdir()
    assert "Use tabs in every Makefile" in kept.read_text() and "[PURGED]" in kept.read_text()
    (kept,) = Path(kept_folder(layout), "unsaved").iterdir()
    assert kept.read_text() == "Unsaved: [PURGED]\n\nAnother line.\n"


def test_a_purged_memory_is_in_no_notice_and_does_not_come_back_with_the_next_turn(planted, hook):
    repository = planted.repository
    assert WORD in str(read(repository.layout, "SELECT line FROM news"))
    (id,) = [row.id for row in repository.list() if "vault door" in row.title.lower()]
    repository.lifecycle.purge(id)
    told = [text for text in repository.warnings if str(planted.transcript) in text]
    assert told and "still holds the text" in told[0] and WORD not in str(repository.warnings)
    assert WORD not in hook("claude", "prompt", {**claude("UserPromptSubmit", prompt="hello"), "session_id": "later"})
    planted.answer("Once more.")
    repository.sync()
    assert "vault door" not in str([row.title.lower() for row in repository.list()])


def test_a_purged_draft_does_not_come_back_with_the_next_turn(planted, project):
    with Repository.open(str(project), via="person", warn=lambda text: None) as person:
        assert person.lifecycle.purge_text(CORRECTION).removed["drafts"] == 1
    planted.answer("Once more.")
    assert CORRECTION not in str(read(planted.repository.layout, "SELECT draft FROM drafts"))


def test_a_purge_of_a_dropped_draft_leaves_only_its_id(planted, project, rawkomem):
    repository = planted.repository
    drafts = [draft for draft in repository.drafts.all() if WORD in draft.said]
    assert len(drafts) == 2
    rawkomem("drafts", "drop", *(draft.id for draft in drafts))
    with Repository.open(str(project), via="person", warn=lambda text: None) as person:
        for draft in drafts:
            person.lifecycle.purge_text(draft.said)
    rows = dict(read(repository.layout, "SELECT id, draft FROM drafts"))
    assert [rows[draft.id] for draft in drafts] == ["", ""]
    records = Path(kept_folder(repository.layout))
    close_records()
    data = b"".join(file.read_bytes() for file in records.glob("local-*")).lower()
    assert b"runner for unit tests" not in data and b"first, never the old one" not in data
    assert "expired or were purged: it cannot be undone" in rawkomem("undo", check=1).stderr
    planted.answer("Once more.")
    assert not {draft.id for draft in repository.drafts.all()} & {*rows}


def test_an_agent_may_not_purge_a_text_and_a_short_one_is_refused(repository, project, rawkomem):
    rawkomem("add", "--title", "The vault", "--body", f"Its codename is {WORD}.")
    told = rawkomem("purge", "--text", "-", "--yes", input=WORD, check=1)
    assert "only a person may purge a text" in told.stderr and WORD not in told.stderr + told.stdout
    with Repository.open(str(project), via="person") as person:
        for short in ("", "a b-c!", "1234567"):
            with pytest.raises(BadInput, match="fewer than 8 letters"):
                person.lifecycle.purge_text(short)
    with Repository.open(str(project), via="agent") as agent, pytest.raises(Refused):
        agent.lifecycle.purge_text(WORD)
    assert "pass the id of a memory or --text" in rawkomem("purge", check=2).stderr


@pytest.mark.parametrize("typed", [True, False])
def test_a_person_types_or_pipes_the_text_and_confirms_at_the_terminal(planted, project, terminal, typed):
    command = f"{' '.join(START)} purge --text -"
    words = ["sh", "-c", command if typed else f"printf %s {WORD} | {command}"]
    replies = [("not shown", f"{WORD}\n")] if typed else []
    for answer in ("n", "y"):
        told = converse(terminal, words, [*replies, (r"\[y/N\]", f"{answer}\n")], project, scrubbed())
        left = WORD in str(read(planted.repository.layout, "SELECT text FROM prompts"))
        assert left == (answer == "n") and WORD not in told.lower()
    assert "removed  prompts" in told and "git history was not searched" in told
    assert "run: rawkomem purge mem_" in told and "memories/[PURGED]" in told
