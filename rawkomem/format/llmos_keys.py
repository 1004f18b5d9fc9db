"""Map the keys of LLMos traces and experiences to ours, where ours are missing."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.entry import Entry
from ..model.record import replace
from .field import Field

# kind → our key → the key of LLMos, in the order of LLMos files
KEYS = {
    "trace": {"id": "trace_id", "discoveredAt": "timestamp", "title": "goal", "discoveredBy": "agent"},
    "experience": {"id": "experience_id", "discoveredAt": "timestamp", "title": "primary_goal"},
}
SHORT = {"discoveredAt": "at", "discoveredBy": "by"}  # other names of our keys
MARKS = {"trace_id": "trace", "experience_id": "experience"}  # key that only this kind has
EXPERIENCE_NUMBER = "experience_number"  # of a log entry, for people: two branches may use the same number
NUMBERS = ("duration_ms", "execution_time_ms", "files_created", EXPERIENCE_NUMBER)  # keys with bare numbers
TOLD = ("output_summary", "learnings_or_issues")  # fields of an experience that hold prose


def native(fields: Mapping[str, Field]) -> Mapping[str, Field]:
    """Return the fields of a trace or an experience with our keys instead of LLMos keys; others unchanged."""
    kind = _kind(fields)
    if not kind:
        return fields
    missing = {
        ours: theirs for ours, theirs in KEYS[kind].items() if ours not in fields and SHORT.get(ours) not in fields
    }
    renamed = {theirs: ours for ours, theirs in missing.items() if theirs in fields}
    found = {renamed.get(key, key): field for key, field in fields.items()}
    if "kind" not in found:
        mark = next(field for key, field in fields.items() if key in MARKS)
        found = {"kind": replace(mark, value=kind, plain=True), **found}
    return found


def _kind(fields: Mapping[str, Field]) -> str:
    if "kind" in fields:
        said = str(fields["kind"].value)
        return said if said in KEYS else ""
    return next((kind for key, kind in MARKS.items() if key in fields), "")


def told(entry: Entry) -> Entry:
    """Append the prose fields of an experience to its body, so that a search finds them; return other entries as is."""
    if entry.kind != "experience":
        return entry
    parts = [str(entry.extra[key]).strip() for key in TOLD if isinstance(entry.extra.get(key), str)]
    missing = [part for part in parts if part and part not in entry.body]
    return replace(entry, body="\n\n".join([entry.body, *missing]).strip()) if missing else entry


def foreign_keys(entry: Entry) -> Mapping[str, str]:
    """Return our key → LLMos key for a trace or an experience; empty if another field already has such a key."""
    names = KEYS.get(entry.kind, {})
    return names if entry.id and not any(key in entry.extra for key in names.values()) else {}
