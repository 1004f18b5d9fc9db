"""Implement `rawkomem link`: connect memories with each other and with code, and show how they are connected."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from click import Path, argument

from ...git.citations import place_from
from ...git.runner import user_name
from ...model.errors import BadInput, NotFound
from ...recall.signals import filter_of
from ...repository import Repository
from ...state.changes import SIMILAR, link_type
from ...state.graph import (
    Edge,
    LinkGraph,
    WalkStep,
    clusters,
    shortest_path,
    traverse,
)
from ...text.clean import one_line
from ...text.prose import resolve_entity
from .answers import Fields
from .declarations import answer, verbs
from .opening import PROPOSED_REMARK, note_if_uncounted
from .options import ALL, BY
from .terminal import note

MIN_LINK_COSINE = 0.5  # neolata's threshold for a link
# at 0.5 most memories of a project form one group; at 0.6 groups follow subjects
MIN_CLUSTER_COSINE = 0.6
MAX_MEMBERS_SHOWN = 10  # of one cluster

TYPES = "--types TEXT: Only follow links of these types, separated by commas."
HOPS = "--hops 1..100 =2: The maximum number of steps."


def connections(threshold: float = MIN_LINK_COSINE) -> list[str]:
    """Return the options that choose memories and edges."""
    return [
        f"--similar 0.0..1.0 ={threshold}: Also connect memories with at least this cosine similarity.",
        "--declared: Only connections that files declare, without similarity.",
        "--include TEXT...: Include memories with this status (superseded, …), or 'all'.",
    ]


def _direction(item: dict[str, Any]) -> str:
    edge = item["edge"]
    if edge.type == SIMILAR:
        return "both"
    if edge.source == item["start"]:
        return "out"
    return "in"


def _arrow(item: dict[str, Any]) -> str:
    """Return an edge in the direction of a walk; empty at its start."""
    edge = item["edge"]
    if not edge:
        return ""
    weight = f" {edge.weight:.2f}" if edge.type == SIMILAR else ""
    return f"{ARROWS[_direction(item)]} {one_line(edge.type, 32)}{weight}  "


ARROWS = {"both": "~", "out": "→", "in": "←"}
NODE = Fields(
    "id title kind status path",
    "{title:80}{status:mark}  {id:dim}",
)
EDGE = Fields(of=Edge)
LINK = Fields(
    "*node type=edge.type direction weight=edge.weight",
    "  {arrow:<16} {title:80}{status:mark}  {id:dim}",
    node=NODE,
    direction=_direction,
    arrow=_arrow,
)
LINKS = Fields(
    "id title links broken hidden",
    "{title:80}  {id:dim}\n{links_lines:text}",
    remarks="{broken_lines:text}\n{hidden:?not shown: links to memories that are no longer current (%); --include all shows them}",
    links=[LINK],
    broken=[
        Fields(
            "type name candidates",
            "broken {type} link: {name} matches {candidates:yes several memories/no memory}",
        )
    ],
)
STEP = Fields(
    "*node hop edge",
    "{indent:text}{arrow:text}{title:80}{status:mark}  {id:dim}",
    node=NODE,
    edge=EDGE,
    indent=lambda item: "  " * item["hop"],
    arrow=_arrow,
)
WALK = Fields(
    "start hops reached:count=nodes nodes", "{nodes_lines:text}", nodes=[STEP]
)
PATH = Fields(
    "found:bool=path hops path",
    "{path_lines:text}",
    remarks="{found:yes /no path connects these memories}",
    path=[STEP.but(line="{arrow:text}{title:80}{status:mark}  {id:dim}")],
)
CLUSTER = Fields(
    "label size:count=memories memories",
    "{label:~(no words)|bold}  {size:n memory}\n{first:indent}",
    "no group is that large; try a lower --similar or --min-size",
    memories=[NODE],
    first=lambda item: "\n".join(map(NODE.text, item["memories"][:MAX_MEMBERS_SHOWN])),
)
WRITTEN_LINK = Fields(
    "id=entry.about type to=entry.extra.to path=entry.path",
    "{id} → {to}  {type}  {path:dim}",
    type=lambda written: link_type(written.entry),
)


@verbs("link", default="add")
def link_command() -> None:
    """Link memories to each other and to code.

    'rawkomem link ID OTHER' is short for 'rawkomem link add ID OTHER'. See 'rawkomem docs graph'.

    Examples:
      rawkomem link add ID OTHER --type causes
      rawkomem link list ID
    """


@link_command.verb(
    "add",
    "ID",
    "OTHER",
    "--type TEXT =related: The relation of the first to the second memory: causes, …",
    [WRITTEN_LINK],
)
def link_add(repository: Repository, id: str, other: str, type: str, by: str) -> Any:
    """Link two memories.

    The link is stored with the first memory. Other commands follow links in both directions and show the direction.

    Examples:
      rawkomem link add ID OTHER
      rawkomem link add ID OTHER --type causes
    """
    written = repository.graph.link(id, other, type, by)
    note_if_uncounted(repository, id)
    return answer(written, WRITTEN_LINK.done("linked"))


@link_command.verb(
    "remove", "ID", "OTHER", "--type TEXT: Only links of this type.", [WRITTEN_LINK]
)
def link_remove(repository: Repository, id: str, other: str, type: str, by: str) -> Any:
    """Remove the links between two memories.

    The command removes links in both directions by appending an entry. It does not change relatedMemories or
    [[names]] in a text: use 'rawkomem amend' for these.

    Examples:
      rawkomem link remove ID OTHER
    """
    written = repository.graph.unlink(id, other, type, by)
    note_if_uncounted(repository, id)
    return answer(written, WRITTEN_LINK.done("unlinked"))


@link_command.verb("list", "ID", *connections(), LINKS)
def link_list(repository: Repository, id: str, **options: Any) -> Any:
    """Show the connections of a memory.

    Connections are links, relatedMemories, [[names]] in the text, superseded memories, sources, episodes, and the
    most similar memories.

    Examples:
      rawkomem link list ID
    """
    graph = _graph(repository, options, repository.get(id).id)
    id = _node_id(repository, graph, id)
    broken = [item for item in graph.broken if item.memory.id == id]
    hidden = sum(id in (edge.source, edge.target) for edge in graph.hidden)
    links = [
        {"node": graph.memories[edge.other(id)], "edge": edge, "start": id}
        for edge in graph.around[id]
    ]
    return {
        "id": id,
        "title": graph.memories[id].title,
        "links": links,
        "broken": broken,
        "hidden": hidden,
    }


@link_command.verb("walk", "ID", HOPS, TYPES, *connections(), WALK)
def link_walk(
    repository: Repository, id: str, hops: int, types: str, **options: Any
) -> Any:
    """Show the memories within some steps of a memory.

    The nearest memory comes first. Each memory is shown once, with the link that led to it.

    Examples:
      rawkomem link walk ID --hops 3
    """
    graph = _graph(repository, options)
    steps = traverse(graph, _node_id(repository, graph, id), hops, _types(graph, types))
    return {"start": steps[0].id, "hops": hops, "nodes": _nodes(graph, steps)}


@link_command.verb("path", "ID", "OTHER", TYPES, *connections(), PATH)
def link_path(
    repository: Repository, id: str, other: str, types: str, **options: Any
) -> int:
    """Find the shortest path between two memories.

    The exit code is 1 if there is no path.

    Examples:
      rawkomem link path ID OTHER
    """
    graph = _graph(repository, options)
    ends = _node_id(repository, graph, id), _node_id(repository, graph, other)
    steps = shortest_path(graph, *ends, _types(graph, types))
    path = {"hops": len(steps) - 1, "path": _nodes(graph, steps)}
    return answer(path, code=0 if steps else 1)


@link_command.verb(
    "clusters",
    "--min-size 2.. =3: The minimum size of a group.",
    *connections(MIN_CLUSTER_COSINE),
    ALL,
    [CLUSTER],
)
def link_clusters(repository: Repository, min_size: int, **options: Any) -> Any:
    """Show groups of connected memories.

    The largest group comes first. Each group is labeled with its most specific words. A higher --similar makes
    smaller groups.

    Examples:
      rawkomem link clusters --min-size 2
    """
    graph = _graph(repository, options)
    return [
        {"label": group.label, "memories": [graph.memories[id] for id in group.ids]}
        for group in clusters(graph, min_size)
    ]


def _graph(
    repository: Repository, edges: dict[str, Any], similar_to: str = ""
) -> LinkGraph:
    """Return the graph that the options of `connections` select."""
    similar = 0.0 if edges["declared"] else edges["similar"]
    return repository.graph.load(
        filter_of(include=edges["include"]).statuses, similar, similar_to
    )


def _node_id(repository: Repository, graph: LinkGraph, name: str) -> str:
    """Return the id of a memory; raise NotFound if the graph does not contain it."""
    memory = repository.get(name)
    if memory.id not in graph.memories:
        status = "all" if memory.status == "active" else memory.status
        raise NotFound(
            f"{memory.id} is not current ({memory.status}, or outside its validity)",
            f"add --include {status}",
        )
    return memory.id


def _types(graph: LinkGraph, names: str) -> tuple[str, ...]:
    types = tuple(part.strip() for part in names.split(",") if part.strip())
    wrong = [type for type in types if type not in graph.types()]
    if wrong:
        raise BadInput(
            f"no link has the type {wrong[0]!r}",
            f"types in use: {', '.join(graph.types()) or 'none'}",
        )
    return types


def _nodes(graph: LinkGraph, steps: Sequence[WalkStep]) -> list[dict[str, Any]]:
    """Return the memories on a walk, each with the edge that leads to it and the start of that edge."""
    return [
        {
            "node": graph.memories[step.id],
            "hop": step.hop,
            "edge": step.edge,
            "start": step.edge.other(step.id) if step.edge else "",
        }
        for step in steps
    ]


NEW_CITATIONS = Fields(
    "id? about? path? citations", "{citations}", remarks=f"{{waits:?{PROPOSED_REMARK}}}"
)


@link_command.verb(
    "cite",
    argument(
        "words", metavar="[ID] PATH[#SYMBOL]...", nargs=-1, required=True, type=Path()
    ),
    BY,
    NEW_CITATIONS,
)
def cite_command(
    folder: str, repository: Repository, words: tuple[str, ...], by: str
) -> Any:
    """Tie a memory to code; it ranks lower when the code changes.

    With one PATH, PATH#SYMBOL or PATH:10-20, the command prints a citation of the code as it is now, for the key
    'cites'. With the ID of a memory before the paths, it appends the citations to that memory.

    Examples:
      rawkomem link cite FILE
      rawkomem link cite ID FILE
    """
    base = folder or os.getcwd()
    places = [place_from(repository.layout, word, base) for word in words[1:] or words]
    now = [repository.citations.now(place) for place in places]
    for item in now:
        if item.note:
            note(item.note)
    citations = [item.citation.text for item in now]
    if len(words) == 1:
        return answer({"citations": citations}, waits="")
    entry = repository.citations.add(words[0], places, by or user_name()).entry
    waits = entry.about if repository.core.waits_for_review(entry) else ""
    done = "proposed" if waits else "cited"
    return answer(entry, NEW_CITATIONS.done(done), citations=citations, waits=waits)


ENTITY = Fields("entity=0 count:count=1 ids=1", "{count:5}  {entity}")


@link_command.verb("entities", "[NAME]", ALL, [ENTITY])
def entities_command(repository: Repository, name: str) -> int:
    """List the people, projects and features that memories name.

    Write an entity as 'kind:slug' in a text, in tags or under 'entities' in the frontmatter. Kinds are project,
    agent, feature, person, business and chore. Paths such as packages/mail/ also name entities. With NAME, the
    command lists the entities that match and their memories; the exit code is 1 if none or several match.

    Examples:
      rawkomem link entities
      rawkomem link entities --json
    """
    entities = repository.graph.entities()
    match = resolve_entity(name, entities) if name else None
    rows = [
        (entity, ids)
        for entity, ids in entities.items()
        if match is None or entity in match.slugs + match.candidates
    ]
    answer(rows, ENTITY.but(line="{count:5}  {entity}  {ids:dim}") if name else None)
    if match is not None and match.message:
        note(match.message + (": name one of them" if match.candidates else ""))
    elif not entities:
        note(
            "no memory names an entity yet: write 'project:name' or 'person:name' into a text"
        )
    return 0 if match is None or not match.message else 1
