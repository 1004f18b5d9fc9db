"""Drafts on the page: what it is told, and what its decisions do."""

from __future__ import annotations

import pytest
from rawkomem.model.entries import Draft, Entry

from tests.faces.web.conftest import Client, serve, stop

PROPOSED = {"title": "No lodash", "text": "Use es-toolkit.", "when": ["lodash|es-toolkit", " "]}


@pytest.fixture
def draft(repository) -> Draft:
    old = repository.add(Entry(title="Use lodash", body="Use lodash."))
    made = Draft(
        id="drf_1", kind="correction", said="we don't use\nlodash <b>any</b> more", before="I imported lodash.",
        title="We don't use lodash", text="we don't use *lodash*", when=("lodash",), corrects=(old.id, "mem_gone"), at=5,
    )  # fmt: skip
    repository.drafts.store.put([made, Draft(id="drf_2", kind="rule", said="use tabs", title="Tabs", text="use tabs")])
    return made


def test_the_page_is_told_the_exchange_and_the_proposal(client, draft):
    assert client.get("/api/overview")["drafts"] == 2
    answer = client.get("/api/drafts")
    first = answer["items"][0]
    assert answer["total"] == 2 and first["id"] == draft.id and first["when"] == ["lodash"]
    assert first["exchange"] == [{"who": "agent", "words": draft.before}, {"who": "person", "words": draft.said}]
    assert "<em>lodash</em>" in first["html"] and first["text"] == draft.text
    assert [memory["title"] for memory in first["corrects"]] == ["Use lodash"]


def test_what_is_kept_is_what_was_shown(client, draft, repository):
    status, answer = client.post("/api/drafts/keep", {"id": draft.id, **PROPOSED})
    memory = repository.get(answer["id"])
    assert status == 200 and (memory.title, memory.body, memory.when) == (
        "No lodash", "Use es-toolkit.", ("lodash|es-toolkit",)
    )  # fmt: skip
    assert repository.beliefs.trust(memory).standing.verified and "any" in memory.extra["quote"]
    assert repository.get(draft.corrects[0]).superseded_by == memory.id
    assert [item["id"] for item in client.get("/api/drafts")["items"]] == ["drf_2"]


def test_what_a_program_keeps_is_an_agents_word(project, draft, repository):
    server = serve(project, via="agent")
    try:
        _, answer = Client(server).post("/api/drafts/keep", {"id": draft.id, **PROPOSED})
    finally:
        stop(server)
    assert not repository.beliefs.trust(repository.get(answer["id"])).standing.verified


def test_edit_merge_and_drop(client, draft, repository):
    assert client.post("/api/drafts/edit", {"id": "drf_1", **PROPOSED, "when": []})[0] == 200
    assert (repository.drafts.get("drf_1").text, repository.drafts.get("drf_1").when) == ("Use es-toolkit.", ())
    assert client.post("/api/drafts/merge", {"id": "drf_1", "other": "drf_2"}) == (200, {"id": "drf_1"})
    assert repository.drafts.get("drf_1").text == "Use es-toolkit.\n\nuse tabs"
    assert client.post("/api/drafts/drop", {"id": "drf_1"}) == (200, {"id": "drf_1"})
    assert client.get("/api/drafts") == {"total": 0, "items": []}
    assert [row.title for row in repository.list()] == ["Use lodash"]


@pytest.mark.parametrize(
    ("path", "said", "status"),
    [
        ("keep", {"id": "drf_1"}, 400),
        ("keep", {**PROPOSED, "id": "drf_1", "when": "lodash"}, 400),
        ("keep", {**PROPOSED, "id": "drf_1", "when": [5]}, 400),
        ("keep", {**PROPOSED, "id": "drf_1", "text": "x" * 12_001}, 400),
        ("keep", {**PROPOSED, "id": "drf_1", "when": ["(open"]}, 400),
        ("keep", {**PROPOSED, "id": "drf_none"}, 404),
        ("keep", PROPOSED, 400),
        ("edit", {"id": "drf_1", "title": "", "text": "x", "when": []}, 400),
        ("merge", {"id": "drf_1"}, 400),
        ("merge", {"id": "drf_1", "other": "drf_1"}, 400),
        ("drop", {"id": ""}, 400),
        ("demote", {"id": "drf_1"}, 404),
    ],
)
def test_a_wrong_decision_changes_nothing(path, said, status, client, draft, repository):
    before = repository.drafts.all()
    assert client.post(f"/api/drafts/{path}", said)[0] == status
    assert repository.drafts.all() == before and len(repository.list()) == 1


def test_decisions_need_token_and_header(client, draft, repository):
    for headers in ({"Authorization": "Bearer wrong"}, {"X-Rawkomem": None}, {"Origin": "http://evil.test"}):
        assert client.post("/api/drafts/drop", {"id": "drf_1"}, **headers)[0] in (401, 403)
    assert client.send("GET", "/api/drafts", {"Authorization": None})[0] == 401
    assert len(repository.drafts.all()) == 2
