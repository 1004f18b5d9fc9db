"""How far the memories of one answer are believed: who committed their entries, how they arrived, what they rest on."""

from __future__ import annotations

from ...state.belief.committer import UNKNOWN
from ...state.belief.trust import (
    BASES,
    Standing,
    Trust,
    derived_from,
    explain_trust,
    limited,
    standing_of,
    standing_of_entry,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...files.layout import Layout
    from ...files.local.arrivals import Arrivals
    from ...model.entry import Memory
    from ..catalogue import Catalogue
    from .authors import Authors

DEEPEST = 8  # memories made of memories made of …: beyond, a source counts as unknown


class Believed:
    """Looks standings up, each once. Without authors nothing is known of commits: no git, or the user wants it so."""

    def __init__(self, layout: Layout, catalogue: Catalogue, authors: Authors | None, at: int):
        self.layout = layout
        self.catalogue = catalogue
        self.authors = authors
        self.at = at
        self._standings: dict[str, Standing] = {}
        self._arrivals: Arrivals | None = None

    def unverified(self, memories: Iterable[Memory]) -> dict[str, Standing]:
        """Return id → standing of those of the memories that no person vouches for."""
        memories = list(memories)
        self._look_up([memory for memory in memories if memory.id not in self._standings])
        found = {memory.id: self._standings[memory.id] for memory in memories}
        return {id: standing for id, standing in found.items() if not standing.verified}

    def trust(self, memory: Memory) -> Trust:
        """How far a memory is believed: no further than the least believed of what it was made from."""
        return self._trust(memory, ())

    def _trust(self, memory: Memory, above: tuple[str, ...]) -> Trust:
        if memory.id not in self._standings:
            self._look_up([memory])
        own = explain_trust(memory, self._standings[memory.id], self.at)
        above = (*above, memory.id)
        return limited(own, [self._source(id, above) for id in derived_from(memory) if id not in above])

    def _source(self, id: str, above: tuple[str, ...]) -> float:
        """The trust of a source; of one that is gone, or too far down, nothing is known."""
        from ..lists import memory_of

        doc = self.catalogue.doc(id) if len(above) <= DEEPEST else ""
        if doc:
            return self._trust(memory_of(doc), above).value
        return BASES["unknown"]

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
