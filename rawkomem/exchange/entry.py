"""Make an Entry from the data of a source: with our keys, within our limits, and with its place of origin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..format.read_entries import MAX_PATTERNS, MAX_TAGS, read_entries
from ..learn.session.hosts import time_of
from ..learn.skills.text import CONDITION_LENGTH, in_fence
from ..model.clock import now
from ..model.entry import Entry
from ..model.errors import BadInput
from ..state.decide import TAG_CHARS, check_by
from ..state.facets import IMPORTED
from ..text.clean import clean, one_line
from ..text.condition import read_condition
from ..text.paths import outside_braces
from ..text.when import problems_of
from .conditions import from_headings
from .titles import TITLE_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..model.entry import Value
    from .source import Page


def entry_from(
    page: Page,
    title: str,
    body: str,
    section: str = "",
    when: Iterable[str] = (),
    tags: Iterable[str] = (),
    importance: str = "medium",
    kind: str = "memory",
    at: int = 0,
    by: str = "",
    extra: Mapping[str, Value] | None = None,
    headings: tuple[str, ...] = (),
) -> Entry:
    """Return the memory of a page or a section; without usable conditions, take them from the headings."""
    body = as_body(body)
    place = f"{page.place}#{section}" if section else page.place
    return Entry(
        kind=kind,
        title=one_line(title, TITLE_LENGTH) or one_line(body.partition("\n")[0].lstrip("#*-> "), TITLE_LENGTH),
        when=usable(when) or from_headings(*(headings or (title,))),
        tags=labels(tags),
        importance=importance,
        at=at or page.at,
        by=a_name(by),
        body=body,
        extra={IMPORTED: one_line(place, 200), **(extra or {})},
    )


def as_body(text: str) -> str:
    """Return a text as a body; if it would read back as several entries, put it into a code fence."""
    text = clean(text.replace("\r\n", "\n")).strip("\n").rstrip()
    entries, _ = read_entries(f"---\ntitle: x\n---\n\n{text}\n", advice=False)
    return text if len(entries) == 1 else in_fence(text, "markdown")


def usable(conditions: Iterable[str]) -> tuple[str, ...]:
    """Return the conditions that can match a task and that do not match every task."""
    lines = dict.fromkeys(" ".join(clean(condition).split()) for condition in conditions)
    short = [line for line in lines if 0 < len(line) <= CONDITION_LENGTH]
    sound = [line for line in short if read_condition(line).form != "refused" and not problems_of([line])]
    return tuple(sound[:MAX_PATTERNS])


def labels(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags within our limits, without the `#` of some tools."""
    found = dict.fromkeys(one_line(tag, TAG_CHARS).lstrip("#").strip() for tag in tags)
    return tuple(tag for tag in found if tag)[:MAX_TAGS]


def a_name(by: str) -> str:
    """Return an author's name if it is valid in our files; else an empty text."""
    try:
        check_by(by)
    except BadInput:
        return ""
    return by


def texts(value: Value | None) -> list[str]:
    """Return the texts of a value that is a list of texts or one text with commas."""
    if isinstance(value, list):
        return [str(item).strip() for item in value if isinstance(item, str)]
    return [part.strip() for part in outside_braces(value) if part.strip()] if isinstance(value, str) else []


def moment(value: object) -> int:
    """Parse a time as other tools write it; return milliseconds since 1970, or 0 if it is invalid or in the future."""
    at = time_of(value)
    return at if at <= now() else 0


def importance_of(value: object) -> str:
    """Return our word for an importance: one of our words, a number from 0 to 1, or from 1 to 10; else medium."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("low", "medium", "high", "critical"):
            return word
        value = float(word) if word.replace(".", "", 1).isdecimal() and len(word) < 8 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "medium"
    share = value / 10 if value > 1 else value
    return "critical" if share >= 0.9 else "high" if share >= 0.7 else "medium" if share >= 0.4 else "low"
