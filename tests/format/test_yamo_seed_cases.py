"""Cases of RFC-0011's own implementation. It follows a later version of the protocol in places; ours is the RFC's."""

import pytest
from rawkomem.files.ledger import row_problems
from rawkomem.format.mesh_fields import pattern_id
from rawkomem.format.yamo import build_block, emit_yamo, read_yamo_block
from rawkomem.index.stores.database import open_database
from rawkomem.index.stores.sqlite import Document, Hit, Passage, SqliteStore
from rawkomem.model.entries import Entry
from rawkomem.model.errors import BadInput
from rawkomem.model.filters import Facets, Filter
from rawkomem.model.values import ERROR, WARNING
from rawkomem.recall.scoring import compute_factor, profile_of
from rawkomem.recall.signals import Question, Signals, fuse, question_of
from rawkomem.state.plans import plan_add

from tests.recall.helpers import memory
from tests.seeds import by_case

AT = 1_769_164_200_000
TIME = "2026-01-23T10:30:00Z"
DIMS = 384


def retained(agent, id, type, length, preview):
    return build_block("retain", agent, AT, id=id, type=type, length=length, preview=preview)


def lines_of(block) -> dict[str, str]:
    """The block's text, line by line, by what each line begins with."""
    return {line.strip().partition(";")[0]: line.strip() for line in emit_yamo(block).splitlines()}


@by_case("yamo-memory-mesh", "buildRetainBlock")
def test_retain(case):
    """As observed, but for the advice: a comma for the semicolon, and a preview of 60 characters."""
    given = case["input"]
    length = len(given["content"].encode())
    block = retained(given["agentId"], given["id"], given["memoryType"], length, given["content"])
    assert emit_yamo(block) == case["expected"].replace("{ISO_8601}", TIME).replace("%3B", ",")
    theirs, problems = read_yamo_block(case["expected"])
    assert not problems and theirs.value("output", "content_preview") == given["content"]
    long = retained("A", "m", "event", 200, "x" * 200)
    assert long.value("output", "content_preview") == "x" * 60


@by_case("yamo-memory-mesh", "buildRecallBlock")
def test_recall(case):
    """By the advice the RFC's block: another intent, and results_found and top_score instead of a ratio."""
    given = case["input"]
    values = {"limit": given["limit"], "filter": "", "found": given["resultCount"], "score": 0.5, "confidence": 0.4}
    block = build_block("recall", given["agentId"], AT, query=given["query"], **values)
    found = lines_of(block)
    assert found["agent: MemoryMesh_A"] and found["intent: recall_relevant_memories"]
    assert (
        found["query"] == "query;auth, bypass;" and found["limit"] == "limit;10;" and found["filter"] == "filter;none;"
    )
    assert found["results_found"] == "results_found;3;" and found["top_score"] == "top_score;0.5;"
    assert found["log: memory_recalled"].endswith("query;auth, bypass;results;3;")
    theirs, problems = read_yamo_block(case["expected"])
    assert not problems and theirs.value("context", "query") == given["query"]


@by_case("yamo-memory-mesh", "buildReflectBlock")
def test_reflect(case):
    """The RFC's block, not the later one that was observed, which our reader understands."""
    given = case["input"]
    values = {"topic": given["topic"], "sources": given["memoryCount"], "preview": given["reflection"]}
    block = build_block("reflect", given["agentId"], AT, id="reflection_1", confidence=given["confidence"], **values)
    found = lines_of(block)
    assert found["intent: synthesize_beliefs_from_memories"] and found["topic"] == "topic;auth,bypass;"
    assert found["source_count"] == "source_count;2;" and found["confidence"] == "confidence;0.9;"
    assert found["insight_preview"] == "insight_preview;step one, step two;"
    theirs, problems = read_yamo_block(case["expected"])
    assert not problems
    assert (theirs.value("context", "topic"), theirs.value("output", "reflection")) == (
        given["topic"],
        given["reflection"],
    )


@by_case("yamo-memory-mesh", "validateBlock")
def test_validate(case):
    """Ours tells all that is wrong, with lines; and values with line ends are encoded when a block is written."""
    block, problems = read_yamo_block(case["input"]["block"])
    told = [problem.message for problem in problems]
    assert block is None and ERROR in {problem.level for problem in problems}
    assert set(case["expected"]["errors"]) <= set(told)
    assert not read_yamo_block(emit_yamo(retained("A", "m", "event", 17, "line one\nline two")))[1]


def test_a_block_of_the_grammar_needs_no_context_and_no_output():
    """RFC-0011 §3.1 has both in brackets; the validator of the original refuses such a block."""
    text = "agent: A;\nintent: store;\nmeta: rationale;because;\nmeta: confidence;1.0;\nlog: x;\nhandoff: End;\n"
    block, problems = read_yamo_block(text)
    assert block is not None and block.value("meta", "rationale") == "because"
    assert {problem.level for problem in problems} == {WARNING} and len(problems) == 2


@by_case("yamo-memory-mesh", "validateYamoRecord")
def test_validate_record(case):
    told = [problem.message for problem in row_problems(case["input"])]
    advised = [] if "advice" in case else case["expected"]["errors"]  # lesson and synthesize are operations, too
    assert told == advised


@by_case("yamo-memory-mesh", "patternId")
def test_pattern_id(case):
    assert pattern_id(case["input"]["errorPattern"], case["input"]["applicableScope"]) == case["expected"]


@by_case("yamo-memory-mesh", "_validateMetadata")
def test_metadata(case):
    """Forbidden keys are refused, as the RFC asks, and not dropped in silence."""
    if case["input"]["metadata"] is None:
        return  # an Entry's keys are a mapping by type; who takes JSON from outside has to look: tests/mesh does
    with pytest.raises(BadInput, match="__proto__"):
        plan_add(Entry(title="x", extra={"__proto__": {"p": "1"}, "b": "2"}))


@by_case("yamo-memory-mesh", "_parseChannelWeight")
def test_weight(case):
    """Weights are a profile's. What is no weight is refused instead of replaced; 0 switches a factor off."""
    value, wanted = case["input"]["value"], case["expected"]
    if value in ("-1", "abc"):
        with pytest.raises(BadInput, match="weight of ranks"):
            profile_of(f"mesh:ranks={value}")
    else:
        weights = dict(profile_of(f"mesh:ranks={value}").weights)
        assert weights == ({} if value == "0" else {"ranks": wanted})


@by_case("yamo-memory-mesh", "_normalizeScores")
def test_similarity(case):
    """Ours is the cosine itself: what is unrelated (distance 1) counts as 0, not as half-way close. The order is theirs."""
    distances = case["input"]["distances"]
    question = Question("x", at=AT)
    found = [
        compute_factor("semantic", 1.0, memory(), Signals("m", cosine=1 - distance), question).value
        for distance in distances
    ]
    assert found == sorted(found, reverse=True) and all(0 <= value <= 1 for value in found)
    assert (found[0], found[-1]) == (case["expected"][0], case["expected"][-1])
    assert all(ours <= theirs for ours, theirs in zip(found, case["expected"], strict=True))


@by_case("yamo-memory-mesh", "rrfMerge weighted")
def test_reciprocal_ranks(case):
    """The RFC's sum, k = 60, without a weight for each list: of its own §5.1. The first list's share is the observed one."""
    lists = [[Hit(id, 0, 1.0 - rank / 10) for rank, id in enumerate(one["items"])] for one in case["input"]["lists"]]
    ranks = {signals.id: signals.ranks for signals in fuse(lists[0], (), lists[1])}
    assert ranks == pytest.approx({"a": 1 / 61 + 1 / 62, "b": 1 / 62 + 1 / 61})
    alone = {signals.id: signals.ranks for signals in fuse(lists[0], (), ())}
    second = case["input"]["lists"][1]["weight"]
    weighted = {id: alone[id] + second * (ranks[id] - alone[id]) for id in alone}
    assert weighted == pytest.approx({row["id"]: row["score"] for row in case["expected"]}, abs=1e-8)


@by_case("yamo-memory-mesh", "KeywordSearch(BM25 k1=1.2 b=0.75).search")
def test_keywords(case):
    """FTS5's BM25 has the same k1 and b and another floor under rare words: the same memories in the same order."""
    store = SqliteStore(open_database(":memory:"), DIMS)
    store.erase()
    vector = b"\0" * 4 * DIMS
    docs = case["input"]["docs"]
    store.put([Document(Facets(id), "", (Passage(text, vector),)) for id, text in docs.items()])
    found = store.matching(question_of(case["input"]["query"]).query_words, 10, Filter())
    assert [hit.id for hit in found] == [row["id"] for row in case["expected"]]
    assert found[0].score > found[1].score > 0
