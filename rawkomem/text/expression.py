"""Tests the conditions of `--filter` with SQLite, in a private database in memory that holds one row.

The authorizer allows only the columns of that row and a few harmless functions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import apsw

from ..model.errors import BadInput
from ..model.values import read_moment

FieldValue = str | int | float | bool | Sequence[str] | None
Fields = Mapping[str, FieldValue]
Test = Callable[[Fields], bool]

MAX_FILTER_LENGTH = 4_000  # characters
CONTAINS = ("array_contains", "array_has")
FUNCTIONS = (
    *CONTAINS, "coalesce", "glob", "ifnull", "instr", "length", "like", "lower", "nullif", "substr", "trim", "upper",
)  # fmt: skip
# a text, which DataFusion's SQL may mark as a time, or a word
TOKENS = re.compile(r"(?i:timestamp\s+)?('(?:[^']|'')*')|\w+")


def parse_expression(
    text: str, fields: Sequence[str], times: Sequence[str] = ()
) -> Test:
    """Return a function that tests a memory's fields. Raise BadInput for an error or an unknown field.

    A date, a time or an age in quotes after one of the fields `times` means its milliseconds since 1970.
    """
    if len(text) > MAX_FILTER_LENGTH:
        raise BadInput(
            f"the filter is {len(text)} characters long",
            f"use at most {MAX_FILTER_LENGTH}",
        )
    database = apsw.Connection(":memory:")
    # text in double quotes is never a value
    database.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    for name in CONTAINS:
        database.create_scalar_function(name, _contains, 2)
    database.execute(f"CREATE TABLE memory ({', '.join(fields)})")
    insert = f"INSERT INTO memory VALUES ({', '.join('?' * len(fields))})"
    database.execute(insert, [None] * len(fields))
    query = f"SELECT ({_with_moments(text, fields, times)}\n) IS TRUE FROM memory"
    try:
        database.authorizer = _authorizer(fields)
        widths = [len(row) for row in database.execute(query)]
    except (apsw.Error, UnicodeError) as error:
        raise _refusal(str(error), fields) from error
    if widths != [1]:
        raise _refusal("it is not one condition", fields)
    database.authorizer = None  # the query is known now

    def test(values: Fields) -> bool:
        row = [values[field] for field in fields]
        database.execute("DELETE FROM memory")
        database.execute(
            insert, [json.dumps(one) if isinstance(one, tuple) else one for one in row]
        )
        return database.execute(query).fetchall() == [(1,)]

    return test


def _with_moments(text: str, fields: Sequence[str], times: Sequence[str]) -> str:
    """Return a condition in which the texts after a field of times are milliseconds."""
    field = ""

    def moment(match: re.Match[str]) -> str:
        nonlocal field
        token = match[0]
        if token in fields:
            field = token
        at = read_moment(match[1][1:-1]) if match[1] and field in times else None
        return token if at is None else str(at)

    return TOKENS.sub(moment, text)


def _authorizer(fields: Sequence[str]) -> Callable[..., int]:
    """Return what decides whether SQLite may do a thing: read the row once, by one SELECT."""
    selects = iter([apsw.SQLITE_OK])

    def decide(
        action: int, first: str | None, second: str | None, *_: str | None
    ) -> int:
        if action == apsw.SQLITE_SELECT:
            return next(selects, apsw.SQLITE_DENY)
        if action == apsw.SQLITE_READ and first == "memory":
            return apsw.SQLITE_OK if second in ("", *fields) else apsw.SQLITE_DENY
        if action == apsw.SQLITE_FUNCTION and second in FUNCTIONS:
            return apsw.SQLITE_OK
        return apsw.SQLITE_DENY

    return decide


def _refusal(problem: str, fields: Sequence[str]) -> BadInput:
    return BadInput(
        f"the filter is not understood: {problem}",
        f"its columns are {', '.join(fields)}",
    )


def _contains(*values: Any) -> bool | None:
    """Return whether a list in JSON contains an item."""
    items, item = values
    if items is None or item is None:
        return None
    return str(item) in json.loads(str(items))
