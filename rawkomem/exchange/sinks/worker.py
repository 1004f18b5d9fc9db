"""Starts a sender in the background, so that no write waits for a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.background import start
from ...files.lock import lock
from ...model.clock import now
from ...model.errors import Refused
from .queue import Queue

if TYPE_CHECKING:
    from ...files.layout import Layout


def wake_sender(layout: Layout) -> bool:
    """Start a sender if an event is due and none is running; return whether one was started."""
    if not any(item.again <= now() for item in Queue(layout).waiting()):
        return False
    try:
        return start(layout, lock(layout, "sender"), "sinks", "flush", "--due")
    except OSError as failure:
        raise Refused(f"no sender was started: {failure}", "'rawkomem sinks flush' sends what waits") from None
