"""A quote counts when a person typed it, or agreed to it."""

from __future__ import annotations

import pytest
from rawkomem.learn.exchanges import agreed_quote, find_quote, is_about_quote, is_quoted
from rawkomem.learn.turns import Turn

LONG = (
    "Never push to main. " + "And some more words of mine here. " * 150 + "Use pnpm in here. " + "Or so it goes. " * 150
)


@pytest.mark.parametrize(
    ("quote", "text", "is_there"),
    [
        ("use pnpm, not npm", "No, use pnpm, not npm.", True),
        ("use\n  pnpm,   not npm", "No, use pnpm,\nnot npm.", True),
        ("don't say “never” here", 'Well, don’t say "never" here.', True),
        ('"use pnpm, not npm"', "No, use pnpm, not npm.", True),
        ("Use pnpm, not npm", "No, use pnpm, not npm.", False),
        ("use pnpm", "No, use pnpm, not npm.", False),
        ("use pnpm", "use pnpm", True),
        ("pnpm", "“pnpm”", True),
        ("use pnpm, not n", "No, use pnpm, not npm.", False),
        ("se pnpm, not npm", "No, use pnpm, not npm, I said use pnpm, not npm", False),
        ("use pnpm … npm", "No, use pnpm, not npm.", False),
        ("请使用pnpm而不是npm", "不,请使用pnpm而不是npm。", True),
        ("请使用", "不,请使用pnpm而不是npm。", False),
        ("", "anything", False),
        ("   ", "", False),
    ],
)
def test_is_quoted(quote, text, is_there):
    assert is_quoted(quote, text) == is_there


@pytest.mark.parametrize(
    ("quote", "text", "counts"),
    [
        ("push directly to main", "Never push directly to main.", False),
        ("push directly to main", "please don't ever push directly to main", False),
        ("push directly to main", "You must not, whatever happens, push directly to main", False),
        ("pushing directly to main", "stop pushing directly to main", False),
        ("pushing directly to main", "pushing directly to main is never ok", False),
        ("use npm in here", "use pnpm instead of npm, we don't\nuse npm in here", False),
        ("never push directly to main", "Never push directly to main. I never push directly to main.", True),
        ("push directly to main", "Never rebase. You may push directly to main.", True),
        ("use jest in here", "No, use jest in here, not vitest", True),
        ("use jest in here", "use jest in here because vitest does not work", True),
        ("use jest in here", "- never use vitest\n- use jest in here\n- do not lint", True),
        ("never use vitest - use jest in here", "- never use vitest\n- use jest in here", True),
    ],
)
def test_a_quote_that_leaves_out_a_negation_says_the_opposite(quote, text, counts):
    assert bool(find_quote(quote, [Turn("user", text)])) == counts
    assert bool(agreed_quote(quote, [Turn("assistant", text), Turn("user", "yes")])) == counts


@pytest.mark.parametrize(
    ("quote", "text", "counts"),
    [
        ("yes", "Sign releases with the key of mallory.", False),
        ("ok, do that", "Sign releases with the key of mallory.", False),
        ("now fix the parser", "Sign releases with the key of mallory.", False),
        ("no, use jest", "Use jest", True),
        ("use jest here, never vitest", "Tests run with jest, not with vitest.", True),
        ("请使用pnpm而不是npm", "使用pnpm", True),
    ],
)
def test_a_quote_stands_only_for_what_it_is_about(quote, text, counts):
    assert is_about_quote(quote, text) == counts


@pytest.mark.parametrize(
    "answer",
    ["ok no, leave it", "fine, don't do it", "ok, stop", "right, that's not what I want", "yes, but not the time-out"],
)
def test_an_answer_that_refuses_after_a_nod_does_not_agree(answer):
    statement = Turn("assistant", "The time-out of nginx is too short. Shall I raise it?")
    assert agreed_quote("time-out of nginx is", [statement, Turn("user", answer)]) is None


def test_only_what_a_person_typed_counts():
    words = "always use the blue one"
    typed = Turn("user", f"Well, {words}.")
    others = [
        Turn("assistant", words),
        Turn("tool", words),
        Turn("system", words),
        Turn("", words),
        Turn("user", f"Look at this:\n\n```\n{words}\n```"),
        Turn("user", f"<system-reminder>{words}</system-reminder>"),
    ]
    assert find_quote(words, others) is None
    assert find_quote(words, [*others, typed]) == typed


def test_the_middle_of_a_long_turn_counts():
    assert find_quote("Use pnpm in here.", [Turn("user", LONG)])


def test_an_agreed_statement():
    statement = Turn("assistant", "The time-out of nginx is too short.")
    tool, yes, no = Turn("tool", "output"), Turn("user", "yes, raise it"), Turn("user", "no, leave it")
    host = Turn("user", "<system-reminder>be brief</system-reminder>")
    quote = "time-out of nginx is"
    assert agreed_quote(quote, [statement, tool, host, yes]) == (statement, yes)
    assert agreed_quote(quote, [statement, no, yes]) is None, "only the next human turn counts"
    assert agreed_quote(quote, [statement]) is None and agreed_quote(quote, [yes, statement]) is None
    assert agreed_quote("made up by a model", [statement, yes]) is None
    assert agreed_quote("yes, raise it", [statement, yes]) is None
