"""Entry: one block of a file, frontmatter and body. Memory: the fold of all entries about one id."""

from __future__ import annotations

from .checked import (
    NO_EXTRA,
    NO_TEXTS,
    checked_extra,
    checked_flag,
    checked_importance,
    checked_kind,
    checked_text,
    checked_texts,
    checked_whole,
)
from .kinds import ACTIVE, CHANGES, CREATES, DEFAULT_IMPORTANCE
from .record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .checked import Extra, Texts

    Value = str | list["Value"] | dict[str, "Value"]

DECAY = "decay"  # code of a Plan that archives memories because they decayed
NOTHING: Mapping[str, Value] = {}  # shared, never changed: entries are frozen


@record
class Entry:
    """The content and position (`path`, `line`) of one block of a file. A wrong value raises BadInput."""

    __check__ = {
        **dict.fromkeys(("id", "about", "title", "by", "found_in", "source", "body", "path", "digest"), checked_text),
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
    digest: str = ""  # hash of the entry's text in the file; empty if the entry was not read from a file

    @property
    def creates(self) -> bool:
        """Return whether this entry creates a memory."""
        return self.kind in CREATES

    @property
    def changes(self) -> bool:
        """Return whether this entry changes the memory that `about` names."""
        return self.kind in CHANGES

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
    votes: str = ""  # one + or - per vote, in order, because some scores depend on the order
    reinforcements: int = 0
    corroborations: int = 0  # by authors other than its creator; each author counts once
    disputes: int = 0
    valid_from: int = 0
    valid_until: int = 0
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    conflicts_with: tuple[str, ...] = ()  # ids of contradicting memories; belief/conflicts.py finds open conflicts
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
    extra: Mapping[str, Value] = NOTHING
    entries: int = 1
    path: str = ""
    line: int = 0
    vouched: bool = True  # True if a person vouches for it, or if nobody vouches for any memory here
    proposed: tuple[str, ...] = ()  # ids of changes that have no effect until a person accepts them
    layer: str = ""  # set by recall: its layer; empty for the project's own

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


@record
class Plan:
    """Entries to append, with the reason as text and, if a program needs it, as a code."""

    entries: tuple[Entry, ...]
    why: str
    code: str = ""
    undoes: str = ""  # the change on this machine that it undoes (files/local/changes.py)
