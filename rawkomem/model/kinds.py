"""The closed vocabularies of the format: kinds, importance, status."""

from __future__ import annotations

# kind → (prefix of its ids, folder of its files below .rawko/)
CREATES = {
    "memory": ("mem", "memories"),
    "lesson": ("lesson", "memories/lessons"),
    "skill": ("skill", "memories/skills"),
    "learning": ("learning", "memories/learnings"),
    "reflection": ("reflection", "memories/reflections"),
    "trace": ("trace", "traces"),
    "experience": ("exp", "log"),
    "episode": ("ep", "memories/episodes"),
}
GROUPS = ("episode",)  # kinds that hold other memories together: searched and listed, never injected themselves

CHANGES = (
    "amend",
    "feedback",
    "reinforce",
    "corroborate",
    "dispute",
    "supersede",
    "quarantine",
    "review",
    "link",
    "heritage",
    "validity",
    "archive",
    "delete",
)

TYPES = (  # Memory Lane, the weightiest first; a memory may say another `type`, a filter knows these
    "correction",
    "decision",
    "commitment",
    "insight",
    "learning",
    "confidence",
    "pattern_seed",
    "cross_agent",
    "workflow_note",
    "gap",
)

IMPORTANCE = ("low", "medium", "high", "critical")
DEFAULT_IMPORTANCE = "medium"

ACTIVE = "active"
DRAFT = "draft"  # no title or no frontmatter: searchable, never injected
STATUSES = (ACTIVE, DRAFT, "conflicted", "superseded", "disputed", "quarantined", "archived", "deleted")
