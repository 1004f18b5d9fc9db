"""Filters in SQL: what they say, and what is refused."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.errors import BadInput
from rawkomem.state.strength import parse_expression

from tests.cpu import cpu_seconds

FIELDS = ("name", "size", "score", "tags", "at", "none")
ROW = {"name": "Redis cache", "size": 7, "score": 0.5, "tags": ("db", "it's"), "at": 1_767_225_600_000, "none": None}


def says(text: str) -> bool:
    return parse_expression(text, FIELDS, ("at",))(ROW)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("name = 'Redis cache'", True),
        ("name='redis cache'", False),
        ("name != 'x' AND size = 7", True),
        ("NOT (size < 3 OR size > 8)", True),
        ("size BETWEEN 3 AND 7", True),
        ("size in (1, 2, 7)", True),
        ("name LIKE 'redis%'", True),
        ("none IS NULL", True),
        ("none = 'x'", False),
        ("array_contains(tags, 'db')", True),
        ("array_has(tags, 'it''s')", True),
        ("tags LIKE '%\"db\"%'", True),
        ("at IN ('2026-01-01')", True),
        ("at NOT BETWEEN '2026-01-01' AND '2026-01-02'", False),
        ("name = '2026-01-01' OR at > '1d'", False),
        ("lower(name) = 'redis cache'", True),
        ("size = 7 -- a comment", True),
        ("size", True),
        ("at >= '2026-01-01'", True),
        ("at > timestamp '2020-01-01 00:00:00'", True),
        ("at < TIMESTAMP '2020-01-01'", False),
        ("at < '2026-01-01T00:00:00Z'", False),
        ("size = 'seven'", False),
        ("name = ')'", False),
    ],
)
def test_what_a_filter_says(text, truth):
    assert says(text) is truth


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "syntax"),
        ("size = ", "syntax"),
        ("colour = 'red'", "colour"),
        ("rowid = 1", "ROWID"),
        ("size = 7; DROP TABLE memories", ";"),
        ("size = 7) FROM memory; DROP TABLE memory; SELECT (1", "authorized"),
        ("size), (score", "one condition"),
        ("size = (SELECT 1)", "authorized"),
        ("size IN (SELECT 1 FROM sqlite_master)", "authorized"),
        ("size IN memory", ""),
        ("size IN (WITH RECURSIVE a(b) AS (SELECT 1 UNION ALL SELECT b FROM a) SELECT b FROM a)", "authorized"),
        ("load_extension('x')", "load_extension"),
        ("zeroblob(1000000000) = 1", "zeroblob"),
        ("count(*) = 1", "count"),
        ("size = ?", ""),
        ('name = "x"', "x"),
        ("name = 'open", "token"),
        ("name = '\ud800'", ""),
    ],
)
def test_what_is_refused_is_named(text, problem):
    with pytest.raises(BadInput) as failure:
        says(text)
    assert problem in failure.value.message and "name, size, score" in str(failure.value.hint)


def test_long_filters_are_refused():
    with pytest.raises(BadInput, match="characters long"):
        says("size = 7 OR " * 1000 + "size = 7")


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
    assert found == bool(wanted)


@given(st.text(max_size=60))
def test_any_text_is_answered_or_refused(text):
    try:
        parse_expression(text, FIELDS)(ROW)
    except BadInput:
        pass
