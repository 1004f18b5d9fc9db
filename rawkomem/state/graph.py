"""The graph of memories: edges that files declare and edges between similar memories; walks over it,
and drawings of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from ..model.entries import Memory
from ..model.values import GROUPS, record
from ..text.prose import Vocabulary, telling_words
from .changes import SIMILAR, SUPERSEDES, Names, references
from .trust import reachable


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


class LinkGraph:
    """Current memories by id, the edges between them, and references to others. Edges have no direction in walks."""

    def __init__(
        self,
        memories: Mapping[str, Memory],
        edges: Iterable[Edge],
        hidden: Iterable[Edge],
        broken: Iterable[Broken],
    ):
        self.memories = memories
        self.edges = tuple(edges)
        # edges between a current memory and one that is not
        self.hidden = tuple(hidden)
        self.broken = tuple(broken)
        self.around: dict[str, list[Edge]] = {id: [] for id in memories}
        for edge in self.edges:
            self.around[edge.source].append(edge)
            self.around[edge.target].append(edge)
        for id, edges in self.around.items():
            edges.sort(
                key=lambda edge: (
                    edge.type == SIMILAR,
                    -edge.weight,
                    edge.type,
                    edge.other(id),
                )
            )

    def types(self) -> list[str]:
        """Return the types of the edges, sorted."""
        return sorted({edge.type for edge in self.edges})


def build_graph(
    memories: Sequence[Memory],
    is_current: Callable[[Memory], bool],
    similar: Iterable[tuple[str, str, float]] = (),
) -> LinkGraph:
    """Return the graph of the current memories; `similar` adds edges from (id, id, cosine)."""
    current = {
        memory.id: memory
        for memory in sorted(memories, key=lambda memory: memory.id)
        if is_current(memory)
    }
    declared, broken = _declared_edges(memories)
    inside = [
        edge for edge in declared if edge.source in current and edge.target in current
    ]
    hidden = [
        edge
        for edge in declared
        if (edge.source in current) != (edge.target in current)
    ]
    linked = {frozenset((edge.source, edge.target)) for edge in inside}
    alike = [
        Edge(one, other, SIMILAR, cosine)
        for one, other, cosine in similar
        if one in current and other in current and frozenset((one, other)) not in linked
    ]
    return LinkGraph(
        current,
        [*inside, *alike],
        hidden,
        [item for item in broken if item.memory.id in current],
    )


def _declared_edges(memories: Sequence[Memory]) -> tuple[list[Edge], list[Broken]]:
    """Return every edge that files declare, without duplicates, and every broken reference."""
    names = Names(memories)
    edges: dict[Edge, None] = {}
    broken: list[Broken] = []
    for memory in memories:
        for type, name in references(memory):
            ids = names.find(name)
            if len(ids) != 1:
                broken.append(Broken(memory, type, name, tuple(ids)))
            elif ids[0] != memory.id:
                edges[Edge(memory.id, ids[0], type)] = None
        if memory.superseded_by in names.ids and memory.superseded_by != memory.id:
            edges[Edge(memory.superseded_by, memory.id, SUPERSEDES)] = None
    ordered = sorted(edges, key=lambda edge: (edge.source, edge.target, edge.type))
    return ordered, broken


# Walk over the graph: neighbors, shortest path, clusters. The order of results is always
# the same.

LABEL_WORDS = 3
OPENING_CHARS = 400  # of a body that are used for a label, besides title and tags


@record
class WalkStep:
    """A memory on a walk: the number of hops, and the edge that leads to it (None at the start)."""

    id: str
    hop: int
    edge: Edge | None = None


@record
class Cluster:
    """Connected memories, most connected first, and a label of words that are typical for them."""

    ids: tuple[str, ...]
    label: str


def neighbors(
    graph: LinkGraph, id: str, types: Collection[str] = ()
) -> Iterator[tuple[Edge, str]]:
    """Return the edges of a memory, of these types or of any, with the id at the other end; declared edges first."""
    return (
        (edge, edge.other(id))
        for edge in graph.around[id]
        if not types or edge.type in types
    )


def traverse(
    graph: LinkGraph, start: str, hops: int, types: Collection[str] = ()
) -> list[WalkStep]:
    """Return all memories within some hops of a memory, nearest first, beginning with the start."""
    steps = [WalkStep(start, 0)]
    seen = {start}
    for step in steps:
        if step.hop == hops:
            break
        for edge, other in neighbors(graph, step.id, types):
            if other not in seen:
                seen.add(other)
                steps.append(WalkStep(other, step.hop + 1, edge))
    return steps


def shortest_path(
    graph: LinkGraph, start: str, end: str, types: Collection[str] = ()
) -> list[WalkStep]:
    """Return the shortest path from one memory to another; empty if there is none."""
    reached = {
        step.id: step for step in traverse(graph, start, len(graph.memories), types)
    }
    if end not in reached:
        return []
    way = [reached[end]]
    while way[-1].edge is not None:
        way.append(reached[way[-1].edge.other(way[-1].id)])
    return way[::-1]


def clusters(graph: LinkGraph, least: int) -> list[Cluster]:
    """Return the connected parts of at least this size, largest first. Episodes do not connect memories."""
    parts = [part for part in _connected_parts(graph) if len(part) >= least]
    if not parts:
        return []
    vocabulary = Vocabulary(_subject_text(memory) for memory in graph.memories.values())
    groups = [
        Cluster(
            tuple(sorted(part, key=lambda id: (-len(graph.around[id]), id))),
            ", ".join(
                telling_words(
                    [_subject_text(graph.memories[id]) for id in part],
                    vocabulary,
                    LABEL_WORDS,
                )
            ),
        )
        for part in parts
    ]
    return sorted(groups, key=lambda cluster: (-len(cluster.ids), min(cluster.ids)))


def _connected_parts(graph: LinkGraph) -> Iterator[list[str]]:
    def single_neighbors(id: str) -> list[str]:
        others = (other for _, other in neighbors(graph, id))
        return [other for other in others if graph.memories[other].kind not in GROUPS]

    seen: set[str] = set()
    for start in _ids_without_groups(graph):
        if start not in seen:
            part = list(reachable([start], single_neighbors))
            seen.update(part)
            yield part


def _ids_without_groups(graph: LinkGraph) -> Iterator[str]:
    return (id for id, memory in graph.memories.items() if memory.kind not in GROUPS)


def _subject_text(memory: Memory) -> str:
    return " ".join((memory.title, *memory.tags, memory.body[:OPENING_CHARS]))
