"""The LLMos query: earlier tasks that resemble one, over real traces."""

import pytest
from rawkomem.model.entries import Memory
from rawkomem.model.errors import BadInput
from rawkomem.model.filters import Filter
from rawkomem.recall.earlier_tasks import PatternMatch, pattern_match

from tests.seeds import by_case
from tests.torture.helpers import memory

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
