"""Citations: places in the code that memories cite. Recall warns about a memory when the cited code changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...format.citation import read_citation
from ...git import citations
from ...index.lists import memory_of
from ...state.changes.amend import plan_cite
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...files.append import Written
    from ...git.citations import Cited
    from ...model.entry import Memory


class Citations(Wing):
    """Adds citations to memories, and checks them against the code."""

    def add(self, name: str, places: Sequence[str], by: str = "") -> Written:
        """Append an entry with citations of these places in their current state."""
        found = [self.now(place).citation for place in places]
        return self._core.writer.write(plan_cite(self._repo.get(name), found, by))[0]

    def now(self, place: str) -> Cited:
        """Return a citation of a place in the project (`path`, `path#symbol`, `path:10-20`) in its current state."""
        return citations.Citations(self._core.layout).now(read_citation(place))

    def of(self, memory: Memory) -> Sequence[Cited]:
        """Return, for each place that a memory cites, whether it changed."""
        return self._core.citing()(memory)

    def all(self) -> Sequence[tuple[Memory, Sequence[Cited]]]:
        """Return every memory in use that cites code, and for each place whether it changed."""
        core = self._core
        rows = core.rows()
        docs = core.read(lambda: [doc for row in rows if '"cites"' in (doc := core.index.catalogue.doc(row.id))])
        found = [(memory, self.of(memory)) for memory in map(memory_of, docs)]
        return [(memory, cited) for memory, cited in found if cited]
