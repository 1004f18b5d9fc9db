"""What the page is told, and what its decisions write."""

import json
from html.parser import HTMLParser

import pytest
from rawkomem.faces.web import page_views
from rawkomem.faces.web.page_markdown import ALLOWED_ATTRIBUTES, ALLOWED_TAGS, open_renderer
from rawkomem.faces.web.page_server import HEALTH, KEPT_VIEWS, MAX_WRONG_CODES, VIEWS
from rawkomem.files.session_records import note_effects, note_use
from rawkomem.model.entries import Draft, Entry
from rawkomem.model.values import DAY, iso, now, replace
from rawkomem.repository import Repository
from rawkomem.text.difference import MAX_COMPARED as MAX_WORDS
from rawkomem.text.difference import difference

from tests.cpu import cpu_seconds
from tests.faces.web.conftest import Client, serving
from tests.faces.web.hostile import HOSTILE


def titles(answer: dict) -> list[str]:
    return [item["title"] for item in answer["items"]]


def test_the_list_and_its_filters(client, held):
    assert set(titles(client.get("/api/memories"))) == {"Why apsw", "Prices are rounded once"}
    assert titles(client.get("/api/memories?kind=lesson")) == ["Prices are rounded once"]
    assert titles(client.get("/api/memories?importance=high")) == ["Prices are rounded once"]
    assert titles(client.get("/api/memories?tag=sqlite")) == ["Why apsw"]
    assert titles(client.get("/api/memories?status=quarantined")) == ["Unsure"]
    assert len(titles(client.get("/api/memories?status=everything"))) == 3
    assert titles(client.get("/api/memories?type=decision")) == []


def test_search_finds_by_meaning_and_half_words(client, held):
    assert titles(client.get("/api/memories?q=load%20an%20extension"))[0] == "Why apsw"
    assert titles(client.get("/api/memories?q=round"))[0] == "Prices are rounded once"
    assert titles(client.get("/api/memories?q=roun"))[0] == "Prices are rounded once"


def test_every_memory_can_be_listed(client, repository, monkeypatch):
    monkeypatch.setattr(page_views, "MAX_LISTED", 2)
    repository.add_many([Entry(title=f"Note {number}", body="Text.") for number in range(5)])
    for query, listed in (("", 2), ("?most=4", 4), ("?most=400", 5), ("?most=-1", 2), ("?most=x", 2)):
        told = client.get(f"/api/memories{query}")
        assert (told["total"], len(told["items"])) == (5, listed)


@pytest.mark.parametrize(
    ("title", "body", "excerpt"),
    [
        ("Use tabs", "# Use tabs\n\nSpaces are wide.", "Spaces are wide."),
        ("Use tabs", "use **tabs**: they are narrow", "they are narrow"),
        ("Use tabs", "Use tabs.", ""),
        ("Use tab", "Use tabs.", "Use tabs."),
        ("Use tabs in …", "Use tabs in Makefiles.", "Makefiles."),
        ("Use tabs", "Spaces are wide.", "Spaces are wide."),
    ],
)
def test_a_preview_does_not_repeat_the_title(title, body, excerpt, client, repository):
    repository.add(Entry(title=title, body=body))
    (item,) = client.get("/api/memories")["items"]
    assert item["excerpt"] == excerpt


def test_one_memory(client, held):
    answer = client.get("/api/memory?id=prices-are-rounded-once")
    assert answer["importance"] == "high" and answer["path"] == "memories/lessons/prices-are-rounded-once.md"
    assert ">Why apsw</a>" in answer["html"]
    assert [(link["title"], link["link"], link["outward"]) for link in answer["links"]] == [
        ("Why apsw", "mentions", True)
    ]
    assert 0 < answer["trust"]["value"] <= 1 and answer["trust"]["parts"][0]["name"] == "source"
    assert [step["kind"] for step in answer["history"]] == ["lesson"]
    assert client.get("/api/memory?id=Why%20apsw")["title"] == "Why apsw"


def test_links_in_a_text_mean_what_they_mean_in_files(client, repository):
    target = repository.add(Entry(title="Why apsw", body="It loads extensions.")).entry.id
    repository.add(Entry(title="Reader", body="[[why-apsw#reasons]], [[Why apsw]], [[nowhere]]. `if [[ -f x ]]`"))
    html = client.get("/api/memory?id=reader")["html"]
    assert html.count(f'href="#/memory/{target}"') == html.count(">Why apsw</a>") == 2
    assert ">nowhere</a>" in html
    assert client.get("/api/memory?id=why-apsw%23reasons")["id"] == target


def test_why_and_why_not(client, held):
    yes = client.get("/api/why?id=why-apsw&task=upgrade%20sqlite")
    assert yes["injected"] and {factor["name"] for factor in yes["factors"]} >= {"fit"}
    no = client.get("/api/why?id=prices-are-rounded-once&task=water%20the%20flowers")
    assert not no["injected"] and no["why_not"]
    assert "quarantined" in client.get(f"/api/why?id={held}&task=anything")["why_not"]


def test_a_deleted_memory_tells_nothing(client, repository, held):
    repository.delete("why-apsw", "wrong", by="ada")
    answer = client.get("/api/memory?id=why-apsw")
    assert (answer["title"], answer["html"], answer["excerpt"], answer["when"]) == ("(deleted)", "", "", [])
    for path in ("overview", "memories?status=everything", "graph"):
        assert "Why apsw" not in str(client.get(f"/api/{path}"))
    assert "Why apsw" not in str(client.get("/api/memory?id=prices-are-rounded-once"))


def test_feedback_is_an_entry_of_a_person(client, held, repository):
    status, _ = client.post("/api/feedback", {"id": "why-apsw", "signal": "helpful", "reason": "saved a day"})
    assert status == 200 and repository.get("why-apsw").helpful == 1
    assert repository.history("why-apsw")[-1].entry.extra["reason"] == "saved a day"
    assert client.get("/api/memory?id=why-apsw")["helpful"] == 1
    assert client.post("/api/feedback", {"id": "why-apsw", "signal": "splendid"})[0] == 400


def test_the_first_view_says_what_the_memories_did_this_week(client, held, repository):
    assert client.get("/api/overview")["week"]["prompts"] == 0
    total = client.get("/api/overview")["memories"]
    id = repository.get("why-apsw").id
    note_use(repository.layout, now() - 8 * DAY, "old", 99, [id])
    note_use(repository.layout, now(), "s", 40, [id])
    note_use(repository.layout, now(), "s", 20, [id])
    note_effects(repository.layout, "denied", [id], "s")
    assert client.get("/api/overview")["week"] == {
        "prompts": 2, "tokens": 60, "effects": {"denied": 1}, "never": total - 1,
        "most": [{"id": id, "title": "Why apsw", "count": 2}],
    }  # fmt: skip


def test_looking_around_leaves_no_trace(client, held, project):
    def everything():
        return {
            path: path.read_bytes()
            for path in (project / ".rawko").rglob("*")
            if path.is_file() and "index" not in path.name
        }

    client.get("/api/overview")
    before = everything()
    for path in (
        "memories?q=sqlite",
        "memory?id=why-apsw",
        "why?id=why-apsw&task=sqlite",
        "graph",
        "waiting",
        "health",
    ):
        client.get(f"/api/{path}")
    assert everything() == before


def test_a_fault_of_ours_is_told_and_the_next_question_answered(client, held, monkeypatch, capfd):
    def broken(*_, **__):
        raise ValueError("first line\nsecond line")

    with monkeypatch.context() as patched:
        patched.setattr(client.server.repository.graph, "load", broken)
        status, _, content = client.send("GET", "/api/graph")
    assert status == 500
    assert json.loads(content)["error"] == "rawkomem failed here: ValueError: first line second line"
    assert "ValueError: first line second line" in capfd.readouterr().err
    assert client.get("/api/graph")["total"] == 2


def test_fifty_questions_at_once(client, held):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(lambda n: titles(client.get(f"/api/memories?q=sqlite%20{n % 5}")), range(50)))
    assert all(answer[0] == "Why apsw" for answer in found)


# Writing on the page: new memories, edits, links, decisions about several memories, health
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
    with serving(project, via="agent") as server:
        shown = Client(server).get("/api/memory?id=why-apsw")
        said = {"id": shown["id"], "seen": shown["seen"], "text": "Because of nothing."}
        _, answer = Client(server).post("/api/amend", said)
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


# What waits for a decision on the page: the one list, the cards, and what the decisions do
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


def test_the_page_shows_drafts_that_are_less_sure_on_request_and_decides_on_them(client, draft, repository):
    repository.drafts.store.put([replace(draft, id="drf_more", said="I want more", more=True)])
    told = client.get("/api/waiting")
    assert told["more"] == 1 and "draft:drf_more" not in [item["id"] for item in told["items"]]
    *others, last = client.get("/api/waiting?more=1")["items"]
    assert others == told["items"] and last["id"] == "draft:drf_more"
    assert decide(client, "drop", {"id": last["id"], "shown": last["shown"]})["done"] == 1
    assert client.get("/api/waiting")["more"] == 0


def test_a_draft_shows_its_exchange_and_what_it_replaces(client, draft):
    item = client.get("/api/waiting?key=draft:drf_1")["item"]
    assert item["form"] == {"title": draft.title, "text": draft.text, "when": ["lodash"]}
    assert item["exchange"] == [{"who": "agent", "words": draft.before}, {"who": "person", "words": draft.said}]
    assert "<em>lodash</em>" in item["html"] and {*item["decisions"]} == {"keep", "drop", "both"}
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
    with serving(project, via="agent") as server:
        decide(Client(server), "keep", named(Client(server), held))
    assert not repository.beliefs.trust(repository.get(held)).standing.verified


def test_what_a_program_decides_is_told_as_proposed(project, git, held, repository):
    git.commit()
    added = repository.add("Nobody vouches for it.", title="New", via="agent").id
    waiting = repository.add("Held.", title="Held", via="agent").id
    repository.beliefs.quarantine(waiting)
    propose(project)
    with serving(project, via="agent") as server:
        client = Client(server)
        apsw, text = repository.get("why-apsw").id, repository.get("why-apsw").body
        said = [decide(client, "delete", {"id": apsw}), decide(client, "vouch", {"id": added})]
        said += [decide(client, "keep", named(client, id)) for id in (waiting, apsw)]
    assert [(one["done"], one["proposed"], one["failed"]) for one in said] == [(0, 1, [])] * 4
    assert (repository.get(apsw).status, repository.get(apsw).body) == ("active", text)
    assert repository.get(waiting).status == "quarantined" and not repository.get(added).vouched


def test_the_code_of_the_terminal_makes_a_request_a_persons(project, held, repository):
    with serving(project, via="agent") as server:
        client = Client(server)
        code = server.new_code()
        wrong = f"{(int(code) + 1) % 10**6:06}"

        def keep(code: str) -> int:
            items = [named(client, held)]
            return client.post("/api/act", {"action": "keep", "items": items}, **{"X-Rawkomem-Code": code})[0]

        assert client.get("/api/overview")["writes_as"] == "agent"
        assert keep(code) == 200 and repository.beliefs.trust(repository.get(held)).standing.verified
        assert client.get("/api/overview")["writes_as"] == "agent", "the code counts for its own request only"
        for guess in (*[wrong] * MAX_WRONG_CODES, code):
            *_, told = client.send("GET", "/api/overview", {"X-Rawkomem-Code": guess})
            assert json.loads(told)["writes_as"] == "agent", "nobody guesses it"


def test_expired_memories_are_listed(client, repository):
    repository.add("Freeze.", title="Freeze", valid_until="2020-01-01")
    repository.add("Starts.", title="Start", valid_from="2090-01-01")
    repository.add("Now.", title="Now")
    assert {one["title"] for one in client.get("/api/memories?status=expired")["items"]} == {"Freeze", "Start"}
    assert [one["title"] for one in client.get("/api/memories?status=expired&q=freeze")["items"]] == ["Freeze"]


def test_a_server_without_a_code_takes_none(project, held):
    with serving(project, via="agent") as server:
        for guess in ("", "000000"):
            *_, told = Client(server).send("GET", "/api/overview", {"X-Rawkomem-Code": guess})
            assert json.loads(told)["writes_as"] == "agent"


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
    with serving(project, via="agent") as server:
        (id, *_) = decide(Client(server), "keep", named(Client(server), "drf_1"))["entries"]
    assert not repository.beliefs.trust(repository.get(id)).standing.verified


# Markdown becomes HTML that can do nothing
RENDER = open_renderer()


def render(text: str, meant=lambda name: ("", "")) -> str:
    return RENDER(text, meant)


class Parts(HTMLParser):
    """Every tag and attribute of an HTML text."""

    def __init__(self, html: str):
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markdown_is_harmless(text):
    html = render(text)
    for tag, attributes in Parts(html).found:
        assert tag in ALLOWED_TAGS
        assert set(attributes) <= ALLOWED_ATTRIBUTES.get(tag, set()) | {"rel"}
        address = attributes.get("href", "#/memory/")
        assert address.startswith(("https://", "http://", "mailto:", "#/memory/"))
        assert tag != "a" or "noopener" in attributes["rel"]


def test_what_people_write_stays():
    html = render(
        "# Why\n\n*So* **that** `x < y`:\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | ~~2~~ |\n\n```python\nx = 1\n```\n"
    )
    for part in (
        "<h1>Why</h1>",
        "<em>So</em>",
        "<code>x &lt; y</code>",
        "<li>one</li>",
        "<td>1</td>",
        "<s>2</s>",
        "<pre><code>x = 1\n</code></pre>",
    ):
        assert part in html


def test_links_to_the_web_and_to_memories():
    html = render(
        "[docs](https://example.org/a) and [[why apsw]] and [[mem_1|that one]]", lambda name: (name, f"Title of {name}")
    )
    assert '<a href="https://example.org/a" target="_blank" rel="noopener noreferrer nofollow">docs</a>' in html
    assert 'href="#/memory/why%20apsw"' in html and ">Title of why apsw</a>" in html
    assert ">that one</a>" in html


@pytest.mark.parametrize(
    "text", ["[[ -f file ]]", "[[]]", "[[ ]]", "[[a\nb]]", "[[a[b]]", "`[[code]]`", "[[a ]]", "\\[[a]]"]
)
def test_what_is_no_link_in_a_file_is_none_on_the_page(text):
    assert "<a" not in render(text)


def test_a_link_leads_to_what_its_name_means():
    known = {"why-apsw#reasons": ("mem_1", "Why apsw"), "gone": ("", "")}
    html = render("[[why-apsw#reasons]], [[why-apsw#reasons|label]], [[gone]]", known.get)
    assert html.count('href="#/memory/mem_1"') == 2 and ">Why apsw</a>" in html and ">label</a>" in html
    assert 'href="#/memory/gone"' in html and ">gone</a>" in html


def test_a_dump_is_shown_as_it_is():
    html = render("<b>*x*</b>\n" * 5_000)
    assert html.startswith("<pre>&lt;b&gt;*x*") and "<em>" not in html


def test_a_badge_is_a_link_with_the_words_of_its_image():
    html = render(
        "[![build passing](https://ci.example/badge.svg)](https://ci.example/) ![](https://x.example/logo.png?a)"
    )
    assert "<img" not in html and "badge.svg" not in html and "!" not in html
    assert '<span class="picture">build passing</span></a>' in html and 'href="https://ci.example/"' in html
    assert '<span class="picture">logo.png</span>' in html


def test_nested_lists_and_tables_stay():
    html = render("1. a\n   - b\n     - c\n\n| x | y |\n|:--|--:|\n| 1 | `2` |")
    assert html.count("<ul>") == 2 and "<th>x</th>" in html and "<td><code>2</code></td>" in html


def test_views_of_all_memories_are_computed_once_while_nothing_changes(
    project, memories, repository, held, monkeypatch
):
    """A file, a record of this machine, the time and cited code each make them new."""
    (project / "pay.py").write_text("def pay():\n    return 1\n")
    cited = repository.add(Entry(title="Pay once", body="See pay.")).entry.id
    repository.citations.add(cited, ["pay.py#pay"])
    (memories / "soon.md").write_text(f"---\ntitle: Soon over\nvalidUntil: {iso(now() + DAY)}\n---\n\nText.\n")
    calls: list[str] = []
    for path in KEPT_VIEWS:
        view = VIEWS[path]

        def counted(*given, path=path, view=view):
            calls.append(path)
            return view(*given)

        monkeypatch.setitem(VIEWS, path, counted)
    with serving(project) as server:
        client = Client(server)

        def ask() -> dict[str, dict]:
            """The answers to all views, each asked twice."""
            calls.clear()
            found = {path: client.get(path) for path in KEPT_VIEWS}
            assert found == {path: client.get(path) for path in KEPT_VIEWS}
            return found

        ask()  # files that changed a moment ago are read again
        before = ask()
        assert ask() == before and calls == []
        (memories / "new.md").write_text("---\ntitle: New\n---\n\nText.\n")
        after = ask()
        assert after["/api/overview"]["memories"] == before["/api/overview"]["memories"] + 1
        repository.drafts.store.put([Draft(id="drf_1", kind="correction", title="Ports", text="Ports are capitals.")])
        assert len(ask()["/api/waiting"]["items"]) > len(after["/api/waiting"]["items"])
        stale = {check["name"]: check["total"] for check in ask()[HEALTH]["checks"]}["stale"]
        (project / "pay.py").write_text("def pay():\n    return 2\n")
        assert {check["name"]: check["total"] for check in ask()[HEALTH]["checks"]}["stale"] == stale + 1
        assert calls == [HEALTH]
        here = ask()["/api/overview"]
        monkeypatch.setenv("RAWKOMEM_NOW", iso(now() + DAY + 1000))
        assert ask()["/api/overview"]["memories"] == here["memories"] - 1


def test_a_fresh_clone_has_every_view_before_anything_is_recorded(git, memories, tmp_path):
    """Its index is in `.rawko/local`, but `.git` has no folder of records yet."""
    (memories / "a.md").write_text("---\nid: mem_a\ntitle: Pay once\n---\n\nText.\n")
    git.commit()
    clone = tmp_path / "clone"
    git("clone", "-q", str(git.folder), str(clone))
    for path in KEPT_VIEWS:
        assert not list(clone.glob(".git/rawkomem*"))
        with serving(clone) as server:
            assert Client(server).get(path)


def test_an_agent_that_keeps_its_own_wish_for_a_review_decides_nothing(project, git, held, repository, rawkomem):
    """The memory waits as before, and no answer calls it done."""
    git.commit()
    unvouched = repository.add(Entry(title="Nobody looked", body="Zebras graze."), via="agent").entry.id
    with serving(project, via="agent") as server:
        client = Client(server)
        assert client.post("/api/act", {"action": "vouch", "items": [{"id": unvouched}]})[1]["proposed"] == 1
        for action in ("keep", "drop"):
            (item,) = [one for one in client.get("/api/waiting")["items"] if unvouched in one["id"]]
            chosen = [{"id": item["id"], "shown": item["shown"]}]
            answer = client.post("/api/act", {"action": action, "items": chosen})[1]
            assert (answer["done"], answer["proposed"]) == (0, 1), action
    assert rawkomem("review", unvouched, "--accept").stdout.startswith("proposed")
    assert not repository.get(unvouched).vouched
