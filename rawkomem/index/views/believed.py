"""Computes how far memories are believed: who committed their entries, how they arrived, what they rest on."""

from __future__ import annotations

from ...state.belief.committer import UNKNOWN
from ...state.belief.trust import BASES, Standing, Trust, explain_trust, limited, standing_of, standing_of_entry
from ...state.derive import derived_from, lowest_trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...files.layout import Layout
    from ...files.local.arrivals import Arrivals
    from ...model.entry import Memory
    from ..catalogue import Catalogue
    from .authors import Authors


class Believed:
    """Caches each memory's standing. Without authors nothing is known of commits."""

    def __init__(self, layout: Layout, catalogue: Catalogue, authors: Authors | None, at: int):
        self.layout = layout
        self.catalogue = catalogue
        self.authors = authors
        self.at = at
        self._standings: dict[str, Standing] = {}
        self._sources: dict[str, tuple[float, Sequence[str]]] = {}
        self._arrivals: Arrivals | None = None

    def unverified(self, memories: Iterable[Memory]) -> dict[str, Standing]:
        """Return id → standing of those of the memories that no person vouches for."""
        memories = list(memories)
        self._look_up([memory for memory in memories if memory.id not in self._standings])
        found = {memory.id: self._standings[memory.id] for memory in memories}
        return {id: standing for id, standing in found.items() if not standing.verified}

    def trust(self, memory: Memory) -> Trust:
        """Return how far a memory is believed: no further than the least believed of what it was made from."""
        return limited(self._own(memory), lowest_trust(derived_from(memory), self._source))

    def _own(self, memory: Memory) -> Trust:
        if memory.id not in self._standings:
            self._look_up([memory])
        return explain_trust(memory, self._standings[memory.id], self.at)

    def _source(self, id: str) -> tuple[float, Sequence[str]]:
        """Return the trust of a source by itself, and its own sources; of one that is gone nothing is known."""
        if id not in self._sources:
            from ..lists import known_memory

            memory = known_memory(self.catalogue, id)
            self._sources[id] = (self._own(memory).value, derived_from(memory)) if memory else (BASES["unknown"], ())
        return self._sources[id]

    def _look_up(self, memories: list[Memory]) -> None:
        commits = self.authors.of_memories([memory.id for memory in memories]) if self.authors else {}
        for memory in memories:
            states = commits.get(memory.id, {})
            ids = (memory.id, *memory.amended_in, *memory.reviewed_in)
            entries = {id: standing_of_entry(states.get(id, UNKNOWN), "") for id in ids}
            if not all(standing.verified for standing in entries.values()):
                entries = {id: standing_of_entry(states.get(id, UNKNOWN), self._arrival(id)) for id in ids}
            self._standings[memory.id] = standing_of(memory, entries)

    def _arrival(self, id: str) -> str:
        if self._arrivals is None:
            from ...files.local.arrivals import Arrivals  # a person's commit needs no other witness

            self._arrivals = Arrivals(self.layout)
        return self._arrivals.of(id)
