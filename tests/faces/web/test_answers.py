"""What the page is told, and what its decisions write."""

import json

import pytest
from rawkomem.faces.web import page_views
from rawkomem.model.entries import Entry
from rawkomem.model.values import DAY, now


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
    for path in ("overview", "memories?status=everything", "timeline", "graph"):
        assert "Why apsw" not in str(client.get(f"/api/{path}"))
    assert "Why apsw" not in str(client.get("/api/memory?id=prices-are-rounded-once"))


def test_feedback_is_an_entry_of_a_person(client, held, repository):
    status, _ = client.post("/api/feedback", {"id": "why-apsw", "signal": "helpful", "reason": "saved a day"})
    assert status == 200 and repository.get("why-apsw").helpful == 1
    assert repository.history("why-apsw")[-1].entry.extra["reason"] == "saved a day"
    assert client.get("/api/memory?id=why-apsw")["helpful"] == 1
    assert client.post("/api/feedback", {"id": "why-apsw", "signal": "splendid"})[0] == 400


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
        "timeline",
        "waiting",
        "health",
    ):
        client.get(f"/api/{path}")
    assert everything() == before


def test_a_long_timeline_tells_the_newest_and_counts_the_rest(client, repository, monkeypatch):
    monkeypatch.setattr(page_views, "MAX_TIMELINE_ITEMS", 2)
    moment = now()
    midnight = moment - moment % DAY
    for title, days in (("Today", 0), ("Yesterday", 1), ("Then", 9), ("Also then", 9)):
        repository.add(Entry(title=title, body=title, at=midnight - days * DAY + 5))
    told = client.get("/api/timeline")
    assert titles(told) == ["Today", "Yesterday"] and told["total"] == 4
    assert told["older"] == [[midnight - 9 * DAY, 2]]


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
