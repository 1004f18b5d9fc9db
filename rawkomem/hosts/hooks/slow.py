"""Read the log of hook calls, and find calls that took longer than their host waits."""

from __future__ import annotations

from ...files.local.private import LineFile, local_path
from ...files.local.told import is_number
from ...model.clock import now
from ...model.errors import RawkoError
from ...model.record import record
from ..records import HOSTS, time_limit_s
from .calls import BEGAN, CALLS_FILE, ENDED, TOLD, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout


@record
class Called:
    """A call of a hook."""

    at: int  # milliseconds since 1970
    host: str
    event: str
    took_ms: int = -1  # -1: it did not end


def calls(layout: Layout) -> list[Called]:
    """Return the logged calls, the oldest first; empty if the log cannot be read."""
    return _read(_lines(layout))


def slow_calls(found: list[Called]) -> list[Called]:
    """Return the calls that took longer than their host waits, or never ended."""
    slow = []
    for call in found:
        limit_ms = 1000 * time_limit_s(call.host, call.event)
        if call.took_ms > limit_ms or (call.took_ms < 0 and now() - call.at > limit_ms):
            slow.append(call)
    return slow


def untold_slow_calls(layout: Layout) -> list[Called]:
    """Return the slow calls since this function last returned some, and record that they are reported."""
    lines = _lines(layout)
    last = max((at for at, line in enumerate(lines) if len(line) > 1 and line[1] == TOLD), default=-1)
    slow = slow_calls(_read(lines[last + 1 :]))
    if slow:
        note(layout, TOLD, "", "")
    return slow


def _read(lines: list[list[str]]) -> list[Called]:
    found: list[Called] = []
    open_calls: dict[str, int] = {}  # process, host and event → index in `found`
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
