"""What people expect of a command line: overviews, short names, ids by words, pagers, tables."""

from __future__ import annotations

import json
import sys

import pytest
from rawkomem.faces.cli.commands import COMMANDS, GROUPS
from rawkomem.faces.cli.options import ALIASES
from rawkomem.format.entries import entry_from_note
from rawkomem.model.entries import Draft

from tests.commands import START
from tests.faces.cli.test_first_minutes import on_terminal
from tests.terminals import detached, scrubbed, typed


@pytest.fixture
def ports(rawkomem) -> list[str]:
    """The ids of two memories about ports."""
    return [add(rawkomem, "--title", title, "--body", "A port.") for title in ("Old port 5432", "New port 6432")]


def add(rawkomem, *words: str) -> str:
    return json.loads(rawkomem("add", *words, "--json").stdout)["id"]


# Overviews


def test_help_fits_one_screen(rawkomem):
    lines = rawkomem("--help").stdout.splitlines()
    assert len(lines) <= 50 and max(map(len, lines)) <= 80
    shown = [name for names, _ in GROUPS.values() for name in names]
    assert len(GROUPS) == 5 and 18 <= len(shown) <= 26
    assert all(f"  {name} " in "\n".join(lines) for name in shown) and "heritage" not in "\n".join(lines)


def test_help_of_everything_and_of_one_command(rawkomem):
    everything = rawkomem("help", "--all").stdout
    assert all(f"  {name} " in everything for name in COMMANDS)
    assert max(map(len, everything.splitlines())) <= 80
    assert rawkomem("help", "lesson", "add").stdout == rawkomem("lesson", "add", "--help").stdout
    assert "--untag" in rawkomem("help", "edit").stdout
    assert "no command 'nope'" in rawkomem("help", "nope", check=2).stderr.lower()


def test_rawkomem_alone_says_what_to_do_next(rawkomem, project, tmp_path_factory):
    empty = rawkomem(cwd=tmp_path_factory.mktemp("none"))
    assert "rawkomem init" in empty.stdout
    assert "rawkomem add" in rawkomem().stdout
    (project / "CLAUDE.md").write_text("# Tests\n\nRun pnpm.\n")
    assert "rawkomem import CLAUDE.md" in rawkomem().stdout
    rawkomem("add", "Run the tests with pnpm.")
    told = rawkomem().stdout
    assert "1 memory in .rawko" in told and "next      rawkomem connect" in told
    rawkomem("connect", "claude")
    assert "connected: claude" in rawkomem().stdout and "next      rawkomem search" in rawkomem().stdout


def test_rawkomem_alone_names_drafts_reviews_and_uncommitted_files(rawkomem, git, repository):
    rawkomem("add", "Run the tests with pnpm.")
    rawkomem("connect", "claude")
    assert "1 memory file not committed" in rawkomem().stdout and "next      git add .rawko" in rawkomem().stdout
    repository.drafts.store.put([Draft(id="drf_1", kind="rule", title="No npm", text="No npm.", said="No npm.", at=1)])
    assert "drafts    1 from your sessions" in rawkomem().stdout and "next      rawkomem drafts" in rawkomem().stdout
    rawkomem("quarantine", "pnpm")
    assert "next      rawkomem review" in rawkomem().stdout


@pytest.mark.parametrize(
    "group", ["connect", "lesson", "skill", "trace", "index", "index store", "index ledger", "trace episode",
              "index sinks", "link", "tidy", "trace project", "bench", "try"],
)  # fmt: skip
def test_a_group_alone_shows_what_is_there(rawkomem, group):
    done = rawkomem(*group.split())
    assert "rawkomem " in done.stdout + done.stderr and "Missing" not in done.stderr


def test_names_of_other_designs_work_and_are_not_shown(rawkomem, ports):
    shown = [line.split()[0] for line in rawkomem("help", "--all").stdout.splitlines() if line.startswith("  ")]
    assert not {*ALIASES} & {*shown}
    for name in ALIASES:
        assert "Usage: rawkomem " in rawkomem(name, "--help").stdout
    assert rawkomem("links", ports[0]).stdout == rawkomem("link", "list", ports[0]).stdout
    assert rawkomem("link", *ports, "--type", "causes").stdout.startswith("linked")


# Words that people type


def test_ls_rm_and_edit(rawkomem, ports, project):
    assert rawkomem("ls").stdout == rawkomem("list").stdout
    editor = project / "editor.py"
    editor.write_text("import sys\nopen(sys.argv[1], 'w').write('Another text.')\n")
    rawkomem("edit", ports[0], "--edit", env={"EDITOR": f"{sys.executable} {editor}", "VISUAL": ""})
    assert "Another text." in rawkomem("show", ports[0]).stdout
    assert rawkomem("rm", ports[0]).stderr.strip() == f"rawkomem: 'rawkomem restore {ports[0]}' brings it back"
    assert ports[0] not in rawkomem("ls").stdout


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("Run the tests with pnpm. npm ignores the lock.", "Run the tests with pnpm", "npm ignores the lock."),
        ("Version 1.2 needs Python 3.11", "Version 1.2 needs Python 3.11", ""),
        ("# Heading\n\nA text.", "Heading", "A text."),
        ("Why? Because.", "Why?", "Because."),
        ("測試用 pnpm。不用 npm。", "測試用 pnpm。", "不用 npm。"),
    ],
)
def test_the_first_sentence_of_a_text_is_its_title(text, title, body):
    assert (entry_from_note(text).title, entry_from_note(text).body) == (title, body)


def test_add_a_text(rawkomem):
    done = rawkomem("add", "Run the tests with pnpm. npm ignores the lock file.", "-t", "tests")
    assert done.stderr.count("\n") == 1 and "its condition: When working with pnpm" in done.stderr
    shown = json.loads(rawkomem("show", "pnpm", "--json").stdout)
    assert shown["when"] == ["When working with pnpm", "When asked: run the tests"]
    assert (shown["title"], shown["body"], shown["tags"]) == (
        "Run the tests with pnpm", "npm ignores the lock file.", ["tests"],
    )  # fmt: skip
    rawkomem("add", "--title", "A title", "The", "body")
    assert json.loads(rawkomem("show", "a-title", "--json").stdout)["body"] == "The body"
    assert "cannot be combined" in rawkomem("add", "x", "--body", "y", check=2).stderr


def test_amend_adds_removes_and_replaces_tags(rawkomem, ports):
    def tags(*words: str) -> list[str]:
        rawkomem("amend", ports[0], *words)
        return json.loads(rawkomem("show", ports[0], "--json").stdout)["tags"]

    assert tags("--tag", "a") == ["a"] and tags("--tag", "b", "--tag", "a") == ["a", "b"]
    assert tags("--untag", "a", "-t", "c") == ["b", "c"] and tags("--title", "Old") == ["b", "c"]
    assert tags("--tags", "x, y") == ["x", "y"] and tags("--tags", "") == []
    assert "has no tag 'a'" in rawkomem("amend", ports[0], "--untag", "a", check=2).stderr


# Ids


def test_an_id_by_its_end_and_by_words_of_the_title(rawkomem, ports):
    for name in (ports[0], ports[0][:-1], ports[0][-6:], "old port", "OLD port, 5432", "5432", "old-port-5432"):
        assert json.loads(rawkomem("show", name, "--json").stdout)["id"] == ports[0], name
    several = rawkomem("show", "port", check=2).stderr
    assert all(
        f"{id} ({title})" in several for id, title in zip(ports, ("Old port 5432", "New port 6432"), strict=True)
    )
    assert "no memory 'ports'" in rawkomem("show", "ports", check=1).stderr, "whole words only"
    rawkomem("delete", ports[0])
    assert json.loads(rawkomem("show", "port", "--json").stdout)["id"] == ports[1], "deleted memories come last"


def test_a_draft_by_its_end_and_by_words(repository, rawkomem):
    one, two = (Draft(id=f"drf_{n}9", kind="rule", title=f"Rule {n}", text="x", said="x", at=n) for n in (1, 2))
    repository.drafts.store.put([one, two])
    assert repository.drafts.get("19").id == "drf_19" and repository.drafts.get("rule 2").id == "drf_29"
    error = rawkomem("drafts", "show", "rule", check=1).stderr
    assert "drf_19 (Rule 1)" in error and "drf_29 (Rule 2)" in error


# Lists


def test_lists_can_be_shortened(rawkomem, ports):
    done = rawkomem("list", "-n", "1")
    assert len(done.stdout.splitlines()) == 1 and "1 of 2: -n 0 shows all" in done.stderr
    assert len(json.loads(rawkomem("list", "-n", "1", "--json").stdout)) == 1
    assert len(rawkomem("list", "-n", "0").stdout.splitlines()) == 2
    assert len(json.loads(rawkomem("link", "orphans", "--declared", "-n", "1", "--json").stdout)) == 1


def test_tokens_of_the_sessions(rawkomem, ports):
    for session in ("first", "second", "third"):
        rawkomem("inject", "is the old port still 5432", "--session", session)
    done = rawkomem("stats", "--tokens")
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["first", "second", "third"]
    assert json.loads(rawkomem("stats", "--tokens", "--json").stdout)[2]["session"] == "third"


@pytest.mark.parametrize("columns", [56, 72, 100, 160])
def test_a_list_fits_the_terminal(rawkomem, columns):
    for number in range(3):
        add(rawkomem, "--title", f"{number} " + "a long title " * 9, "--body", "x")
    lines = rawkomem("list", env={"COLUMNS": str(columns)}).stdout.splitlines()
    assert len(lines) == 3 and max(map(len, lines)) <= columns and all("mem_" in line for line in lines)


# Terminals


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_long_output_goes_to_the_pager_at_a_terminal_only(rawkomem, project, monkeypatch):
    monkeypatch.setenv(
        "RAWKOMEM_PAGER", f"{sys.executable} -c \"import sys; print('PAGED', len(sys.stdin.read()) > 500)\""
    )
    assert "PAGED True" in on_terminal([*START, "docs", "recall"], project)
    assert "PAGED" not in on_terminal([*START, "list"], project), "it fits"
    assert "PAGED" not in rawkomem("docs", "recall").stdout
    monkeypatch.setenv("RAWKOMEM_PAGER", "cat")
    assert "# " in on_terminal([*START, "docs", "recall"], project)


def test_a_person_is_told_that_a_piped_text_counts_as_an_agents(project, terminal):
    shown = project / "shown.txt"
    command = " ".join(START)
    line = f"echo Three tries. | {command} add --title Payments && {command} add Logos are blue."
    detached(terminal, typed(line, shown), project, scrubbed(RAWKOMEM_EMBEDDER="static"))
    told = shown.read_text()
    assert told.count("stored  mem_") == 2 and told.count("piped text counts") == 1


# Sentences that were wrong


def test_explain_and_history_print_no_empty_times_and_no_tuples(rawkomem, memories, ports):
    (memories / "hand.md").write_text("---\ntitle: Hand\n---\nNo time.\n")
    assert "observed 1 time, at an unknown time\n" in rawkomem("explain", "hand").stdout
    assert ", first" not in rawkomem("explain", ports[0]).stdout, "first and last are the same"
    rawkomem("link", *ports, "--type", "causes")
    rawkomem("amend", ports[0], "--tag", "a", "--tag", "b")
    told = rawkomem("history", ports[0]).stdout
    assert f"links: (none) → causes {ports[1]}\n" in told and "tags: (none) → a, b\n" in told
    assert "('" not in told and "None" not in told
