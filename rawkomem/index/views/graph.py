"""Loads the graph: memories from the catalogue, and pairs of similar memories from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.clock import now
from ...model.filters import Filter
from ...model.kinds import GROUPS
from ...state.facets import is_valid
from ...state.graph.graph import Graph, build
from ..lists import memory_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...model.entry import Memory
    from ..catalogue import Catalogue
    from ..stores.protocol import SearchStore

MAX_COMPARED = 20_000  # memories: comparing all with all takes four times as long for twice as many


def load_graph(
    catalogue: Catalogue,
    store: SearchStore,
    statuses: tuple[str, ...],
    similar: float,
    warn: Callable[[str], None],
    similar_to: str = "",
) -> Graph:
    """Return the graph of the memories that have one of these statuses and are valid now; without statuses, of all.

    With `similar` above zero, connect memories that are at least that similar: all, or only pairs with `similar_to`.
    """
    memories = [memory_of(doc) for doc in catalogue.docs()]
    at = now()

    def is_current(memory: Memory) -> bool:
        """Tell whether a memory is wanted and valid now: others must not come in through a link."""
        return not statuses or (memory.status in statuses and is_valid(memory, at))

    pairs = []
    if similar > 0 and (similar_to or len(memories) <= MAX_COMPARED):
        from .neighbors import similar_pairs  # numpy: only where vectors are compared

        compared = {memory.id for memory in memories if memory.kind not in GROUPS and is_current(memory)}
        vectors = [pair for pair in store.vectors(Filter(statuses=statuses)) if pair[0] in compared]
        pairs = similar_pairs(vectors, similar, similar_to)
    elif similar > 0:
        warn(f"more than {MAX_COMPARED:,} memories: the graph shows links in files, but not similar memories")
    return build(memories, is_current, pairs)
