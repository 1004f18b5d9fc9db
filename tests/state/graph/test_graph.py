"""The graph: references, walks, clusters; the seed's scenario step by step."""

import random

import pytest
from rawkomem.model.entries import Entry, Memory
from rawkomem.model.errors import BadInput, NotFound, Refused
from rawkomem.state.changes import Names, plan_link, plan_unlink
from rawkomem.state.fold import fold
from rawkomem.state.graph import LinkGraph, build_graph, clusters, shortest_path, traverse

from tests.seeds import seed_cases


def memory(id: str, **fields) -> Memory:
    return Memory(id, **{"title": id.upper(), "path": f"memories/{id}.md", "line": 1, **fields})


def graph_of(*memories: Memory, similar=()) -> LinkGraph:
    return build_graph(memories, lambda memory: memory.status == "active", similar)


def ways(graph: LinkGraph) -> set[tuple[str, str, str]]:
    return {(edge.source, edge.type, edge.target) for edge in graph.edges}


def test_every_kind_of_reference_is_an_edge():
    graph = graph_of(
        memory("a", links=(("causes", "b"),), related=("c.md",), body="See [[d|D]] and [[e#part]].", heritage=("f",)),
        *map(memory, "bcdef"),
        memory("g", supersedes=("a",), extra={"derivedFrom": ["b", "c"]}),
        memory("h", superseded_by="g"),
    )
    assert ways(graph) == {
        ("a", "causes", "b"), ("a", "related", "c"), ("a", "mentions", "d"), ("a", "mentions", "e"),
        ("a", "heritage", "f"), ("g", "supersedes", "a"), ("g", "derivedFrom", "b"), ("g", "derivedFrom", "c"),
        ("g", "supersedes", "h"),
    }  # fmt: skip
    assert graph.broken == ()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("mem_1", ["mem_1"]), ("why-apsw", ["mem_1"]), ("why-apsw.md", ["mem_1"]), ("Why apsw", ["mem_1"]),
        ("WHY-APSW", ["mem_1"]), ("lessons/twice", ["les_1"]), ("twice", ["les_1", "mem_3"]), ("mem_1#part", ["mem_1"]),
        ("why-apsw#2", ["why-apsw#2"]), ("nobody", []), ("", []), ("#", []), ("mem_", []),
    ],
)  # fmt: skip
def test_names(name, found):
    names = Names([
        memory("mem_1", path="memories/why-apsw.md"), memory("why-apsw#2", path="memories/why-apsw.md", line=9),
        memory("les_1", path="memories/lessons/twice.md"), memory("mem_3", path="traces/x/twice.md"),
    ])  # fmt: skip
    assert names.find(name) == found


def test_broken_and_unclear_references_are_told():
    graph = graph_of(
        memory("a", related=("gone", "twice")),
        memory("b", path="memories/x/twice.md"),
        memory("c", path="memories/y/twice.md"),
    )
    assert [(item.memory.id, item.type, item.name, item.candidates) for item in graph.broken] == [
        ("a", "related", "gone", ()),
        ("a", "related", "twice", ("b", "c")),
    ]


def test_as_the_seed_links_walks_and_clusters():
    """neolata's scenario, carried out with our plans and folds."""
    case = next(case for case in seed_cases() if case["function"] == "scenario:graph link/path/traverse/clusters")
    entries: dict[str, list[Entry]] = {}
    results = {}

    def graph() -> LinkGraph:
        return graph_of(*map(fold, entries.values()))

    for step in case["input"]["steps"]:
        operation, options = step["op"], step.get("opts", {})
        a, b = step.get("a", "").lstrip("@"), step.get("b", "").lstrip("@")
        if operation == "store":
            entries[step["as"]] = [Entry(id=step["as"], title=step["text"], path=f"memories/{step['as']}.md", at=1)]
        elif operation == "link":
            try:
                plan = plan_link(fold(entries[a]), fold(entries[b]), options.get("type", "related"), "")
                entries[a] += plan.entries
            except BadInput as failure:
                results[step["record"]] = failure.message.capitalize()
        elif operation == "path":
            steps = shortest_path(graph(), a, b)
            results[step["record"]] = {"found": bool(steps), "hops": len(steps) - 1}
        elif operation == "traverse":
            steps = traverse(graph(), step["ref"].lstrip("@"), step["hops"], options.get("types", ()))
            results[step["record"]] = {"reached": len(steps), "hops": [one.hop for one in steps]}
        else:
            results[step["record"]] = [len(cluster.ids) for cluster in clusters(graph(), step["min"])]
    expected = case["expected"]["results"]
    assert results == {**expected, "self": expected["self"]["error"]}


def test_answers_are_the_same_in_every_order():
    rest = random.Random(5)
    names = [f"m{n}" for n in range(60)]
    memories = [memory(name, related=tuple(rest.sample(names, 2))) for name in names]
    pairs = [(*sorted(rest.sample(names, 2)), 0.5) for _ in range(20)]

    def told(order: list[Memory]) -> list[object]:
        graph = graph_of(*order, similar=pairs)
        return [
            graph.edges,
            traverse(graph, "m1", 4),
            shortest_path(graph, "m1", "m50"),
            clusters(graph, 2),
        ]

    shuffled = memories.copy()
    rest.shuffle(shuffled)
    assert told(shuffled) == told(memories)


@pytest.mark.parametrize(
    ("first", "second", "type", "says"),
    [
        (memory("a"), memory("a"), "related", "cannot link a memory to itself"),
        (memory("a"), memory("b"), "two words", "not a type of link"),
        (memory("a"), memory("b"), "", "not a type of link"),
        (memory("a"), memory("b"), "x" * 33, "not a type of link"),
        (memory("a"), memory("b"), "similar", "'similar' is not a type of link that you can set"),
        (memory("a"), memory("b"), "member", "'member' is not a type"),
        (memory("a"), memory("b", status="deleted"), "related", "b is deleted"),
        (memory("a", links=(("related", "b"),)), memory("b"), "related", "already linked to b as 'related'"),
    ],
)
def test_links_that_cannot_be(first, second, type, says):
    with pytest.raises((BadInput, Refused)) as failure:
        plan_link(first, second, type, "")
    assert says in failure.value.message and failure.value.hint


def test_unlinking_takes_back_both_directions_or_one_type():
    a = memory("a", links=(("related", "b"), ("causes", "b"), ("related", "c")))
    b = memory("b", links=(("related", "a.md"),))
    told = [(entry.about, dict(entry.extra)) for entry in plan_unlink(a, b, "", "").entries]
    assert told == [
        ("a", {"to": "b", "removed": "true"}),
        ("a", {"to": "b", "type": "causes", "removed": "true"}),
        ("b", {"to": "a.md", "removed": "true"}),
    ]
    assert [entry.extra["type"] for entry in plan_unlink(a, b, "causes", "").entries] == ["causes"]
    with pytest.raises(NotFound, match="no link of type 'solves' between a and b"):
        plan_unlink(a, b, "solves", "")
