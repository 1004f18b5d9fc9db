"""Searching: many questions at once, and how a result came to its score."""

import re

import pytest
from rawkomem.files.session_records import note_use
from rawkomem.index.stores.sqlite import SqliteStore
from rawkomem.model.entries import Entry, Memory, Task
from rawkomem.model.errors import BadInput
from rawkomem.model.filters import Filter
from rawkomem.recall.earlier_tasks import PatternMatch, pattern_match
from rawkomem.recall.search import contributions
from rawkomem.recall.signals import filter_of
from rawkomem.repository import Repository

from tests.seeds import by_case
from tests.torture.helpers import memory

TALK = "\n---\n\n".join(
    memory(f"Turn {n}", text)
    for n, text in enumerate(
        ("We went to the zoo.", "The zebra was asleep.", "Then we ate cake.", "Login failed twice.", "We fixed it.")
    )
)


@pytest.fixture
def filled(memories, repository):
    (memories / "auth.md").write_text(
        memory("Login module", "All login code lives in src/auth.", whenToUse="[When changing the login page, auth]")
    )
    (memories / "cake.md").write_text(memory("Cake", "We buy chocolate cake for birthdays."))
    (memories / "talk.md").write_text(TALK)
    return repository


QUESTIONS = ["where is the login code", "zebra", "", "chocolate cake", "zebra"]


def test_many_questions_get_the_answers_of_one_by_one(filled):
    answers = filled.search_many(QUESTIONS, limit=3)
    assert [answer.question for answer in answers] == QUESTIONS
    assert [answer.found for answer in answers] == [tuple(filled.search(text, limit=3)) for text in QUESTIONS]
    assert answers[2].found == () and answers[1] == answers[4]


def test_many_questions_are_embedded_in_one_go(filled, monkeypatch):
    filled.sync()
    calls, embed = [], filled.core.index.embedder.embed
    monkeypatch.setattr(filled.core.index.embedder, "embed", lambda texts: (calls.append(list(texts)), embed(texts))[1])
    filled.search_many(QUESTIONS)
    assert calls and all(call == [*dict.fromkeys(filter(None, QUESTIONS))] for call in calls)


def test_many_questions_see_one_state(filled, memories, monkeypatch):
    """A file that changes between two questions is seen by neither, or the sweep notices, and by both."""
    filled.sync()
    nearest = SqliteStore.nearest

    def meddle(self, *asked):
        if not (memories / "new.md").exists():
            (memories / "new.md").write_text(memory("Zebra two", "Another zebra."))
            other = Repository.open(str(memories))
            other.sync()
            other.close()
        return nearest(self, *asked)

    monkeypatch.setattr(SqliteStore, "nearest", meddle)
    answers = filled.search_many(["zebra", "zebra two"])
    monkeypatch.undo()
    assert len({"Zebra two" in [item.row.title for item in answer.found] for answer in answers}) == 1
    assert "Zebra two" in [item.row.title for item in filled.search("zebra")]


def test_too_many_questions(filled):
    with pytest.raises(BadInput, match="101 questions"):
        filled.search_many(["x"] * 101)


def test_contributions_sum_up_to_the_score(filled):
    for question in ("login page", "zebra cake", "who failed", "ᚠᚢᚦ zoo"):
        for item in filled.search(question, only=Filter()):
            parts = contributions(item.signals)
            assert sum(part.value * part.weight for part in parts) == pytest.approx(item.score, abs=1e-9)
            assert {part.name for part in parts} <= {"words", "meaning", "surroundings", "title"}


@pytest.mark.parametrize("question", ["Running Tests", "running tests?"])
def test_a_title_asked_for_by_its_own_words_is_first(memories, repository, question):
    for number in range(20):
        said = f"Running tests, tests and more running tests of part {number}: the tests are running."
        (memories / f"part{number}.md").write_text(memory(f"Tests running in part {number}", said))
    (memories / "tests.md").write_text(memory("Running Tests", "Start the database first. " * 40))
    first, *_ = repository.search(question)
    assert first.row.title == "Running Tests" and first.fits
    assert ("title", 1.0) in [part[:2] for part in first.signals.parts]


def test_what_fits_is_told_apart_from_what_is_only_the_closest(rawkomem, filled):
    for nonsense in ("blorptang fizzwuggle", "qqzx vrrmpf", "xyloquat"):
        told = rawkomem("search", nonsense)
        assert told.stdout.startswith("no memory fits well; the closest are:\n 1 ")
        assert not any(item["fits"] for item in rawkomem.json("search", nonsense))
    for known in ("zebra was asleep", "chocolate cake", "login"):
        told = rawkomem("search", known)
        assert "no memory fits" not in told.stdout and re.match(r" 1 +\d\.\d\d  \w", told.stdout)
        assert rawkomem.json("search", known)[0]["fits"]


# The LLMos query: earlier tasks that resemble one, over real traces
TRACE = """---
kind: trace
id: trace-1-aaaaaa
title: Create FFT plot from audio data
goal: Create FFT plot from audio data
type: main
status: success
tools_used: [python, matplotlib]
discoveredAt: 2025-01-10T00:00:00Z
---

## Plan
Read the file, transform, plot.

## Learnings
- Use a window function.
"""


@pytest.fixture
def traces(project, repository):
    folder = project / ".rawko" / "traces" / "2025-01"
    folder.mkdir(parents=True)
    (folder / "one.md").write_text(TRACE)
    (folder / "two.md").write_text(
        memory("Write blog article", "It was hard.", kind="trace", id="t2", status="failure", discoveredAt="2025-02-01")
    )
    (folder / "three.md").write_text(
        memory("Create data pipeline", "It runs.", kind="trace", id="t3", status="success_with_recovery", tools_used="dbt",
               discoveredAt="2025-03-01")
    )  # fmt: skip
    (project / ".rawko" / "memories" / "m.md").write_text(memory("Create data", "A memory is no task: create data."))
    return repository


def test_a_match_carries_every_field(traces):
    (match, *_) = traces.traces.search("plot an FFT from audio")
    assert isinstance(match, PatternMatch)
    assert (match.goal, match.success, match.trace_id) == ("Create FFT plot from audio data", True, "trace-1-aaaaaa")
    assert match.tools_used == ("python", "matplotlib") and match.suggested_approach == "- Use a window function."
    assert 0.3 <= match.similarity <= 1


def test_limits_and_floor(traces):
    every = traces.traces.search("create data", limit=10, min_similarity=0)
    assert {match.trace_id for match in every} == {"trace-1-aaaaaa", "t2", "t3"}
    assert [match.similarity for match in every] == sorted((match.similarity for match in every), reverse=True)
    assert traces.traces.search("create data", limit=1, min_similarity=0) == every[:1]
    floor = every[0].similarity
    assert len(traces.traces.search("create data", min_similarity=round(floor - 0.01, 2))) >= 1
    assert traces.traces.search("create data", min_similarity=1) == ()
    for wrong in ({"limit": 0}, {"min_similarity": 1.5}):
        with pytest.raises(BadInput):
            traces.traces.search("x", **wrong)


def test_filters_and_window(traces):
    def ids(**options):
        return {match.trace_id for match in traces.traces.search("create data", min_similarity=0, **options)}

    assert ids(only=Filter(kinds=("memory",))) == {"m"}
    assert ids(since="2025-01-15", until="2025-02-28") == {"t2"}
    assert ids(until="2025-01-31") == {"trace-1-aaaaaa"}
    with pytest.raises(BadInput, match="since"):
        ids(since="last week")


def test_where_no_vector_is_known_words_decide(traces, project):
    (project / ".rawko" / "traces" / "runes.md").write_text(memory("ᚠᚢᚦ ᚨᚱᚲ", "ᚷ", kind="trace", id="runes"))
    (match,) = traces.traces.search("ᚠᚢᚦ ᛁᛊ")
    assert (match.trace_id, match.similarity) == ("runes", 0.5)


@by_case("llmos", "queryMemory")
def test_query_cases(case, traces):
    options = case["input"]["options"]
    wanted = {match["traceId"] for match in case["expected"]["matches"]}
    since = options.get("timeRange", {}).get("from", "")
    kinds = {
        "agent_templates": Filter(kinds=("skill",)),
        "workflow_patterns": Filter(kinds=("trace",), types=("main",)),
    }
    only = kinds.get(options.get("memoryType"))  # an agent template is a skill, a workflow a trace that says so
    least = 0.0 if "memoryType" in options else 0.3  # the seed goes by words there; what counts is the kind
    found = traces.traces.search(case["input"]["query"], min_similarity=least, since=since, only=only)
    assert {match.trace_id.replace("trace-1-aaaaaa", "t1") for match in found} == wanted


@pytest.mark.parametrize(
    ("outcome", "success"),
    [("success", True), ("success_with_recovery", True), ("failure", False), ("partial", False), ("", False)],
)
def test_outcomes(outcome, success):
    of = Memory("m", title="T", extra={"final_outcome": outcome, "primary_goal": "G", "components_used": "one"})
    match = pattern_match(of, 1.2)
    assert (match.goal, match.success, match.similarity, match.tools_used) == ("G", success, 1.0, ("one",))


# `--filter`: conditions over the columns of RFC-0011, for searches, lists and injections alike
@pytest.fixture
def ids(repository) -> dict[str, str]:
    """Three memories about Redis: a lesson, one of a session, one that was used."""
    entries = {
        "lesson": Entry(kind="lesson", title="Redis needs a password", when=("redis",), importance="critical"),
        "session": Entry(title="Redis listens on 6380", when=("redis",), by="planner", extra={"session": "s1"}),
        "used": Entry(title="Redis evicts old keys", when=("redis",), tags=("cache", "db"), source="notes"),
    }
    ids = {name: repository.add(entry, via="person").entry.id for name, entry in entries.items()}
    note_use(repository.layout, 1_767_225_600_000, "s", 10, [ids["used"]])
    return ids


CONDITIONS = {
    "memory_type = 'lesson'": {"lesson"},
    "memory_type IN ('global', 'session')": {"session", "used"},
    "session_id = 's1' AND agent_id = 'planner'": {"session"},
    "session_id IS NULL": {"lesson", "used"},
    "importance_score >= 0.8": {"lesson"},
    "access_count > 0 AND last_accessed <= '2026-01-01'": {"used"},
    "array_contains(tags, 'cache') OR title LIKE '%password'": {"used", "lesson"},
    "source = 'notes'": {"used"},
    "created_at < '2001-01-01'": set(),
}


def test_every_read_obeys_it(repository, ids):
    for condition, names in CONDITIONS.items():
        only = filter_of(filter=condition)
        wanted = {ids[name] for name in names}
        assert {row.id for row in repository.list(only)} == wanted, condition
        assert {found.row.id for found in repository.search("redis", 10, only)} == wanted, condition
        assert {item.memory.id for item in repository.inject(Task("set up redis"), only=only).items} <= wanted


def test_by_command(repository, ids, rawkomem):
    found = rawkomem.json("search", "redis", "--filter", "kind = 'lesson'")
    assert [item["id"] for item in found] == [ids["lesson"]]
    refused = rawkomem("search", "redis", "--filter", "kind = 'lesson'; DROP TABLE x", check=2)
    assert "the filter is not understood" in refused.stderr and "memory_type" in refused.stderr


def test_the_columns_are_shown(ids, rawkomem):
    shown = rawkomem.json("show", ids["used"])
    wanted = {"memory_type": "global", "access_count": 1, "last_accessed": "2026-01-01T00:00:00Z"}
    assert {key: shown[key] for key in wanted} == wanted and shown["session_id"] is None


def test_what_is_wrong_is_told_before_anything_is_read():
    with pytest.raises(BadInput, match="colour"):
        filter_of(filter="colour = 'red'")
