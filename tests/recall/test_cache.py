"""The query cache: answers of a long-lived process, never older than five minutes, never older than the index."""

from __future__ import annotations

import time

import pytest
from rawkomem.model.entries import Entry
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository
from rawkomem.repository.core import MAX_ANSWERS, TIME_TO_LIVE_S, AnswerCache

from tests.torture.helpers import memory


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def cached(memories, repository, clock):
    """A repository with a cache on a clock that stands still; `.reads` counts the answers that were really made."""
    (memories / "a.md").write_text(memory("Apple", "About apples."))
    time.sleep(0.05)  # a file that changed a moment ago is read again
    repository.search("warm up")
    repository.core.answers = AnswerCache(clock)
    reads, view = [], repository.core.view
    repository.core.view = lambda only: (reads.append(1), view(only))[1]
    repository.reads = reads
    return repository


def titles(repository, *words, **options) -> list[str]:
    return [item.row.title for item in repository.search(*words, **options)]


def test_a_hit(cached):
    first = cached.search("apples")
    first.append("what a caller does with its list is its own business")
    assert cached.search("apples") == first[:1] and len(cached.reads) == 1
    assert cached.search_many(["apples"]) is cached.search_many(["apples"])


def test_everything_that_influences_an_answer_is_in_the_key(cached):
    cached.search("apples")
    cached.search("apples", limit=3)
    cached.search("apples", only=Filter())
    cached.search("apples", only=Filter(trust=0.4))
    cached.search_many(["apples", "pears"])
    cached.traces.search("apples")
    cached.traces.search("apples", limit=1)
    cached.traces.search("apples", min_similarity=0.5)
    assert len(cached.reads) == 8


def test_it_ends_five_minutes_after_it_was_made_however_often_it_is_used(cached, clock):
    cached.search("apples")
    for _ in range(4):
        clock.now += TIME_TO_LIVE_S / 4 - 1
        cached.search("apples")
    assert len(cached.reads) == 1
    clock.now += 4
    cached.search("apples")
    assert len(cached.reads) == 2


def test_a_write_drops_it(cached):
    assert titles(cached, "fruit apples") == ["Apple"]
    cached.add(Entry(title="Apple pie", body="Apples in a pie."))
    assert len(cached.core.answers) == 0
    assert sorted(titles(cached, "fruit apples")) == ["Apple", "Apple pie"]
    cached.delete("a")
    assert titles(cached, "fruit apples") == ["Apple pie"]


def test_a_file_edited_by_hand_drops_it(cached, memories):
    assert titles(cached, "apples") == ["Apple"]
    (memories / "a.md").write_text(memory("Pear", "About apples and pears."))
    assert titles(cached, "apples") == ["Pear"]
    (memories / "a.md").unlink()
    assert titles(cached, "apples") == []


def test_another_process_that_made_the_index_anew_drops_it(cached, memories):
    assert titles(cached, "apples") == ["Apple"]
    (memories / "b.md").write_text(memory("Apple two", "More about apples."))
    other = Repository.open(str(memories))
    other.sync()
    other.close()
    assert sorted(titles(cached, "apples")) == ["Apple", "Apple two"]


def test_it_holds_five_hundred_and_drops_the_least_recently_used(clock):
    cache = AnswerCache(clock)
    for number in range(MAX_ANSWERS):
        cache.get(number, "state")
        cache.put(number, f"answer {number}")
    assert cache.get(0, "state") == "answer 0"
    cache.put("new", "answer")
    assert len(cache) == MAX_ANSWERS
    assert cache.get(0, "state") == "answer 0" and cache.get(1, "state") is None
    assert cache.get(0, "another state") is None and len(cache) == 0
