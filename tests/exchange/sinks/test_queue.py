"""The webhook's queue: signed lines that survive crashes, clones and purges."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from rawkomem.exchange import sinks as module
from rawkomem.exchange.sinks import SinkQueue
from rawkomem.files.layout import user_config
from rawkomem.files.private import make_private_folder
from rawkomem.model.errors import RawkoError, Refused
from rawkomem.model.values import replace

from tests.exchange.sinks.helpers import STORED, event, layout_of


def keys(queue: SinkQueue) -> list[str]:
    return [item.event.title for item in queue.waiting()]


def test_the_sender_says_what_still_waits(layout, queue):
    assert queue.waiting() == []
    queue.add([event(layout, 1), event(layout, 2)])
    queue.add([event(layout, 3)])
    first, second, _ = queue.waiting()
    queue.settle({second.event.key: None, first.event.key: replace(first, tries=2, again=99, failure="no")})
    assert [(item.event.title, item.tries, item.again, item.failure) for item in queue.waiting()] == [
        ("Number 1", 2, 99, "no"),
        ("Number 3", 0, 0, ""),
    ]
    assert Path(queue.file.path).read_text().count("\n") == 2


def test_an_empty_queue_is_no_file(layout, queue):
    queue.add([event(layout, 1)])
    queue.settle({queue.waiting()[0].event.key: None})
    assert not os.path.exists(queue.file.path) and queue.waiting() == []


def test_a_line_that_was_torn_takes_no_other_with_it(layout, queue):
    queue.add([event(layout, 1), event(layout, 2)])
    os.truncate(queue.file.path, os.path.getsize(queue.file.path) - 10)
    queue.add([event(layout, 3)])
    assert keys(queue) == ["Number 1", "Number 3"]


def test_lines_that_somebody_else_wrote_are_not_sent(layout, queue, monkeypatch, tmp_path):
    queue.add([event(layout, 1)])
    mine = Path(queue.file.path).read_text()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "another user"))
    assert queue.waiting() == []
    queue.add([event(layout, 2)])
    file = Path(queue.file.path)
    file.write_text(file.read_text() + mine + "\n" + mine.split(" ", 1)[1] + "\nrubbish\n{}")
    assert keys(queue) == ["Number 2"]


def test_a_line_that_was_changed_is_not_sent(layout, queue):
    queue.add([event(layout, 1)])
    Path(queue.file.path).write_text(Path(queue.file.path).read_text().replace("Number 1", "Number 9"))
    assert queue.waiting() == []


def test_the_key_is_the_users_alone(layout, queue):
    queue.add([event(layout, 1)])
    file = os.path.join(os.path.dirname(user_config()), "sinks.key")
    assert os.stat(file).st_mode & 0o777 == 0o600 and os.path.getsize(file) == 32
    assert os.stat(queue.file.path).st_mode & 0o777 == 0o600


def test_a_full_queue_refuses(layout, queue, monkeypatch):
    monkeypatch.setattr(module, "MAX_QUEUE_BYTES", 1000)
    with pytest.raises(Refused, match="queue is full"):
        for number in range(100):
            queue.add([event(layout, number)])
    assert 1000 <= os.path.getsize(queue.file.path) < 2000


def test_the_dead_file_loses_its_older_half_when_it_is_full(layout, queue):
    queue.dead.max_bytes = 2000
    for number in range(10):
        queue.add([event(layout, number)])
        queue.drop(replace(queue.waiting()[0], failure="no"))
    assert os.path.getsize(queue.dead.path) <= 2000 and 1 < queue.dropped() < 10
    last = json.loads(Path(queue.dead.path).read_text().splitlines()[-1])
    assert (last["why"], last["event"]["title"]) == ("no", "Number 9")


def test_forget_removes_a_memory_everywhere(layout, queue):
    queue.forget("mem_1")  # nothing there yet
    queue.add([event(layout, number, body=f"body {number}") for number in (1, 2, 3)])
    first, second, _ = queue.waiting()
    queue.drop(first)
    queue.drop(second)
    queue.add([event(layout, 1, body="body 1")])
    queue.forget("mem_1")
    text = Path(queue.file.path).read_text() + Path(queue.dead.path).read_text()
    assert "body 1" not in text and "body 2" in text and keys(queue) == ["Number 3"]


@pytest.mark.parametrize("link", ["local/sinks", "local/sinks/queue.jsonl"])
def test_links_that_came_with_a_repository_are_not_written_through(project, tmp_path_factory, link):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    place = project / ".rawko" / link
    make_private_folder(str(place.parent))
    target = elsewhere
    if link.endswith("jsonl"):
        target = elsewhere / "precious"
        target.write_text("precious")
    place.symlink_to(target)
    layout = layout_of(project)
    with pytest.raises(RawkoError, match=r"is a link|cannot use"):
        SinkQueue(layout).add([event(layout, 1)])
    assert [path.read_text() for path in elsewhere.rglob("*") if path.is_file()] in ([], ["precious"])


def test_purge_takes_the_events_of_a_memory_along(repository, layout, queue):
    repository.add(replace(STORED, body="leaked words"))
    queue.add([event(layout, 1, id=STORED.id, body="leaked words"), event(layout, 2)])
    repository.lifecycle.purge(STORED.id)
    assert keys(queue) == ["Number 2"] and "leaked" not in Path(queue.file.path).read_text()
