"""The keys of LLMos traces and experiences, which stand for ours where ours are missing."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.entry import Entry
from ..model.record import replace
from .field import Field

# kind → our key → the key of LLMos, in the order in which its files hold them
KEYS = {
    "trace": {"id": "trace_id", "discoveredAt": "timestamp", "title": "goal", "discoveredBy": "agent"},
    "experience": {"id": "experience_id", "discoveredAt": "timestamp", "title": "primary_goal"},
}
SHORT = {"discoveredAt": "at", "discoveredBy": "by"}  # other names of our keys
MARKS = {"trace_id": "trace", "experience_id": "experience"}  # key that tells the kind
EXPERIENCE_NUMBER = "experience_number"  # of an entry of the log, for people: two branches may give the same one
NUMBERS = ("duration_ms", "execution_time_ms", "files_created", EXPERIENCE_NUMBER)  # keys with bare numbers
TOLD = ("output_summary", "learnings_or_issues")  # fields of an experience that hold prose


def native(fields: Mapping[str, Field]) -> Mapping[str, Field]:
    """Return the fields with our keys in the place of foreign ones, where the kind is one that has any."""
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
    """Return an experience with the prose of its fields in its text, so that a search finds it."""
    if entry.kind != "experience":
        return entry
    parts = [str(entry.extra[key]).strip() for key in TOLD if isinstance(entry.extra.get(key), str)]
    missing = [part for part in parts if part and part not in entry.body]
    return replace(entry, body="\n\n".join([entry.body, *missing]).strip()) if missing else entry


def foreign_keys(entry: Entry) -> Mapping[str, str]:
    """Return the keys that an entry is written under: LLMos's for its kinds, unless another field has such a name."""
    names = KEYS.get(entry.kind, {})
    return names if entry.id and not any(key in entry.extra for key in names.values()) else {}
