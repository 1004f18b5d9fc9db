"""Filters in a subset of SQL: what they say, and what is refused."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.errors import BadInput
from rawkomem.text.expression import parse_expression

from tests.cpu import cpu_seconds

FIELDS = ("name", "size", "score", "tags", "at", "none")
ROW = {
    "name": "Redis cache",
    "size": 7,
    "score": 0.5,
    "tags": ("db", "it's"),
    "at": 1_767_225_600_000,
    "none": None,
}


def says(text: str) -> bool | None:
    return parse_expression(text, FIELDS)(ROW)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("name = 'Redis cache'", True),
        ("name='redis cache'", False),
        ("name != 'x' AND size = 7", True),
        ("size <> 7 or score >= 0.5", True),
        ("NOT (size < 3 OR size > 8)", True),
        ("size BETWEEN 3 AND 7", True),
        ("size NOT BETWEEN 3 AND 7", False),
        ("size in (1, 2, 7)", True),
        ("name NOT IN ('a', 'b')", True),
        ("name LIKE 'redis%'", True),
        ("name LIKE '_edis%c_che'", True),
        ("name LIKE '%redis'", False),
        ("name NOT LIKE '%memcached%'", True),
        ("none IS NULL", True),
        ("none IS NOT NULL", False),
        ("none = 'x'", None),
        ("NOT none = 'x'", None),
        ("none = 'x' OR size = 7", True),
        ("none = 'x' AND size = 8", False),
        ("array_contains(tags, 'db')", True),
        ("array_has(tags, 'it''s')", True),
        ("tags = 'db'", True),
        ("tags LIKE 'd%'", True),
        ("at >= '2026-01-01'", True),
        ("at < '2026-01-01T00:00:00Z'", False),
        ("size > -1 AND score < 1.5", True),
        ("size = 'seven'", None),
        ("size = 7 OR size = 8 AND size = 9", True),
        ("((((size = 7))))", True),
        ("name = NULL", None),
        ("name = ')'", False),
    ],
)
def test_what_a_filter_says(text, truth):
    assert says(text) is truth


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "its end"),
        ("size", "its end"),
        ("size = ", "its end"),
        ("colour = 'red'", "'colour' at column 1"),
        ("size = 7; DROP TABLE memories", "';' at column 9"),
        ("size = 7 -- a comment", "'-' at column 10"),
        ("size = (SELECT 1)", "'(' at column 8"),
        ("size = 7 UNION SELECT *", "'UNION' at column 10"),
        ("lower(name) = 'x'", "'lower' at column 1"),
        ("name || 'x' = 'y'", "'|' at column 6"),
        ('name = "x"', "'\"' at column 8"),
        ("name LIKE 7", "'7' at column 11"),
        ("name NOT = 'x'", "'=' at column 10"),
        ("(size = 7", "its end"),
        ("size = 7)", "')' at column 9"),
        ("size IN ()", "')' at column 10"),
        ("name = 'open", '"\'" at column 8'),
        ("1 = 1", "'1' at column 1"),
        ("name = 'x' COLLATE nocase", "'COLLATE' at column 12"),
    ],
)
def test_what_is_refused_is_named(text, where):
    with pytest.raises(BadInput) as failure:
        says(text)
    assert where in failure.value.message


def test_long_and_deep_filters_are_refused():
    with pytest.raises(BadInput, match="characters long"):
        says("size = 7 OR " * 1000 + "size = 7")
    with pytest.raises(BadInput, match="nested deeper"):
        says("(" * 60 + "size = 7" + ")" * 60)
    with pytest.raises(BadInput, match="nested deeper"):
        says("NOT " * 60 + "size = 7")


@pytest.mark.time
def test_no_pattern_takes_long():
    fields = {"name": "a" * 20_000}
    holds = parse_expression("name LIKE '" + "%a" * 30 + "%b'", ("name",))
    assert not holds(fields) and cpu_seconds(lambda: holds(fields)) < 1


VALUES = st.one_of(st.none(), st.text("ab%_A", max_size=4))
PATTERNS = st.text("ab%_", max_size=6)


@given(VALUES, PATTERNS, st.sampled_from(["LIKE", "NOT LIKE", "=", "!=", "<", ">="]))
def test_it_says_what_sqlite_says(value, pattern, sign):
    with sqlite3.connect(":memory:") as database:
        (wanted,) = database.execute(f"SELECT ?1 {sign} ?2", (value, pattern)).fetchone()
    found = parse_expression(f"name {sign} '{pattern}'", ("name",))({"name": value})
    assert found == (None if wanted is None else bool(wanted))


@given(st.text(max_size=60))
def test_any_text_is_answered_or_refused(text):
    try:
        parse_expression(text, FIELDS)(ROW)
    except BadInput:
        pass
