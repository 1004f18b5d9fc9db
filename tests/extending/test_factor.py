"""A new factor: one row of FACTORS (recall/scoring.py) and one profile that uses it (recall/scoring.py): 2 files.

Nothing else knows the factors by name: scores, `why`, weights on the command line and JSON come from these two tables.
"""

from __future__ import annotations

import pytest
from rawkomem.model.entries import Task
from rawkomem.recall.relevance import explain_score
from rawkomem.recall.scoring import FACTORS, FIRED, PROFILES, SUM, Profile

TASK = Task("fix the login page")


@pytest.fixture
def brevity(monkeypatch, memories):
    """A factor that favors short memories, a profile that uses it, and two memories that fit a task equally."""

    def compute(memory, signals, question):
        words = len(memory.body.split())
        return 1 / (1 + words), (words,)

    monkeypatch.setitem(FACTORS, "brevity", (compute, "{} words"))
    profile = Profile("brief", "the shortest first", SUM, (("brevity", 10.0),), gate=FIRED)
    monkeypatch.setitem(PROFILES, "brief", profile)
    for name, body in {"long": "one two three four", "short": "one"}.items():
        (memories / f"{name}.md").write_text(f"---\ntitle: {name}\nwhenToUse: login|auth\n---\n\n{body}\n")


def test_it_scores(brevity, repository):
    items = repository.inject(TASK, profile="brief").items
    assert [(item.memory.id, item.score) for item in items] == [("short", 5.0), ("long", 2.0)]


def test_why_tells_it(brevity, repository):
    item, inside = repository.explain("long", TASK, profile="brief")
    assert inside and explain_score(item)[0].split() == ["brevity", "0.200", "×", "10", "4", "words"]


def test_any_profile_takes_it_with_a_weight(brevity, repository):
    item, _ = repository.explain("short", TASK, profile="fit:brevity=2")
    assert [(factor.name, factor.value, factor.why) for factor in item.factors if factor.name == "brevity"] == [
        ("brevity", 0.5, "1 words")
    ]
