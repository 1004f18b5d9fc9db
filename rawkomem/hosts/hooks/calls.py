"""Note each call of a hook in `.rawko/local/hook.calls`: when, which host, which event, and how long it took.

A call has a line when it begins and one when it ends. A call without an end was stopped: the host waits only so long.
Failures are ignored: a hook must not fail because it cannot be noted.
"""

from __future__ import annotations

import os
import time

from ...files.local.private import LineFile, local_path
from ...files.local.told import is_number
from ...model.clock import now
from ...model.errors import RawkoError
from ...model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout

CALLS_FILE = "hook.calls"
MAX_FILE_BYTES = 32 * 1024  # about 400 calls; the older half is dropped
BEGAN, ENDED, TOLD = "began", "ended", "told"


@record
class Called:
    """A call of a hook."""

    at: int  # milliseconds since 1970
    host: str
    event: str
    took_ms: int = -1  # -1: it did not end


def begin(layout: Layout, host: str, event: str) -> float:
    """Note that a call begins, and return the time to pass to `end`."""
    _append(layout, BEGAN, host, event)
    return time.perf_counter()


def end(layout: Layout, host: str, event: str, began: float) -> None:
    """Note that a call ends."""
    _append(layout, ENDED, host, event, str(round(1000 * (time.perf_counter() - began))))


def calls(layout: Layout) -> list[Called]:
    """Return the latest calls, the oldest first; none if they cannot be read."""
    return _read(_lines(layout))


def slow_calls(found: list[Called]) -> list[Called]:
    """Return the calls that took longer than their host waits, or never ended."""
    from ..connect.settings import time_limit_s

    slow = []
    for call in found:
        limit_ms = 1000 * time_limit_s(call.host, call.event)
        if call.took_ms > limit_ms or (call.took_ms < 0 and now() - call.at > limit_ms):
            slow.append(call)
    return slow


def untold_slow_calls(layout: Layout) -> list[Called]:
    """Return the slow calls since the last time that this was asked, and note that they are told now."""
    lines = _lines(layout)
    last = max((at for at, line in enumerate(lines) if len(line) > 1 and line[1] == TOLD), default=-1)
    slow = slow_calls(_read(lines[last + 1 :]))
    if slow:
        _append(layout, TOLD, "", "")
    return slow


def _read(lines: list[list[str]]) -> list[Called]:
    from ..records import HOSTS

    found: list[Called] = []
    open_calls: dict[str, int] = {}  # process, host and event → where its call is
    for at, what, host, event, process, *took in (line for line in lines if len(line) > 4):
        if not is_number(at) or host not in HOSTS:
            continue
        key = f"{process} {host} {event}"
        if what == BEGAN:
            open_calls[key] = len(found)
            found.append(Called(int(at), host, event))
        elif what == ENDED and key in open_calls and took and is_number(took[0]):
            place = open_calls.pop(key)
            found[place] = Called(found[place].at, host, event, int(took[0]))
    return found


def _lines(layout: Layout) -> list[list[str]]:
    try:
        return [line.split("\t") for line in LineFile(local_path(layout, CALLS_FILE)).lines()]
    except RawkoError:
        return []


def _append(layout: Layout, what: str, host: str, event: str, *more: str) -> None:
    try:
        line = "\t".join((str(now()), what, host, event, str(os.getpid()), *more))
        LineFile(local_path(layout, CALLS_FILE), MAX_FILE_BYTES).append(line)
    except RawkoError:
        pass
