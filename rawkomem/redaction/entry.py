"""Redacts a whole entry, frontmatter and body alike: before a write, and before the index keeps a copy."""

from __future__ import annotations

from ..model.entry import Entry
from ..model.record import replace
from .anonymize import user_id
from .each_text import with_texts
from .find import redact


def redact_entry(entry: Entry) -> Entry:
    """Return the entry without secrets and personal data; who found it becomes an id, so that finders stay distinct."""
    return replace(with_texts(entry, redact), by=redact(entry.by, stand_in=user_id))


def was_redacted(given: Entry, clean: Entry) -> bool:
    """Return whether redaction changed a text of the entry; a list that became a tuple is no change."""
    return with_texts(given, str) != clean
