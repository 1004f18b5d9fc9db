"""What people expect of a command line: overviews, short names, ids by words, tables."""

import re
import sys

import pytest
from rawkomem.faces.cli.commands import COMMANDS, GROUPS
from rawkomem.faces.cli.options import ALIASES
from rawkomem.faces.cli.showing import PAGE_ROWS
from rawkomem.files.installation import list_docs_pages
from rawkomem.format.entries import entry_from_note
from rawkomem.model.entries import Draft

from tests.commands import START, Command
from tests.conftest import ROOT
from tests.faces.cli.test_first_minutes import on_terminal
from tests.terminals import detached, scrubbed, typed
from tests.torture.helpers import memory


@pytest.fixture
def ports(rawkomem) -> list[str]:
    """The ids of two memories about ports."""
    return [add(rawkomem, "--title", title, "--body", "A port.") for title in ("Old port 5432", "New port 6432")]


def add(rawkomem, *words: str) -> str:
    return rawkomem.json("add", *words)["id"]


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
    below = rawkomem.folder / "web"
    below.mkdir()
    assert "next      git add ../.rawko" in Command(below)().stdout
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
    shown = rawkomem.json("show", "pnpm")
    assert shown["when"] == ["When working with pnpm", "When asked: run the tests"]
    assert (shown["title"], shown["body"], shown["tags"]) == (
        "Run the tests with pnpm", "npm ignores the lock file.", ["tests"],
    )  # fmt: skip
    rawkomem("add", "--title", "A title", "The", "body")
    assert rawkomem.json("show", "a-title")["body"] == "The body"
    assert "cannot be combined" in rawkomem("add", "x", "--body", "y", check=2).stderr


def test_amend_adds_removes_and_replaces_tags(rawkomem, ports):
    def tags(*words: str) -> list[str]:
        rawkomem("amend", ports[0], *words)
        return rawkomem.json("show", ports[0])["tags"]

    assert tags("--tag", "a") == ["a"] and tags("--tag", "b", "--tag", "a") == ["a", "b"]
    assert tags("--untag", "a", "-t", "c") == ["b", "c"] and tags("--title", "Old") == ["b", "c"]
    assert tags("--tags", "x, y") == ["x", "y"] and tags("--tags", "") == []
    assert "has no tag 'a'" in rawkomem("amend", ports[0], "--untag", "a", check=2).stderr


def test_an_id_by_its_end_and_by_words_of_the_title(rawkomem, ports):
    for name in (ports[0], ports[0][:-1], ports[0][-6:], "old port", "OLD port, 5432", "5432", "old-port-5432"):
        assert rawkomem.json("show", name)["id"] == ports[0], name
    several = rawkomem("show", "port", check=2).stderr
    assert all(
        f"{id} ({title})" in several for id, title in zip(ports, ("Old port 5432", "New port 6432"), strict=True)
    )
    assert "no memory 'ports'" in rawkomem("show", "ports", check=1).stderr, "whole words only"
    rawkomem("delete", ports[0])
    assert rawkomem.json("show", "port")["id"] == ports[1], "deleted memories come last"


def test_a_draft_by_its_end_and_by_words(repository, rawkomem):
    one, two = (Draft(id=f"drf_{n}9", kind="rule", title=f"Rule {n}", text="x", said="x", at=n) for n in (1, 2))
    repository.drafts.store.put([one, two])
    assert repository.drafts.get("19").id == "drf_19" and repository.drafts.get("rule 2").id == "drf_29"
    error = rawkomem("drafts", "show", "rule", check=1).stderr
    assert "drf_19 (Rule 1)" in error and "drf_29 (Rule 2)" in error


def test_lists_can_be_shortened(rawkomem, ports):
    done = rawkomem("list", "-n", "1")
    assert len(done.stdout.splitlines()) == 1 and "1 of 2: -n 0 shows all" in done.stderr
    assert len(rawkomem.json("list", "-n", "1")) == 1
    assert len(rawkomem("list", "-n", "0").stdout.splitlines()) == 2


def test_tokens_of_the_sessions(rawkomem, ports):
    for session in ("first", "second", "third"):
        rawkomem("inject", "is the old port still 5432", "--session", session)
    done = rawkomem("stats", "--tokens")
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["first", "second", "third"]
    assert rawkomem.json("stats", "--tokens")[2]["session"] == "third"


@pytest.mark.parametrize("columns", [56, 72, 100, 160])
def test_a_list_fits_the_terminal(rawkomem, columns):
    for number in range(3):
        add(rawkomem, "--title", f"{number} " + "a long title " * 9, "--body", "x")
    lines = rawkomem("list", env={"COLUMNS": str(columns)}).stdout.splitlines()
    assert len(lines) == 3 and max(map(len, lines)) <= columns and all("mem_" in line for line in lines)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_page_of_the_docs_goes_to_the_pager_at_a_terminal_only(rawkomem, project, monkeypatch):
    monkeypatch.setenv("PAGER", f"{sys.executable} -c \"import sys; print('PAGED', len(sys.stdin.read()) > 500)\"")
    assert "PAGED True" in on_terminal([*START, "docs", "recall"], project)
    assert "PAGED" not in rawkomem("docs", "recall").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
@pytest.mark.parametrize(("term", "colored"), [("xterm", True), ("dumb", False)])
def test_colors_only_where_the_terminal_shows_them(rawkomem, project, ports, monkeypatch, term, colored):
    monkeypatch.setenv("TERM", term)
    monkeypatch.delenv("NO_COLOR")
    assert ("\x1b[2m" in on_terminal([*START, "list"], project)) is colored


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_long_list_is_a_page_at_a_terminal_only(rawkomem, project, memories, monkeypatch):
    for number in range(PAGE_ROWS + 5):
        (memories / f"m{number}.md").write_text(f"---\nid: m{number}\ntitle: T{number}\n---\n\nText {number}.\n")
    lines = on_terminal([*START, "list"], project).strip().splitlines()
    assert "5 more: -n 0 shows all" in lines[-1] and sum("T" in line for line in lines) == PAGE_ROWS
    assert on_terminal([*START, "list", "-n", "0"], project).count("T") == PAGE_ROWS + 5
    assert len(rawkomem("list").stdout.splitlines()) == PAGE_ROWS + 5
    assert len(rawkomem("list", "-n", "3").stdout.splitlines()) == 3


def test_a_person_is_told_that_a_piped_text_counts_as_an_agents(project, terminal):
    shown = project / "shown.txt"
    command = " ".join(START)
    line = f"echo Three tries. | {command} add --title Payments && {command} add Logos are blue."
    detached(terminal, typed(line, shown), project, scrubbed(RAWKOMEM_EMBEDDER="static"))
    told = shown.read_text()
    assert told.count("stored  mem_") == 2 and told.count("piped text counts") == 1


def test_explain_and_history_print_no_empty_times_and_no_tuples(rawkomem, memories, ports):
    (memories / "hand.md").write_text("---\ntitle: Hand\n---\nNo time.\n")
    assert "observed 1 time, at an unknown time\n" in rawkomem("explain", "hand").stdout
    assert ", first" not in rawkomem("explain", ports[0]).stdout, "first and last are the same"
    rawkomem("link", *ports, "--type", "causes")
    rawkomem("amend", ports[0], "--tag", "a", "--tag", "b")
    told = rawkomem("history", ports[0]).stdout
    assert f"links: (none) → causes {ports[1]}\n" in told and "tags: (none) → a, b\n" in told
    assert "('" not in told and "None" not in told


# What a newcomer reads: an empty repository says how to start, a wrong name says which ones are right
@pytest.mark.parametrize("command", [["search", "x"], ["list"], ["inject", "x", "--explain"], ["stats"]])
def test_an_empty_repository_says_how_to_start(rawkomem, command):
    result = rawkomem(*command)
    assert result.stdout == "" and "no memories yet: 'rawkomem add' stores the first one" in result.stderr


@pytest.mark.parametrize("command", [["search", "pnpm"], ["list"], ["inject", "pnpm", "--explain"], ["stats"]])
def test_imported_memories_that_all_wait_are_counted(rawkomem, project, command):
    (project / "CLAUDE.md").write_text("## Tests\n\nRun them with pnpm.\n\n## Deploys\n\nOn Mondays.\n")
    rawkomem("import", "CLAUDE.md")
    result = rawkomem(*command)
    assert result.stdout == "" and "2 memories wait for a review ('rawkomem review')" in result.stderr


def test_inject_into_a_prompt_is_silent_about_it(rawkomem):
    result = rawkomem("inject", "x")
    assert (result.stdout, result.stderr) == ("", "")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["search", "x", "--tag", "none"], "nothing found"),
        (["list", "--tag", "none"], "no memory matches these filters"),
        (["stats", "--tag", "none"], "no memory matches these filters"),
        (["inject", "x", "--tag", "none", "--explain"], "no memory matches this task by words, meaning or condition"),
    ],
)
def test_a_filled_one_does_not(rawkomem, memories, command, says):
    (memories / "a.md").write_text(memory("Apple", "About apples."))
    rawkomem("sync")
    error = rawkomem(*command).stderr
    assert says in error and "no memories yet" not in error


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (
            ["inject", "x", "--profile", "best"],
            "unknown profile 'best' (use one of fit, rawko, mesh, composite, lane, llmos)",
        ),
        (["why", "a", "x", "--profile", "best"], "unknown profile 'best' (use one of fit, rawko"),
        (
            ["inject", "x", "--agent", "butler"],
            "unknown agent 'butler' (use one of planner, developer, tester, reviewer; or",
        ),
        (["why", "a", "x", "--agent", "butler"], "unknown agent 'butler' (use one of planner"),
        (
            ["inject", "x", "--format", "html"],
            "unknown format 'html' (use one of rawko, mesh, xml, json, plain, grouped)",
        ),
        (
            ["inject", "x", "--min-importance", "urgent"],
            "unknown importance 'urgent' (use one of low, medium, high, critical)",
        ),
    ],
)
@pytest.mark.parametrize("filled", [True, False])
def test_an_unknown_name_says_the_known_ones(rawkomem, memories, command, says, filled):
    """In an empty repository too: a mistake shows on the first try."""
    if filled:
        (memories / "a.md").write_text(memory("Apple", "About apples."))
        rawkomem("sync")
    error = rawkomem(*command, check=2).stderr
    assert says in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("serach", "search"), ("serch", "search"), ("ad", "add"), ("remember", "add"), ("recall", "search")],
)
def test_a_mistyped_command_says_the_one_that_is_meant(rawkomem, typed, meant):
    error = rawkomem(typed, "x", check=2).stderr
    assert f"there is no command '{typed}': did you mean {meant}" in error and error.count("\n") == 1


def test_a_command_like_no_other_is_just_not_there(rawkomem):
    assert rawkomem("xyzzy", check=2).stderr == "rawkomem: there is no command 'xyzzy' (try 'rawkomem --help')\n"
    assert "No such option" in rawkomem("--xyzzy", check=2).stderr


@pytest.mark.parametrize("command", [["list"], ["search", "x"], ["init"]])
def test_a_folder_that_is_not_there(rawkomem, tmp_path, command):
    missing = tmp_path / "nowhere"
    assert f"there is no folder {missing}" in rawkomem("-C", str(missing), *command, check=1).stderr
    assert not missing.exists()


def test_check_counts_what_is_only_short(rawkomem):
    rawkomem("add", "--title", "Short", "--when", "short", "--body", "Said.")
    told = rawkomem("check")
    assert told.stdout == "" and "1 file, 1 remark on length (--style shows them)" in told.stderr
    assert "1 word: 200–500 are ideal" in rawkomem("check", "--style").stdout


def test_a_title_is_stored_as_one_line_and_problems_are_counted(rawkomem, memories):
    rawkomem("add", "--title", "line 1\nline 2", "--body", "Text.")
    assert "title: line 1 line 2\n" in (memories / "line-1-line-2.md").read_text()
    for name in "ab":
        (memories / f"{name}.md").write_text("No frontmatter.\n")
    told = rawkomem("check", check=1)
    assert "warning" not in told.stdout and "3 files, 2 errors, 1 remark on length" in told.stderr


def test_why_not_says_what_to_do(rawkomem):
    id = rawkomem("add", "--title", "Cake", "--when", "cake|tart", "--body", "Bake it at 180.").stdout.split()[1]
    told = rawkomem("why", id, "compile the kernel", check=1)
    assert "not injected: no whenToUse condition fired" in told.stdout
    assert f"add a condition: rawkomem amend {id} --when 'cake|tart' --when '…'" in told.stderr
    assert "add a condition" not in rawkomem("why", id, "a cake for the party").stderr


def test_pages_can_be_read_without_a_checkout(rawkomem):
    listed = rawkomem("docs").stdout
    assert "settings" in listed and "every setting" in listed
    names = [line.split()[0] for line in listed.splitlines()]
    assert [name for name in names if not (ROOT / "docs" / f"{name}.md").is_file()] == []
    for name in ("settings", "settings.md", "docs/settings.md"):
        assert rawkomem("docs", name).stdout.startswith("# Settings\n")
    assert rawkomem("docs", "migrate/neolata").stdout.startswith("# From neolata-mem")
    assert "there is no page 'nothing'" in rawkomem("docs", "nothing", check=2).stderr


def test_pages_that_messages_name_are_there():
    """Whatever --help and errors send a reader to."""
    source = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "rawkomem").rglob("*.py"))
    named = set(re.findall(r"'rawkomem docs ([a-z]+)'", source))
    assert len(named) > 10 and named <= {name for name, _ in list_docs_pages()}


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (["list", "--tga", "x"], 2, "No such option '--tga'. Did you mean '--tag'? (try 'rawkomem list --help')"),
        (["amend", "apple", "--body", ""], 2, "the new text is empty"),
        (["show", ""], 1, "no memory '' (run 'rawkomem list' to see all memories)"),
        (["feedback", "apple", "good"], 2, "run 'rawkomem feedback apple helpful'"),
        (["check", "--format", "github"], 2, "--format needs --diff"),
        (["check", "nowhere.md"], 1, "1 file, 1 error"),
        (["export", "--tag", "none"], 0, "nothing was exported: no memory matches"),
        (["trace", "list"], 0, "no trace found: 'rawkomem trace add' records one"),
        (["diff", "nowhere"], 1, "there is no commit nowhere in this clone (run 'git branch' to see the branches)"),
        (["diff", "HEAD"], 1, "there is no commit HEAD in this clone (make the first commit)"),
    ],
)
def test_an_error_names_a_next_step_that_works(rawkomem, memories, git, command, code, says):
    git("init", "-q")
    (memories / "a.md").write_text(memory("Apple", "About apples."))
    (memories / "b.md").write_text(memory("Pear", "About pears."))
    assert says in rawkomem(*command, check=code).stderr


@pytest.mark.parametrize("command", [["diff", "main...x"], ["check", "--diff", "main...x"]])
def test_a_branch_without_git_is_no_missing_commit(rawkomem, command):
    told = rawkomem(*command, check=1).stderr
    assert "not a git repository" in told and "in this clone" not in told


def test_no_help_of_a_subcommand_is_cut(rawkomem):
    for group in ("connect", "drafts", "skill", "tidy", "bench"):
        listed = rawkomem(group, "--help").stdout.partition("Commands:")[2]
        assert listed and "..." not in listed


def test_a_wrong_config_file(rawkomem, memories):
    config = memories.parent / "config.yaml"
    config.write_text("- list\n")
    assert (
        "must be a mapping of keys to values: the file is ignored; write 'key: value' lines" in rawkomem("list").stderr
    )
    config.write_text("agents: [\n")
    assert "close the bracket" in rawkomem("list").stderr
    config.write_text("agents: {x: {limit: 3}}\n")
    assert "agents.x.limit is not a setting; 'rawkomem docs settings' lists them" in rawkomem("list").stderr


def test_decisions_exclude_each_other(rawkomem):
    told = rawkomem("review", "x", "--activate", "--reject", check=2).stderr
    assert "--activate and --reject exclude each other" in told
    assert "exclude" in rawkomem("skill", "feedback", "x", "--success", "--failure", check=2).stderr


@pytest.mark.parametrize("more", [("--related", "other"), ("--source", "a call"), ("--tag", "late")])
def test_a_second_memory_that_differs_in_one_field_is_not_stored_silently(rawkomem, more):
    rawkomem("add", "Ferries wait for the tide")
    rawkomem("add", "Ferries wait for the tide")  # a retry
    assert "already has the title" in rawkomem("add", "Ferries wait for the tide", *more, check=2).stderr
