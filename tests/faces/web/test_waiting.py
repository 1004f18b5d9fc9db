"""What waits for a decision on the page: the one list, the cards, and what the decisions do."""

import pytest
from rawkomem.model.entries import Draft, Entry
from rawkomem.repository import Repository

from tests.faces.web.conftest import Client, serve, stop

EDITED = {"title": "No lodash", "text": "Use es-toolkit.", "when": ["lodash|es-toolkit", " "]}
CLAIM = {"subject": "seat", "predicate": "hold", "value": "15 minutes"}


@pytest.fixture
def draft(repository) -> Draft:
    old = repository.add(Entry(title="Use lodash", body="Use lodash."))
    made = Draft(
        id="drf_1", kind="correction", said="we don't use\nlodash <b>any</b> more", before="I imported lodash.",
        title="We don't use lodash", text="we don't use *lodash*", when=("lodash",), corrects=(old.id, "mem_gone"), at=5,
    )  # fmt: skip
    repository.drafts.store.put([made, Draft(id="drf_2", kind="rule", said="use tabs", title="Tabs", text="use tabs")])
    return made


def named(client: Client, id: str) -> dict:
    """What a decision about an item names: its key and the words that were shown."""
    (item,) = [one for one in client.get("/api/waiting")["items"] if id in one["id"].split(":")]
    return {"id": item["id"], "shown": item["shown"]}


def decide(client: Client, decision: str, *items: dict, reason: str = "") -> dict:
    status, answer = client.post("/api/act", {"action": decision, "items": [*items], "reason": reason})
    assert status == 200
    return answer


def propose(project, **fields) -> None:
    with Repository.open(str(project), via="agent") as agent:
        agent.amend("why-apsw", **(fields or {"body": "Because of nothing."}))


def test_the_page_lists_what_the_library_lists(client, git, project, held, draft, repository):
    git.commit()
    propose(project)
    told = client.get("/api/waiting")
    assert [item["waits"] for item in told["items"]] == [item.kind for item in repository.waiting()]
    assert client.get("/api/overview")["waiting"] == len(told["items"]) == 4
    assert told["item"]["id"] == told["items"][0]["id"] and told["item"]["waits"] == "proposal"
    last = told["items"][-1]["id"]
    assert client.get(f"/api/waiting?key={last}")["item"]["id"] == last
    assert client.get("/api/waiting?key=gone")["item"]["id"] == told["item"]["id"]


def test_a_draft_shows_its_exchange_and_what_it_replaces(client, draft):
    item = client.get("/api/waiting?key=draft:drf_1")["item"]
    assert item["form"] == {"title": draft.title, "text": draft.text, "when": ["lodash"]}
    assert item["exchange"] == [{"who": "agent", "words": draft.before}, {"who": "person", "words": draft.said}]
    assert "<em>lodash</em>" in item["html"] and {*item["decisions"]} == {"keep", "drop"}
    assert [memory["title"] for memory in item["rivals"]] == ["Use lodash"]


@pytest.mark.parametrize("edited", [{}, EDITED])
def test_a_kept_draft_is_a_memory_with_the_persons_words(edited, client, draft, repository):
    answer = decide(client, "keep", {**named(client, "drf_1"), **edited})
    memory = repository.get(answer["entries"][0])
    wanted = (
        ("No lodash", "Use es-toolkit.", ("lodash|es-toolkit",)) if edited else (draft.title, draft.text, draft.when)
    )
    assert answer["failed"] == [] and (memory.title, memory.body, memory.when) == wanted
    assert repository.beliefs.trust(memory).standing.verified and "any" in memory.extra["quote"]
    assert repository.get(draft.corrects[0]).superseded_by == memory.id
    assert [item["id"] for item in client.get("/api/waiting")["items"]] == ["draft:drf_2"]


@pytest.mark.parametrize("decision", ["keep", "drop"])
def test_undo_lets_a_draft_wait_again(decision, client, draft, repository):
    before = repository.drafts.all()
    answer = decide(client, decision, named(client, "drf_1"))
    assert len(repository.drafts.all()) == 1
    assert client.post("/api/undo", {"entries": answer["entries"]})[0] == 200
    assert repository.drafts.all() == before and repository.get(draft.corrects[0]).status == "active"


def test_a_decision_is_about_the_words_that_were_shown(client, git, project, held, draft, repository):
    git.commit()
    propose(project)
    shown = [named(client, id) for id in ("drf_1", repository.get("why-apsw").id, held)]
    repository.drafts.edit("drf_1", text="Something else.")
    propose(project, title="Another")
    with Repository.open(str(project), via="person") as person:
        person.amend(held, body="Another text.")
    answer = decide(client, "keep", *shown)
    assert [one["id"] for one in answer["failed"]] == [one["id"] for one in shown]
    assert len(repository.drafts.all()) == 2 and repository.get(held).status == "quarantined"
    assert "nothing" not in repository.get("why-apsw").body


@pytest.mark.parametrize(
    "said",
    [
        {"when": "lodash"}, {"when": [5]}, {"text": "x" * 12_001}, {"when": ["(open"]}, {"id": "draft:drf_none"}, {"id": ""},
        {"id": 5}, {"shown": ""}, {"shown": 5}, {"title": ["a"]},
    ],
)  # fmt: skip
def test_a_wrong_decision_changes_nothing(said, client, draft, repository):
    before = repository.drafts.all()
    answer = decide(client, "keep", {**named(client, "drf_1"), **said})
    assert answer["done"] == 0 and answer["failed"][0]["error"] and answer["failed"][0]["hint"]
    assert repository.drafts.all() == before and len(repository.list()) == 1


def test_a_held_memory_is_let_out_and_vouched_for(client, held, repository):
    shown = named(client, held)
    card = client.get("/api/waiting")["item"]
    assert (card["memory"], card["reason"], card["rivals"]) == (held, "from outside", [])
    assert decide(client, "keep", {**shown, "text": "Somebody looked at it."}, reason="looked at it")["done"] == 1
    memory = repository.get(held)
    assert memory.status == "active" and memory.body == "Somebody looked at it."
    assert repository.beliefs.trust(memory).standing.verified and client.get("/api/waiting")["items"] == []
    assert decide(client, "keep", shown)["done"] == 0


def test_a_server_that_a_program_started_vouches_for_nothing(project, held, repository):
    server = serve(project, via="agent")
    decide(Client(server), "keep", named(Client(server), held))
    stop(server)
    assert not repository.beliefs.trust(repository.get(held)).standing.verified


def test_a_proposed_change_is_shown_on_its_memory_and_applied(client, git, project, held, repository):
    git.commit()
    before = repository.get("why-apsw").body
    propose(project)
    (item,) = client.get("/api/memory?id=why-apsw")["waits"]
    assert item["waits"] == "proposal" and item["proposal"]["changes"][0]["kind"] == "amend"
    (field,) = item["proposal"]["fields"]
    for side, text in (("old", before), ("new", "Because of nothing.")):
        assert "".join(part for what, part in field["parts"] if what in ("same", side)) == text
    assert item["form"]["text"] == "Because of nothing."
    answer = decide(client, "keep", {"id": item["id"], "shown": item["shown"], "title": "Why not"})
    memory = repository.get("why-apsw")
    assert (memory.title, memory.body, memory.proposed) == ("Why not", "Because of nothing.", ())
    assert client.post("/api/undo", {"entries": answer["entries"]})[0] == 200
    assert repository.get("why-apsw").body == before and repository.get("why-apsw").proposed


def test_a_contradiction_compares_claims_and_says_what_a_decision_does(client, repository):
    repository.add(Entry(title="Fifteen", body="Seen in the shop.", extra={"claim": CLAIM}), via="person")
    rival = Entry(title="Thirty", body="Seen in the app.", extra={"claim": {**CLAIM, "value": "30 minutes"}})
    id = repository.add(rival, via="agent").id
    item = client.get("/api/waiting")["item"]
    (other,) = item["rivals"]
    assert (item["title"], other["title"]) == ("Thirty", "Fifteen")
    assert [text for what, text in other["parts"] if what != "same"] == ["15", "30"]
    assert "insufficient" not in str(item), "it was about the trust of another moment"
    assert item["decisions"]["keep"] == "use it in place of the other"
    (on_memory,) = client.get(f"/api/memory?id={id}")["waits"]
    assert on_memory["id"] == item["id"]
    decide(client, "keep", named(client, id))
    assert (repository.get("fifteen").status, repository.get(id).status) == ("superseded", "active")


def test_what_a_program_keeps_is_an_agents_word(project, draft, repository):
    server = serve(project, via="agent")
    try:
        (id, *_) = decide(Client(server), "keep", named(Client(server), "drf_1"))["entries"]
    finally:
        stop(server)
    assert not repository.beliefs.trust(repository.get(id)).standing.verified
