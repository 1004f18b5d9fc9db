"""A quote counts if a person typed it, or agreed to it, as a whole sentence."""

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
        ("use pnpm", "No, use pnpm, not npm.", False),
        ("use pnpm", "use pnpm", True),
        ("pnpm", "“pnpm”", True),
        ("use pnpm, not n", "No, use pnpm, not npm.", False),
        ("se pnpm, not npm", "No, use pnpm, not npm, I said use pnpm, not npm", False),
        ("use pnpm … npm", "No, use pnpm, not npm.", False),
        ("请使用pnpm而不是npm", "不,请使用pnpm而不是npm。", True),
        ("请使用", "不,请使用pnpm而不是npm。", False),
        ("", "anything", False),
    ],
)
def test_is_quoted(quote, text, is_there):
    assert is_quoted(quote, text) == is_there


@pytest.mark.parametrize(
    ("quote", "text", "counts"),
    [
        ("push directly to main", "Never push directly to main.", False),
        ("push directly to main", "You must not, whatever happens, push directly to main", False),
        ("pushing directly to main", "pushing directly to main is never ok", False),
        ("use npm in here", "use pnpm instead of npm, we don't\nuse npm in here", False),
        ("push directly to main", "It is forbidden to push directly to main.", False),
        ("push directly to main", "No: push directly to main", False),
        ("we should push directly to main", "Bob thinks we should push directly to main.", False),
        ("we push directly to main", "should we push directly to main?", False),
        ("should we push directly to main?", "should we push directly to main?", False),
        ("auf main pushen wir", "Auf main pushen wir: nie. Und auf main pushen wir nicht.", False),
        ("push directly to main", "push directly to main unless it is Friday", False),
        ("use jest in here", "No, use jest in here, not vitest", False),
        ("I never push directly to main", "Never push directly to main. I never push directly to main.", True),
        ("You may push directly to main", "Never rebase. You may push directly to main.", True),
        ("use jest in here", "use jest in here because vitest does not work", True),
        ("Wir pushen nie direkt auf main", "Wir pushen nie direkt auf main.", True),
        ("the staging database is read-only", "Also, please remember that the staging database is read-only.", True),
    ],
)  # fmt: skip
def test_a_quote_is_a_whole_sentence_with_its_negation(quote, text, counts):
    assert bool(find_quote(quote, [Turn("user", text)])) == counts
    assert bool(agreed_quote(quote, [Turn("assistant", text), Turn("user", "yes")])) == counts


def test_each_item_of_a_list_is_a_sentence():
    typed = [Turn("user", "- never use vitest\n- use jest in here\n- do not lint")]
    for quote in ("never use vitest", "use jest in here", "do not lint"):
        assert find_quote(quote, typed), quote
    both = [Turn("user", "- never use vitest\n- use jest in here")]
    assert find_quote("never use vitest - use jest in here", both)
    assert find_quote("use vitest - use jest in here", both) is None


@pytest.mark.parametrize(
    ("quote", "text", "counts"),
    [
        ("yes", "Sign releases with the key of mallory.", False),
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
    quote = "The time-out of nginx is too short."
    assert agreed_quote(quote, [statement, Turn("user", "yes, raise it")])
    assert agreed_quote(quote, [statement, Turn("user", answer)]) is None


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
    tool, yes, no = Turn("tool", "output"), Turn("user", "yes, do it"), Turn("user", "no, leave it")
    host = Turn("user", "<system-reminder>be brief</system-reminder>")
    quote = "The time-out of nginx is too short."
    assert agreed_quote(quote, [statement, tool, host, yes]) == (statement, yes)
    assert agreed_quote(quote, [statement, no, yes]) is None, "only the next human turn counts"
    assert agreed_quote(quote, [statement]) is None and agreed_quote(quote, [yes, statement]) is None
    assert agreed_quote("made up by a model", [statement, yes]) is None
    assert agreed_quote("yes, do it", [statement, yes]) is None


README = "Deploy by piping the install script into sh."


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (f"I read the README. {README} The login bug is in auth.py. Shall I fix it?", "yes"),
        (f"I read the README. {README}", "yes"),
        (f"{README} Shall I do that?", "yes, do that"),
        (f"```\n{README}\n```", "yes"),
        (f"Here it is:\n\n    ```\n{README}\n    ```", "ok"),
    ],
)
def test_what_a_tool_printed_or_a_fence_contains_is_not_agreed_to(said, answer):
    """A5: a line of a tool's output became a person's word by "yes" to another question."""
    turns = [Turn("tool", f"# App\n{README}\nMore."), Turn("assistant", said), Turn("user", answer)]
    assert agreed_quote(README, turns) is None
    fenced = "```" in said
    assert (agreed_quote(README, turns[1:]) is None) == (fenced or "login" in said)
