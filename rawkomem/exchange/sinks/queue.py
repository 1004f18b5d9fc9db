"""Keep the webhook's queue in a file. Folding its lines gives the waiting events; each run of the sender compacts it.

A line adds an event, records a failed attempt or, with only the key, marks an event as done. Lines are signed, so that
a queue that was copied with a clone is not sent.
"""

from __future__ import annotations

import hmac
import json
import os
from typing import TYPE_CHECKING, Any

from ...files.local.background import start
from ...files.local.made import user_secret
from ...files.local.private import LineFile, local_path
from ...files.lock import Lock, lock
from ...files.replace import remove_temporary
from ...model.clock import iso, now
from ...model.errors import Refused, Unwritable
from ...model.record import record, replace
from .event import Event

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...files.layout import Layout

MAX_QUEUE_BYTES = 4 * 2**20  # some thousand events; then new events are rejected
MARK_CHARS = 32  # hexadecimal digits: 128 bits


@record
class Waiting:
    """An event that is still to be delivered."""

    event: Event
    tries: int = 0
    again: int = 0  # earliest time of the next attempt, in milliseconds since 1970
    failure: str = ""


class Queue:
    """The events of one repository that wait for the webhook, and the dropped events."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.file = LineFile(local_path(layout, "sinks/queue.jsonl"))
        self.dead = LineFile(local_path(layout, "sinks/dead.jsonl"), MAX_QUEUE_BYTES)

    def add(self, events: Iterable[Event]) -> None:
        """Append events; raise Refused if the queue is full."""
        with self._lock():
            if self.file.size() >= MAX_QUEUE_BYTES:
                raise Refused("the webhook's queue is full", "run 'rawkomem sinks flush' to see why it is not sent")
            self.file.append(*_signed([_line(Waiting(event)) for event in events]))

    def waiting(self) -> list[Waiting]:
        """Return the events that are not delivered yet, oldest first; skip lines that this user did not sign."""
        lines = self.file.lines()
        key = own_key() if lines else b""
        return list(_fold([text for line in lines if (text := _verified(key, line))]).values())

    def note_failure(self, waiting: Waiting) -> None:
        """Record a failed attempt, and the time of the next one."""
        self._note({"key": waiting.event.key, **_state_of(waiting)})

    def done(self, key: str) -> None:
        """Record that an event needs no more delivery."""
        self._note({"key": key})

    def drop(self, waiting: Waiting) -> None:
        """Drop an event: move it to the dead file, with the reason."""
        record_of_drop = {"dropped": iso(now()), "why": waiting.failure, "event": json.loads(waiting.event.to_json())}
        with self._lock():
            self.dead.append(json.dumps(record_of_drop))
        self.done(waiting.event.key)

    def dropped(self) -> int:
        """Return the number of events in the dead file, whose older half is dropped when it grows too large."""
        return len(self.dead.lines())

    def compact(self) -> None:
        """Rewrite the file with only the waiting events."""
        with self._lock():
            self._rewrite(self.waiting())

    def forget(self, memory: str) -> None:
        """Remove every event of a purged memory from both files. May also raise OSError."""
        if not os.path.isdir(os.path.dirname(self.file.path)):
            return
        with self._lock():
            remove_temporary(os.path.dirname(self.file.path))
            self._rewrite([item for item in self.waiting() if item.event.memory != memory])
            self.dead.replace(*(line for line in self.dead.lines() if not _is_about(line, memory)))

    def _lock(self) -> Lock:
        return lock(self.layout, "sink-queue")

    def _note(self, state: dict[str, Any]) -> None:
        with self._lock():
            self.file.append(*_signed([json.dumps(state)]))

    def _rewrite(self, kept: list[Waiting]) -> None:
        self.file.replace(*_signed([_line(item) for item in kept]))


def _signed(texts: list[str]) -> list[str]:
    """Return each text with its signature in front."""
    key = own_key() if texts else b""
    return [f"{_mark(key, text)} {text}" for text in texts]


def _verified(key: bytes, line: str) -> str:
    """Return the text of a line that `_signed` made; empty for any other line."""
    mark, _, text = line.partition(" ")
    return text if hmac.compare_digest(mark.encode(), _mark(key, text).encode()) else ""


def _mark(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), "sha256").hexdigest()[:MARK_CHARS]


def own_key() -> bytes:
    """Return the user's key that signs queued events; create it on the first call, or raise Unwritable."""
    try:
        return user_secret("sinks.key")
    except OSError as failure:
        raise Unwritable(f"cannot keep a key in your config folder: {failure.strerror}", "check permissions") from None


def wake_sender(layout: Layout) -> bool:
    """Start a sender in the background if an event is due and none is running; return whether one was started."""
    if not any(item.again <= now() for item in Queue(layout).waiting()):
        return False
    try:
        return start(layout, lock(layout, "sender"), "sinks", "flush", "--due")
    except OSError as failure:
        raise Refused(f"no sender was started: {failure}", "run 'rawkomem sinks flush' to send the events") from None


def _line(waiting: Waiting) -> str:
    state = _state_of(waiting) if waiting.tries else {}
    return json.dumps({"event": json.loads(waiting.event.to_json()), **state})


def _state_of(waiting: Waiting) -> dict[str, Any]:
    return {"tries": waiting.tries, "again": waiting.again, "failure": waiting.failure}


def _fold(texts: list[str]) -> dict[str, Waiting]:
    waiting: dict[str, Waiting] = {}
    for text in texts:
        said: dict[str, Any] = json.loads(text)
        state = {name: said[name] for name in ("tries", "again", "failure") if name in said}
        if "event" in said:
            event = Event.from_json(said["event"])
            waiting[event.key] = Waiting(event, **state)
        elif not state:
            waiting.pop(said["key"], None)
        elif said["key"] in waiting:
            waiting[said["key"]] = replace(waiting[said["key"]], **state)
    return waiting


def _is_about(line: str, memory: str) -> bool:
    """Tell whether a line of the dead file is about a memory; True if it cannot be read, because it might be."""
    try:
        return bool(json.loads(line)["event"]["memory"] == memory)
    except (ValueError, KeyError, TypeError):
        return True
