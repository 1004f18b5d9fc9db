"""What a newcomer reads: an empty repository says how to start, a wrong name says which ones are right."""

from __future__ import annotations

import pytest

from tests.torture.helpers import memory


@pytest.mark.parametrize("command", [["search", "x"], ["list"], ["inject", "x", "--explain"], ["stats"]])
def test_an_empty_repository_says_how_to_start(rawkomem, command):
    result = rawkomem(*command)
    assert result.stdout == "" and "no memories yet: 'rawkomem add' writes the first one" in result.stderr


def test_inject_into_a_prompt_is_silent_about_it(rawkomem):
    result = rawkomem("inject", "x")
    assert (result.stdout, result.stderr) == ("", "")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["search", "x", "--tag", "none"], "nothing found"),
        (["list", "--tag", "none"], "no memory passes these filters"),
        (["stats", "--tag", "none"], "no memory passes these filters"),
        (["inject", "x", "--tag", "none", "--explain"], "no memory shares words, meaning or a condition"),
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
            "unknown profile 'best' (one of fit, rawko, mesh, composite, lane, llmos)",
        ),
        (["why", "a", "x", "--profile", "best"], "unknown profile 'best' (one of fit, rawko"),
        (
            ["inject", "x", "--agent", "butler"],
            "unknown agent 'butler' (one of planner, developer, tester, reviewer; or",
        ),
        (["why-not", "a", "x", "--agent", "butler"], "unknown agent 'butler' (one of planner"),
        (["inject", "x", "--format", "html"], "unknown format 'html' (one of rawko, mesh, xml, json, plain, grouped)"),
        (
            ["inject", "x", "--min-importance", "urgent"],
            "unknown importance 'urgent' (one of low, medium, high, critical)",
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
