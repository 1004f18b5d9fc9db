"""Write the daily log: one Markdown file per day in a folder of the user. A memory's text stays inside its fence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...files.local.private import open_private, write_all
from ...files.lock import lock_in
from ...learn.skills.text import in_fence
from ...model.clock import iso, now
from ...model.errors import Unwritable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .event import Event

SPECIAL_CHARACTERS = "\\`*_[]<>#|~&!"  # characters with a meaning in Markdown
SHOWN_FIELDS = ("repository", "memory", "kind", "importance", "tags", "by", "reason", "superseded_by", "path")


def log_events(folder: str, events: Iterable[Event]) -> None:
    """Append events to the file of today (UTC); raise Unwritable on an I/O error."""
    day, _, time = iso(now()).partition("T")
    file = os.path.join(folder, f"{day}.md")
    with lock_in(folder, "daily-log"):
        head = "" if os.path.lexists(file) else f"# {day}\n"
        text = head + "".join(f"\n{render(event, time[:8])}" for event in events)
        try:
            with open_private(file, "a") as stream:
                write_all(stream, text.encode("utf-8", "replace"))
        except OSError as failure:
            hint = "check that it is a plain file, its permissions, and free space"
            raise Unwritable(f"cannot use {file}: {failure.strerror}", hint) from None


def render(event: Event, time: str) -> str:
    """Return an event as Markdown: a heading, a list of its fields, and the text in a fence that it cannot close."""
    lines = [f"## {time} {event.event}" + (f": {escape(event.title)}" if event.title else ""), ""]
    for name in SHOWN_FIELDS:
        if value := getattr(event, name):
            lines.append(f"- {name.replace('_', ' ')}: {escape(', '.join(value) if name == 'tags' else value)}")
    if event.text:
        lines += ["", in_fence(event.text, "markdown")]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Return a text on one line, escaped so that Markdown shows it as it is."""
    return "".join(f"\\{sign}" if sign in SPECIAL_CHARACTERS else sign for sign in " ".join(text.split()))
