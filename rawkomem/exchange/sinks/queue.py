"""The webhook's queue: a local append-only file. What waits is a fold of its lines; a run of the sender compacts it.

A line adds an event, notes a failed try, or (with nothing but the key) says that an event is done with.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ...files.lock import Lock
from ...model.clock import iso, now
from ...model.errors import Refused
from ...model.record import record, replace
from .event import Event
from .places import append, read, replace_file, sinks_folder
from .signed import own_key, sign, verified

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...files.layout import Layout

CAP = 4 * 2**20  # bytes: some thousand events; a server that is away for longer will not want them all
WAIT = 2.0  # seconds for the lock; it is held for milliseconds


@record
class Waiting:
    """An event that is still to be delivered."""

    event: Event
    tries: int = 0
    again: int = 0  # not to be tried before, in milliseconds since 1970
    failure: str = ""


class Queue:
    """The events of one repository that wait for the webhook, and those that were given up."""

    def __init__(self, layout: Layout):
        self.folder = sinks_folder(layout)
        self.file = os.path.join(self.folder, "queue.jsonl")
        self.dead = os.path.join(self.folder, "dead.jsonl")

    def add(self, events: Iterable[Event]) -> None:
        """Append events; refused when the queue is full."""
        with self._lock():
            if os.path.exists(self.file) and os.path.getsize(self.file) >= CAP:
                raise Refused("the webhook's queue is full", "'rawkomem sinks flush' shows why it is not sent")
            self._write([_line(Waiting(event)) for event in events])

    def waiting(self) -> list[Waiting]:
        """What is still to be delivered, oldest first."""
        return list(_fold(self._texts()).values())

    def note_failure(self, waiting: Waiting) -> None:
        """Remember a failed try, and when to try again."""
        state = {"key": waiting.event.key, "tries": waiting.tries, "again": waiting.again, "failure": waiting.failure}
        with self._lock():
            self._write([json.dumps(state)])

    def done(self, key: str) -> None:
        """Remember that an event needs no more delivery."""
        with self._lock():
            self._write([json.dumps({"key": key})])

    def drop(self, waiting: Waiting) -> None:
        """Give an event up: it goes to the dead file, with the reason."""
        told = {"dropped": iso(now()), "why": waiting.failure, "event": json.loads(waiting.event.to_json())}
        with self._lock():
            if os.path.exists(self.dead) and os.path.getsize(self.dead) >= CAP:
                os.replace(self.dead, f"{self.dead}.old")
            append(self.dead, (json.dumps(told) + "\n").encode())
            self._write([json.dumps({"key": waiting.event.key})])

    def dropped(self) -> int:
        """How many events were given up, as far as the dead file goes back."""
        return read(self.dead).count("\n")

    def compact(self) -> None:
        """Keep only the lines of what waits."""
        with self._lock():
            self._rewrite(self.waiting())

    def forget(self, memory: str) -> None:
        """Remove every event of a memory, delivered or not: its text is to be gone for good."""
        if not os.path.isdir(self.folder):
            return
        with self._lock():
            self._rewrite([item for item in self.waiting() if item.event.memory != memory])
            for file in (self.dead, f"{self.dead}.old"):
                lines = [line for line in read(file).splitlines(keepends=True) if not _is_about(line, memory)]
                replace_file(file, "".join(lines).encode())

    def sender_lock(self) -> Lock:
        """Held while events are sent: one sender at a time."""
        return Lock(os.path.join(self.folder, "sender.lock"))

    def _lock(self) -> Lock:
        return Lock(os.path.join(self.folder, "queue.lock"), WAIT)

    def _texts(self) -> list[str]:
        lines = [line for line in read(self.file).split("\n") if line]
        key = own_key() if lines else b""
        return [text for line in lines if (text := verified(key, line))]

    def _write(self, texts: list[str]) -> None:
        """Each line starts with its line end: it cannot be taken for the rest of one that was torn by a crash."""
        append(self.file, _signed(texts))

    def _rewrite(self, kept: list[Waiting]) -> None:
        replace_file(self.file, _signed([_line(item) for item in kept]))


def _signed(texts: list[str]) -> bytes:
    key = own_key() if texts else b""
    return "".join(f"\n{sign(key, text)}" for text in texts).encode()


def _line(waiting: Waiting) -> str:
    state = {"tries": waiting.tries, "again": waiting.again, "failure": waiting.failure} if waiting.tries else {}
    return json.dumps({"event": json.loads(waiting.event.to_json()), **state})


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
    """Whether a line of the dead file is about a memory, or cannot be read and so might be."""
    try:
        return bool(json.loads(line)["event"]["memory"] == memory)
    except (ValueError, KeyError, TypeError):
        return True
