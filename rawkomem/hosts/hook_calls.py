"""What hooks note about themselves in this machine's records: each call and how long it took, calls that
were answered already; failures in a log; and the line that a host shows to the person.

A call adds a row when it begins and completes it when it ends. If a row is not complete, the host
stopped the call because it took too long. A hook must not fail because it cannot write a record, so
failures are ignored.
"""

from __future__ import annotations

import time

from ..files.layout import Layout
from ..files.private import append_log, local_path
from ..files.records import change, execute, insert, note, read
from ..files.session_records import checksum
from ..model.errors import RawkoError
from ..model.values import TYPE_CHECKING, iso, now, record
from ..recall.inject import Injection, waiting_note
from ..text.chunks import counted
from ..text.clean import one_line
from ..text.safe import safe_title
from .known_hosts import time_limit_s

if TYPE_CHECKING:
    from ..repository.learning import Learned


def note_begin(layout: Layout, host: str, event: str) -> tuple[int, float]:
    """Log that a call begins; return the number and the time to pass to `note_end`."""
    try:
        with change(layout) as db:
            return insert(db, "calls", now(), host, event, -1, 0), time.perf_counter()
    except RawkoError:
        return 0, time.perf_counter()


def note_end(layout: Layout, began: tuple[int, float]) -> None:
    """Log that a call ended, and how long it took."""
    number, start = began
    took_ms = round(1000 * (time.perf_counter() - start))
    _written(layout, "UPDATE calls SET took_ms = ? WHERE number = ?", took_ms, number)


def _written(layout: Layout, sql: str, *values: int) -> bool:
    try:
        execute(layout, sql, *values)
    except RawkoError:
        return False
    return True


# Recognize a hook call that was already answered: hosts read each other's settings, so a hook may
# run twice at once.
#
# Exactly one of several processes is the first, because looking up and adding a call is one
# transaction. If it cannot be written, every call is answered: duplicate memories are better than
# none.

# equal calls within this time are one call, if they hold a prompt id or the state of a transcript
WINDOW_S = 30.0
# the same for calls with neither: copies start together, and a person needs longer to repeat a prompt
COPIES_S = 1.5


def is_first_call(layout: Layout, *what: str, within_s: float = WINDOW_S) -> bool:
    """Return whether no equal call came within the last `within_s` seconds, and record this one."""
    key = checksum(*what)
    at = time.time()
    try:
        with change(layout) as db:
            # A time of more than a second in the future is wrong.
            sql = "SELECT 1 FROM seen WHERE key = ? AND at > ? AND at < ?"
            if db.execute(sql, (key, at - within_s, at + 1)).fetchall():
                return False
            db.execute(
                "DELETE FROM seen WHERE at < ? OR at > ?", (at - WINDOW_S, at + 1)
            )
            db.execute("INSERT OR REPLACE INTO seen VALUES (?, ?)", (key, at))
            return True
    except RawkoError:
        return True


@record
class Called:
    """A call of a hook."""

    at: int  # milliseconds since 1970
    host: str
    event: str
    took_ms: int = -1  # -1: it did not end


def logged_calls(layout: Layout, where: str = "") -> list[Called]:
    """Return the logged calls for which an SQL clause holds, the oldest first; empty if the log cannot be read."""
    sql = f"SELECT at, host, event, took_ms FROM calls {where} ORDER BY number"
    return [Called(*row) for row in read(layout, sql)]


def slow_calls(calls: list[Called]) -> list[Called]:
    """Return the calls that took longer than their host waits, or never ended."""
    slow = []
    for call in calls:
        limit_ms = 1000 * time_limit_s(call.host, call.event)
        if call.took_ms > limit_ms or (call.took_ms < 0 and now() - call.at > limit_ms):
            slow.append(call)
    return slow


def untold_slow_calls(layout: Layout) -> list[Called]:
    """Return the slow calls since this function last returned some, and record that they are reported."""
    slow = slow_calls(logged_calls(layout, "WHERE reported = 0"))
    if slow:
        _written(layout, "UPDATE calls SET reported = 1")
    return slow


MAX_TITLES = 3
MAX_TITLE_CHARS = 60


def notice_of(layout: Layout, injection: Injection | None = None) -> str:
    """Return the line for the person; empty if there is nothing to report. What it reports is not reported again."""
    if injection:
        titles = [_shown_title(item.memory.title) for item in injection.items]
    else:
        titles = []
    notes = [f"added {_list_titles(titles)}"] if titles else []
    if injection and (waiting := waiting_note(injection)):
        notes.append(waiting)
    notes += _take_news(layout)
    if slow := untold_slow_calls(layout):
        events = ", ".join(dict.fromkeys(call.event for call in slow))
        calls = counted(len(slow), "earlier hook call")
        notes.append(
            f"{calls} took longer than {slow[-1].host} waits ({events}): run 'rawkomem doctor'"
        )
    return f"rawkomem: {'; '.join(notes)}" if notes else ""


def note_learned(layout: Layout, learned: Learned) -> None:
    """Save the results of the background learner for the next notice."""
    stored = [_shown_title(one.entry.title) for one in learned.stored if one.written]
    lines = [f"stored {_list_titles(stored)}"] if stored else []
    if drafts := [draft for draft in learned.drafts if not draft.more]:
        lines.append(f"{counted(len(drafts), 'new draft')} ('rawkomem drafts')")
    for line in lines:
        note(layout, "news", line)


def _take_news(layout: Layout) -> list[str]:
    """Return the results of the background learner since the last prompt, and remove them."""
    lines = [line for (line,) in read(layout, "SELECT line FROM news ORDER BY number")]
    return lines if lines and _written(layout, "DELETE FROM news") else []


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

        line = one_line(redact(f"{host} {event}: {message}"), MAX_LOG_LINE_CHARS)
        append_log(local_path(layout, LOG_FILE), f"{iso(now())} {line}", MAX_LOG_BYTES)
    except Exception:
        pass
