"""Implement `rawkomem link`: connect memories, and show how they are connected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from click import FloatRange, IntRange, argument, command, group, option

from ...files.append import Written
from ...git.runner import user_name
from ...model.entries import Memory
from ...model.errors import BadInput, NotFound
from ...recall.signals import filter_of
from ...repository import Repository
from ...state.changes import SIMILAR
from ...state.graph import (
    MERMAID_EDGES,
    Edge,
    Graph,
    WalkStep,
    as_mermaid,
    for_mermaid,
    traverse,
)
from ...state.graph import clusters as find_clusters
from ...state.graph import orphans as find_orphans
from ...state.graph import picture_of as draw_graph
from ...state.graph import shortest_path as find_path
from ...text.chunks import counted
from ...text.clean import one_line
from .commands import pass_repository
from .declarations import Verbs, flag, list_option, text_option
from .listing import cite_command, entities_command
from .options import ALL, JSON, LIMIT, together
from .terminal import (
    done_line,
    fields_of,
    name_of,
    note,
    paint,
    say,
    say_answer,
    say_json,
    say_rows,
    shortened,
)

# Implement `rawkomem link list`, `walk`, `path`, `clusters`, `orphans` and `graph`.

MIN_LINK_COSINE = 0.5  # neolata's threshold for a link
MIN_CLUSTER_COSINE = (
    0.6  # at 0.5 most memories of a project form one group; at 0.6 groups follow subjects
)
MAX_DRAWN_MEMORIES = 200  # a drawing of more is unreadable
MAX_MEMBERS_SHOWN = 10  # of one cluster

TYPES = text_option("--types", help="Only follow links of these types, separated by commas.")


def connections(threshold: float) -> Callable[[Any], Any]:
    """Return a decorator for the options that choose memories and edges."""

    return together(
        option("--similar", type=FloatRange(0, 1), default=threshold, show_default=True,
                     help="Also connect memories with at least this cosine similarity."),
        flag("--declared", help="Only connections that files declare, without similarity."),
        list_option("--include", help="Include memories with this status (superseded, …), or 'all'."),
    )  # fmt: skip


def _graph_chosen(repository: Repository, edges: dict[str, Any], similar_to: str = "") -> Graph:
    """Return the graph that the options of `connections` select."""
    similar = 0.0 if edges["declared"] else edges["similar"]
    return repository.graph.load(filter_of(include=edges["include"]).statuses, similar, similar_to)


def _node_id(repository: Repository, graph: Graph, name: str) -> str:
    """Return the id of a memory; raise NotFound if the graph does not contain it."""
    memory = repository.get(name)
    if memory.id not in graph.memories:
        hint = (
            "add --include all" if memory.status == "active" else f"add --include {memory.status}"
        )
        raise NotFound(
            f"{memory.id} is not current ({memory.status}, or outside its validity)", hint
        )
    return memory.id


def _types_given(graph: Graph, given: str) -> tuple[str, ...]:
    types = tuple(part.strip() for part in given.split(",") if part.strip())
    wrong = [type for type in types if type not in graph.types()]
    if wrong:
        raise BadInput(
            f"no link has the type {wrong[0]!r}",
            f"types in use: {', '.join(graph.types()) or 'none'}",
        )
    return types


@command("list")
@argument("id")
@connections(MIN_LINK_COSINE)
@JSON
@pass_repository
def link_list(repository: Repository, id: str, as_json: bool, **edges: Any) -> None:
    """Show the connections of a memory.

    Connections are links, relatedMemories, [[names]] in the text, superseded memories, sources, episodes, and the
    most similar memories.

    Examples:
      rawkomem link list ID
    """
    graph = _graph_chosen(repository, edges, repository.get(id).id)
    id = _node_id(repository, graph, id)
    broken = [item for item in graph.broken if item.memory.id == id]
    hidden = sum(id in (edge.source, edge.target) for edge in graph.hidden)
    if as_json:
        say_json(
            {
                "id": id,
                "title": graph.memories[id].title,
                "links": [_edge_json(graph, edge, id) for edge in graph.around[id]],
                "broken": [
                    {**fields_of(item, "type", "name"), "candidates": list(item.candidates)}
                    for item in broken
                ],
                "hidden": hidden,
            }
        )
        return
    say(name_of(graph.memories[id]))
    for edge in graph.around[id]:
        say(f"  {_arrow(edge, id)} {_edge_kind(edge):14} {name_of(graph.memories[edge.other(id)])}")
    for item in broken:
        matched = "several memories" if item.candidates else "no memory"
        note(f"broken {item.type} link: {one_line(item.name, 60)!r} matches {matched}")
    if hidden:
        note(
            f"not shown: {counted(hidden, 'link')} to memories that are no longer current; --include all shows them"
        )


@command("walk")
@argument("id")
@option(
    "--hops",
    default=2,
    show_default=True,
    type=IntRange(1, 100),
    help="The maximum number of steps.",
)
@TYPES
@connections(MIN_LINK_COSINE)
@JSON
@pass_repository
def link_walk(
    repository: Repository, id: str, hops: int, types: str, as_json: bool, **edges: Any
) -> None:
    """Show the memories within some steps of a memory.

    The nearest memory comes first. Each memory is shown once, with the link that led to it.

    Examples:
      rawkomem link walk ID --hops 3
    """
    graph = _graph_chosen(repository, edges)
    steps = traverse(graph, _node_id(repository, graph, id), hops, _types_given(graph, types))
    say_answer(
        as_json,
        {
            "start": steps[0].id,
            "hops": hops,
            "reached": len(steps),
            "nodes": [_step_json(graph, step) for step in steps],
        },
        (
            f"{'  ' * step.hop}{_step_edge(step)}{name_of(graph.memories[step.id])}"
            for step in steps
        ),
    )


@command("path")
@argument("id")
@argument("other")
@TYPES
@connections(MIN_LINK_COSINE)
@JSON
@pass_repository
def link_path(
    repository: Repository, id: str, other: str, types: str, as_json: bool, **edges: Any
) -> int:
    """Find the shortest path between two memories.

    The exit code is 1 if there is no path.

    Examples:
      rawkomem link path ID OTHER
    """
    graph = _graph_chosen(repository, edges)
    ends = _node_id(repository, graph, id), _node_id(repository, graph, other)
    steps = find_path(graph, *ends, _types_given(graph, types))
    say_answer(
        as_json,
        {
            "found": bool(steps),
            "hops": len(steps) - 1,
            "path": [_step_json(graph, step) for step in steps],
        },
        (f"{_step_edge(step)}{name_of(graph.memories[step.id])}" for step in steps),
        "no path connects these memories",
    )
    return 0 if steps else 1


@command("clusters")
@option(
    "--min-size",
    default=3,
    show_default=True,
    type=IntRange(2),
    help="The minimum size of a group.",
)
@connections(MIN_CLUSTER_COSINE)
@ALL
@JSON
@pass_repository
def link_clusters(
    repository: Repository, min_size: int, limit: int, as_json: bool, **edges: Any
) -> None:
    """Show groups of connected memories.

    The largest group comes first. Each group is labeled with its most specific words. A higher --similar makes
    smaller groups.

    Examples:
      rawkomem link clusters --min-size 2
    """
    graph = _graph_chosen(repository, edges)
    found = shortened(as_json, find_clusters(graph, min_size), limit)
    if as_json:
        members = [[_node_json(graph.memories[id]) for id in cluster.ids] for cluster in found]
        say_json([{"label": cluster.label, "size": len(own), "memories": own}
                  for cluster, own in zip(found, members, strict=True)])  # fmt: skip
        return
    for cluster in found:
        say(
            f"{paint(cluster.label or '(no words)', 'bold')}  {counted(len(cluster.ids), 'memory')}"
        )
        for id in cluster.ids[:MAX_MEMBERS_SHOWN]:
            say(f"  {name_of(graph.memories[id])}")
        if len(cluster.ids) > MAX_MEMBERS_SHOWN:
            say(f"  … and {len(cluster.ids) - MAX_MEMBERS_SHOWN} more (--json lists all)")
    if not found:
        note(f"no group has {min_size} or more memories; try a lower --similar or --min-size")


@command("orphans")
@connections(MIN_LINK_COSINE)
@ALL
@JSON
@pass_repository
def link_orphans(repository: Repository, limit: int, as_json: bool, **edges: Any) -> None:
    """List memories without any connection.

    Examples:
      rawkomem link orphans
    """
    graph = _graph_chosen(repository, edges)
    found = [graph.memories[id] for id in find_orphans(graph)]
    say_rows(
        as_json,
        shortened(as_json, found, limit),
        _node_json,
        name_of,
        "every memory is connected to another",
    )


@command("graph")
@text_option("--id", "id", help="Only draw this memory and the memories around it.")
@option(
    "--hops",
    default=2,
    show_default=True,
    type=IntRange(1, 100),
    help="The maximum number of steps from --id.",
)
@LIMIT.but(default=MAX_DRAWN_MEMORIES, least=0, help="Maximum number of memories; 0 draws all.")
@connections(MIN_LINK_COSINE)
@JSON
@pass_repository
def link_graph(
    repository: Repository,
    id: str,
    hops: int,
    limit: int,
    as_json: bool,
    **connected: Any,
) -> None:
    """Draw memories and their connections.

    The command draws the most connected memories, or those around one memory. Paste the output into a ```mermaid block.
    A dashed line joins similar memories.

    Examples:
      rawkomem link graph
      rawkomem link graph --id ID
    """
    graph = _graph_chosen(repository, connected)
    picture = draw_graph(graph, _node_id(repository, graph, id) if id else "", hops, limit)
    if as_json:
        say_json(
            {
                "nodes": [_node_json(memory) for memory in picture.memories],
                "edges": [_edge_fields(edge) for edge in picture.edges],
                "left_out": picture.left_out,
            }
        )
    else:
        picture = for_mermaid(picture)
        say(as_mermaid(picture).rstrip("\n"))
    if picture.left_out:
        note(
            f"{picture.left_out} more memories are not drawn: --limit 0 draws all, --id draws the neighbors of one"
        )
    if picture.edges_left_out:
        note(
            f"{picture.edges_left_out} edges are not drawn: mermaid allows {MERMAID_EDGES}; --json has all"
        )


def _arrow(edge: Edge, id: str) -> str:
    return "~" if edge.type == SIMILAR else "→" if edge.source == id else "←"


def _edge_kind(edge: Edge) -> str:
    return f"{edge.type} {edge.weight:.2f}" if edge.type == SIMILAR else one_line(edge.type, 32)


def _step_edge(step: WalkStep) -> str:
    """Return the edge of a step, in the direction of the walk."""
    return (
        f"{_arrow(step.edge, step.edge.other(step.id))} {_edge_kind(step.edge)}  "
        if step.edge
        else ""
    )


def _node_json(memory: Memory) -> dict[str, Any]:
    return fields_of(memory, "id", "title", "kind", "status", "path")


def _edge_fields(edge: Edge) -> dict[str, Any]:
    return fields_of(edge, "source", "target", "type", "weight")


def _edge_json(graph: Graph, edge: Edge, id: str) -> dict[str, Any]:
    direction = "both" if edge.type == SIMILAR else "out" if edge.source == id else "in"
    return {
        **_node_json(graph.memories[edge.other(id)]),
        "type": edge.type,
        "direction": direction,
        "weight": edge.weight,
    }


def _step_json(graph: Graph, step: WalkStep) -> dict[str, Any]:
    return {
        **_node_json(graph.memories[step.id]),
        "hop": step.hop,
        "edge": _edge_fields(step.edge) if step.edge else None,
    }


# Implement `rawkomem link add` and `remove`.


@group("link", cls=Verbs, default="add")
def link_command() -> None:
    """Link memories to each other and to code.

    'rawkomem link ID OTHER' is short for 'rawkomem link add ID OTHER'. See 'rawkomem docs graph'.

    Examples:
      rawkomem link add ID OTHER --type causes
      rawkomem link list ID
      rawkomem link graph
    """


@link_command.command("add")
@argument("id")
@argument("other")
@option(
    "--type",
    "type",
    default="related",
    show_default=True,
    help="The relation of the first to the second memory: causes, …",
)
@JSON
@pass_repository
def link_add(repository: Repository, id: str, other: str, type: str, as_json: bool) -> None:
    """Link two memories.

    The link is stored with the first memory. Other commands follow links in both directions and show the direction.

    Examples:
      rawkomem link add ID OTHER
      rawkomem link add ID OTHER --type causes
    """
    _report_links(
        repository, repository.graph.link(id, other, type, user_name()), "linked", as_json
    )


@link_command.command("remove")
@argument("id")
@argument("other")
@text_option("--type", "type", help="Only links of this type.")
@JSON
@pass_repository
def link_remove(repository: Repository, id: str, other: str, type: str, as_json: bool) -> None:
    """Remove the links between two memories.

    The command removes links in both directions by appending an entry. It does not change relatedMemories or
    [[names]] in a text: use 'rawkomem amend' for these.

    Examples:
      rawkomem link remove ID OTHER
    """
    _report_links(
        repository, repository.graph.unlink(id, other, type, user_name()), "unlinked", as_json
    )


def _report_links(
    repository: Repository, written: Sequence[Written], done: str, as_json: bool
) -> None:
    repository.core.follow()
    links = [(entry.about, str(entry.extra.get("type", "related")), entry.extra["to"], entry.path)
             for entry in (item.entry for item in written)]  # fmt: skip
    say_answer(
        as_json,
        [{"id": id, "type": type, "to": to, "path": path} for id, type, to, path in links],
        (done_line(done, f"{id} → {to}  {type}", path) for id, type, to, path in links),
    )


for _command in (
    link_list, link_walk, link_path, link_clusters, link_orphans, link_graph, cite_command, entities_command
):  # fmt: skip
    link_command.add_command(_command)
