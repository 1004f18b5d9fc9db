"""Votes and disputes in the default profile: nothing recorded changes nothing, harm takes a memory out by steps."""

import pytest
from rawkomem.model.entries import Task
from rawkomem.recall.relevance import gate
from rawkomem.recall.scoring import profile_of, score_candidates
from rawkomem.recall.signals import Limits, question_of_task
from rawkomem.state.trust import Standing
from rawkomem.text.conditions import ALTERNATIVE, Fired

from tests.recall.helpers import NOW, Signals, memory

FIT = profile_of("fit")
NEAR, FIRED, NAMED = "near", "fired", "named"


def ranked(*candidates, profile=FIT):
    question = question_of_task(Task("repair the engine"), NOW)
    return gate(score_candidates(candidates, profile, question), profile, Limits(), question)


def judged(how: str, **counts: int):
    fields = {"title": "repair engine"} if how == NAMED else {}
    fired = {"fired": Fired(ALTERNATIVE, "engine")} if how == FIRED else {}
    near, sure = (0.95, 1.0) if how == NEAR else (0.2, 0.9 if how == FIRED else 0.2)
    found = Signals("m", score=0.8, relevance=near, confidence=sure, **fired)
    (item,) = ranked((memory(**fields, **counts), found))
    return item


@pytest.mark.parametrize(
    ("counts", "value"),
    [
        ({"helpful": 1}, 1.1),
        ({"helpful": 40}, 2.0),
        ({"harmful": 1}, 0.5),
        ({"harmful": 9}, 0.1),
        ({"helpful": 2, "harmful": 1}, 0.605),
        ({"disputes": 1}, 0.5),
        ({"disputes": 1, "corroborations": 1}, 1.0),
        ({"disputes": 3, "reinforcements": 1}, 0.25),
        ({"disputes": 1, "harmful": 1}, 0.25),
    ],
)
def test_they_multiply_and_are_told(counts, value):
    item = judged(NEAR, **counts)
    assert item.score == pytest.approx(0.8 * value)
    assert item.signals.relevance == pytest.approx(0.95 * min(1.0, value))
    told = {factor.name: factor.why for factor in item.factors}
    assert "feedback" in told or "disputes" in told


@pytest.mark.parametrize(
    ("how", "counts", "inside"),
    [
        (NEAR, {"harmful": 1}, False),
        (NEAR, {"harmful": 1, "helpful": 2}, True),
        (NEAR, {"disputes": 1}, False),
        (FIRED, {"harmful": 1}, True),
        (FIRED, {"harmful": 2}, False),
        (FIRED, {"harmful": 2, "helpful": 1}, True),
        (FIRED, {"disputes": 5}, True),
        (NAMED, {"harmful": 1}, True),
        (NAMED, {"harmful": 3, "helpful": 1}, False),
    ],
)
def test_who_is_still_eligible(how, counts, inside):
    item = judged(how, **counts)
    assert (item.out is None) == inside
    assert inside or item.out.code in ("withdrawn", "voted-harmful", "not-confident")


def test_other_profiles_keep_their_own_rules():
    harmed = (memory(harmful=3), Signals("m", cosine=0.9, relevance=0.9, score=0.9, confidence=0.9))
    for name in ("mesh", "composite", "llmos", "lane"):
        (item,) = ranked(harmed, profile=profile_of(name))
        assert not item.out, name


@pytest.mark.parametrize(("doubt", "inside"), [(None, True), (Standing("nobody committed it"), False)])
def test_what_nobody_vouches_for_must_be_more_surely_about_the_task(doubt, inside):
    found = Signals("m", score=0.8, relevance=0.95, confidence=0.5, unverified=doubt)
    (item,) = ranked((memory(), found))
    assert (item.out is None) == inside
