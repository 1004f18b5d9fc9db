"""Scores of the five designs, case by case: what the originals do, or what we chose where they are wrong."""

import pytest
from rawkomem.model.errors import BadInput
from rawkomem.recall.scoring import decay_factor, feedback_score, intent_types, profile_of

from tests.recall.helpers import DAY, HOUR, NOW, memory, score
from tests.seeds import by_case


@by_case("rawko-sdk", "scoreMemoryRelevance")
def test_rawko_points(case):
    given, wanted = case["input"], case["expected"]
    of = given["memory"]
    if of["importance"] == "weird":
        of["importance"], wanted = "low", 5  # the reader takes an unknown importance as low
    if of["ageHours"] < 0:
        wanted -= 10  # a date in the future earns no recency
    if of["tags"] == ["Patterns"]:
        assert wanted == 30  # tags match in any case
    made = memory(title=of["title"], importance=of["importance"], created=NOW - round(of["ageHours"] * HOUR),
                  by=of.get("by", of["discoveredBy"]), tags=tuple(of["tags"]))  # fmt: skip
    assert round(score("rawko", made, given["task"], given["agentName"])) == wanted


@by_case("memory-lane", "smartFind score")
def test_lane_product(case):
    given, wanted = case["input"], case["expected"]
    meta = given["metadata"]
    days = {None: 0, 0.8: 8, 0.6: 31, 0.4: 91}[meta.get("decay_factor")]
    votes = {"harmful": 1} if meta.get("feedback_score") == 0.5 else {}
    task = "what mistake did we make" if given["intentBoost"] else "x"
    made = memory(extra={"type": given["type"]}, created=NOW - days * DAY, **votes)
    found = score("lane", made, task, cosine=given["cosine"])
    if wanted is None:
        assert given["cosine"] < profile_of("lane").min_similarity
    else:
        assert found == pytest.approx(wanted["score"], abs=1e-6)


@by_case("memory-lane", "calculateDecayFactor")
def test_decay(case):
    given = case["input"]
    last, created = given["lastAccessedDaysAgo"], given["createdDaysAgo"]
    assert decay_factor(created if last is None else min(last, created)) == case["expected"]


@by_case("memory-lane", "detectIntent")
def test_intent(case):
    assert list(intent_types(case["input"]["query"])) == case["expected"]


@by_case("memory-lane", "recordFeedback")
def test_feedback_is_clamped(case):
    given = case["input"]
    votes = {given["signal"]: given["times"]}
    wanted = max(0.1, min(2.0, case["expected"]["feedback_score"]))
    assert feedback_score(votes.get("helpful", 0), votes.get("harmful", 0)) == pytest.approx(wanted, abs=1e-6)


def test_composite_is_the_weighted_sum():
    made = memory(importance="critical", created=NOW, updated=NOW)
    assert score("composite", made, cosine=0.5) == pytest.approx(0.4 * 0.5 + 0.25 * 0.5 + 0.2 + 0.15)


def test_a_profile_takes_other_weights():
    chosen = profile_of("composite:trust=0.5, recency=0")
    assert dict(chosen.weights) == {"semantic": 0.40, "trust": 0.5, "importance": 0.15}
    assert chosen.name == "composite:trust=0.5, recency=0" and chosen.combine == "sum"
    assert dict(profile_of(":importance=0.1").weights)["fit"] == 1.0
    assert dict(profile_of("composite").weights)["trust"] == 0.25  # the original stays


@pytest.mark.parametrize(
    ("text", "message"),
    [("nope", "unknown profile 'nope'"), ("fit:nope=1", "unknown factor 'nope'"), ("fit:trust=x", "must be a number")],
)
def test_wrong_weights_are_named(text, message):
    with pytest.raises(BadInput, match=message):
        profile_of(text)
