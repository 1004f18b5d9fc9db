"""Computes the trust in memories from who committed their entries, how the entries arrived, and the sources."""

from __future__ import annotations

from ..files.layout import Layout
from ..model.entries import Memory
from ..model.values import RECORDED, TYPE_CHECKING, replace
from ..state.trust import (
    BASE_TRUST,
    REVIEWED,
    UNKNOWN,
    Standing,
    Trust,
    Weak,
    derived_from,
    explain_trust,
    limited_by_sources,
    lowest_trust,
    standing_of,
    standing_of_entry,
    weak_sources,
)
from .catalogue import Catalogue, known_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..files.machine_records import Arrivals
    from .authors import Authors


class Believed:
    """Caches each memory's standing. Without authors, all commits count as unknown."""

    def __init__(
        self,
        layout: Layout,
        catalogue: Catalogue,
        authors: Authors | None,
        at: int,
        strict: bool = False,
    ):
        self.layout = layout
        self.catalogue = catalogue
        self.authors = authors
        self.at = at
        # commits and reviews count, other typed entries do not; sources must be verified too
        self.strict = strict
        # whether it matters who vouches
        self.counts = strict or bool(authors and authors.names_a_person())
        self._standings: dict[str, Standing] = {}
        self._sources: dict[str, tuple[float, Sequence[str]]] = {}
        self._arrivals: Arrivals | None = None

    def unverified(self, memories: Iterable[Memory]) -> dict[str, Standing]:
        """Return id → standing of the memories that no person vouches for."""
        memories = list(memories)
        self._look_up(
            [memory for memory in memories if memory.id not in self._standings]
        )
        found = {memory.id: self._standings[memory.id] for memory in memories}
        return {id: standing for id, standing in found.items() if not standing.verified}

    def weak_sources(self, memory: Memory) -> tuple[Weak, ...]:
        """Return the sources of a memory that were withdrawn, superseded, disputed, or have ended."""
        if derived_from(memory):
            return weak_sources(memory, self._find_source, self.at)
        return ()

    def trust(self, memory: Memory) -> Trust:
        """Return the trust in a memory, which is never higher than the lowest trust in one of its sources."""
        return limited_by_sources(
            self._own(memory), lowest_trust(derived_from(memory), self._source)
        )

    def _own(self, memory: Memory) -> Trust:
        if memory.id not in self._standings:
            self._look_up([memory])
        return explain_trust(memory, self._standings[memory.id], self.at)

    def _source(self, id: str) -> tuple[float, Sequence[str]]:
        """Return the own trust of a source, and its sources; a missing source has the trust `unknown`."""
        if id not in self._sources:
            memory = self._find(id)
            self._sources[id] = (
                (self._own(memory).value, derived_from(memory))
                if memory
                else (BASE_TRUST["unknown"], ())
            )
        return self._sources[id]

    def _find(self, id: str) -> Memory | None:
        return known_memory(self.catalogue, id)

    def _find_source(self, id: str) -> Memory | None:
        """Return a source; None also for an active or archived record of a run: a learning may have hundreds."""
        row = self.catalogue.row(id)
        if row is None or (
            row.kind in RECORDED and row.status in ("active", "archived")
        ):
            return None
        return self._find(id)

    def _look_up(self, memories: list[Memory]) -> None:
        if self.authors:
            commits = self.authors.of_memories([memory.id for memory in memories])
        else:
            commits = {}
        for memory in memories:
            states = commits.get(memory.id, {})
            ids = (memory.id, *memory.amended_in, *memory.reviewed_in)
            entries = {id: standing_of_entry(states.get(id, UNKNOWN), "") for id in ids}
            if not all(standing.verified for standing in entries.values()) and any(
                map(self._arrived().knows, ids)
            ):
                digests = self.catalogue.digests_about(memory.id)
                arrivals = {
                    id: self._arrived().of(id, digests.get(id, "")) for id in ids
                }
                entries = {
                    id: standing_of_entry(states.get(id, UNKNOWN), arrivals[id])
                    for id in ids
                }
            self._standings[memory.id] = self._decided(
                memory, standing_of(memory, entries), entries[memory.id]
            )

    def _decided(self, memory: Memory, weakest: Standing, first: Standing) -> Standing:
        """Return the standing of a memory. Where people vouch, the fold has decided whether it is vouched for."""
        if not self.counts:
            return weakest
        if not memory.vouched or (self.strict and self._rests_on_unverified(memory)):
            return replace(weakest, verified=False)
        return weakest if weakest.verified else first if first.verified else REVIEWED

    def _rests_on_unverified(self, memory: Memory) -> bool:
        """Return whether no person vouches for a source of a memory, unless a person reviewed the memory itself."""
        if memory.reviewed_in:
            return False
        sources = [
            source for id in derived_from(memory) if (source := self._find_source(id))
        ]
        return any(
            source.kind not in RECORDED and not source.vouched for source in sources
        )

    def _arrived(self) -> Arrivals:
        if self._arrivals is None:
            from ..files.machine_records import (
                Arrivals,  # not needed for entries that a person committed
            )

            self._arrivals = Arrivals(self.layout)
        return self._arrivals
