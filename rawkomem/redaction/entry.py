"""Redacts or anonymizes a whole entry, frontmatter and body: before a write, and before the index keeps a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.record import replace
from .leaves import are_bare, leaves_of, map_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..model.entry import Entry
    from .anonymize import Person

BY = "discoveredBy"
UNTOUCHED_KEYS = frozenset(("id", "about", "kind", "importance", "discoveredAt", "at"))  # other entries refer to them


def redact_entry(entry: Entry) -> Entry:
    """Return the entry without secrets and personal data. Its author becomes an id, so that authors stay distinct.

    A text is checked together with its key, as in a file: `db_password: …` holds a password.
    """
    leaves = leaves_of(lambda note: with_texts(entry, note))
    if are_bare(leaves):
        return with_texts(entry, lambda key, text: text)
    from .anonymize import user_id
    from .fields import redact_fields  # loads the rules, which most votes and links do not need

    clean = iter(redact_fields(leaves, {BY: user_id}))
    return with_texts(entry, lambda key, text: next(clean))


def was_redacted(given: Entry, clean: Entry) -> bool:
    """Return whether redaction changed a text of the entry; a list that became a tuple does not count."""
    return with_texts(given, lambda key, text: text) != clean


def anonymize_entry(entry: Entry, people: Sequence[Person]) -> Entry:
    """Return the entry without names of people in frontmatter and body."""
    from .anonymize import anonymize

    return with_texts(entry, lambda key, text: anonymize(text, people))


def with_texts(entry: Entry, change: Callable[[str, str], str]) -> Entry:
    """Return the entry with `change(key, text)` for each of its texts; ids stay, because other entries use them."""
    return replace(
        entry,
        title=change("title", entry.title),
        when=tuple(change("whenToUse", text) for text in entry.when),
        tags=tuple(change("tags", text) for text in entry.tags),
        by=change(BY, entry.by),
        found_in=change("discoveredIn", entry.found_in),
        source=change("source", entry.source),
        related=tuple(change("relatedMemories", text) for text in entry.related),
        extra=map_mapping("", entry.extra, change),
        body=change("", entry.body),
    )
