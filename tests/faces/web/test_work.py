"""Writing on the page: new memories, edits, links, decisions about several memories, health."""

import json

import pytest
from rawkomem.faces.web.page_changes import MAX_WORDS, difference
from rawkomem.model.entries import Entry
from rawkomem.model.values import DAY, now
from rawkomem.repository import Repository

from tests.cpu import cpu_seconds
from tests.faces.web.conftest import Client, serve, stop

NEW = {
    "title": "Use tabs", "text": "Tabs, never *spaces*.", "kind": "lesson", "importance": "high",
    "tags": ["style", " "], "when": ["indent|tabs"],
}  # fmt: skip


def test_a_new_memory_is_a_persons(client, repository):
    status, answer = client.post("/api/add", NEW)
    memory = repository.get(answer["id"])
    assert status == 200 and (answer["what"], answer["status"]) == ("stored", "active")
    assert (memory.title, memory.body, memory.kind, memory.importance) == (
        "Use tabs", "Tabs, never *spaces*.", "lesson", "high",
    )  # fmt: skip
    assert (memory.tags, memory.when) == (("style",), ("indent|tabs",))
    assert repository.beliefs.trust(memory).standing.verified


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": "", "text": ""}, {"kind": "amend"}, {"kind": "episode"}, {"importance": "huge"}, {"tags": "style"},
        {"when": [5]}, {"when": ["(open"]}, {"title": "x" * 301}, {"text": "x" * 12_001}, {"tags": ["x" * 61]},
    ],
)  # fmt: skip
def test_a_wrong_memory_is_not_stored(client, repository, wrong):
    status, answer = client.post("/api/add", {**NEW, **wrong})
    assert status == 400 and answer["error"] and answer["hint"]
    assert not [*repository.list()]


def test_an_edit_is_an_amendment_of_the_changed_fields(client, held, repository):
    shown = client.get("/api/memory?id=why-apsw")
    said = {"id": shown["id"], "seen": shown["seen"], "text": "It loads extensions.", "tags": []}
    status, answer = client.post("/api/amend", said)
    memory = repository.get("why-apsw")
    assert status == 200 and not answer["proposed"] and len(answer["entries"]) == 1
    assert (memory.body, memory.tags, memory.when, memory.title) == (
        "It loads extensions.",
        (),
        ("sqlite",),
        "Why apsw",
    )
    assert [step.entry.kind for step in repository.history("why-apsw")] == ["memory", "amend"]


def test_an_edit_of_a_memory_that_changed_meanwhile_is_refused(client, held, repository):
    shown = client.get("/api/memory?id=why-apsw")
    repository.amend("why-apsw", body="Written by another.", importance="high")
    said = {"id": shown["id"], "seen": shown["seen"], "text": "Mine."}
    status, answer = client.post("/api/amend", said)
    assert status == 409 and answer["error"] == "somebody else changed the text meanwhile"
    assert repository.get("why-apsw").body == "Written by another."
    assert client.post("/api/amend", {"id": shown["id"], "seen": shown["seen"], "title": "Mine"})[0] == 200
    memory = repository.get("why-apsw")
    assert (memory.title, memory.body, memory.importance) == ("Mine", "Written by another.", "high")


@pytest.mark.parametrize(
    "wrong", [{}, {"text": ""}, {"text": " "}, {"title": ""}, {"seen": "", "text": "x"}, {"seen": {}, "text": "x"}]
)
def test_a_wrong_edit_changes_nothing(client, held, repository, wrong):
    shown = client.get("/api/memory?id=why-apsw")
    assert client.post("/api/amend", {"id": shown["id"], "seen": shown["seen"], **wrong})[0] in (400, 409)
    assert len(repository.history("why-apsw")) == 1


def test_an_edit_on_a_page_that_a_program_started_waits_for_a_review(project, git, held, repository):
    git.commit()
    server = serve(project, via="agent")
    try:
        shown = Client(server).get("/api/memory?id=why-apsw")
        said = {"id": shown["id"], "seen": shown["seen"], "text": "Because of nothing."}
        _, answer = Client(server).post("/api/amend", said)
    finally:
        stop(server)
    assert answer["proposed"] and "nothing" not in repository.get("why-apsw").body


def test_links_are_made_and_taken_back(client, held, repository):
    said = {"id": "why-apsw", "other": "prices-are-rounded-once", "type": "supports"}
    assert client.post("/api/link", said)[0] == 200
    assert ("supports", True) in [
        (link["link"], link["outward"]) for link in client.get("/api/memory?id=why-apsw")["links"]
    ]
    assert client.post("/api/link", said)[0] == 409
    assert client.post("/api/link", {**said, "other": "why-apsw"})[0] == 400
    assert client.post("/api/unlink", said)[0] == 200
    assert repository.get("why-apsw").links == ()


def test_archive_restore_and_delete(client, held, repository):
    for action, status in (("archive", "archived"), ("restore", "active"), ("delete", "deleted")):
        said = {"action": action, "items": [{"id": "why-apsw"}], "reason": f"to {action} it"}
        assert client.post("/api/act", said)[1]["done"] == 1 and repository.get("why-apsw").status == status
    assert repository.history("why-apsw")[1].entry.extra["reason"] == "to archive it"
    assert client.post("/api/act", {"action": "archive", "items": [{"id": "nothing"}]})[1]["failed"][0]["error"]


def test_undo_takes_back_what_the_page_did(client, held, repository):
    items = [{"id": "why-apsw"}, {"id": "prices-are-rounded-once"}]
    entries = client.post("/api/act", {"action": "archive", "items": items})[1]["entries"]
    status, answer = client.post("/api/undo", {"entries": entries})
    assert (status, answer.get("undone")) == (200, 2)
    assert repository.get("why-apsw").status == "active"
    assert client.post("/api/undo", {"entries": entries})[0] == 409
    assert client.post("/api/undo", {"entries": "all"})[0] == 400


def test_health_tells_what_needs_a_look(client, project, repository):
    (project / "code.py").write_text("x = 1\n", encoding="utf-8")
    old = now() - 30 * DAY
    repository.add(Entry(title="Cited", body="x is 1.", when=("x",), at=old), via="person")
    with Repository.open(str(project), via="person") as person:
        person.citations.add("cited", ["code.py"])
    repository.add(Entry(title="Bare", body="It has no condition."), via="agent")
    claim = {"subject": "seat", "predicate": "hold", "value": "15"}
    repository.add(Entry(title="Fifteen", when=("seat",), extra={"claim": claim}), via="person")
    repository.add(Entry(title="Thirty", when=("seat",), extra={"claim": {**claim, "value": "30"}}), via="agent")
    (project / "code.py").write_text("x = 2\n", encoding="utf-8")
    found = {check["name"]: [item["title"] for item in check["items"]] for check in client.get("/api/health")["checks"]}
    assert found == {
        "stale": ["Cited"], "contradicted": ["Thirty"], "weak": [], "unconditional": ["Bare"], "unused": ["Cited"],
        "unverified": ["Bare"],
    }  # fmt: skip
    assert client.post("/api/cite", {"id": "cited"})[0] == 200
    assert client.get("/api/health")["checks"][0]["total"] == 0
    (project / "code.py").unlink()
    assert client.post("/api/cite", {"id": "cited"})[0] == 409


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("", "a", [["new", "a"]]),
        ("a b c", "a x c", [["same", "a "], ["old", "b"], ["new", "x"], ["same", " c"]]),
        ("aaa b ddd", "aaa x y ddd", [["same", "aaa "], ["old", "b"], ["new", "x y"], ["same", " ddd"]]),
        ("one\ntwo", "one\ntwo", [["same", "one\ntwo"]]),
        ("find the card", "look at the app", [["old", "find the card"], ["new", "look at the app"]]),
    ],
)
def test_differences_are_told_word_by_word(old, new, parts):
    assert json.loads(json.dumps(difference(old, new))) == parts


@pytest.mark.time
@pytest.mark.parametrize("new", ["b a " * (MAX_WORDS // 5), "a\n" * 6_000, "x y\n" * 3_000, "z" * 40_000])
def test_a_difference_loses_nothing_and_is_found_soon(new):
    old = "a b " * (MAX_WORDS // 5)
    assert cpu_seconds(lambda: difference(old, new)) < 3
    for side, text in (("old", old), ("new", new)):
        assert "".join(part for what, part in difference(old, new) if what in ("same", side)) == text
