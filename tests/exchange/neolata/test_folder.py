"""neolata's JSON folder: what each field becomes here, how a review lets it in, and what goes back."""

import json

import pytest
from rawkomem.model.errors import BadInput
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository

from .trips import EVERYTHING, items_in

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
        git("add", "-A")
        git("commit", "-qm", "import")
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
