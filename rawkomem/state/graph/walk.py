"""Walk over the graph: neighbors, shortest path, clusters, orphans. The order of results is always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.kinds import GROUPS
from ...model.record import record
from ...text.topics import Vocabulary, telling_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ...model.entry import Memory
    from .graph import Edge, Graph

LABEL_WORDS = 3
OPENING_CHARS = 400  # of a body that are used for a label, besides title and tags


@record
class Step:
    """A memory on a walk: the number of hops, and the edge that leads to it (None at the start)."""

    id: str
    hop: int
    edge: Edge | None = None


@record
class Cluster:
    """Connected memories, most connected first, and a label of words that are typical for them."""

    ids: tuple[str, ...]
    label: str


def neighbors(graph: Graph, id: str, types: Collection[str] = ()) -> Iterator[tuple[Edge, str]]:
    """Return the edges of a memory, of these types or of any, with the id at the other end; declared edges first."""
    return ((edge, edge.other(id)) for edge in graph.around[id] if not types or edge.type in types)


def traverse(graph: Graph, start: str, hops: int, types: Collection[str] = ()) -> list[Step]:
    """Return all memories within some hops of a memory, nearest first, beginning with the start."""
    steps = [Step(start, 0)]
    seen = {start}
    for step in steps:
        if step.hop == hops:
            break
        for edge, other in neighbors(graph, step.id, types):
            if other not in seen:
                seen.add(other)
                steps.append(Step(other, step.hop + 1, edge))
    return steps


def path(graph: Graph, start: str, end: str, types: Collection[str] = ()) -> list[Step]:
    """Return the shortest path from one memory to another; empty if there is none."""
    reached = {step.id: step for step in traverse(graph, start, len(graph.memories), types)}
    if end not in reached:
        return []
    way = [reached[end]]
    while way[-1].edge is not None:
        way.append(reached[way[-1].edge.other(way[-1].id)])
    return way[::-1]


def clusters(graph: Graph, least: int) -> list[Cluster]:
    """Return the connected parts of at least this size, largest first. Episodes do not connect memories."""
    parts = [part for part in _parts(graph) if len(part) >= least]
    if not parts:
        return []
    vocabulary = Vocabulary(_subject(memory) for memory in graph.memories.values())
    found = [
        Cluster(
            tuple(sorted(part, key=lambda id: (-len(graph.around[id]), id))),
            ", ".join(telling_words([_subject(graph.memories[id]) for id in part], vocabulary, LABEL_WORDS)),
        )
        for part in parts
    ]
    return sorted(found, key=lambda cluster: (-len(cluster.ids), min(cluster.ids)))


def orphans(graph: Graph) -> list[str]:
    """Return the ids of the memories without edges."""
    return [id for id in _singles(graph) if not graph.around[id]]


def _parts(graph: Graph) -> Iterator[list[str]]:
    seen: set[str] = set()
    for start in _singles(graph):
        if start in seen:
            continue
        seen.add(start)
        part = [start]
        for id in part:
            for _, other in neighbors(graph, id):
                if other not in seen and graph.memories[other].kind not in GROUPS:
                    seen.add(other)
                    part.append(other)
        yield part


def _singles(graph: Graph) -> Iterator[str]:
    return (id for id, memory in graph.memories.items() if memory.kind not in GROUPS)


def _subject(memory: Memory) -> str:
    return " ".join((memory.title, *memory.tags, memory.body[:OPENING_CHARS]))
