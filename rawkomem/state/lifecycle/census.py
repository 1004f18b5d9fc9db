"""Census: the current state of all memories, with trust and the time, for decisions that are committed.

It contains no counts of one machine, such as uses, because decisions would then differ from clone to clone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.kinds import ACTIVE, FADING
from ...model.record import record, replace
from ..fold import after, fold
from .strength import strength_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from ...model.entry import Memory, Plan
    from .strength import Strength

SPARED_IMPORTANCE = "critical"  # SPEC-0009 always includes these when relevant, so they must not be archived


@record
class Census:
    """Memories by id, the time, a function that computes trust, and the ids that a person vouches for."""

    memories: Mapping[str, Memory]
    now: int
    trust: Callable[[Memory], float]
    vouched: Collection[str] = ()

    def after(self, plan: Plan) -> Census:
        """Return the census after a plan is written."""
        memories = dict(self.memories)
        for entry in plan.entries:
            known = memories.get(entry.target)
            if made := after(known, [entry]) if known else fold([entry]):
                memories[made.id] = made
        return replace(self, memories=memories)

    def active(self) -> list[Memory]:
        """Return the active memories of kinds that decay, sorted by id."""
        fading = (memory for memory in self.memories.values() if memory.kind in FADING and memory.status == ACTIVE)
        return sorted(fading, key=lambda memory: memory.id)

    def strength(self, memory: Memory, links: int) -> Strength:
        """Return the strength of a memory with this number of links."""
        return strength_of(memory, links, self.now)

    def touched(self, memory: Memory) -> int:
        """Return when a memory was last changed."""
        return max(memory.created, memory.updated)

    def is_spared(self, memory: Memory) -> bool:
        """Return whether housekeeping must not archive a memory: it is critical, or a person vouches for it."""
        return memory.importance == SPARED_IMPORTANCE or memory.id in self.vouched
