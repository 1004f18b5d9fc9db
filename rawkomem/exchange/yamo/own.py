"""Carries conditions and validity windows in the metadata of a row: memory-mesh has no columns for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...format.read_entries import MAX_PATTERNS
from ...learn.skills.text import read_skill
from ...model.clock import iso, read_time
from ...model.record import replace
from ...state.changes.validity import ENDS
from ..conditions import from_headings
from ..entry import usable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model.entry import Entry, Memory

WHEN = "whenToUse"


def own_fields(memory: Memory, *derived: tuple[str, ...]) -> dict[str, Any]:
    """Return the conditions and the window of a memory as metadata, without conditions that an import would derive."""
    when = {} if memory.when in derived else {WHEN: [*memory.when]}
    return {**when, **{key: iso(at) for key, field in ENDS.items() if (at := getattr(memory, field))}}


def own_fields_of_skill(memory: Memory, yamo_text: str) -> dict[str, Any]:
    """Return the conditions of a skill that its text does not state, and its window, as metadata."""
    return own_fields(memory, usable(read_skill(yamo_text).when) or from_headings(memory.title))


def take_own_fields(entry: Entry, metadata: Mapping[str, Any]) -> tuple[Entry, dict[str, Any]]:
    """Return an entry with the conditions and the window that metadata states as we write them, and the rest of it."""
    when = metadata.get(WHEN)
    is_when = isinstance(when, list) and len(when) <= MAX_PATTERNS and all(isinstance(one, str) for one in when)
    window = {key: metadata[key] for key in ENDS if is_own_time(metadata.get(key))}
    rest = {key: value for key, value in metadata.items() if key not in window and not (is_when and key == WHEN)}
    made = replace(entry, extra={**entry.extra, **window})
    return (replace(made, when=tuple(when)) if is_when and when is not None else made), rest


def without_own_window(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a row without a window as we write it, which may have been removed since."""
    return {key: value for key, value in metadata.items() if key not in ENDS or not is_own_time(value)}


def is_own_time(value: object) -> bool:
    """Tell whether a value is a time in the form that we write."""
    return isinstance(value, str) and bool(value) and iso(read_time(value)[0] or 0) == value
