"""The graph of memories: links, walks, clusters, entities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...index.views.entities import named_entities
from ...index.views.graph import load_graph
from ...model.filters import READABLE
from ...state.changes.link import plan_link, plan_unlink
from ...state.graph import walk
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ...files.append import Written
    from ...state.graph.graph import Graph as Loaded
    from ...state.graph.walk import Cluster, Step

MIN_CLUSTER = 3  # memories of the smallest cluster


class Graph(Wing):
    """Adds and removes links between memories, and walks along them."""

    def link(self, name: str, other: str, type: str = "related", by: str = "") -> Sequence[Written]:
        """Append a link from one memory to another."""
        return self._core.writer.write(plan_link(self._repo.get(name), self._repo.get(other), type, by))

    def unlink(self, name: str, other: str, type: str = "", by: str = "") -> Sequence[Written]:
        """Remove the links between two memories, of one type or of all types."""
        return self._core.writer.write(plan_unlink(self._repo.get(name), self._repo.get(other), type, by))

    def load(self, statuses: tuple[str, ...] = READABLE, similar: float = 0.0, similar_to: str = "") -> Loaded:
        """Return memories and their edges; if `similar` is above 0, also connect memories at least that similar."""
        core = self._core
        return core.read(
            lambda: load_graph(core.index.catalogue, core.index.store, statuses, similar, core.warn, similar_to)
        )

    def traverse(self, name: str, hops: int = 2, types: Collection[str] = (), similar: float = 0.0) -> Sequence[Step]:
        """Return the memories around a memory, nearest first, each with the edge that leads to it."""
        return walk.traverse(self.load(similar=similar), self._repo.get(name).id, hops, types)

    def path(self, name: str, other: str, types: Collection[str] = (), similar: float = 0.0) -> Sequence[Step]:
        """Return the shortest path between two memories; empty if they are not connected."""
        return walk.path(self.load(similar=similar), self._repo.get(name).id, self._repo.get(other).id, types)

    def clusters(self, min_size: int = MIN_CLUSTER, similar: float = 0.0) -> Sequence[Cluster]:
        """Return groups of connected memories, largest first."""
        return walk.clusters(self.load(similar=similar), min_size)

    def entities(self) -> Mapping[str, Sequence[str]]:
        """Return every entity that readable memories name, with the ids of those memories."""
        return self._core.read(lambda: named_entities(self._core.index.catalogue, READABLE))
