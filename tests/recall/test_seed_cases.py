"""Cases of the source designs on ranking, formatting, decay, validity and closeness, beside those of test_factors.py."""

import math
from array import array

import pytest
from rawkomem.index.stores.database import open_database
from rawkomem.index.stores.sqlite import Document, Passage, SqliteStore
from rawkomem.model.entries import Task
from rawkomem.model.filters import Facets, Filter
from rawkomem.recall.render import render
from rawkomem.recall.scoring import (
    DEFAULT_CONFIDENCE,
    Factor,
    combine_factors,
    compute_factor,
    effective_confidence,
    feedback_score,
    profile_of,
)
from rawkomem.recall.signals import Question, Signals, question_of
from rawkomem.state.trust import Standing, compute_trust, is_valid, trust_of
from rawkomem.text.prose import matching_entities

from tests.recall.helpers import DAY, NOW, item, memory
from tests.seeds import by_case
from tests.torture.helpers import memory as memory_file

DIMS = 384


@by_case("rawko-sdk", "findRelevantMemories")
def test_relevant_memories(case, memories, repository):
    importance = {"low": "low", "med": "medium", "high": "high", "crit": "critical", "high2": "high", "high3": "high"}
    for name, value in importance.items():
        text = memory_file(f"auth {name}", f"Text of {name}.", importance=value, whenToUse="auth", id=name)
        (memories / f"{name}.md").write_text(text)
    (memories / "no.md").write_text(
        memory_file("auth nomatch", "Text.", importance="critical", whenToUse="database", id="no")
    )
    options = case["input"]["options"]
    task = Task("fix auth", agent="developer")
    injection = repository.inject(
        task, profile="rawko", form="json", limit=options["maxMemories"], min_importance=options["minImportance"]
    )
    assert [{"id": i.memory.id, "score": round(i.score)} for i in injection.items] == case["expected"]
    every = repository.inject(task, profile="rawko", form="json", limit=5, min_importance="low")
    assert [i.memory.id for i in every.items] == ["crit", "high", "high2", "high3", "med"]


@by_case("rawko-sdk", "formatMemoriesForPrompt")
def test_format(case):
    of = memory(title="T", importance="high", by="planner", body=case["input"]["content"])
    assert render([item(of)], "rawko") == case["expected"]


@by_case("memory-lane", "calculateEffectiveConfidence")
def test_effective_confidence(case):
    assert effective_confidence(case["input"]["base"], case["input"]["decay"]) == case["expected"]


@pytest.mark.parametrize(
    ("said", "left"), [("85", "51 of 85"), ("", "42 of 70"), ("much", "42 of 70"), ("900", "42 of 70")]
)
def test_decay_tells_the_confidence_it_leaves(said, left):
    of = memory(extra={"confidence_score": said}, created=NOW - 40 * DAY)
    assert compute_factor("decay", 1.0, of, Signals("m"), Question("x", at=NOW)).why.endswith(f"confidence {left}")


@by_case("memory-lane", "isMemoryValid")
def test_validity(case):
    window = {"valid_from": case["input"]["validFromDays"], "valid_until": case["input"]["validUntilDays"]}
    of = memory(**{key: NOW + days * DAY for key, days in window.items() if days is not None})
    assert is_valid(of, NOW) is case["expected"]


@by_case("memory-lane", "createMemoryMetadata defaults")
def test_what_a_memory_without_facts_counts_as(case):
    of, question = memory(extra={"type": case["input"]["memory_type"]}), Question("x", at=NOW)
    wanted = case["expected"]
    assert wanted["confidence_score"] == DEFAULT_CONFIDENCE
    assert compute_factor("decay", 1.0, of, Signals("m"), question).value == wanted["decay_factor"]
    assert compute_factor("feedback", 1.0, of, Signals("m"), question) is None
    assert feedback_score(of.helpful, of.harmful) == wanted["feedback_score"]
    assert of.helpful + of.harmful == wanted["feedback_count"] and list(of.supersedes) == wanted["supersedes"]


@by_case("memory-lane", "EntityResolver.disambiguate")
def test_which_entity_is_meant(case):
    assert list(matching_entities(case["input"]["query"], case["input"]["known"])) == case["expected"]


def spread(values: list[float]) -> bytes:
    """A short vector as a long one of the same direction: a store packs vectors of hundreds of small components."""
    long = [value for value in values for _ in range(DIMS // len(values))]
    length = math.sqrt(sum(value * value for value in long)) or 1.0
    return array("f", [value / length for value in long]).tobytes()


def cosine(a: list[float], b: list[float]) -> float:
    store = SqliteStore(open_database(":memory:"), DIMS)
    store.erase()
    store.put([Document(Facets("a"), "", (Passage("x", spread(a)),))])
    return sum(hit.score for hit in store.nearest(spread(b), 1, Filter()))


@by_case("memory-lane", "cosineSimilarity")
def test_cosine(case):
    assert cosine(case["input"]["a"], case["input"]["b"]) == pytest.approx(case["expected"], abs=0.03)


@by_case("neolata-mem", "cosineSimilarity")
def test_cosine_of_neolata(case):
    assert cosine(case["input"]["a"], case["input"]["b"]) == pytest.approx(case["expected"], abs=0.03)


@by_case("neolata-mem", "computeTrust")
def test_trust(case):
    given = case["input"]
    source, times = given["provenance"]["source"], given["provenance"]["corroboration"]
    found = compute_trust(source, times, given["reinforcements"], given["disputes"], given["ageDays"])
    assert found == pytest.approx(case["expected"], abs=5e-5)


@by_case("neolata-mem", "computeConfidence")
def test_trust_of_what_says_nothing(case):
    assert trust_of(memory(), Standing(), NOW) == case["expected"]


def has_the_usual_weights(case: dict) -> bool:
    """Return whether a case leaves the weights alone: ours belong to a profile, not to a caller."""
    return isinstance(case["expected"][0], dict)


@by_case("neolata-mem", "rerank", where=has_the_usual_weights)
def test_composite(case):
    composite = profile_of("composite")
    weights = dict(composite.weights)
    found = []
    for row in case["input"]["rows"]:
        of = memory(updated=NOW - round(row["ageDays"] * DAY))
        recency = compute_factor("recency", weights["recency"], of, Signals("m"), Question("x", at=NOW))
        given = {"semantic": row["score"], "trust": row["confidence"], "importance": row["importance"]}
        score = combine_factors([recency, *(Factor(n, v, weights[n]) for n, v in given.items())], composite)
        found.append({"id": row["id"], "compositeScore": round(score, 4), "recency": round(recency.value, 4)})
    assert sorted(found, key=lambda row: -row["compositeScore"]) == case["expected"]


@by_case("neolata-mem", "tokenize")
def test_words_of_a_question(case):
    """Ours keep short words and numbers too: names like `C` and versions are telling."""
    assert set(case["expected"]) <= set(question_of(case["input"]["text"]).query_words)
