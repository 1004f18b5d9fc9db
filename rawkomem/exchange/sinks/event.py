"""Make an Event from a written entry, for the sinks."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ...model.clock import iso
from ...model.entry import DECAY
from ...model.kinds import CREATES
from ...model.record import as_dict, record
from ...redaction.find import redact
from ...text.clean import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...files.layout import Layout
    from ...model.entry import Entry

NAMES = {  # kind of an entry → name of its event; other kinds make no event
    **dict.fromkeys((*CREATES, "amend"), "store"),
    "supersede": "supersede",
    "quarantine": "quarantine",
    "archive": "archive",
    "delete": "archive",
}
MAX_ID_CHARS = 250  # the longest id that the format allows
MAX_TEXT_CHARS = 10_000  # longer texts are truncated


@record
class Event:
    """One change of a memory. `key` is the same for every delivery of the event."""

    event: str
    key: str
    at: str = ""
    repository: str = ""
    memory: str = ""
    kind: str = ""
    title: str = ""
    text: str = ""
    importance: str = ""
    tags: tuple[str, ...] = ()
    by: str = ""
    reason: str = ""
    superseded_by: str = ""
    path: str = ""

    def to_json(self) -> str:
        """Return the JSON that a webhook receives: every field that is not empty."""
        return json.dumps({name: value for name, value in as_dict(self).items() if value})

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Event:
        """Return the event that `to_json` wrote; ignore unknown fields of other versions."""
        known = {name: value for name, value in fields.items() if name in cls.__annotations__}
        return cls(**{**known, "tags": tuple(fields.get("tags", ()))})


def events_of(layout: Layout, code: str, entries: Iterable[Entry]) -> list[Event]:
    """Return the events of written entries, which are already redacted; `code` is the code of their plan."""
    named = ((entry, event_name(entry, code)) for entry in entries)
    return [_event(layout, entry, name) for entry, name in named if name]


def event_name(entry: Entry, code: str) -> str:
    """Return the name of an entry's event; empty if it makes none."""
    name = NAMES.get(entry.kind, "")
    if entry.kind == "review" and entry.extra.get("action") == "reject":
        name = "archive"
    return DECAY if name == "archive" and code == DECAY else name


def _event(layout: Layout, entry: Entry, name: str) -> Event:
    text = clean(entry.body).strip()
    return Event(
        event=name,
        key=sha256("\n".join((layout.root, entry.id, name)).encode("utf-8", "surrogatepass")).hexdigest()[:32],
        at=iso(entry.at),
        repository=one_line(layout.project.replace("\\", "/").rpartition("/")[2]),
        memory=one_line(entry.target, MAX_ID_CHARS),
        kind=entry.kind,
        title=one_line(entry.title),
        text=text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - 1] + "…",
        importance=entry.importance if entry.creates or "importance" in entry.given else "",
        tags=tuple(one_line(tag) for tag in entry.tags),
        by=one_line(redact(entry.by)),
        reason=_text_of(entry, "reason"),
        superseded_by=_text_of(entry, "supersededBy"),
        path=entry.path,
    )


def _text_of(entry: Entry, key: str) -> str:
    value = entry.extra.get(key, "")
    return one_line(value) if isinstance(value, str) else ""
