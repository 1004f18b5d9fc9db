"""The query cache of the mesh: never older than five minutes, never older than the index."""

from pathlib import Path

from rawkomem.faces.mesh.api import MAX_ANSWERS, TIME_TO_LIVE_S, AnswerCache


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_it_ends_five_minutes_after_it_was_made_however_often_it_is_used():
    clock = Clock()
    cache = AnswerCache(clock)
    cache.put("apples", "answer")
    for _ in range(4):
        clock.now += TIME_TO_LIVE_S / 4 - 1
        assert cache.get("apples") == "answer"
    clock.now += 4
    assert cache.get("apples") is None


def test_it_holds_five_hundred_and_drops_the_least_recently_used():
    cache = AnswerCache(Clock())
    for number in range(MAX_ANSWERS):
        cache.get(number, "state")
        cache.put(number, f"answer {number}")
    assert cache.get(0, "state") == "answer 0"
    cache.put("new", "answer")
    assert len(cache) == MAX_ANSWERS
    assert cache.get(0, "state") == "answer 0" and cache.get(1, "state") is None
    assert cache.get(0, "another state") is None and len(cache) == 0


def test_a_file_edited_by_hand_drops_it(mesh):
    mesh.add("Redis listens on port 6380")
    assert len(mesh.search("redis port")) == 1
    for file in Path(mesh.repository.layout.root, "memories").rglob("*.md"):
        file.unlink()
    assert mesh.search("redis port") == []
