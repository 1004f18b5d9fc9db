"""What travels between folders: an Entry is one block of a file, a Memory the fold of all entries
about one id; plans and changes group entries; a task asks for memories; a draft proposes one.
"""

from __future__ import annotations

from .values import (
    ACTIVE,
    CHANGES,
    CREATES,
    DEFAULT_IMPORTANCE,
    NO_EXTRA,
    NO_TEXTS,
    TYPE_CHECKING,
    Extra,
    Problem,
    Texts,
    checked_extra,
    checked_flag,
    checked_importance,
    checked_kind,
    checked_text,
    checked_texts,
    checked_whole,
    record,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


Value = str | list["Value"] | dict[str, "Value"]


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
        """Return whether the value is YAML's null."""
        return self.plain and self.value in NULLS


class Unreadable(Exception):
    """Raised if a frontmatter cannot be read; `problem` says why and where."""

    def __init__(self, problem: Problem):
        super().__init__(problem.message)
        self.problem = problem


DECAY_CODE = "decay"  # code of a Plan that archives memories because they decayed
EMPTY_EXTRA: Mapping[str, Value] = {}  # shared, never changed: entries are frozen


@record
class Entry:
    """The content and position (`path`, `line`) of one block of a file. A wrong value raises BadInput."""

    __check__ = {
        **dict.fromkeys(
            (
                "id",
                "about",
                "title",
                "by",
                "found_in",
                "source",
                "body",
                "path",
                "digest",
            ),
            checked_text,
        ),
        **dict.fromkeys(("when", "tags", "related", "given"), checked_texts),
        **dict.fromkeys(("draft", "conflicted", "leaks"), checked_flag),
        **dict.fromkeys(("at", "line"), checked_whole),
        "kind": checked_kind,
        "importance": checked_importance,
        "extra": checked_extra,
    }

    kind: str = "memory"
    id: str = ""
    about: str = ""
    title: str = ""
    when: Texts = NO_TEXTS
    tags: Texts = NO_TEXTS
    importance: str = DEFAULT_IMPORTANCE
    at: int = 0  # milliseconds since 1970, UTC; 0: unknown
    by: str = ""
    found_in: str = ""
    source: str = ""
    related: Texts = NO_TEXTS
    extra: Extra = NO_EXTRA  # every other key, in file order
    body: str = ""
    given: Texts = NO_TEXTS  # the keys that the file holds; an amend changes only these
    draft: bool = False
    conflicted: bool = False  # git conflict markers in the body
    leaks: bool = False  # contains a secret or personal data, so every copy is redacted
    path: str = ""  # relative to .rawko/, with forward slashes
    line: int = 0
    # hash of the entry's text in the file; empty if the entry was not read from a file
    digest: str = ""

    @property
    def title_and_body(self) -> str:
        """Return the whole text: the title, and the body below it."""
        return f"{self.title}\n{self.body}"

    @property
    def creates(self) -> bool:
        """Return whether this entry creates a memory."""
        return self.kind in CREATES

    @property
    def changes(self) -> bool:
        """Return whether this entry changes the memory that `about` names."""
        return self.kind in CHANGES

    @property
    def is_nameless(self) -> bool:
        """Return whether this entry was read from a file that states no id for it."""
        return bool(self.digest) and "id" not in self.given

    @property
    def target(self) -> str:
        """Return the id of the memory this entry is about."""
        return self.id if self.creates else self.about


@record
class Memory:
    """Facts and counts folded from entries. Values that depend on the clock or on weights are computed at recall."""

    id: str
    kind: str = "memory"
    status: str = ACTIVE
    title: str = ""
    when: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    importance: str = DEFAULT_IMPORTANCE
    created: int = 0
    updated: int = 0
    by: str = ""
    found_in: str = ""
    source: str = ""
    related: tuple[str, ...] = ()
    body: str = ""
    helpful: int = 0
    harmful: int = 0
    # one + or - per vote, in order, because some scores depend on the order
    votes: str = ""
    reinforcements: int = 0
    # by authors other than its creator; each author counts once
    corroborations: int = 0
    disputes: int = 0
    valid_from: int = 0
    valid_until: int = 0
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    superseded_at: int = 0  # when that was decided; also if it has no effect
    # ids of contradicting memories; state/changes.py finds open conflicts
    conflicts_with: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()  # (type, id)
    heritage: tuple[str, ...] = ()
    reason: str = ""  # of the last change of status
    retracted: bool = False  # archived by a decision against it, not by housekeeping
    repeated: int = 0  # how often anybody stated it again
    first_observed: int = 0
    last_observed: int = 0
    amended_in: tuple[str, ...] = ()  # ids of the entries that changed its text
    amended: int = 0  # when its text was last changed; 0: never
    reviewed_in: tuple[str, ...] = ()  # ids of the reviews that approved this text
    confirmed_by: tuple[str, ...] = ()  # who corroborated it
    extra: Mapping[str, Value] = EMPTY_EXTRA
    entries: int = 1
    path: str = ""
    line: int = 0
    # True if a person vouches for it, or if nobody vouches for any memory here
    vouched: bool = True
    # True if its file has another text now than this one, which a person committed
    held: bool = False
    # ids of changes that have no effect until a person accepts them
    proposed: tuple[str, ...] = ()
    layer: str = ""  # set by recall: its layer; empty for the project's own

    @property
    def title_and_body(self) -> str:
        """Return the whole text: the title, and the body below it."""
        return f"{self.title}\n{self.body}"

    @property
    def waiting(self) -> int:
        """Return the number of proposed changes that wait for a review."""
        return len(self.proposed)

    @property
    def worded(self) -> int:
        """Return when its text was last written: when it was created or last amended."""
        return max(self.created, self.amended)

    @property
    def times_observed(self) -> int:
        """Return how often it was stated, including the first time."""
        return self.repeated + 1


def by_time(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return memories sorted by time."""
    return tuple(sorted(memories, key=lambda memory: (memory.created, memory.id)))


@record
class Plan:
    """Entries to append. `why` says what they do, for commands that print it; `code` says it to programs."""

    entries: tuple[Entry, ...]
    why: str = ""
    code: str = ""
    # the change on this machine that it undoes (files/machine_records.py)
    undoes: str = ""


@record
class Change:
    """Entries that were written together, each with the id of its memory; for an undo, the change that it undid."""

    name: str  # the id of its first entry
    entries: tuple[tuple[str, str], ...]  # (id of the entry, id of the memory)
    undoes: str = ""  # the name of another change
    # the id of a memory whose text was purged; the change of a purge has no entries
    purged: str = ""

    @property
    def ids(self) -> set[str]:
        """Return the ids of the change's entries."""
        return {entry for entry, _ in self.entries}

    @property
    def memories(self) -> tuple[str, ...]:
        """Return the ids of the memories that the entries are about."""
        return tuple(dict.fromkeys(memory for _, memory in self.entries))


@record
class Task:
    """The work that an agent is about to do."""

    __check__ = {
        **dict.fromkeys(("text", "agent", "plan", "session", "lately"), checked_text),
    }

    text: str
    agent: str = ""
    plan: str = ""
    session: str = ""
    # the exchange before the task: the person's prompt, then the end of the agent's answer
    lately: str = ""

    @property
    def matched(self) -> str:
        """Return the text that conditions are matched against. SPEC-0009 adds the agent's name and the plan."""
        return " ".join(part for part in (self.text, self.agent, self.plan) if part)

    @property
    def asked(self) -> str:
        """Return the text for the search by words and by meaning."""
        return " ".join(part for part in (self.text, self.plan) if part)


# A draft: a proposed memory from a session. It stays on this machine until somebody keeps it.

# Kinds of drafts, by the evidence for them
# a person said it
CORRECTION = "correction"
RULE = "rule"
PREFERENCE = "preference"
DECISION = "decision"
REQUEST = "request"  # a person said: remember …
AGREED = "agreed"  # an agent said it, and the person agreed
FIX = "fix"  # a command failed, then the same command passed
# somebody wrote it into CLAUDE.md or another instructions file
INSTRUCTION = "instruction"
FOUND = "found"  # a language model found it
# tag of a draft made from failures; keeping the draft stores a lesson
LESSON = "lesson"


@record
class Draft:
    """One draft: the exchange that it comes from, and the proposed memory."""

    id: str
    kind: str
    # the person's words as typed; for a fix or an instruction, the evidence
    said: str = ""
    before: str = ""  # the agent's message that these words answer
    title: str = ""
    text: str = ""  # of the proposed memory
    when: tuple[str, ...] = ()  # conditions of the proposed memory
    # acts of an agent to which it applies, each as key=pattern: commands=pytest*
    applies: tuple[str, ...] = ()
    guard: str = ""  # what it proposes to do then; empty: remind the agent
    tags: tuple[str, ...] = ()  # with "lesson", keeping the draft stores a lesson
    score: float = 0.0  # strength of the evidence
    why: str = ""  # the cues that make up the score
    more: bool = False  # less sure: shown only to a person who wants to see more
    session: str = ""
    host: str = ""
    task: str = ""  # the first prompt of that session
    at: int = 0  # milliseconds since 1970
    # memories that these words contradict, or that were shown to the session
    corrects: tuple[str, ...] = ()
    agrees: str = ""  # a memory that says the same
    again: tuple[str, ...] = ()  # other sessions in which a person said the same
    asked: int = 0  # when the agent was asked to write it; 0: never
    model: str = ""  # the language model that found it; empty: no model was used
    # other frontmatter keys of the memory, such as errorPattern
    fields: tuple[tuple[str, str], ...] = ()
