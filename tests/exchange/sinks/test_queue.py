"""The webhook's queue, and its dropped events."""

import json

import pytest
from rawkomem.exchange import sinks as module
from rawkomem.exchange.sinks import SinkQueue
from rawkomem.files import records
from rawkomem.model.errors import Refused
from rawkomem.model.values import replace

from tests.exchange.sinks.helpers import STORED, event


def keys(queue: SinkQueue) -> list[str]:
    return [item.event["title"] for item in queue.waiting()]


def test_the_sender_says_what_still_waits(layout, queue):
    assert queue.waiting() == []
    queue.add([event(layout, 1), event(layout, 2)])
    queue.add([event(layout, 3)])
    first, second, _ = queue.waiting()
    queue.remove(second)
    queue.postpone(replace(first, tries=2, again=99, failure="no"))
    assert [(item.event["title"], item.tries, item.again, item.failure) for item in queue.waiting()] == [
        ("Number 1", 2, 99, "no"),
        ("Number 3", 0, 0, ""),
    ]


def test_a_full_queue_refuses(layout, queue, monkeypatch):
    monkeypatch.setattr(module, "MAX_WAITING", 10)
    with pytest.raises(Refused, match="queue is full"):
        for number in range(100):
            queue.add([event(layout, number)])
    assert len(queue.waiting()) == 10


def test_old_dropped_events_are_forgotten(layout, queue, monkeypatch):
    monkeypatch.setitem(records.MAX_ROWS, "sink_dropped", 4)
    for number in range(10):
        queue.add([event(layout, number)])
        queue.remove(replace(queue.waiting()[0], failure="no"), is_dropped=True)
    assert queue.waiting() == [] and queue.dropped() == 4
    failure, text = records.read(layout, "SELECT failure, event FROM sink_dropped")[-1]
    assert (failure, json.loads(text)["title"]) == ("no", "Number 9")


def test_forget_removes_a_memory_everywhere(layout, queue):
    queue.forget("mem_1")  # nothing there yet
    queue.add([event(layout, number, body=f"body {number}") for number in (1, 2, 3)])
    first, second, _ = queue.waiting()
    queue.remove(first, is_dropped=True)
    queue.remove(second, is_dropped=True)
    queue.add([event(layout, 1, body="body 1")])
    queue.forget("mem_1")
    text = str(records.read(layout, "SELECT event FROM sink_queue UNION ALL SELECT event FROM sink_dropped"))
    assert "body 1" not in text and "body 2" in text and keys(queue) == ["Number 3"]


def test_purge_takes_the_events_of_a_memory_along(repository, layout, queue):
    repository.add(replace(STORED, body="leaked words"))
    queue.add([event(layout, 1, id=STORED.id, body="leaked words"), event(layout, 2)])
    repository.lifecycle.purge(STORED.id)
    assert keys(queue) == ["Number 2"]
