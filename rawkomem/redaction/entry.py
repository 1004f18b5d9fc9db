"""Redacts or anonymizes a whole entry, frontmatter and body: before a write, and before the index keeps a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.record import replace
from .anonymize import anonymize, user_id
from .find import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..model.entry import Entry, Value
    from .anonymize import Person


def redact_entry(entry: Entry) -> Entry:
    """Return the entry without secrets and personal data; who found it becomes an id, so that finders stay distinct."""
    return replace(with_texts(entry, redact), by=redact(entry.by, stand_in=user_id))


def was_redacted(given: Entry, clean: Entry) -> bool:
    """Return whether redaction changed a text of the entry; a list that became a tuple is no change."""
    return with_texts(given, str) != clean


def anonymize_entry(entry: Entry, people: Sequence[Person]) -> Entry:
    """Return the entry without names of people, in frontmatter and body alike."""
    return with_texts(entry, lambda text: anonymize(text, people))


def with_texts(entry: Entry, change: Callable[[str], str]) -> Entry:
    """Return the entry with each of its texts changed; not its ids, which others refer to."""
    return replace(
        entry,
        title=change(entry.title),
        when=tuple(map(change, entry.when)),
        tags=tuple(map(change, entry.tags)),
        by=change(entry.by),
        found_in=change(entry.found_in),
        source=change(entry.source),
        related=tuple(map(change, entry.related)),
        extra={key: _changed(value, change) for key, value in entry.extra.items()},
        body=change(entry.body),
    )


def _changed(value: Value, change: Callable[[str], str]) -> Value:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_changed(item, change) for item in value]
    return {key: _changed(item, change) for key, item in value.items()}
