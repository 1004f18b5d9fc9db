"""Fields that are told to be bare without any rule hold nothing that a rule finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.ids import new_id
from rawkomem.model.values import CHANGES, CREATES
from rawkomem.redaction.entries import are_bare, find_in_fields

ID_STARTS = [*(kind.prefix for kind in CREATES.values()), *CHANGES]
SECRET_WORDS = ("password", "token", "secret", "apikey", "bearer", "root", "key", "passwort", "is", "login")
words = st.one_of(st.from_regex(r"[a-z]{1,16}", fullmatch=True), st.sampled_from(SECRET_WORDS))
numbered = st.from_regex(r"[0-9]{13}_[0-9a-f]{6}", fullmatch=True)
ids = st.tuples(st.sampled_from(ID_STARTS), st.one_of(words, numbered)).map("_".join)
times = st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z", fullmatch=True)
leaves = st.one_of(
    st.tuples(st.sampled_from(("", "title", "discoveredIn", "source")), st.just("")),
    st.tuples(st.sampled_from(("by", "discoveredBy", "kind", "signal")), words),
    st.tuples(st.sampled_from(("id", "about")), ids),
    st.tuples(st.sampled_from(("at", "discoveredAt")), times),
)


@given(leaves)
def test_no_rule_finds_anything_in_a_bare_field(leaf):
    assert are_bare([leaf]) and find_in_fields([leaf]) == []


@pytest.mark.parametrize("kind", [*CHANGES, *(kind for kind in CREATES if kind != "trace")])
def test_a_new_entry_without_words_is_bare(kind):
    assert are_bare([("id", new_id(kind)), ("kind", kind), ("about", new_id("memory")), ("by", "ada"), ("", "")])


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("reason", "x"),
        ("by", "ada@example.com"),
        ("by", "Ada"),
        ("by", "a" * 17),
        ("about", "deploy"),
        ("id", "sk_live"),
        ("id", "mem_1700000000000_a1b2c3d"),
        ("at", "2026-01-01"),
        ("password", ""),
        ("", "text"),
        ("title", "text"),
    ],
)
def test_anything_else_is_left_to_the_rules(key, text):
    assert not are_bare([(key, text)])


def test_the_heading_in_a_place_says_nothing_about_the_next_field():
    """A rule that several files have lost the path of its second file, so a later import did not know it."""
    place = "AGENTS.md#Work / Never commit secrets or credentials"
    fields = [
        ("title", "Rotate credentials"),
        ("importedFrom", f"instructions:{place}"),
        ("alsoIn", f".agents/{place}"),
    ]
    assert find_in_fields([*fields, ("alsoIn", "docs/AGENTS.md#How To Work")]) == []
