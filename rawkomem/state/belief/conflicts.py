"""Conflicts between claims. They are not stored: a conflict is open until a memory leaves use or both are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.kinds import ACTIVE, KEPT_BOTH
from ...model.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ...model.entry import Memory

    Find = Callable[[str], Memory | None]


@record
class Conflict:
    """A memory that contradicts `other`, which is in use."""

    memory: Memory
    other: Memory


def open_conflicts(memories: Iterable[Memory], find: Find) -> list[Conflict]:
    """Return the open conflicts of memories; if the other memory was superseded, with its latest replacement."""
    found: list[Conflict] = []
    for memory in memories:
        if memory.status in (ACTIVE, "quarantined"):
            chains = (chain(id, find) for id in memory.conflicts_with)
            others = {way[-1].id: way[-1] for way in chains if way and way[-1].status == ACTIVE}
            standing = (other for id, other in others.items() if id != memory.id and not kept_both(memory, other))
            found += [Conflict(memory, other) for other in standing]
    return found


def kept_both(memory: Memory, other: Memory) -> bool:
    """Return whether a link says that both of two contradicting memories are kept."""
    return (KEPT_BOTH, other.id) in memory.links or (KEPT_BOTH, memory.id) in other.links


def how_settled(memory: Memory, other: Memory) -> str:
    """Return how the conflict between two memories was settled; empty while it is open."""
    if kept_both(memory, other):
        return "both hold"
    for side, name in ((memory, "this one"), (other, "that one")):
        if side.status not in (ACTIVE, "quarantined"):
            return f"{name} is {side.status}"
    return ""


def chain(id: str, find: Find) -> tuple[Memory, ...]:
    """Return a memory and its chain of replacements, in order; stop at a cycle."""
    found: dict[str, Memory] = {}
    while id and id not in found and (memory := find(id)):
        found[id] = memory
        id = memory.superseded_by
    return tuple(found.values())
