"""Drafts of skills from learnings and lessons, without files."""

import pytest
from rawkomem.format.blocks import items_under
from rawkomem.learn.syntheses import APPROACH, AVOID, KNOW, RULES, grouped_sources, skill_draft
from rawkomem.model.entries import Memory

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
    assert items_under(LEARNING, "anti-patterns") == ("Caching errors.",)
    assert items_under(LEARNING, "recommended approach") == (
        "Measure the slow call first.",
        "Put a cache before it, with a lifetime.",
    )
    assert items_under("## Key Insights\n```\n## Anti-Patterns\n- no\n```\n- yes", "key insights") == ("yes",)
    assert items_under(LEARNING, "nowhere") == ()


def test_a_draft_does_not_quote_that_a_learning_has_no_items():
    bare = LEARNING.replace("- Caching errors.", "- None were seen.").replace(
        "1. Measure the slow call first.", "None were recorded."
    )
    assert skill_draft("Caching", [learning("l1", body=bare)]).parts[AVOID] == ()


def test_a_draft_says_what_its_sources_say_each_thing_once():
    again = learning(
        "l2", body=LEARNING.replace("Caching errors.", "Errors in caching").replace("Measure", "Measuring")
    )
    draft = skill_draft("Caching", [learning("l1"), again, lesson("s1")])
    assert draft.parts[APPROACH] == ("Measure the slow call first.", "Put a cache before it, with a lifetime.")
    assert draft.parts[KNOW] == ("Cache keys must hold the user's locale.", "A lifetime of sixty seconds is enough.")
    assert draft.parts[AVOID] == ("Caching errors.",) and draft.parts[RULES] == ("Clear the cache after a migration",)
    assert draft.analysis == "2 learnings, 1 lesson: 2 steps, 2 insights, 1 warning, 1 rule"
    assert draft.description and all(word in LEARNING for word in draft.description.split()[:3])
    assert draft.text.startswith("# Caching\n") and "1. Measure the slow call first.\n2. Put" in draft.text
    assert "- Caching API results (l1)" in draft.text
    assert draft == skill_draft("Caching", [learning("l1"), again, lesson("s1")])


def test_near_copies_stand_once_and_long_rules_are_whole():
    near = [
        lesson("a", body="Rule: Check the production logs before every release"),
        lesson("b", body="Rule: Check production logs before each release"),
    ]
    long = "Never " + "and never ".join(f"skip step {number} of the release " for number in range(20)).strip()
    rules = skill_draft("Release", [*near, lesson("c", extra={"preventativeRule": long})]).parts[RULES]
    assert rules == ("Check the production logs before every release", long)


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
    assert skill_draft("x", [memory]).parts[RULES] == (rule,)


def test_groups_by_similarity_each_with_a_name():
    cake = learning("l3", "Learning: Baking cakes", "Sugar and flour for the oven.", created=0)
    found = grouped_sources([cake, learning("l1"), learning("l2")], [("l1", "l2", 0.8)])
    assert [[memory.id for memory in members] for _, members in found] == [["l1", "l2"], ["l3"]]
    assert found[1][0] == "Baking cakes" and "," not in found[0][0] and found[0][0]
