"""What hooks note about themselves in `.rawko/local`: each call and how long it took, calls that were
answered already, failures; and the line that a host shows to the person.

A call writes one line when it begins and one when it ends. If the second line is missing, the host
stopped the call because it took too long. A hook must not fail because it cannot write a log, so
failures are ignored.
"""

from __future__ import annotations

import os
import time

from ..files.layout import Layout
from ..files.private import LineFile, local_path, lock
from ..files.session_records import checksum, is_number
from ..model.errors import RawkoError
from ..model.values import TYPE_CHECKING, iso, now, record
from ..recall.inject import Injection, waiting_note
from ..text.chunks import counted
from ..text.clean import one_line
from ..text.safe import safe_title
from .known_hosts import HOSTS, time_limit_s

if TYPE_CHECKING:
    from ..repository.learning import Learned


# Log each call of a hook in `.rawko/local/hook.calls`: time, host, event, and how long it took.

CALLS_FILE = "hook.calls"
MAX_CALLS_BYTES = 32 * 1024  # about 300 calls; the older half is dropped
BEGAN, ENDED, TOLD = "began", "ended", "told"


def note_begin(layout: Layout, host: str, event: str) -> float:
    """Log that a call begins; return the time to pass to `end`."""
    note_call(layout, BEGAN, host, event)
    return time.perf_counter()


def note_end(layout: Layout, host: str, event: str, began: float) -> None:
    """Log that a call ended, and how long it took."""
    note_call(layout, ENDED, host, event, str(round(1000 * (time.perf_counter() - began))))


def note_call(layout: Layout, what: str, host: str, event: str, *more: str) -> None:
    """Append a line."""
    try:
        line = "\t".join((str(now()), what, host, event, str(os.getpid()), *more))
        LineFile(local_path(layout, CALLS_FILE), MAX_CALLS_BYTES).append(line)
    except RawkoError:
        pass


# Recognize a hook call that was already answered: hosts read each other's settings, so a hook may
# run twice at once.
#
# `.rawko/local/hooks.seen` has a line for each call. It is read and extended under a lock, so that
# exactly one of several processes is the first. If it cannot be written, every call is answered:
# duplicate memories are better than none.

SEEN_FILE = "hooks.seen"
WINDOW_S = 30.0  # equal calls within this time are one call, if they hold a prompt id or the state of a transcript
COPIES_S = 1.5  # the same for calls with neither: copies start together, and a person needs longer to repeat a prompt
MAX_SEEN_BYTES = 16 * 1024  # about 350 calls


def is_first_call(layout: Layout, *what: str, within_s: float = WINDOW_S) -> bool:
    """Tell whether no equal call came within the last `within_s` seconds, and record this one."""
    key, at = checksum(*what), time.time()
    try:
        with lock(layout, "hook-calls"):
            file = LineFile(local_path(layout, SEEN_FILE), MAX_SEEN_BYTES)
            calls = file.parsed(_seen_call)
            # A time of more than a second in the future is wrong.
            if any(key == known and -1 < at - when < within_s for when, known in calls):
                return False
            file.append(f"{at:.3f} {key}")
            return True
    except RawkoError:
        return True


def _seen_call(line: str) -> tuple[float, str] | None:
    when, _, key = line.partition(" ")
    try:
        return float(when), key
    except ValueError:
        return None


# Read the log of hook calls, and find calls that took longer than their host waits.


@record
class Called:
    """A call of a hook."""

    at: int  # milliseconds since 1970
    host: str
    event: str
    took_ms: int = -1  # -1: it did not end


def logged_calls(layout: Layout) -> list[Called]:
    """Return the logged calls, the oldest first; empty if the log cannot be read."""
    return _read_calls(_call_lines(layout))


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
    lines = _call_lines(layout)
    last = max(
        (at for at, line in enumerate(lines) if len(line) > 1 and line[1] == TOLD), default=-1
    )
    slow = slow_calls(_read_calls(lines[last + 1 :]))
    if slow:
        note_call(layout, TOLD, "", "")
    return slow


def _read_calls(lines: list[list[str]]) -> list[Called]:
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


def _call_lines(layout: Layout) -> list[list[str]]:
    try:
        return [line.split("\t") for line in LineFile(local_path(layout, CALLS_FILE)).lines()]
    except RawkoError:
        return []


# Write the line that a host shows to the person: memories added to the prompt, new drafts, slow
# calls.

NEWS_FILE = "hook.news"  # results of the background learner since the last prompt
MAX_NEWS_BYTES = 4 * 1024
MAX_TITLES = 3
MAX_TITLE_CHARS = 60


def notice_of(layout: Layout, injection: Injection | None = None) -> str:
    """Return the line for the person; empty if there is nothing to report. What it reports is not reported again."""
    titles = [_shown_title(item.memory.title) for item in injection.items] if injection else []
    said = [f"added {_list_titles(titles)}"] if titles else []
    if injection and (waiting := waiting_note(injection)):
        said.append(waiting)
    said += _take_news(layout)
    if slow := untold_slow_calls(layout):
        events = ", ".join(dict.fromkeys(call.event for call in slow))
        calls = counted(len(slow), "earlier hook call")
        said.append(
            f"{calls} took longer than {slow[-1].host} waits ({events}): run 'rawkomem doctor'"
        )
    return f"rawkomem: {'; '.join(said)}" if said else ""


def note_learned(layout: Layout, learned: Learned) -> None:
    """Save the results of the background learner for the next notice."""
    stored = [_shown_title(one.entry.title) for one in learned.stored if one.written]
    lines = [f"stored {_list_titles(stored)}"] if stored else []
    if learned.drafts:
        lines.append(f"{counted(len(learned.drafts), 'new draft')} ('rawkomem drafts')")
    try:
        if lines:
            LineFile(local_path(layout, NEWS_FILE), MAX_NEWS_BYTES).append(*lines)
    except RawkoError:
        pass  # `rawkomem drafts` still lists them


def _take_news(layout: Layout) -> list[str]:
    try:
        path = local_path(layout, NEWS_FILE)
        if not os.path.exists(path):
            return []
        lines = LineFile(path).lines()
        LineFile(path).replace()
    except RawkoError:
        return []
    return lines


def _list_titles(titles: list[str]) -> str:
    more = len(titles) - MAX_TITLES
    return ", ".join(f"“{title}”" for title in titles[:MAX_TITLES]) + (
        f" and {more} more" if more > 0 else ""
    )


def _shown_title(text: str) -> str:

    return one_line(safe_title(text), MAX_TITLE_CHARS)


# Log failures of hooks in `.rawko/local/hook.log`, because hosts do not show them.

LOG_FILE = "hook.log"
MAX_LOG_BYTES = 64 * 1024
MAX_LOG_LINE_CHARS = 300


def note_failure(layout: Layout, host: str, event: str, message: str) -> None:
    """Append a line. A failure is ignored, because there is no other place to report it."""
    try:
        from ..redaction.find import redact  # messages may quote secrets

        said = one_line(redact(f"{host} {event}: {message}"), MAX_LOG_LINE_CHARS)
        LineFile(local_path(layout, LOG_FILE), MAX_LOG_BYTES).append(f"{iso(now())} {said}")
    except Exception:
        pass
