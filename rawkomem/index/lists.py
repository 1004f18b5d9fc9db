"""Reads whole memories back from the catalogue, and filters lists of them."""

from __future__ import annotations

import json

from ..model.entry import Memory
from ..model.filters import asked, holds
from ..model.kinds import IMPORTANCE
from ..model.record import unchecked
from ..state.facets import facet_of, is_valid
from .catalogue import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..model.filters import Filter
    from .catalogue import Catalogue

ROW_COLUMNS: tuple[str, ...] = Row.__fields__  # type: ignore[attr-defined]
DEFAULTS: dict[str, object] = Memory.__defaults__  # type: ignore[attr-defined]
TUPLES = [name for name, value in DEFAULTS.items() if isinstance(value, tuple)]  # JSON has lists only


def memory_of(doc: str) -> Memory:
    """Return the memory that a catalogue row holds."""
    fields = json.loads(doc)
    for name in TUPLES:
        fields[name] = tuple(fields[name])
    fields["links"] = tuple((kind, id) for kind, id in fields["links"])
    return unchecked(Memory, **fields)


def known_memory(catalogue: Catalogue, id: str) -> Memory | None:
    """Return a memory of the catalogue; None where it is unknown."""
    doc = catalogue.doc(id)
    return memory_of(doc) if doc else None


def row_of(memory: Memory) -> Row:
    """Return a memory as lists show it."""
    return Row(**{name: getattr(memory, name) for name in ROW_COLUMNS})


def passes(memory: Memory, only: Filter, at: int, trust: Callable[[Memory], float]) -> bool:
    """Return whether a memory, as of a time, passes a filter; `trust` returns its trust."""
    if only.current and not is_valid(memory, at):
        return False
    if not all(holds(field, wanted, facet_of(memory, field.column)) for field, wanted in asked(only)):
        return False
    return not only.trust or trust(memory) >= only.trust


def rows_inside(rows: Iterable[Row], only: Filter, at: int) -> list[Row]:
    """Return the rows that pass a filter; parts of it that need more than a row's columns are ignored."""
    told = [(field, wanted) for field, wanted in asked(only) if field.column in ROW_COLUMNS]
    valid = (row for row in rows if not only.current or is_valid(row, at))
    return [row for row in valid if all(holds(field, wanted, _own(row, field.column)) for field, wanted in told)]


def asks_for_facts(only: Filter) -> bool:
    """Return whether a filter needs more than a row's columns."""
    return bool(only.trust or only.where or any(field.column not in ROW_COLUMNS for field, _ in asked(only)))


def _own(row: Row, column: str) -> object:
    """Return a row's value of a facet."""
    return IMPORTANCE.index(row.importance) if column == "importance" else getattr(row, column)
