"""The frontmatter keys of other memory systems: our key for each, or why the key is kept without effect.

No other module lists these names. To read a key, call `said` or `names_of`. docs/format.md lists the rows.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .entry import Value

NOTHING = ("", "~", "null", "none", "undefined")  # values that count as empty, in upper or lower case
# our key → its other names; if a file has several of them, our key wins
NAMES: dict[str, tuple[str, ...]] = {
    "whenToUse": ("when_to_use",),
    "tags": ("tag",),
    "discoveredAt": ("discovered_at", "created_at", "createdAt"),
    "discoveredBy": ("discovered_by", "agent_id", "agentId"),
    "discoveredIn": ("discovered_in",),
    "relatedMemories": ("related_memories",),
    "type": ("memory_type", "memoryType"),
    "entities": ("entity", "entity_slugs", "entitySlugs"),
    "session": ("session_id", "sessionId"),
    "confidence": ("confidence_score", "confidenceScore"),
    "validFrom": ("valid_from",),
    "validUntil": ("valid_until",),
    "eventTime": ("event_time",),
    "supersedes": (),
    "supersededBy": ("superseded_by",),
    "conflictsWith": ("conflicts_with",),
    "derivedFrom": ("derived_from",),
    "feedbackScore": ("feedback_score",),
    "timesObserved": ("times_observed",),
    "firstObservedAt": ("first_observed_at",),
    "lastObservedAt": ("last_observed_at",),
    "lastAccessedAt": ("last_accessed_at", "last_accessed", "lastAccessed"),
}
# Keys that are kept and shown but have no effect → the reason.
KEPT = {
    "access_count": "uses are counted on each machine",
    "accessCount": "uses are counted on each machine",
    "feedback_count": "`feedback_score` says what the votes add up to",
    "feedbackCount": "`feedback_score` says what the votes add up to",
    "decay_factor": "decay is computed when a memory is recalled",
    "decayFactor": "decay is computed when a memory is recalled",
    "importance_score": "`importance` is one of four words",
    "importanceScore": "`importance` is one of four words",
    "updated_at": "the last entry about a memory says when it changed",
    "updatedAt": "the last entry about a memory says when it changed",
    "lane_version": "Memory Lane's version",
    "collection": "Memory Lane's collection",
    "source_chunk": "the text that Memory Lane took the memory from",
    "auto_tags": "tags that Memory Lane generated",
    "keywords": "the text is searched by all its words",
    "embedding": "vectors are computed from the text",
    "status": "`archive`, `supersede` and `review` entries set the status",
    "quarantine": "a `quarantine` entry holds a memory back",
    "reinforcements": "`reinforce` entries are counted",
    "disputes": "`dispute` entries are counted",
    "links": "`relatedMemories` and `link` entries name other memories",
    "skill_name": "shown and filtered as YAMO's metadata",
    "rationale": "shown as YAMO's metadata",
    "hypothesis": "shown as YAMO's metadata",
    "lesson_pattern_id": "a lesson's pattern is computed from its fields",
    "source_skill_id": "shown and filtered as YAMO's metadata",
}
ALIASES = {name: ours for ours, names in NAMES.items() for name in names}


def names_of(ours: str) -> tuple[str, ...]:
    """Return our key, then its other names."""
    return (ours, *NAMES.get(ours, ()))


def said(extra: Mapping[str, Value], ours: str) -> Value:
    """Return the value of one of our keys under any of its names; "" if the file has none of them."""
    for name in names_of(ours):
        value = extra.get(name)
        if value is not None and not is_nothing(value):
            return value
    return ""


def is_nothing(value: object) -> bool:
    """Return whether a value counts as empty: an empty text, or a word such as `null` or `none`."""
    return isinstance(value, str) and value.strip().lower() in NOTHING
