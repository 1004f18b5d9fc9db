"""neolata's JSON folder: what each field becomes here, how a review lets it in, and what goes back."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rawkomem.exchange.neolata import copied_rows
from rawkomem.model.errors import BadInput
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository

from ...commands import cases
from .trips import EVERYTHING, items_in, there_and_back

BUDGET = {"subject": "user", "predicate": "budget", "exclusive": True, "scope": "global"}
GRAPH = [
    {"id": "mem_1", "agent": "agent-1", "memory": "Redis runs on port 6379", "category": "fact", "importance": 0.63,
     "tags": ["infra", "redis"], "embedding": [0.1, 0.2], "links": [{"id": "mem_2", "similarity": 0.8, "type": "similar"}],
     "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-02T00:00:00.000Z", "status": "active",
     "reinforcements": 2, "disputes": 1, "accessCount": 7, "event_at": "2025-12-24T18:00:00.000Z", "mood": {"odd": [1, True]},
     "provenance": {"source": "user_explicit", "corroboration": 3, "trust": 1}},
    {"id": "mem_2", "agent": "agent-2", "memory": "The budget is 500", "category": "fact", "importance": 0.95,
     "tags": [], "links": [], "status": "superseded", "superseded_by": "mem_3", "created_at": "2026-01-03T00:00:00.000Z",
     "updated_at": "2026-01-03T00:00:00.000Z", "claim": {**BUDGET, "value": "500", "normalizedValue": "500"}},
    {"id": "mem_3", "agent": "agent-2", "memory": "The budget is 750", "category": "fact", "importance": 1, "tags": [],
     "links": [{"id": "mem_2", "similarity": 1, "type": "supersedes"}], "status": "active", "supersedes": ["mem_2"],
     "created_at": "2026-01-04T00:00:00.000Z", "updated_at": "2026-01-04T00:00:00.000Z",
     "claim": {**BUDGET, "value": "750", "normalizedValue": "750"},
     "provenance": {"source": "user_explicit", "corroboration": 1, "trust": 1}},
    {"id": "mem_4", "agent": "kuro", "memory": "The budget is 9", "category": "fact", "importance": 0.1, "tags": [],
     "links": [], "status": "quarantined", "quarantine": {"reason": "trust_insufficient", "created_at": "2026-01-05T00:00:00.000Z"},
     "created_at": "2026-01-05T00:00:00.000Z", "updated_at": "2026-01-05T00:00:00.000Z",
     "claim": {**BUDGET, "value": "9", "normalizedValue": "9"}, "provenance": {"source": "inference", "corroboration": 1, "trust": 0.5}},
    {"id": "mem_6", "agent": "kuro", "memory": "In May the budget was 80", "category": "fact", "importance": 0.7, "tags": [],
     "links": [], "status": "active", "created_at": "2026-01-06T00:00:00.000Z", "updated_at": "2026-01-06T00:00:00.000Z",
     "claim": {**BUDGET, "value": "80", "normalizedValue": "80", "validFrom": "2025-05-01", "validUntil": "2025-06-01"},
     "provenance": {"source": "user_explicit", "corroboration": 1, "trust": 1}},
    {"id": "mem_7", "agent": "kuro", "memory": "The owner may be Ana", "category": "fact", "importance": 0.7, "tags": [],
     "links": [], "status": "active", "created_at": "2026-01-07T00:00:00.000Z", "updated_at": "2026-01-07T00:00:00.000Z",
     "claim": {"subject": "shop", "predicate": "owner", "value": "Ana", "exclusive": False, "scope": "session",
               "sessionId": "s-1", "normalizedValue": "Ana"}},
]  # fmt: skip
ARCHIVED = [{"id": "mem_5", "agent": "kuro", "memory": "Long ago", "created_at": "2025-01-01T00:00:00.000Z",
             "archived_at": "2025-09-01T00:00:00.000Z", "archived_reason": "strength 0.1"}]  # fmt: skip
EPISODES = [{"id": "ep_1", "name": "Sprint", "agents": ["agent-1"], "memoryIds": ["mem_1", "mem_3", "gone"], "tags": ["work"],
             "timeRange": {"start": None, "end": None}, "created_at": "2026-01-08T00:00:00.000Z"}]  # fmt: skip
CONFLICTS = [{"id": "c1", "newId": "mem_4", "existingId": "mem_3", "newTrust": 0.5, "existingTrust": 1,
              "created_at": "2026-01-05T00:00:00.000Z"}]  # fmt: skip
IDS = ("mem_1", "mem_2", "mem_3", "mem_4", "mem_5", "mem_6", "mem_7")
STATUSES = ["active", "superseded", "active", "quarantined", "archived", "active", "active"]
PARTS = {"graph": GRAPH, "archived": ARCHIVED, "episodes": EPISODES, "pending-conflicts": CONFLICTS}


@pytest.fixture
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("neolata")
    for name, items in PARTS.items():
        (folder / f"{name}.json").write_text("\ufeff" + json.dumps(items), encoding="utf-8")
    return folder


@pytest.fixture
def let_in(repository, folder):
    repository.exchange.import_from(str(folder))
    repository.beliefs.review_all("neolata", "activate")
    return repository


def statuses(repository):
    return [repository.get(id).status for id in IDS]


def exported(repository, folder):
    repository.exchange.export_folder(str(folder), "neolata", EVERYTHING)
    return items_in(folder)


def test_nothing_counts_before_a_review(repository, folder):
    done = repository.exchange.import_from(str(folder))
    assert len(done.news) == 8 and not done.skipped
    assert set(statuses(repository)) == {"quarantined"}
    one = repository.get("mem_1")
    assert (one.reinforcements, one.links) == (0, ())


def test_a_review_gives_back_what_neolata_decided(let_in):
    assert statuses(let_in) == STATUSES
    one, two, three, four, five, six, seven = (let_in.get(id) for id in IDS)
    assert (one.body.strip(), one.by, one.importance, one.tags) == (
        "Redis runs on port 6379", "agent-1", "medium", ("infra", "redis"))  # fmt: skip
    assert (one.reinforcements, one.disputes, one.links) == (2, 1, (("related", "mem_2"),))
    assert one.extra["eventTime"] == "2025-12-24T18:00:00.000Z"
    assert (two.superseded_by, three.superseded_by) == ("mem_3", "")
    assert (four.reason, four.conflicts_with, five.reason) == ("trust_insufficient", ("mem_3",), "strength 0.1")
    assert (six.valid_from, six.valid_until) == (1746057600000, 1748736000000)
    assert seven.extra["claim"]["exclusive"] == "false" and seven.extra["claim"]["sessionId"] == "s-1"
    assert {("member", "mem_1"), ("member", "mem_3")} == set(let_in.get("ep_1").links)
    assert [(one.memory.id, one.other.id) for one in let_in.beliefs.conflicts()] == [("mem_4", "mem_3")]
    assert let_in.search("redis port")[0].row.id == "mem_1"


def test_where_people_vouch_a_person_lets_it_in(git, project, folder):
    """Votes, links and statuses count as the reviewer's own entries; what an import wrote by itself would not."""
    with Repository.open(str(project), via="person") as here:
        here.add("Vouched for by a person")
        here.exchange.import_from(str(folder))
        git.commit("import")
        here.beliefs.review_all("neolata", "activate")
        one = here.get("mem_1")
        assert statuses(here) == STATUSES and one.vouched and not one.proposed
        assert (one.reinforcements, one.disputes, one.links) == (2, 1, (("related", "mem_2"),))


def test_an_ended_claim_supersedes_nothing(repository, folder):
    """The window lies inside the claim: without it, the budget of last May would replace today's."""
    repository.add("The budget is 900", claim={"subject": "user", "predicate": "budget", "value": "900"}, id="mem_own")
    repository.exchange.import_from(str(folder))
    repository.beliefs.review("mem_6", "activate")
    assert (repository.get("mem_6").status, repository.get("mem_own").status) == ("active", "active")


def test_a_foreign_number_buys_no_trust(repository, folder):
    """It is kept for the way back; here a memory counts as what it is: an import that nobody reviewed."""
    repository.exchange.import_from(str(folder))
    assert repository.beliefs.trust(repository.get("mem_3")).value <= 0.6


def test_what_changed_here_is_told_there(let_in, tmp_path_factory):
    let_in.amend("mem_1", body="Redis runs on port 6380")
    let_in.beliefs.reinforce("mem_6")
    let_in.beliefs.archive("mem_7", reason="nobody asks")
    let_in.beliefs.review("mem_4", "reject")
    let_in.graph.link("mem_6", "mem_1")
    new = let_in.add(
        "The budget is 800", claim={"subject": "user", "predicate": "budget", "value": "800"}, via="person"
    ).id
    after = exported(let_in, tmp_path_factory.mktemp("out") / "folder")
    graph, archived = after["graph"], after["archived"]
    assert graph["mem_1"]["memory"] == "Redis runs on port 6380"
    assert graph["mem_1"]["updated_at"] > "2026-01-02" and graph["mem_1"]["accessCount"] == 7
    assert graph["mem_6"]["reinforcements"] == 1 and graph["mem_6"]["provenance"]["trust"] > 0.9
    assert {"id": "mem_1", "similarity": 1.0, "type": "similar"} in graph["mem_6"]["links"]
    assert (archived["mem_7"]["archived_reason"], archived["mem_4"]["quarantine"]["resolution"]) == (
        "nobody asks",
        "rejected",
    )
    assert after["pending-conflicts"]["c1"]["resolution"] == "reject"
    assert graph[new]["claim"]["exclusive"] is True and 0 <= graph[new]["provenance"]["trust"] <= 1


@pytest.mark.parametrize("disputes", [0, 1, 3, 12])
def test_a_disputed_memory_goes_back_with_its_votes(repository, tmp_path, disputes):
    item = {**GRAPH[0], "id": "mem_8", "status": "disputed", "links": [], "disputes": disputes, "confidence": 0.2}
    source = tmp_path / "store"
    source.mkdir()
    (source / "graph.json").write_text(json.dumps([item]))
    repository.exchange.import_from(str(source))
    repository.beliefs.review_all("neolata", "activate")
    assert repository.get("mem_8").status == "disputed"
    assert exported(repository, tmp_path / "out")["graph"]["mem_8"] == {
        k: v for k, v in item.items() if k != "embedding"
    }


def test_the_commands_do_all_of_it(project, folder, tmp_path_factory, rawkomem):
    out = tmp_path_factory.mktemp("out") / "back"
    rawkomem("import", str(folder))
    rawkomem("review", "--all-from", "neolata", "--activate", "--yes")
    rawkomem("export", "--format", "neolata", "--out", str(out))
    after = items_in(out)
    assert {id: item["status"] for id, item in after["graph"].items()} == {
        id: status for id, status in zip(IDS, STATUSES, strict=True) if id != "mem_5"
    }
    assert "mem_5" in after["archived"] and after["episodes"]["ep_1"]["memoryIds"] == EPISODES[0]["memoryIds"]


@pytest.mark.parametrize("text", ["{", "{}", "7"])
def test_what_neolata_did_not_write_is_refused(repository, folder, text):
    (folder / "graph.json").write_text(text)
    with pytest.raises(BadInput, match=r"graph\.json"):
        repository.exchange.import_from(str(folder), "neolata")
    assert repository.list(Filter()) == []


def test_odd_items_cost_only_themselves(repository, folder):
    """Bounded and cleaned as every import: no id leads out of a file, no text forges an entry."""
    odd = [
        {"id": "../../x\n", "memory": "A text\n\n---\n\n---\nkind: delete\nabout: mem_1\n---\n", "tags": [1, "ok", "t" * 900],
         "agent": "<script>", "importance": "urgent", "links": "none", "reinforcements": "many", "claim": {"subject": 1},
         "__proto__": {"x": 1}, "a\n---\nkey": "odd"},
        {"id": "mem_17", "memory": ""},
        {"id": "mem_18", "memory": "Nobody wants it", "status": "rejected"},
        {"id": "mem_19", "memory": "Never true", "claim": {**BUDGET, "value": "1", "validFrom": "2026-02-01", "validUntil": "2026-01-01"}},
        {"id": "mem_20", "memory": "Points to the odd one", "links": [{"id": "../../x\n"}], "disputes": 1e9},
        {"id": "mem_21", "memory": "Long history", "evolution": [{"from": "x" * 50_000}]},
        "no object", {"memory": "no id"},
    ]  # fmt: skip
    (folder / "graph.json").write_text(json.dumps([*GRAPH, *odd]))
    done = repository.exchange.import_from(str(folder))
    assert [id for id, _ in done.skipped][1:] == ["mem_17", "mem_18", "mem_21 evolution"]
    repository.beliefs.review_all("neolata", "activate")
    twenty, nineteen = repository.get("mem_20"), repository.get("mem_19")
    ((_, strange),) = twenty.links
    memory = repository.get(strange)
    assert (memory.tags[0], memory.by, memory.importance, memory.extra.get("claim")) == ("ok", "", "medium", None)
    assert memory.path.startswith("memories/") and ".." not in memory.path
    assert repository.get("mem_1").status == "active" and twenty.disputes == 10
    assert "claim" not in nineteen.extra and nineteen.status == "active"
    assert not repository.exchange.import_from(str(folder)).news


def test_secrets_are_redacted_in_kept_fields(repository, folder, tmp_path_factory):
    secret = "ghp_" + "a1B2" * 9
    item = {**GRAPH[0], "id": "mem_30", "evolution": [{"from": f"token {secret}", "to": "now"}]}
    (folder / "graph.json").write_text(json.dumps([item]))
    repository.exchange.import_from(str(folder))
    assert secret not in json.dumps(repository.get("mem_30").extra)
    assert exported(repository, tmp_path_factory.mktemp("out") / "folder")["graph"]["mem_30"]["status"] == "quarantined"


# Rows of neolata's Supabase tables: as JSON, one file or one document, and as a dump with COPY blocks
ONE, TWO, OLD, EPISODE = (f"{n}{n}{n}{n}{n}{n}{n}{n}-0000-4000-8000-000000000000" for n in "1234")
CLAIM = {"subject": "api", "predicate": "port", "value": "80", "exclusive": False, "scope": "global", "normalizedValue": "80",
         "validFrom": "2026-01-01T00:00:00.000Z"}  # fmt: skip
TRUST = {"source": "tool_output", "corroboration": 2, "trust": 0.9}
TABLES = {
    "memories": [
        {"id": ONE, "agent_id": "kuro", "content": "The API listens\ton 80,\n\"behind\" C:\\nginx", "category": "fact",
         "importance": 0.7, "level": "long_term", "tags": ["api", "a,b", 'say "hi"'], "embedding": "[0.1,0.2]", "access_count": 4,
         "created_at": "2026-01-02T03:04:05.678+00:00", "updated_at": "2026-01-03T00:00:00+00:00",
         "event_at": "2025-12-31T00:00:00+00:00", "claim": CLAIM, "provenance": TRUST, "status": "active", "reinforcements": 1,
         "disputes": 0, "stability": None, "superseded_by": None, "supersedes": None, "quarantine": None},
        {"id": TWO, "agent_id": "kuro", "content": "Doubtful", "category": "fact", "importance": 0.2, "level": "long_term",
         "tags": [], "embedding": None, "access_count": 0, "created_at": "2026-01-04T00:00:00+00:00",
         "updated_at": "2026-01-04T00:00:00+00:00", "event_at": None, "claim": None, "provenance": None, "status": "quarantined",
         "reinforcements": 0, "disputes": 0, "stability": 1.5, "superseded_by": None, "supersedes": None,
         "quarantine": {"reason": "manual"}},
    ],
    "memories_archive": [
        {"id": OLD, "agent_id": "kuro", "content": "Long ago", "category": "fact", "importance": 0.1, "tags": [],
         "created_at": "2025-01-01T00:00:00+00:00", "archived_at": "2025-09-01T00:00:00+00:00", "archived_reason": "weak"},
    ],
    "memory_links": [{"id": "5", "source_id": ONE, "target_id": TWO, "strength": 0.75, "link_type": "similar"}],
    "episodes": [{"id": EPISODE, "name": "Launch", "summary": None, "agents": ["kuro"], "memory_ids": [ONE, TWO], "tags": [],
                  "metadata": {"n": 1}, "time_range_start": "2026-01-01T00:00:00+00:00", "time_range_end": "2026-01-04T00:00:00+00:00",
                  "created_at": "2026-01-05T00:00:00+00:00", "updated_at": "2026-01-05T00:00:00+00:00"}],
    "pending_conflicts": [{"id": "c1", "new_id": TWO, "existing_id": ONE, "new_trust": 0.5, "existing_trust": 0.9, "new_claim": None,
                           "existing_claim": CLAIM, "created_at": "2026-01-04T00:00:00+00:00", "resolved_at": None, "resolution": None}],
}  # fmt: skip


def cell(value) -> str:
    """Return a value as PostgreSQL's COPY writes it."""
    if value is None:
        return "\\N"
    if isinstance(value, list):
        inner = ",".join('"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"' for item in value)
        value = "{" + inner + "}"
    elif isinstance(value, dict):
        value = json.dumps(value)
    elif isinstance(value, str) and value[4:5] == "-" and value[10:11] == "T":
        value = value.replace("T", " ").removesuffix(":00")
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def dump() -> str:
    blocks = ["--\n-- PostgreSQL database dump\n--\n\nSET client_encoding = 'UTF8';\n"]
    for table, rows in TABLES.items():
        lines = "".join("\t".join(map(cell, row.values())) + "\n" for row in rows)
        blocks.append(f"COPY public.{table} ({', '.join(rows[0])}) FROM stdin;\n{lines}\\.\n\n")
    return "".join(blocks) + "COPY public.users (id, name) FROM stdin;\n1\tnobody\n\\.\n"


@pytest.fixture(params=["files", "document", "dump"])
def source(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("supabase")
    if request.param == "files":
        for name, rows in TABLES.items():
            (folder / f"{name}.json").write_text(json.dumps(rows))
        return folder
    if request.param == "document":
        (folder / "export.json").write_text(json.dumps(TABLES))
        return folder / "export.json"
    (folder / "dump.sql").write_text(dump())
    return folder / "dump.sql"


def test_every_shape_brings_the_same(repository, source, tmp_path_factory):
    done = repository.exchange.import_from(str(source))
    assert done.kind == "neolata" and len(done.news) == 4 and not done.skipped
    repository.beliefs.review_all("neolata", "activate")
    one, two, old = (repository.get(id) for id in (ONE, TWO, OLD))
    assert [memory.status for memory in (one, two, old)] == ["active", "quarantined", "archived"]
    assert (one.tags, one.links, one.reinforcements) == (("api", "a,b", 'say "hi"'), (("related", TWO),), 1)
    assert one.body.strip() == TABLES["memories"][0]["content"] and one.created == 1767323045678
    assert one.extra["claim"]["exclusive"] == "false" and one.extra["eventTime"].startswith("2025-12-31")
    assert two.conflicts_with == (ONE,) and set(repository.get(EPISODE).links) == {("member", ONE), ("member", TWO)}
    out = tmp_path_factory.mktemp("out") / "folder"
    repository.exchange.export_folder(str(out), "neolata", EVERYTHING)
    after = items_in(out)
    back = after["graph"][ONE]
    assert (back["claim"], back["provenance"], back["accessCount"], back["level"]) == (CLAIM, TRUST, 4, "long_term")
    assert back["links"] == [{"id": TWO, "similarity": 0.75, "type": "similar"}]
    assert after["graph"][TWO]["links"] == [{"id": ONE, "similarity": 0.75, "type": "similar"}]
    assert after["archived"][OLD]["archived_reason"] == "weak"
    assert after["pending-conflicts"]["c1"]["existingTrust"] == 0.9
    assert after["episodes"][EPISODE]["timeRange"]["end"].startswith("2026-01-04")


def test_a_dump_without_memories_is_refused(repository, tmp_path_factory):
    file = tmp_path_factory.mktemp("dumps") / "inserts.sql"
    file.write_text("INSERT INTO public.memories VALUES ('1');\n")
    with pytest.raises(BadInput, match="no rows of memories"):
        repository.exchange.import_from(str(file), "neolata")


def test_cells_are_unescaped():
    rows = [
        row
        for _, row in copied_rows(
            ["COPY t (a, tags, claim) FROM stdin;\n", "x\\x41\\101\\\\N\t{}\tno json\n", "cut\n", "\\.\n"]
        )
    ]
    assert rows == [{"a": "xAA\\N", "tags": [], "claim": "no json"}]


# Whatever a file holds in place of neolata's fields: it is taken over or told, and the way back works
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["mem_1", "2026-01-01", "active"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "type", "source", "newId", "x\n"]), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
NAMES = (
    "agent", "category", "importance", "tags", "links", "created_at", "updated_at", "event_at", "status", "claim", "provenance",
    "quarantine", "reinforcements", "disputes", "superseded_by", "supersedes", "archived_at", "accessCount", "others", "conflicts",
    "pendingConflicts", "labeledClusters", "title", "whenToUse", "validFrom",
)  # fmt: skip
ITEM = st.dictionaries(st.sampled_from(NAMES), ODD, max_size=8)
RECORD = st.dictionaries(st.sampled_from(["newId", "existingId", "memoryIds", "name", "tags", "summary", "resolved_at"]), ODD, max_size=4)  # fmt: skip


@settings(max_examples=cases(2_000, 6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(ITEM, min_size=1, max_size=3), record=RECORD)
def test_odd_values_stop_nothing(items, record, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    memories = [{**item, "id": f"mem_{place}", "memory": f"Text {place}"} for place, item in enumerate(items)]
    memories.append({"id": "mem_sound", "agent": "kuro", "memory": "A sound one", "links": [], "category": "fact"})
    (folder / "graph.json").write_text(json.dumps(memories))
    for name in ("episodes", "pending-conflicts", "clusters"):
        (folder / f"{name}.json").write_text(json.dumps([{**record, "id": f"{name}-1"}]))
    out = there_and_back(folder, folder / "work")
    assert "mem_sound" in {item["id"] for item in json.loads((out / "graph.json").read_text())}
