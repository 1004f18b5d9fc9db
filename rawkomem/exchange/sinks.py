"""Report written entries to sinks, a daily log and a webhook's queue, if the user's own config sets
them up; send the queued events.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

from ..files.background import start_background
from ..files.layout import Layout, explained
from ..files.private import lock, lock_in, open_private, write_all
from ..files.records import change, execute, insert, read
from ..format.skill_files import in_fence
from ..model.entries import DECAY_CODE, Entry
from ..model.errors import BadInput, Busy, RawkoError, Refused
from ..model.ids import hex_hash
from ..model.user_settings import MarkdownSettings, SinkSettings, WebhookSettings
from ..model.values import CREATES, filled, iso, now, record, replace, text_of
from ..net import (
    PUBLIC_ONLY,
    Bounds,
    Client,
    Policy,
    RequestFailed,
    check_key,
    check_target,
    read_key,
    read_url,
    user_policy,
)
from ..redaction.find import redact
from ..text.clean import clean, one_line

# Check the settings of sinks, without loading an HTTP client.


def checked_folder(settings: MarkdownSettings, layout: Layout) -> str:
    """Return the folder of the log; raise BadInput if it is relative or inside the repository."""
    folder = os.path.expanduser(settings.folder)
    if not os.path.isabs(folder):
        raise BadInput(
            "sinks.folder is not a full path", "write it as /home/you/log or ~/log"
        )
    inside = os.path.realpath(layout.root) + os.sep
    if (os.path.realpath(folder) + os.sep).startswith(inside):
        raise BadInput(
            "sinks.folder is inside the repository", "choose a folder outside .rawko"
        )
    return folder


def checked_webhook(settings: WebhookSettings) -> tuple[Policy, str]:
    """Return the network policy and the key of the webhook; raise a RawkoError if its settings are invalid."""
    target = read_url(settings.url)
    policy = user_policy(settings.url) if settings.allow_local else PUBLIC_ONLY
    key = read_key(settings.key_env, "keys.webhook")
    check_target(target, policy)
    check_key(target, key)
    return policy, key


EVENT_NAMES = {  # kind of an entry → name of its event; other kinds make no event
    **dict.fromkeys((*CREATES, "amend"), "store"),
    "supersede": "supersede",
    "quarantine": "quarantine",
    "archive": "archive",
    "delete": "archive",
}
KEY_DIGITS = 32
MAX_ID_CHARS = 250  # the longest id that the format allows
MAX_EVENT_CHARS = 10_000  # longer texts are truncated


Event = dict[str, Any]  # one change of a memory: every field that is not empty


def events_of(layout: Layout, code: str, entries: Iterable[Entry]) -> list[Event]:
    """Return the events of written entries, which are already redacted; `code` is the code of their plan."""
    named = ((entry, event_name(entry, code)) for entry in entries)
    return [_event(layout, entry, name) for entry, name in named if name]


def event_name(entry: Entry, code: str) -> str:
    """Return the name of an entry's event; empty if it makes none."""
    name = EVENT_NAMES.get(entry.kind, "")
    if entry.kind == "review" and entry.extra.get("action") == "reject":
        name = "archive"
    return DECAY_CODE if name == "archive" and code == DECAY_CODE else name


def _event(layout: Layout, entry: Entry, name: str) -> Event:
    """Return the event of an entry. Its `key` is the same for every delivery."""
    identity = "\n".join((layout.root, entry.id, name))
    text = clean(entry.body).strip()
    if len(text) > MAX_EVENT_CHARS:
        text = text[: MAX_EVENT_CHARS - 1] + "…"
    is_ranked = entry.creates or "importance" in entry.given
    fields = {
        "event": name,
        "key": hex_hash(identity, KEY_DIGITS),
        "at": iso(entry.at),
        "repository": one_line(layout.project.replace("\\", "/").rpartition("/")[2]),
        "memory": one_line(entry.target, MAX_ID_CHARS),
        "kind": entry.kind,
        "title": one_line(entry.title),
        "text": text,
        "importance": entry.importance if is_ranked else "",
        "tags": [one_line(tag) for tag in entry.tags],
        "by": one_line(redact(entry.by)),
        "reason": one_line(text_of(entry.extra.get("reason"))),
        "superseded_by": one_line(text_of(entry.extra.get("supersededBy"))),
        "path": entry.path,
    }
    return filled(fields)


# Write the daily log: one Markdown file per day in a folder of the user. A memory's text stays
# inside its fence.

SPECIAL_CHARACTERS = "\\`*_[]<>#|~&!"  # characters with a meaning in Markdown
SHOWN_FIELDS = str.split(
    "repository memory kind importance tags by reason superseded_by path"
)


def log_events(folder: str, events: Iterable[Event]) -> None:
    """Append events to the file of today (UTC); raise Unwritable on an I/O error."""
    day, _, time = iso(now()).partition("T")
    file = os.path.join(folder, f"{day}.md")
    with lock_in(folder, "daily-log"):
        head = "" if os.path.lexists(file) else f"# {day}\n"
        text = head + "".join(
            f"\n{rendered_event(event, time[:8])}" for event in events
        )
        hint = "check that it is a plain file, its permissions, and free space"
        with explained(f"cannot use {file}", hint), open_private(file, "a") as stream:
            write_all(stream, text.encode("utf-8", "replace"))


def rendered_event(event: Event, time: str) -> str:
    """Return an event as Markdown: a heading, a list of its fields, and the text in a fence that it cannot close."""
    title = f": {escaped_markdown(event['title'])}" if "title" in event else ""
    lines = [f"## {time} {event['event']}{title}", ""]
    for name in SHOWN_FIELDS:
        if value := event.get(name):
            text = ", ".join(value) if name == "tags" else value
            lines.append(f"- {name.replace('_', ' ')}: {escaped_markdown(text)}")
    if "text" in event:
        lines += ["", in_fence(event["text"], "markdown")]
    return "\n".join(lines) + "\n"


def escaped_markdown(text: str) -> str:
    """Return a text on one line, escaped so that Markdown shows it as it is."""
    return "".join(
        f"\\{sign}" if sign in SPECIAL_CHARACTERS else sign
        for sign in " ".join(text.split())
    )


# Keep the webhook's queue in this machine's records, which a clone does not bring along.

MAX_WAITING = 2_000  # events; then new events are rejected


@record
class WaitingEvent:
    """An event that is still to be delivered."""

    event: Event
    tries: int = 0
    again: int = 0  # earliest time of the next attempt, in milliseconds since 1970
    failure: str = ""


class SinkQueue:
    """The events of one repository that wait for the webhook, and the dropped events."""

    def __init__(self, layout: Layout):
        self.layout = layout

    def add(self, events: Iterable[Event]) -> None:
        """Append events; raise Refused if the queue is full."""
        with change(self.layout) as db:
            rows: list[Any] = db.execute("SELECT count(*) FROM sink_queue").fetchall()
            if rows[0][0] >= MAX_WAITING:
                hint = "run 'rawkomem index sinks flush' to see why it is not sent"
                raise Refused("the webhook's queue is full", hint)
            for event in events:
                text = json.dumps(event)
                insert(db, "sink_queue", event["key"], event["memory"], text, 0, 0, "")

    def waiting(self) -> list[WaitingEvent]:
        """Return the events that are not delivered yet, oldest first."""
        sql = "SELECT event, tries, again, failure FROM sink_queue ORDER BY number"
        return [
            WaitingEvent(json.loads(event), *state)
            for event, *state in read(self.layout, sql)
        ]

    def postpone(self, item: WaitingEvent) -> None:
        """Store that an event was not delivered, and when to try again."""
        sql = "UPDATE sink_queue SET tries = ?, again = ?, failure = ? WHERE key = ?"
        state = item.tries, item.again, item.failure
        execute(self.layout, sql, *state, item.event["key"])

    def remove(self, item: WaitingEvent, is_dropped: bool = False) -> None:
        """Remove an event that was delivered, or move it to the dropped events with the reason."""
        event = item.event
        with change(self.layout) as db:
            if is_dropped:
                row = now(), event["memory"], json.dumps(event), item.failure
                insert(db, "sink_dropped", *row)
            db.execute("DELETE FROM sink_queue WHERE key = ?", (event["key"],))

    def dropped(self) -> int:
        """Return the number of dropped events; the oldest are forgotten when there are many."""
        return len(read(self.layout, "SELECT number FROM sink_dropped"))

    def forget(self, memory: str) -> None:
        """Remove every event of a purged memory."""
        with change(self.layout) as db:
            for table in ("sink_queue", "sink_dropped"):
                db.execute(f"DELETE FROM {table} WHERE memory = ?", (memory,))


def wake_sender(layout: Layout) -> bool:
    """Start a sender in the background if an event is due and none is running; return whether one was started."""
    if not any(item.again <= now() for item in SinkQueue(layout).waiting()):
        return False
    try:
        return start_background(
            layout, lock(layout, "sender"), "index", "sinks", "flush", "--due"
        )
    except OSError as failure:
        raise Refused(
            f"no sender was started: {failure}",
            "run 'rawkomem index sinks flush' to send the events",
        ) from None


# Send the queued events to the webhook: each at least once, with the same key, with longer pauses
# after failures.

MINUTE_MS = 60_000
# pauses after failed attempts, about two days in all
PAUSES_MIN = (1, 5, 30, 120, 360, 720, 1440)
FINAL_STATUSES = (400, 413, 422)  # the server will never accept this event
MAX_FAILURES = 2  # in a row: one may be caused by the event, two by the server
# its answer is only shown in error messages
BOUNDS = Bounds(seconds=15.0, answer=64 * 1024)


@record
class Flushed:
    """The result of a run of the sender."""

    sent: int
    dropped: int
    waiting: int
    failure: str = ""  # the last failure


def open_webhook(settings: WebhookSettings) -> Client:
    """Return the client for the webhook; raise a RawkoError if its settings are invalid."""
    policy, key = checked_webhook(settings)
    return Client(settings.url, policy, key, BOUNDS)


def send_queued(
    layout: Layout, client: Client, warn: Callable[[str], None], due_only: bool = False
) -> Flushed:
    """Send all waiting events, or with `due_only` those that are due; repeat for events that are added meanwhile.

    Every event is tried once; after MAX_FAILURES in a row, the server seems to be down. Raise Busy if another process
    is sending; with `due_only`, stop instead.
    """
    queue = SinkQueue(layout)
    sending = lock(layout, "sender")
    tried: set[str] = set()
    sent = dropped = failures = 0
    failure = ""

    def untried() -> list[WaitingEvent]:
        new = [item for item in queue.waiting() if item.event["key"] not in tried]
        return [item for item in new if not due_only or item.again <= now()]

    while failures < MAX_FAILURES and untried():
        if not sending.acquire(0.0 if due_only else None):
            if due_only:
                break
            raise Busy(
                "another process is sending these events", "try again in a minute"
            )
        try:
            for item in untried():
                tried.add(item.event["key"])
                after = _deliver(client, item)
                failure = after.failure if after else failure
                if after is None:
                    queue.remove(item)
                    sent = sent + 1
                    failures = 0
                elif after.again:
                    queue.postpone(after)
                    failures += 1
                else:
                    queue.remove(after, is_dropped=True)
                    dropped += 1
                    event = f"{item.event['event']} of {item.event['memory']}"
                    warn(f"webhook: {event} given up (try {after.tries}): {failure}")
                if failures == MAX_FAILURES:
                    break
        finally:
            sending.release()
    return Flushed(sent, dropped, len(queue.waiting()), failure)


def _deliver(client: Client, item: WaitingEvent) -> WaitingEvent | None:
    """Post an event; return None if the server accepted it, else its new state: `again` is 0 if it is given up."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": item.event["key"]}
    wait = 0.0
    is_final = item.tries >= len(PAUSES_MIN)
    try:
        answer = client.post(json.dumps(item.event).encode(), headers)
    except RequestFailed as failed:
        failure = failed.message
    else:
        if 200 <= answer.status < 300:
            return None
        failure = client.complaint(answer)
        wait = answer.wait
        is_final = is_final or answer.status in FINAL_STATUSES
    again = 0
    if not is_final:
        asked = min(int(wait * 1000), PAUSES_MIN[-1] * MINUTE_MS)
        again = now() + max(PAUSES_MIN[item.tries] * MINUTE_MS, asked)
    return replace(item, tries=item.tries + 1, again=again, failure=failure)


@record
class SinkStatus:
    """The status of one sink."""

    name: str
    where: (
        # a folder, or only the host of an address, because the whole address may contain a key
        str
    )
    events: tuple[str, ...]
    waiting: int = 0
    dropped: int = 0
    problem: str = ""


def tell_sinks(
    layout: Layout,
    settings: SinkSettings,
    code: str,
    entries: Iterable[Entry],
    warn: Callable[[str], None],
) -> None:
    """Append entries to the daily log and to the webhook's queue; `code` is the code of their plan."""
    events = events_of(layout, code, entries)
    for name, tell in (("markdown", _tell_log), ("webhook", _tell_queue)):
        try:
            tell(layout, settings, events)
        except (RawkoError, OSError) as failure:
            warn(
                f"the memory is stored, but the {name} sink failed: {_failure_line(failure)}"
            )


def _tell_log(layout: Layout, settings: SinkSettings, events: list[Event]) -> None:
    if settings.markdown.folder:
        folder = checked_folder(settings.markdown, layout)
        if wanted := [
            event for event in events if event["event"] in settings.markdown.events
        ]:
            log_events(folder, wanted)


def _tell_queue(layout: Layout, settings: SinkSettings, events: list[Event]) -> None:
    """Queue the events, then check the settings: a key that is missing now may be added later."""
    wanted = [event for event in events if event["event"] in settings.webhook.events]
    if settings.webhook.url and wanted:
        SinkQueue(layout).add(wanted)
        checked_webhook(settings.webhook)
        wake_sender(layout)


def sink_statuses(layout: Layout, settings: SinkSettings) -> list[SinkStatus]:
    """Return the status of each sink that is set up."""
    statuses = []
    log = settings.markdown
    webhook = settings.webhook
    if log.folder:
        problem = _problem_of(lambda: checked_folder(log, layout))
        statuses.append(SinkStatus("markdown", log.folder, log.events, problem=problem))
    if webhook.url:
        queue = SinkQueue(layout)
        waiting = queue.waiting()
        failure = next((item.failure for item in waiting if item.failure), "")
        problem = _problem_of(lambda: checked_webhook(webhook)) or failure
        host = webhook.url.partition("://")[2].partition("/")[0].rpartition("@")[2]
        statuses.append(
            SinkStatus(
                "webhook", host, webhook.events, len(waiting), queue.dropped(), problem
            )
        )
    return statuses


def _problem_of(check: Callable[[], object]) -> str:
    try:
        check()
    except RawkoError as failure:
        return _failure_line(failure)
    return ""


def _failure_line(failure: Exception) -> str:
    if isinstance(failure, RawkoError):
        return failure.in_full
    return str(failure)
