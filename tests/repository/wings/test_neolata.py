"""neolata's JSON folder: in, out, and in again."""

from __future__ import annotations

import json

import pytest

from rawkomem.files.start import plan_start, write_start
from rawkomem.model.errors import BadInput
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository

GRAPH = [
    {"id": "mem_1", "agent": "agent-1", "memory": "Redis runs on port 6379", "category": "fact", "importance": 0.7,
     "tags": ["infra", "redis"], "embedding": [0.1, 0.2], "links": [{"id": "mem_2", "similarity": 0.8}],
     "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-02T00:00:00.000Z", "reinforcements": 2},
    {"id": "mem_2", "agent": "agent-2", "memory": "The budget is 500", "importance": 0.95, "status": "superseded",
     "superseded_by": "mem_3", "created_at": "2026-01-03T00:00:00.000Z",
     "claim": {"subject": "user", "predicate": "budget", "value": "500"}},
    {"id": "mem_3", "agent": "agent-2", "memory": "The budget is 750", "importance": 1,
     "created_at": "2026-01-04T00:00:00.000Z", "provenance": {"source": "user_explicit", "corroboration": 1}},
    {"id": "mem_4", "agent": "", "memory": "Doubtful", "importance": 0.1, "status": "quarantined",
     "quarantine": {"reason": "trust_insufficient"}, "created_at": "2026-01-05T00:00:00.000Z"},
]  # fmt: skip
ARCHIVED = [{"id": "mem_5", "memory": "Long ago", "created_at": "2025-01-01T00:00:00.000Z"}]
EPISODES = [{"id": "ep_1", "name": "Sprint", "memoryIds": ["mem_1", "mem_3", "gone"], "tags": ["work"]}]


@pytest.fixture
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("neolata")
    for name, items in (("graph", GRAPH), ("archived", ARCHIVED), ("episodes", EPISODES)):
        (folder / f"{name}.json").write_text("\ufeff" + json.dumps(items), encoding="utf-8")
    return folder


def test_a_folder_becomes_memories(repository, folder):
    done = repository.exchange.import_neolata(str(folder))
    assert (done.added, done.known) == (6, 0)
    one, two, three, four, five = (repository.get(f"mem_{n}") for n in range(1, 6))
    assert (one.body.strip(), one.by, one.importance, one.tags) == (
        "Redis runs on port 6379", "agent-1", "medium", ("infra", "redis"))  # fmt: skip
    assert one.reinforcements == 2 and ("related", "mem_2") in one.links and one.extra["category"] == "fact"
    assert (two.status, two.superseded_by, three.status, three.importance) == (
        "superseded",
        "mem_3",
        "active",
        "critical",
    )
    assert (four.status, four.reason, four.importance) == ("quarantined", "trust_insufficient", "low")
    assert five.status == "archived"
    assert {("member", "mem_1"), ("member", "mem_3")} == set(repository.get("ep_1").links)
    assert repository.search("redis port")[0].row.id == "mem_1"


def test_a_second_import_adds_nothing(repository, folder):
    repository.exchange.import_neolata(str(folder))
    before = sorted((row.id, repository.get(row.id).entries) for row in repository.list(Filter()))
    assert repository.exchange.import_neolata(str(folder)).added == 0
    assert sorted((row.id, repository.get(row.id).entries) for row in repository.list(Filter())) == before


def test_what_is_exported_is_imported_as_it_was(repository, folder, tmp_path_factory):
    repository.exchange.import_neolata(str(folder))
    out, elsewhere = tmp_path_factory.mktemp("out"), tmp_path_factory.mktemp("elsewhere")
    assert repository.exchange.export_neolata(str(out)) == 6
    write_start(plan_start(str(elsewhere)))
    other = Repository.open(str(elsewhere), store="memory")
    other.exchange.import_neolata(str(out))
    for id in ("mem_1", "mem_2", "mem_3", "mem_4", "mem_5", "ep_1"):
        ours, theirs = repository.get(id), other.get(id)
        for field in (
            "body",
            "by",
            "tags",
            "importance",
            "status",
            "created",
            "reinforcements",
            "links",
            "superseded_by",
        ):
            assert getattr(theirs, field) == getattr(ours, field), (id, field)
    other.close()
    graph = {item["id"]: item for item in json.loads((out / "graph.json").read_text())}
    assert "mem_5" not in graph and graph["mem_2"]["claim"]["value"] == "500"


@pytest.mark.parametrize("text", ["{", "{}", '[{"memory": "no id"}]', "[1]"])
def test_what_neolata_did_not_write_is_refused(repository, folder, text):
    (folder / "graph.json").write_text(text)
    with pytest.raises(BadInput, match=r"graph\.json"):
        repository.exchange.import_neolata(str(folder))
    assert repository.list(Filter()) == []


def test_a_folder_without_a_graph_is_named(repository, tmp_path):
    with pytest.raises(BadInput, match=r"no graph\.json"):
        repository.exchange.import_neolata(str(tmp_path))


def test_odd_items_cost_only_themselves(repository, folder):
    """Bounded and cleaned as every import: no id leads out of a file, no text forges an entry."""
    odd = [
        {"id": "../../x\n", "memory": "A text\n\n---\n\n---\nkind: delete\nabout: mem_1\n---\n", "tags": [1, "ok", "t" * 900],
         "agent": "<script>", "importance": "urgent", "links": "none", "reinforcements": "many", "claim": {"subject": 1}},
        {"id": "mem_7", "memory": ""},
        {"id": "mem_8", "memory": "Nobody wants it", "status": "rejected"},
        {"id": "mem_9", "memory": "Never true", "validFrom": "2026-02-01", "validUntil": "2026-01-01"},
        {"id": "mem_10", "memory": "Points to the odd one", "links": [{"id": "../../x\n"}], "disputes": 1e9},
    ]  # fmt: skip
    (folder / "graph.json").write_text(json.dumps([*GRAPH, *odd]))
    done = repository.exchange.import_neolata(str(folder))
    assert [id for id, _ in done.skipped] == ["mem_7", "mem_8", "mem_9"]
    ten = repository.get("mem_10")
    ((_, strange),) = [link for link in ten.links if link[0] == "related"]
    memory = repository.get(strange)
    assert (memory.tags[0], memory.by, memory.importance, memory.extra.get("claim")) == ("ok", "", "medium", None)
    assert memory.path.startswith("memories/") and ".." not in memory.path
    assert repository.get("mem_1").status == "active" and ten.disputes == 10
    assert repository.exchange.import_neolata(str(folder)).added == 0
