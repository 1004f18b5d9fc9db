"""What a newcomer reads: an empty repository says how to start, a wrong name says which ones are right."""

import re

import pytest
from rawkomem.files.installation import list_docs_pages

from tests.conftest import ROOT
from tests.torture.helpers import memory


@pytest.mark.parametrize("command", [["search", "x"], ["list"], ["inject", "x", "--explain"], ["stats"]])
def test_an_empty_repository_says_how_to_start(rawkomem, command):
    result = rawkomem(*command)
    assert result.stdout == "" and "no memories yet: 'rawkomem add' stores the first one" in result.stderr


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
    assert "1 file, no problems" in rawkomem("check", "-q").stderr


def test_why_not_says_what_to_do(rawkomem):
    id = rawkomem("add", "--title", "Cake", "--when", "cake|tart", "--body", "Bake it at 180.").stdout.split()[1]
    told = rawkomem("why", id, "compile the kernel", check=1)
    assert "not relevant enough: confidence 0.0" in told.stdout
    assert f"add a condition: rawkomem amend {id} --when 'cake|tart' --when '…'" in told.stderr
    assert "add a condition" not in rawkomem("why", id, "a cake for the party").stderr


# The documentation comes along


def test_pages_can_be_read_without_a_checkout(rawkomem):
    listed = rawkomem("docs").stdout
    assert "settings" in listed and "every setting" in listed
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
