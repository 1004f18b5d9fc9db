"""Drafts of skills from learnings and lessons, without files."""

from __future__ import annotations

import pytest
from rawkomem.format.body import list_items
from rawkomem.learn.syntheses import (
    grouped_sources,
    is_enough_for_skill,
    plan_proposed_skill,
    section_under,
    skill_draft,
    skill_sources,
)
from rawkomem.model.entries import Memory
from rawkomem.state.fold import fold
from rawkomem.state.trust import memory_by_source

LEARNING = """# Learning: Caching API results

## Context
- Observed in 12 executions
- Success rate: 83%
- Common tools: redis, pytest

## Key Insights
1. Cache keys must hold the user's locale.
2. A lifetime of sixty seconds is enough.

## Recommended Approach
1. Measure the slow call first.
2. Put a cache before it,
   with a lifetime.

## Anti-Patterns
- Caching errors.
"""
LESSON = "[LESSON:stale_cache] The cache was not cleared | Rule: Clear the cache after a migration | Scope: deploys"


def learning(id: str, title: str = "Learning: Caching API results", body: str = LEARNING, **more) -> Memory:
    return Memory(id, **{"kind": "learning", "title": title, "body": body, "created": 1, **more})


def lesson(id: str, body: str = LESSON, **more) -> Memory:
    return Memory(id, **{"kind": "lesson", "title": "Stale cache", "body": body, "created": 2, **more})


def test_sections_and_items():
    assert section_under(LEARNING, "anti-patterns") == "- Caching errors."
    assert list_items(section_under(LEARNING, "recommended approach")) == [
        "Measure the slow call first.",
        "Put a cache before it, with a lifetime.",
    ]
    assert section_under("## Key Insights\n```\n## Anti-Patterns\n- no\n```\n- yes", "key insights") == "- yes"
    assert section_under(LEARNING, "nowhere") == ""


def test_a_draft_says_what_its_sources_say_each_thing_once():
    again = learning(
        "l2", body=LEARNING.replace("Caching errors.", "Errors in caching").replace("Measure", "Measuring")
    )
    draft = skill_draft("Caching", [learning("l1"), again, lesson("s1")])
    assert draft.steps == ("Measure the slow call first.", "Put a cache before it, with a lifetime.")
    assert draft.insights == ("Cache keys must hold the user's locale.", "A lifetime of sixty seconds is enough.")
    assert draft.avoid == ("Caching errors.",) and draft.rules == ("Clear the cache after a migration",)
    assert draft.analysis == "2 learnings, 1 lesson: 2 steps, 2 insights, 1 warning, 1 rule"
    assert draft.description and all(word in LEARNING for word in draft.description.split()[:3])
    assert draft.text.startswith("# Caching\n") and "1. Measure the slow call first.\n2. Put" in draft.text
    assert "- Caching API results (l1)" in draft.text
    assert draft == skill_draft("Caching", [learning("l1"), again, lesson("s1")])


@pytest.mark.parametrize(
    ("memory", "rule"),
    [
        (lesson("a"), "Clear the cache after a migration"),
        (lesson("a", extra={"preventativeRule": "Always clear it"}), "Always clear it"),
        (lesson("a", body="Clear it twice. Then wait."), "Stale cache"),
        (lesson("a", body=""), "Stale cache"),
    ],
)
def test_the_rule_of_a_lesson(memory, rule):
    assert skill_draft("x", [memory]).rules == (rule,)


def test_candidates_are_in_use_and_about_the_topic():
    cake = learning("l3", "Learning: Baking", "# Learning: Baking\n\n## Key Insights\n- Sugar.", created=0)
    every = [learning("l1"), cake, learning("l2", status="archived"), lesson("s1"), Memory("m", title="cache")]
    assert [memory.id for memory in skill_sources(every, "")] == ["l3", "l1", "s1"]
    assert [memory.id for memory in skill_sources(every, "cached locales")] == ["l1"]
    assert [memory.id for memory in skill_sources(every, "caches")] == ["l1", "s1"]
    assert skill_sources(every, "the") == [] and skill_sources(every, "kubernetes") == []


def test_groups_by_similarity_each_with_a_name():
    cake = learning("l3", "Learning: Baking cakes", "Sugar and flour for the oven.", created=0)
    found = grouped_sources([cake, learning("l1"), learning("l2")], [("l1", "l2", 0.8)])
    assert [[memory.id for memory in members] for _, members in found] == [["l1", "l2"], ["l3"]]
    assert found[1][0] == "Baking cakes" and "," not in found[0][0] and found[0][0]


def test_enough_for_a_skill():
    assert is_enough_for_skill([learning("l")]) and is_enough_for_skill([lesson(str(n)) for n in range(3)])
    assert not is_enough_for_skill([lesson("1"), lesson("2")]) and not is_enough_for_skill([])


def test_a_proposal_is_inert_and_names_its_sources():
    sources = [learning("l1", when=("cache|redis",), tags=("api",)), lesson("s1", tags=("#lesson_learned", "api"))]
    plan = plan_proposed_skill(skill_draft("Caching", sources), "me")
    assert [entry.kind for entry in plan.entries] == ["skill", "quarantine"]
    skill = fold(plan.entries)
    assert (skill.status, skill.title, skill.when) == ("quarantined", "Caching", ("cache|redis",))
    assert skill.extra["derivedFrom"] == ["l1", "s1"] and skill.tags == ("synthesized", "api", "#lesson_learned")
    assert set(memory_by_source([skill])) == {"l1", "s1"}
    assert memory_by_source([Memory("x", kind="skill", status="deleted", extra={"derivedFrom": ["l1"]})]) == {}
