"""Changes every text of an entry, frontmatter and body alike: what must hold for an entry must hold for all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.entry import Entry, Value


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
