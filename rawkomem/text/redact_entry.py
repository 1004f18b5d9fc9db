"""Redacts a whole entry, frontmatter and body alike: before a write, and before the index keeps a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.record import replace
from .redact import redact

if TYPE_CHECKING:
    from ..model.entry import Entry, Value


def redact_entry(entry: Entry) -> Entry:
    """The entry without secrets, in frontmatter and body alike."""
    return replace(
        entry,
        title=redact(entry.title),
        when=tuple(redact(item) for item in entry.when),
        tags=tuple(redact(item) for item in entry.tags),
        by=redact(entry.by, pii=False),  # a person's address says who found it
        found_in=redact(entry.found_in),
        source=redact(entry.source),
        extra={key: _redact_value(value) for key, value in entry.extra.items()},
        body=redact(entry.body),
    )


def _redact_value(value: Value) -> Value:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redact_value(item) for item in value]
    return {key: _redact_value(item) for key, item in value.items()}
