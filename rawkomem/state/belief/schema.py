"""The JSON Schema of a frontmatter: what format/read_entries.py accepts, for editors and other tools.

Our reader takes every scalar as text; another YAML reader makes numbers and booleans of some, so those are let in.
"""

from __future__ import annotations

from typing import Any

from ...format.llmos_keys import MARKS
from ...format.read_entries import CLAIM, DROPPED, ID_LENGTH, MAX_PATTERNS, MAX_TAGS
from ...model.kinds import CHANGES, CREATES, IMPORTANCE, TYPES
from .decisions import ACTIONS, SIGNALS

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SCALAR = {"type": ["string", "number", "boolean", "null"]}
SAID = {"type": ["string", "number", "boolean"]}  # a scalar that must not be missing


def _texts(most: int = 0) -> dict[str, Any]:
    """One text or a list of them."""
    several: dict[str, Any] = {"type": "array", "items": SAID}
    return {"anyOf": [SCALAR, {**several, "maxItems": most} if most else several]}


def _id() -> dict[str, Any]:
    return {**SCALAR, "maxLength": ID_LENGTH}


def _any_case(words: tuple[str, ...]) -> list[str]:
    return [form for word in words for form in (word, word.title(), word.upper())]


CONDITION = {"anyOf": [SAID, {"type": "object", "properties": {"pattern": SAID}, "required": ["pattern"]}]}
CONDITIONS = {"anyOf": [SCALAR, CONDITION, {"type": "array", "items": CONDITION, "maxItems": MAX_PATTERNS}]}
CLAIMED: dict[str, Any] = {"type": "object", "properties": dict.fromkeys(CLAIM, SAID), "required": [*CLAIM]}
PROVENANCE = {"anyOf": [SCALAR, {"type": "object", "properties": {"source": SCALAR}}]}

# key → (what it says, its values)
KEYS: dict[str, tuple[str, dict[str, Any]]] = {
    "id": ("Written by the tool; without one, the file's path serves", _id()),
    "kind": ("What the entry is: a memory of its own, or a change of one", {"enum": [*CREATES, *CHANGES]}),
    "about": ("The id of the memory that a change is about", _id()),
    "title": ("One line that says the point", SAID),
    "whenToUse": ("When it is of use: words, a|b, a pattern or a sentence", CONDITIONS),
    "tags": ("Labels", _texts(MAX_TAGS)),
    "importance": ("How much it matters; medium unless said", {"enum": [*_any_case(IMPORTANCE), None]}),
    "discoveredAt": ("When it was found out: 2026-01-23T10:30:00Z", SCALAR),
    "at": ("When a change was made", SCALAR),
    "discoveredBy": ("Who found it out", SCALAR),
    "by": ("Who made a change", SCALAR),
    "discoveredIn": ("The task in which it was found out", SCALAR),
    "source": ("Where it comes from", SCALAR),
    "relatedMemories": ("Ids or file stems of related memories", _texts()),
    "cites": ("Places in the project's code: path#symbol", _texts()),
    "members": ("Memories that belong to an episode", _texts()),
    "derivedFrom": ("Memories that a digest was made from", _texts()),
    "supersedes": ("Memories that it took the place of", _texts()),
    "conflictsWith": ("Memories that it contradicts", _texts()),
    "claim": ("What it claims: subject, predicate, value", CLAIMED),
    "provenance": ("source: the class of source that the entry names for itself", PROVENANCE),
    "type": ("Memory Lane's type; of a link, what kind of link", {**SCALAR, "examples": [*TYPES]}),
    "category": ("decision, finding, preference, insight, fact, event, task or another word", SCALAR),
    "entity": ("What it is about: project:api, person:mark", _texts()),
    "entities": ("What it is about: project:api, person:mark", _texts()),
    "session": ("The session it comes from", SCALAR),
    "validFrom": ("When it begins to hold", SCALAR),
    "validUntil": ("When it ceases to hold", SCALAR),
    "confidence": ("0 to 100", SCALAR),
    "intent": ("What a skill is for", SCALAR),
    "description": ("When to use a skill", SCALAR),
    "topic": ("What a reflection is about", SCALAR),
    "signal": ("The vote of a feedback", {"enum": [*SIGNALS]}),
    "action": ("The decision of a review", {"enum": [*ACTIONS]}),
    "reason": ("Why a change was made", SCALAR),
    "supersededBy": ("The memory that took its place", _id()),
    "to": ("The memories that a link leads to", _texts()),
    "from": ("The memories that a heritage comes from", _texts()),
    "with": ("The memory that says the same", _id()),
    "removed": ("true: the link is taken back", SCALAR),
}
REFERRING = (  # keys whose values name memories
    "about", "relatedMemories", "members", "derivedFrom", "supersedes", "conflictsWith", "supersededBy", "to", "from",
    "with",
)  # fmt: skip


def frontmatter_schema() -> dict[str, Any]:
    """The schema of one entry's frontmatter. Other keys are welcome, as in the format itself."""
    change = {"properties": {"kind": {"enum": [*CHANGES]}}, "required": ["kind"]}
    named = [{"required": [key]} for key in ("title", *MARKS)]
    return {
        "$schema": DRAFT,
        "title": "rawkomem frontmatter",
        "description": "One entry of a memory file: see docs/format.md",
        "type": "object",
        "properties": {
            **{key: {"description": text, **values} for key, (text, values) in KEYS.items()},
            **dict.fromkeys(sorted(DROPPED), False),
        },
        "if": change,
        "then": {"required": ["about"]},
        "else": {"anyOf": named},
    }
