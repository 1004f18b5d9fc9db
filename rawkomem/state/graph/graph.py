"""The graph of memories: edges that files declare, and edges between similar memories. Pure; walks are in walk.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.record import record
from ..references import SIMILAR, SUPERSEDES, Names, references

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ...model.entry import Memory


@record
class Edge:
    """One memory refers to another. `weight` is the cosine of a similar pair, else 1."""

    source: str
    target: str
    type: str
    weight: float = 1.0

    def other(self, id: str) -> str:
        """Return the id at the other end."""
        return self.target if id == self.source else self.source


@record
class Broken:
    """A reference that matches no memory or several memories."""

    memory: Memory
    type: str
    name: str
    candidates: tuple[str, ...] = ()


class Graph:
    """Current memories by id, the edges between them, and references to others. Edges have no direction in walks."""

    def __init__(
        self, memories: Mapping[str, Memory], edges: Iterable[Edge], hidden: Iterable[Edge], broken: Iterable[Broken]
    ):
        self.memories = memories
        self.edges = tuple(edges)
        self.hidden = tuple(hidden)  # edges between a current memory and one that is not
        self.broken = tuple(broken)
        self.around: dict[str, list[Edge]] = {id: [] for id in memories}
        for edge in self.edges:
            self.around[edge.source].append(edge)
            self.around[edge.target].append(edge)
        for id, edges in self.around.items():
            edges.sort(key=lambda edge: (edge.type == SIMILAR, -edge.weight, edge.type, edge.other(id)))

    def types(self) -> list[str]:
        """Return the types of the edges, sorted."""
        return sorted({edge.type for edge in self.edges})


def build(
    memories: Sequence[Memory], is_current: Callable[[Memory], bool], similar: Iterable[tuple[str, str, float]] = ()
) -> Graph:
    """Return the graph of the current memories; `similar` adds edges from (id, id, cosine)."""
    current = {memory.id: memory for memory in sorted(memories, key=lambda memory: memory.id) if is_current(memory)}
    declared, broken = _declared(memories)
    inside = [edge for edge in declared if edge.source in current and edge.target in current]
    hidden = [edge for edge in declared if (edge.source in current) != (edge.target in current)]
    linked = {frozenset((edge.source, edge.target)) for edge in inside}
    alike = [
        Edge(one, other, SIMILAR, cosine)
        for one, other, cosine in similar
        if one in current and other in current and frozenset((one, other)) not in linked
    ]
    return Graph(current, [*inside, *alike], hidden, [item for item in broken if item.memory.id in current])


def _declared(memories: Sequence[Memory]) -> tuple[list[Edge], list[Broken]]:
    """Return every edge that files declare, without duplicates, and every broken reference."""
    names = Names(memories)
    edges: dict[Edge, None] = {}
    broken: list[Broken] = []
    for memory in memories:
        for type, name in references(memory):
            found = names.find(name)
            if len(found) != 1:
                broken.append(Broken(memory, type, name, tuple(found)))
            elif found[0] != memory.id:
                edges[Edge(memory.id, found[0], type)] = None
        if memory.superseded_by in names.ids and memory.superseded_by != memory.id:
            edges[Edge(memory.superseded_by, memory.id, SUPERSEDES)] = None
    ordered = sorted(edges, key=lambda edge: (edge.source, edge.target, edge.type))
    return ordered, broken
