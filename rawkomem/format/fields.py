"""The keys and values of a frontmatter: one field with its line, the keys of LLMos that mean ours, and
the known key that a misspelled key probably means.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..model.entries import Entry, Value
from ..model.values import KEPT_KEYS, KEY_ALIASES, KEY_NAMES, Problem, record, replace

# Define the values of a frontmatter, and the exception for unreadable ones.

MAX_VALUES = 4_000  # limits the work on very long mappings
NULLS = {"", "~", "null", "Null", "NULL"}


@record
class Field:
    """A top-level value and its line; `plain` is False for a quoted text, so that `~` and `"~"` differ."""

    value: Value
    line: int
    plain: bool = False

    @property
    def missing(self) -> bool:
        """Tell whether the value is YAML's null."""
        return self.plain and self.value in NULLS


class Unreadable(Exception):
    """Raised if a frontmatter cannot be read; `problem` says why and where."""

    def __init__(self, problem: Problem):
        super().__init__(problem.message)
        self.problem = problem


# Map the keys of LLMos traces and experiences to ours, where ours are missing.

# kind → our key → the key of LLMos, in the order of LLMos files
LLMOS_KEYS = {
    "trace": {
        "id": "trace_id",
        "discoveredAt": "timestamp",
        "title": "goal",
        "discoveredBy": "agent",
    },
    "experience": {
        "id": "experience_id",
        "discoveredAt": "timestamp",
        "title": "primary_goal",
    },
}
SHORT_KEYS = {"discoveredAt": "at", "discoveredBy": "by"}  # other names of our keys
# key that only this kind has
LLMOS_MARKS = {"trace_id": "trace", "experience_id": "experience"}
# of a log entry, for people: two branches may use the same number
EXPERIENCE_NUMBER = "experience_number"
NUMBER_KEYS = (
    "duration_ms",
    "execution_time_ms",
    "files_created",
    EXPERIENCE_NUMBER,
)  # keys with bare numbers
# fields of an experience that hold prose
PROSE_KEYS = ("output_summary", "learnings_or_issues")


def with_native_keys(fields: Mapping[str, Field]) -> Mapping[str, Field]:
    """Return the fields of a trace or an experience with our keys instead of LLMos keys; others unchanged."""
    kind = _kind_of_fields(fields)
    if not kind:
        return fields
    missing = {
        ours: theirs
        for ours, theirs in LLMOS_KEYS[kind].items()
        if ours not in fields and SHORT_KEYS.get(ours) not in fields
    }
    renamed = {theirs: ours for ours, theirs in missing.items() if theirs in fields}
    found = {renamed.get(key, key): field for key, field in fields.items()}
    if "kind" not in found:
        mark = next(field for key, field in fields.items() if key in LLMOS_MARKS)
        found = {"kind": replace(mark, value=kind, plain=True), **found}
    return found


def _kind_of_fields(fields: Mapping[str, Field]) -> str:
    if "kind" in fields:
        said = str(fields["kind"].value)
        return said if said in LLMOS_KEYS else ""
    return next((kind for key, kind in LLMOS_MARKS.items() if key in fields), "")


def with_prose_in_body(entry: Entry) -> Entry:
    """Append the prose fields of an experience to its body, so that a search finds them; return other entries as is."""
    if entry.kind != "experience":
        return entry
    parts = [
        str(entry.extra[key]).strip()
        for key in PROSE_KEYS
        if isinstance(entry.extra.get(key), str)
    ]
    missing = [part for part in parts if part and part not in entry.body]
    return (
        replace(entry, body="\n\n".join([entry.body, *missing]).strip())
        if missing
        else entry
    )


def llmos_keys_of(entry: Entry) -> Mapping[str, str]:
    """Return our key → LLMos key for a trace or an experience; empty if another field already has such a key."""
    names = LLMOS_KEYS.get(entry.kind, {})
    return (
        names
        if entry.id and not any(key in entry.extra for key in names.values())
        else {}
    )


# Find the known key that a misspelled key probably means; only `rawkomem check` uses it.

KNOWN_KEYS = (
    "title", "whenToUse", "tags", "importance", "discoveredAt", "discoveredBy", "discoveredIn", "source",
    "relatedMemories", "category", "provenance", "claim", "importedFrom", *KEY_NAMES, *KEY_ALIASES,
)  # fmt: skip
MIN_KEY_CHARS = 5  # shorter words differ by one letter from too many others
MIN_SIMILARITY = 0.85  # of a misspelled key and the key that was meant
WITHOUT_SIGNS = str.maketrans("", "", "_- ")


def near_key(key: str) -> str:
    """Return the known key that a key misspells; empty if the key is known or unlike any known key."""
    if key in KNOWN_KEYS or key in KEPT_KEYS or not key.isascii():
        return ""
    from difflib import get_close_matches  # only `check` gives this advice

    plain = _bare_key(key)
    # Of keys that differ only in signs, the one that is spelled like this one wins.
    ordered = sorted(KNOWN_KEYS, key=lambda name: ("_" in name) == ("_" in key))
    known = {_bare_key(name): name for name in ordered}
    if plain in known:
        return known[plain]
    if len(plain) < MIN_KEY_CHARS:
        return ""
    similar = [
        word for word in known if len(word) >= MIN_KEY_CHARS and word[0] == plain[0]
    ]
    swapped = [word for word in similar if sorted(word) == sorted(plain)]
    for word in swapped or get_close_matches(plain, similar, cutoff=MIN_SIMILARITY):
        if plain not in (f"{word}s", word[:-1]):  # its plural or singular
            return known[word]
    return ""


def _bare_key(key: str) -> str:
    return key.translate(WITHOUT_SIGNS).lower()
