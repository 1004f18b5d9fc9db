"""Counts agree with what the other commands show."""

from collections import Counter

import pytest
from rawkomem.model.entries import Task
from rawkomem.model.filters import Filter
from rawkomem.recall.signals import filter_of

from tests.torture.helpers import change, memory


@pytest.fixture
def filled(memories, repository):
    (memories / "lessons").mkdir()
    (memories / "auth.md").write_text(
        memory("Login", "login code", whenToUse="login|auth", tags="[A, b]", importance="high")
    )
    (memories / "cake.md").write_text(memory("Cake", "chocolate cake", whenToUse="cake|pie", tags="[a]"))
    (memories / "lessons" / "l.md").write_text(memory("Lesson", "a lesson", kind="lesson", id="l", tags="[b, B]"))
    (memories / "old.md").write_text(memory("Old", "an old one", tags="[a]") + "\n---\n\n" + change("archive", "old"))
    (memories / "gone.md").write_text(memory("Gone", "a deleted one") + "\n---\n\n" + change("delete", "gone"))
    (memories / "draft.md").write_text("just text\n")
    for task in ("fix the login", "login again", "buy a cake"):
        injection = repository.inject(Task(task))
        repository.note_use(injection, "s1")
    return repository


def test_counts(filled):
    stats = filled.stats()
    assert stats.memories == 4 and stats.kinds == {"memory": 3, "lesson": 1}
    assert stats.importance == {"medium": 3, "high": 1} and stats.tags == {"a": 2, "b": 2}
    assert stats.statuses == {"active": 3, "archived": 1, "deleted": 1, "draft": 1}
    assert (stats.uses, stats.unused) == (3, 2)
    assert [(item.id, item.count) for item in stats.most_used] == [("auth", 2), ("cake", 1)]
    assert [(item.id, item.count) for item in stats.least_used] == [("draft", 0), ("l", 0), ("cake", 1), ("auth", 2)]


FILTERS = (
    {},
    {"include": ["all"]},
    {"kind": ["lesson"]},
    {"tag": ["a"]},
    {"importance": "high"},
    {"include": ["archived"]},
)


def test_they_agree_with_list_search_and_status(filled):
    for only in (filter_of(**words) for words in FILTERS):
        stats, rows = filled.stats(only), filled.list(only)
        assert stats.memories == len(rows) == sum(stats.kinds.values()) == sum(stats.importance.values())
        assert stats.kinds == Counter(row.kind for row in rows)
        found = {item.row.id for item in filled.search("login code chocolate cake lesson old one just text", 100, only)}
        assert found == {row.id for row in rows if row.status != "deleted"}  # a store holds nothing of what is deleted
        assert stats.statuses == filled.store.status().memories == Counter(row.status for row in filled.list(Filter()))


def test_the_command(rawkomem, filled):
    told = rawkomem.json("stats")
    listed = rawkomem.json("list")
    assert told["memories"] == len(listed) == 4
    assert {row["id"]: row["accesses"] for row in listed} == {"auth": 2, "cake": 1, "l": 0, "draft": 0}
    assert told["most_used"][0]["id"] == "auth" and told["most_used"][0]["last_access"].endswith("Z")
    shown = rawkomem.json("show", "auth")
    assert shown["accesses"] == 2 and shown["last_access"] == told["most_used"][0]["last_access"]
    assert "2×, last" in rawkomem("show", "auth").stdout and "×, last" not in rawkomem("show", "l").stdout
    text = rawkomem("stats").stdout
    assert "memories    4, 2 of them never used; 3 uses in total" in text and "3 active, 1 archived" in text
