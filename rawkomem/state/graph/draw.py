"""Draw the graph as mermaid or Graphviz dot. Titles are escaped, so that no title can end a label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.kinds import GROUPS
from ...model.record import record
from ...text.clean import one_line
from ..references import SIMILAR
from .walk import traverse

if TYPE_CHECKING:
    from ...model.entry import Memory
    from .graph import Edge, Graph

MERMAID_EDGES = 500  # mermaid draws no more, and a diagram cannot raise the limit
LABEL_CHARS = 60  # of a title, so that the box stays readable
PLAIN = " ,-/'()"  # kept besides letters and digits; other ASCII signs become a #code;


@record
class Picture:
    """The part of a graph that is drawn, and the number of memories and edges that are not."""

    memories: tuple[Memory, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0  # memories
    edges_left_out: int = 0


def picture(graph: Graph, start: str, hops: int, most: int) -> Picture:
    """Return the memories around a memory, or the most connected ones; at most `most` of them, 0 for all."""
    if start:
        ids = [step.id for step in traverse(graph, start, hops)]
    else:
        ids = sorted(graph.memories, key=lambda id: (-len(graph.around[id]), id))
    drawn = ids[: most or len(ids)]
    inside = set(drawn)
    edges = tuple(edge for edge in graph.edges if edge.source in inside and edge.target in inside)
    return Picture(tuple(graph.memories[id] for id in drawn), edges, len(ids) - len(drawn))


def for_mermaid(picture: Picture) -> Picture:
    """Return the picture with at most MERMAID_EDGES edges; edges by similarity are dropped first."""
    kept = sorted(picture.edges, key=lambda edge: (edge.type == SIMILAR, -edge.weight))[:MERMAID_EDGES]
    left_out = len(picture.edges) - len(kept)
    return Picture(picture.memories, tuple(kept), picture.left_out, left_out)


def mermaid(picture: Picture) -> str:
    """Return a mermaid flowchart, which GitHub, GitLab and many editors show."""
    names = {memory.id: f"n{number}" for number, memory in enumerate(picture.memories)}
    lines = ["flowchart LR"]
    for memory in picture.memories:
        opening, closing = ("([", "])") if memory.kind in GROUPS else ("[", "]")
        lines.append(f'  {names[memory.id]}{opening}"{_for_mermaid(_label(memory))}"{closing}')
    for edge in picture.edges:
        arrow = "-.-" if edge.type == SIMILAR else "-->"
        lines.append(f'  {names[edge.source]} {arrow}|"{_for_mermaid(_edge_label(edge))}"| {names[edge.target]}')
    return "\n".join(lines) + "\n"


def dot(picture: Picture) -> str:
    """Return a digraph for Graphviz: `dot -Tsvg`."""
    names = {memory.id: f"n{number}" for number, memory in enumerate(picture.memories)}
    lines = ["digraph memories {", "  rankdir=LR;", "  node [shape=box];"]
    for memory in picture.memories:
        shape = ", shape=ellipse" if memory.kind in GROUPS else ""
        label, id = _for_dot(_label(memory)), _for_dot(one_line(memory.id))
        lines.append(f"  {names[memory.id]} [label={label}, tooltip={id}{shape}];")
    for edge in picture.edges:
        style = ", dir=none, style=dashed" if edge.type == SIMILAR else ""
        label = _for_dot(_edge_label(edge))
        lines.append(f"  {names[edge.source]} -> {names[edge.target]} [label={label}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _label(memory: Memory) -> str:
    return one_line(memory.title, LABEL_CHARS) or one_line(memory.id, LABEL_CHARS) or "(no title)"


def _edge_label(edge: Edge) -> str:
    return f"{edge.weight:.2f}" if edge.type == SIMILAR else one_line(edge.type, LABEL_CHARS) or "(no type)"


def _for_mermaid(text: str) -> str:
    """Return escaped text for quotes. A first sign is always escaped, because `- x` would become a list."""
    plain = (c.isalnum() or not c.isascii() or (at and c in PLAIN) for at, c in enumerate(text))
    return "".join(c if keep else f"#{ord(c)};" for c, keep in zip(text, plain, strict=True))


def _for_dot(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
