"""Searching: many questions at once, and how a result came to its score."""

import json
import re

import pytest
from rawkomem.index.stores.sqlite import SqliteStore
from rawkomem.model.errors import BadInput
from rawkomem.model.filters import Filter
from rawkomem.recall.search import contributions
from rawkomem.repository import Repository

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
            assert {part.name for part in parts} <= {"words", "meaning", "surroundings"}


def test_what_fits_is_told_apart_from_what_is_only_the_closest(rawkomem, filled):
    for nonsense in ("blorptang fizzwuggle", "qqzx vrrmpf", "xyloquat"):
        told = rawkomem("search", nonsense)
        assert "rawkomem: no memory fits well; the closest are:\n" in told.stderr and told.stdout.startswith(" 1 ")
        assert not any(item["fits"] for item in json.loads(rawkomem("search", nonsense, "--json").stdout))
    for known in ("zebra was asleep", "chocolate cake", "login"):
        told = rawkomem("search", known)
        assert "no memory fits" not in told.stderr and re.match(r" 1 +\d\.\d\d  \w", told.stdout)
        assert json.loads(rawkomem("search", known, "--json").stdout)[0]["fits"]
