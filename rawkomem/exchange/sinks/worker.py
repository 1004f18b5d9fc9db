"""Starts a sender in the background: a process of its own, so that no write waits for a server."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from ...model.clock import now
from ...model.errors import Refused
from .places import open_to_append, replace_file
from .queue import Queue

if TYPE_CHECKING:
    from ...files.layout import Layout

LOG_SIZE = 256 * 1024  # bytes of the log after which it starts anew


def wake_sender(layout: Layout) -> bool:
    """Start a sender where something is due and none is running; whether one was started."""
    queue = Queue(layout)
    if not any(item.again <= now() for item in queue.waiting()):
        return False
    lock = queue.sender_lock()
    if not sys.executable or not lock.acquire(0.0):
        return False
    lock.release()
    _start(layout, os.path.join(queue.folder, "sender.log"))
    return True


def _start(layout: Layout, log: str) -> None:
    """-P keeps Python from importing what lies in the current folder, which is the project's and not ours."""
    command = [sys.executable, "-P", "-m", "rawkomem", "-C", layout.project, "sinks", "flush", "--due"]
    if os.path.exists(log) and os.path.getsize(log) > LOG_SIZE:
        replace_file(log, b"")
    nowhere = subprocess.DEVNULL
    try:
        with open(open_to_append(log), "ab") as errors:
            subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=errors, cwd=os.sep, start_new_session=True)
    except OSError as failure:
        raise Refused(f"no sender was started: {failure}", "'rawkomem sinks flush' sends what waits") from None
