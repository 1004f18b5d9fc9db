"""Writes conditions in LanceDB's SQL: columns come from a closed set, and values are literals."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ....model.filters import ALL_OF, ANY_OF, AT_LEAST, asked
from ..sqlite import lined

if TYPE_CHECKING:
    from ....model.filters import Filter


RENAMED = {"by": "agent", "type": "type_name"}  # facets whose names mean something else in LanceDB's SQL


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def among(column: str, values: Collection[str] | Collection[int]) -> str:
    """Return the condition that a column has one of these values."""
    literals = (quoted(value) if isinstance(value, str) else str(value) for value in values)
    return f"{column} IN ({', '.join(literals)})" if values else "false"


def inside(only: Filter) -> str:
    """Return the condition that a row passes the filter; empty for a filter that lets everything through."""
    where: list[str] = []
    for field, wanted in asked(only):
        column = RENAMED.get(field.column, field.column)
        if field.compare == ANY_OF:
            where.append(among(column, wanted))
        elif field.compare == ALL_OF:
            where += [f"contains({column}, {quoted(lined([name]))})" for name in wanted]
        else:
            where.append(f"{column} {'>=' if field.compare == AT_LEAST else '<'} {int(wanted)}")
    return " AND ".join(where)
