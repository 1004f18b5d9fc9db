"""Facets: the columns of a memory that filters compare; and when a memory is valid."""

from __future__ import annotations

from ..model.aliases import is_nothing, names_of, said
from ..model.filters import Facets
from ..model.kinds import IMPORTANCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from ..model.entry import Memory

    class Window(Protocol):
        """Anything with a validity window."""

        @property
        def valid_from(self) -> int: ...
        @property
        def valid_until(self) -> int: ...


COLUMNS: tuple[str, ...] = Facets.__fields__  # type: ignore[attr-defined]
KEYS = {facet: names_of(facet) for facet in ("type", "category", "session")}  # facet → the keys that may hold it
IMPORTED = "importedFrom"  # `kind:path#section`: by it a later import knows the memory again
EVENT_TIME = "eventTime"  # when the thing happened that a memory tells of


def imported_from(memory: Memory) -> str:
    """Return the file, and the section of it, that an import took it from; empty where it was not imported."""
    return str(memory.extra.get(IMPORTED, "")).partition(":")[2]


def type_of(memory: Memory) -> str:
    """Return its type, one of Memory Lane's ten or any other word."""
    return _first(memory, "type").lower()


def category_of(memory: Memory) -> str:
    """Return its category: decision, preference, fact, …"""
    return _first(memory, "category").lower()


def session_of(memory: Memory) -> str:
    """Return the session it comes from, as written; a claim of scope session names its own."""
    return claimed_for(memory) or _first(memory, "session")


def claimed_for(memory: Memory) -> str:
    """Return the session that a memory's claim keeps to; empty for one that holds everywhere, and without a claim."""
    claim = memory.extra.get("claim")
    if not isinstance(claim, dict) or claim.get("scope") != "session":
        return ""
    return str(said(claim, "session") or _first(memory, "session"))


def claimed_about(memory: Memory) -> tuple[str, str] | None:
    """Return subject and predicate of a memory's claim."""
    claim = memory.extra.get("claim")
    return (str(claim.get("subject", "")), str(claim.get("predicate", ""))) if isinstance(claim, dict) else None


def _entities(memory: Memory) -> tuple[str, ...]:
    from ..text.entities import entities_of  # few filters ask for them

    return entities_of(memory)


DERIVED: dict[str, Callable[[Memory], object]] = {  # facets that are no field of a memory as they are
    "importance": lambda memory: IMPORTANCE.index(memory.importance),
    "type": type_of,
    "category": category_of,
    "entities": _entities,
    "session": session_of,
    "vouched": lambda memory: int(memory.vouched),
}


def facet_of(memory: Memory, column: str) -> Any:
    """Return one column that filters compare."""
    derive = DERIVED.get(column)
    return derive(memory) if derive else getattr(memory, column)


def facets_of(memory: Memory) -> Facets:
    """Return what filters compare of a memory."""
    return Facets(**{column: facet_of(memory, column) for column in COLUMNS})


def is_valid(memory: Window, at: int) -> bool:
    """Tell whether a memory's validity window holds a time; windows are half-open."""
    return memory.valid_from <= at and (not memory.valid_until or at < memory.valid_until)


def _first(memory: Memory, facet: str) -> str:
    return next(iter(_values(memory, facet)), "")


def _values(memory: Memory, facet: str) -> list[str]:
    given = [memory.extra[key] for key in KEYS[facet] if key in memory.extra]
    flat = [item for value in given for item in (value if isinstance(value, list) else [value])]
    return [item.strip() for item in flat if isinstance(item, str) and not is_nothing(item)]
