"""Conflicts between claims. None is stored: one is open while both sides still stand, and settled once one does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.kinds import ACTIVE
from ...model.record import record
from ..references import KEPT_BOTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ...model.entry import Memory

    Find = Callable[[str], Memory | None]


@record
class Conflict:
    """A memory that contradicts another one, which is in use."""

    memory: Memory
    other: Memory


def open_conflicts(memories: Iterable[Memory], find: Find) -> list[Conflict]:
    """Return the open conflicts of some memories; `find` gives the memory of an id.

    The other side may have been superseded since: then the conflict is with what took its place.
    """
    found: list[Conflict] = []
    for memory in memories:
        if memory.status in (ACTIVE, "quarantined"):
            others = {other.id: other for id in memory.conflicts_with if (other := current(id, find))}
            found += [Conflict(memory, other) for other in others.values() if _is_open(memory, other)]
    return found


def _is_open(memory: Memory, other: Memory) -> bool:
    return other.status == ACTIVE and other.id != memory.id and not kept_both(memory, other)


def kept_both(memory: Memory, other: Memory) -> bool:
    """Tell whether somebody settled that two memories hold beside each other."""
    return (KEPT_BOTH, other.id) in memory.links or (KEPT_BOTH, memory.id) in other.links


def how_settled(memory: Memory, other: Memory) -> str:
    """Return how the conflict between two memories ended; empty while both sides still stand."""
    if kept_both(memory, other):
        return "both hold"
    for side, name in ((memory, "this one"), (other, "that one")):
        if side.status not in (ACTIVE, "quarantined"):
            return f"{name} is {side.status}"
    return ""


def current(id: str, find: Find) -> Memory | None:
    """Return the memory of an id, or the last one that took its place."""
    *_, last = chain(id, find) or (None,)
    return last


def chain(id: str, find: Find) -> tuple[Memory, ...]:
    """Return a memory and what superseded it, one after the other; a circle is walked once."""
    return tuple(_walk(id, find))


def _walk(id: str, find: Find) -> Iterator[Memory]:
    seen: set[str] = set()
    while id and id not in seen and (memory := find(id)):
        seen.add(id)
        yield memory
        id = memory.superseded_by
