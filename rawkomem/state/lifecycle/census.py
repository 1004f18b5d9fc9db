"""Census: all memories as they stand, with what depends on the clock or on this machine, for lifecycle decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.kinds import ACTIVE, FADING
from ...model.record import record, replace
from ..fold import after, fold
from .strength import strength_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...model.entry import Memory, Plan
    from .strength import Strength


@record
class Census:
    """Memories by id, the time, how far each is believed, and how often and when last each was used."""

    memories: Mapping[str, Memory]
    now: int
    trust: Callable[[Memory], float]
    uses: Mapping[str, tuple[int, int]]

    def after(self, plan: Plan) -> Census:
        """Return the census as it is once a plan is written."""
        memories = dict(self.memories)
        for entry in plan.entries:
            known = memories.get(entry.target)
            if made := after(known, [entry]) if known else fold([entry]):
                memories[made.id] = made
        return replace(self, memories=memories)

    def active(self) -> list[Memory]:
        """Return what is in use and fades, by id."""
        fading = (memory for memory in self.memories.values() if memory.kind in FADING and memory.status == ACTIVE)
        return sorted(fading, key=lambda memory: memory.id)

    def strength(self, memory: Memory, links: int) -> Strength:
        """Return how alive a memory with so many links is."""
        return strength_of(memory, links, *self.uses.get(memory.id, (0, 0)), self.now)

    def touched(self, memory: Memory) -> int:
        """Return when a memory was last changed or used."""
        return max(memory.created, memory.updated, self.uses.get(memory.id, (0, 0))[1])
