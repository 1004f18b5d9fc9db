"""Entry: one frontmatter + body block of a file. Memory: the fold of all entries about one id."""

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

DECAY = "decay"  # code of a Plan that archives memories because they faded
NOTHING: Mapping[str, Value] = {}  # shared, never changed: entries are frozen


@record
class Entry:
    """What one block of a file says, and where it is (`path`, `line`); BadInput names the field of a wrong value."""

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
    at: int = 0  # milliseconds since 1970, UTC; 0 = the file does not say
    by: str = ""
    found_in: str = ""
    source: str = ""
    related: Texts = NO_TEXTS
    extra: Extra = NO_EXTRA  # every other key, in file order
    body: str = ""
    given: Texts = NO_TEXTS  # which keys the file really holds: an amend changes only those
    draft: bool = False
    conflicted: bool = False  # git conflict markers in the body
    leaks: bool = False  # holds a secret or personal data: every copy of it is redacted
    path: str = ""  # relative to .rawko/, with forward slashes
    line: int = 0
    digest: str = ""  # of what the file says in this entry; empty where it was not read from a file

    @property
    def creates(self) -> bool:
        """Tell whether this entry starts a memory of its own."""
        return self.kind in CREATES

    @property
    def changes(self) -> bool:
        """Tell whether this entry changes the memory that `about` names."""
        return self.kind in CHANGES

    @property
    def target(self) -> str:
        """Return the id of the memory this entry is about."""
        return self.id if self.creates else self.about


@record
class Memory:
    """Facts and counts folded from entries; whatever depends on the clock or on weights is computed by a factor."""

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
    votes: str = ""  # the same votes in their order, a + or a - each: what they add up to may depend on it
    reinforcements: int = 0
    corroborations: int = 0  # by others than who created it, each once
    disputes: int = 0
    valid_from: int = 0
    valid_until: int = 0
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    conflicts_with: tuple[str, ...] = ()  # claims it contradicts; whether that is still open is told by their states
    links: tuple[tuple[str, str], ...] = ()  # (type, id)
    heritage: tuple[str, ...] = ()
    reason: str = ""  # of the last change of status
    retracted: bool = False  # archived because somebody decided against it, not by housekeeping
    repeated: int = 0  # how often it was said again, by whomever
    first_observed: int = 0
    last_observed: int = 0
    amended_in: tuple[str, ...] = ()  # ids of the entries that changed its words
    amended: int = 0  # when its words were last changed; 0: never
    reviewed_in: tuple[str, ...] = ()  # ids of the reviews that let these words pass
    confirmed_by: tuple[str, ...] = ()  # who corroborated it
    extra: Mapping[str, Value] = NOTHING
    entries: int = 1
    path: str = ""
    line: int = 0
    vouched: bool = True  # whether a person vouches for it, or nobody vouches for anything in this repository
    proposed: tuple[str, ...] = ()  # ids of entries about it that do not count until a person accepts them
    layer: str = ""  # set by recall: the layer it was found in, where that is not the project's

    @property
    def waiting(self) -> int:
        """Return how many proposed changes wait for a review."""
        return len(self.proposed)

    @property
    def worded(self) -> int:
        """Return when its words were last given: when it was created, or amended since."""
        return max(self.created, self.amended)

    @property
    def times_observed(self) -> int:
        """Return how often somebody said it, the first time included."""
        return self.repeated + 1


@record
class Plan:
    """Entries to append, and why, in words and (where a program asks) as a code. One module writes it."""

    entries: tuple[Entry, ...]
    why: str
    code: str = ""
    undoes: str = ""  # the change of this machine that it takes back (files/local/changes.py)
