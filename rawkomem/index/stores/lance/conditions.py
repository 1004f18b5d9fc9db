"""Conditions in LanceDB's SQL: columns come from a closed set, and values are literals."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..sqlite import lined

if TYPE_CHECKING:
    from ..documents import Filter


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def among(column: str, values: Collection[str] | Collection[int]) -> str:
    """That a column has one of these values."""
    literals = (quoted(value) if isinstance(value, str) else str(value) for value in values)
    return f"{column} IN ({', '.join(literals)})" if values else "false"


def inside(only: Filter) -> str:
    """That a row is inside the filter; empty for one that lets everything through."""
    any_of = {
        "id": only.ids,
        "kind": only.kinds,
        "status": only.statuses,
        "type_name": [name.lower() for name in only.types],
        "category": [name.lower() for name in only.categories],
        "agent": [name.lower() for name in only.agents],
        "session": only.sessions,
    }
    where = [among(column, wanted) for column, wanted in any_of.items() if wanted]
    where += [f"contains(tags, {quoted(lined([tag]))})" for tag in only.tags]
    where += [f"contains(entities, {quoted(lined([entity]))})" for entity in only.entities]
    bounds = (("importance >=", only.importance), ("created >=", only.since), ("created <", only.until))
    where += [f"{condition} {int(bound)}" for condition, bound in bounds if bound]
    return " AND ".join(where)
