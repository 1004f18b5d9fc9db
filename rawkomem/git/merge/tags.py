"""Merge the tags of an entry that both sides changed; tags cannot contradict each other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...format.emit import emit_fields
from ...format.split import CLOSING
from ...model.record import record

Tagged = tuple[str, Sequence[str]]  # an entry's text and its tags

TAGS = re.compile(r"^tags[ \t]*:.*\n(?:(?:[ \t-].*)?\n)*?(?=[^ \t\n-]|---)", re.MULTILINE)


@record
class _Apart:
    """An entry without the lines of its tags, their position, and these lines."""

    text: str
    at: int
    lines: str


def unite_tags(base: Tagged | None, ours: Tagged, theirs: Tagged) -> str | None:
    """Return the entry with the tags of both sides; None if both sides changed something else, too."""
    mine, other = _apart(ours[0]), _apart(theirs[0])
    origin = _apart(base[0]) if base else None
    if mine is None or other is None or (base and origin is None):
        return None
    before = origin.text if origin else None
    if mine.text != other.text and before not in (mine.text, other.text):
        return None
    kept = other if mine.text == before and mine.text != other.text else mine
    if mine.text == other.text:
        kept = min((side for side in (mine, other) if side.lines), key=lambda side: side.at, default=mine)
    tags = _united(base[1] if base else (), ours[1], theirs[1])
    lines = emit_fields({"tags": list(tags)}) if tags else ""
    return kept.text[: kept.at] + lines + kept.text[kept.at :]


def _united(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return tags of the base that neither side removed, then tags that either side added."""
    kept = [tag for tag in base if tag in ours and tag in theirs]
    return kept + sorted({*ours, *theirs} - set(base))


def _apart(text: str) -> _Apart | None:
    """Split an entry into its text and the lines of its tags; return None if these lines are ambiguous."""
    closing = CLOSING.search(text, text.find("\n") + 1)
    if closing is None:
        return None
    found = list(TAGS.finditer(text, 0, closing.end()))
    if len(found) > 1 or (not found and "tags" in text[: closing.start()]):
        return None
    if not found:
        return _Apart(text, closing.start(), "")
    start, end = found[0].span()
    return _Apart(text[:start] + text[end:], start, text[start:end])
