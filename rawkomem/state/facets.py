"""Facets: the columns of a memory that filters compare. Also the check of the validity window."""

from __future__ import annotations

from ..model.entries import Memory
from ..model.filters import Facets
from ..model.values import IMPORTANCE, TYPE_CHECKING, extra_value, is_empty_value, names_of_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class Window(Protocol):
        """Anything with a validity window."""

        @property
        def valid_from(self) -> int: ...
        @property
        def valid_until(self) -> int: ...


FACET_COLUMNS: tuple[str, ...] = Facets.__fields__  # type: ignore[attr-defined]
FACET_KEYS = {
    facet: names_of_key(facet) for facet in ("type", "category", "session")
}  # facet → its possible keys
IMPORTED = "importedFrom"  # `kind:path#section`; a later import recognizes the memory by it
EVENT_TIME = "eventTime"  # when the event of the memory happened


def imported_from(memory: Memory) -> str:
    """Return the file and section that a memory was imported from; empty if it was not imported."""
    return str(memory.extra.get(IMPORTED, "")).partition(":")[2]


def type_of(memory: Memory) -> str:
    """Return a memory's type: one of Memory Lane's ten, or any other word."""
    return _first_value(memory, "type").lower()


def category_of(memory: Memory) -> str:
    """Return a memory's category: decision, preference, fact, …"""
    return _first_value(memory, "category").lower()


def session_of(memory: Memory) -> str:
    """Return the session of a memory's claim if its scope is session, else the session that the memory comes from."""
    return claimed_for(memory) or _first_value(memory, "session")


def claimed_for(memory: Memory) -> str:
    """Return the session of a claim with scope session; empty for any other memory."""
    claim = memory.extra.get("claim")
    if not isinstance(claim, dict) or claim.get("scope") != "session":
        return ""
    return str(extra_value(claim, "session") or _first_value(memory, "session"))


def claimed_about(memory: Memory) -> tuple[str, str] | None:
    """Return subject and predicate of a memory's claim, or None."""
    claim = memory.extra.get("claim")
    return (
        (str(claim.get("subject", "")), str(claim.get("predicate", "")))
        if isinstance(claim, dict)
        else None
    )


def _entities(memory: Memory) -> tuple[str, ...]:
    from ..text.entities import entities_of  # few filters need it

    return entities_of(memory)


COMPUTED_FACETS: dict[str, Callable[[Memory], object]] = {  # facets that are computed from a memory
    "importance": lambda memory: IMPORTANCE.index(memory.importance),
    "type": type_of,
    "category": category_of,
    "entities": _entities,
    "session": session_of,
    "vouched": lambda memory: int(memory.vouched),
}


def facet_of(memory: Memory, column: str) -> Any:
    """Return one column of a memory."""
    derive = COMPUTED_FACETS.get(column)
    return derive(memory) if derive else getattr(memory, column)


def facets_of(memory: Memory) -> Facets:
    """Return all columns of a memory."""
    return Facets(**{column: facet_of(memory, column) for column in FACET_COLUMNS})


def is_valid(memory: Window, at: int) -> bool:
    """Return whether a time is inside a memory's validity window; windows are half-open."""
    return memory.valid_from <= at and (not memory.valid_until or at < memory.valid_until)


def _first_value(memory: Memory, facet: str) -> str:
    given = [memory.extra[key] for key in FACET_KEYS[facet] if key in memory.extra]
    flat = [item for value in given for item in (value if isinstance(value, list) else [value])]
    texts = (item for item in flat if isinstance(item, str) and not is_empty_value(item))
    return next(texts, "").strip()
