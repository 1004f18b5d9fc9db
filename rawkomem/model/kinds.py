"""The closed vocabularies of the format: kinds, types, importance, status. One row for each kind of entry."""

from __future__ import annotations

from .record import record


@record
class Kind:
    """A kind of memory: what it is, the prefix of its ids, the folder of its files, and how it is treated."""

    says: str
    prefix: str
    folder: str  # below .rawko/
    heading: str = ""  # in MEMORY.md; empty: MEMORY.md does not list the kind
    groups: bool = False  # groups other memories: searched and listed, but never injected
    fades: bool = False  # whether `prune` may archive it
    recorded: bool = False  # written by a program, as the record of a finished task
    needs_when: bool = False  # SPEC-0009 expects `whenToUse`


CREATES = {
    "memory": Kind("a fact, a decision or a rule", "mem", "memories", "Memories", fades=True, needs_when=True),
    "lesson": Kind("what a failure taught", "lesson", "memories/lessons", "Lessons", needs_when=True),
    "skill": Kind("how to do a task", "skill", "memories/skills", "Skills"),
    "learning": Kind("what several runs of a task have in common", "learning", "memories/learnings", "Learnings",
                     fades=True),
    "reflection": Kind("what several memories say together", "reflection", "memories/reflections", "Reflections",
                       fades=True),
    "trace": Kind("the record of one run", "trace", "traces", recorded=True),
    "experience": Kind("a line of the experience log", "exp", "log", recorded=True),
    "episode": Kind("a group of memories", "ep", "memories/episodes", "Episodes", groups=True),
}  # fmt: skip
GROUPS = tuple(kind for kind, row in CREATES.items() if row.groups)
FADING = tuple(kind for kind, row in CREATES.items() if row.fades)
RECORDED = tuple(kind for kind, row in CREATES.items() if row.recorded)
NEED_WHEN = tuple(kind for kind, row in CREATES.items() if row.needs_when)

# Kinds of entries that change a memory. Everything else about a kind is in state/changes/<kind>.py.
CHANGES = {
    "amend": "changes the text or the fields of the memory",
    "feedback": "votes on the memory",
    "reinforce": "confirms that the memory is true",
    "corroborate": "adds another source that says the same",
    "dispute": "doubts the memory",
    "supersede": "names the memory that replaces it",
    "quarantine": "holds the memory back until a review",
    "review": "activates or rejects the memory",
    "link": "links the memory to others, or removes links",
    "heritage": "names the sources of the memory",
    "validity": "sets the time in which the memory is valid",
    "archive": "takes the memory out of use",
    "delete": "hides the memory; its text stays in the file",
}

TYPES = (  # Memory Lane's types, highest weight first; a memory may have another `type`, a filter accepts only these
    "correction", "decision", "commitment", "insight", "learning", "confidence", "pattern_seed", "cross_agent",
    "workflow_note", "gap",
)  # fmt: skip

IMPORTANCE = ("low", "medium", "high", "critical")
DEFAULT_IMPORTANCE = "medium"

KEPT_BOTH = "keptBoth"  # link type: the two memories contradict each other, and both are kept
ACTIVE = "active"
DRAFT = "draft"  # no title or no frontmatter: found by search, never injected
STATUSES = (ACTIVE, DRAFT, "conflicted", "superseded", "disputed", "quarantined", "archived", "deleted")
