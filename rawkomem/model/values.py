"""The values that everything else is made of: frozen records and their checks, time, the closed
vocabularies of the format, the keys of other memory systems, and problems in files.
"""

from __future__ import annotations

import os
import time

from .errors import BadInput

# the frequent commands import it from here, because importing `typing` takes a third of a start
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar, dataclass_transform

    from .entries import Value

    T = TypeVar("T")
    Check = Callable[[Any, str], Any]
else:

    def dataclass_transform(**_):
        """Stand in for the decorator that tells type checkers about `record`."""
        return lambda function: function


# The version of the file format. A program refuses a repository whose config.yaml names a higher one; without a number,
# it is 1. Raise it, and name the kinds of entries, when an older program would misread what this one writes.

FORMAT = 2
# kinds of entries that a program of a lower format misreads: before it writes one, this program raises the number
NEWER_KINDS = ("amend",)


# Frozen records: the parts of dataclasses that we use. Importing `dataclasses` would slow down
# every command.

MISSING = object()


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Turn an annotated class into an immutable value with ==, hash and repr.

    `__check__` maps fields to checks (see model/values.py) that __init__ and replace() apply.
    """
    made: Any = cls
    names = tuple(cls.__annotations__)
    made.__check__ = cls.__dict__.get("__check__", {})
    made.__defaults__ = {name: getattr(cls, name, MISSING) for name in names}
    made.__required__ = [name for name in names if made.__defaults__[name] is MISSING]
    made.__fields__ = names
    made.__match_args__ = names  # type: ignore[misc]
    made.__init__ = _fill
    made.__setattr__ = made.__delattr__ = _refuse
    made.__eq__ = _equal
    made.__hash__ = _hash
    made.__repr__ = _repr
    return cls


def _fill(self: Any, *given: Any, **named: Any) -> None:
    """Set the fields of a new record; the `__init__` of every record class."""
    cls = type(self)
    fields = self.__dict__
    names = cls.__fields__
    wrong = False
    if named or len(given) != len(names):
        fields.update(cls.__defaults__)
        fields.update(zip(names, given, strict=False))
        fields.update(named)
        wrong = len(given) > len(names) or len(fields) != len(names)
        wrong |= not named.keys().isdisjoint(names[: len(given)])
        for name in cls.__required__[len(given) :]:
            wrong |= fields[name] is MISSING
    else:  # the rows of a database are many
        fields.update(zip(names, given, strict=True))
    if wrong:
        values = f"{len(given)} values and {', '.join(named) or 'no names'}"
        raise TypeError(f"{cls.__name__}({', '.join(names)}) cannot take {values}")
    for name, check in cls.__check__.items():
        if fields[name] is not cls.__defaults__[name]:
            fields[name] = check(fields[name], f"{cls.__name__}.{name}")


def replace(item: T, **changes: Any) -> T:
    """Return a copy of a record with some fields changed; check only these fields."""
    cls: Any = type(item)
    if unknown := changes.keys() - cls.__defaults__.keys():
        raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(unknown))}")
    for name in cls.__check__.keys() & changes.keys():
        changes[name] = cls.__check__[name](changes[name], f"{cls.__name__}.{name}")
    copy: T = object.__new__(cls)
    copy.__dict__.update(item.__dict__, **changes)
    return copy


def unchecked(cls: type[T], **fields: Any) -> T:
    """Return a record without checking its values. A parser that makes thousands of records uses this."""
    made = object.__new__(cls)
    made.__dict__.update(cls.__defaults__, **fields)  # type: ignore[attr-defined]
    return made


def as_dict(item: Any) -> dict[str, Any]:
    """Return a record's fields as a new dictionary."""
    return dict(item.__dict__)


def filled(fields: Mapping[str, T]) -> dict[str, T]:
    """Return the fields that have a value which is not empty."""
    return {key: value for key, value in fields.items() if value}


def days_since(at: int, now: int) -> float:
    """Return the days from a time to the present, at least 0; 0 if the time is not known."""
    return max(0.0, (now - at) / DAY) if at else 0.0


def without(fields: Mapping[str, T], *keys: str) -> dict[str, T]:
    """Return the fields except those with these keys."""
    return {key: value for key, value in fields.items() if key not in keys}


def _refuse(self: Any, name: str, *value: Any) -> None:
    raise AttributeError(
        f"{type(self).__name__} is frozen: cannot change {name!r}; use replace()"
    )


def _equal(self: Any, other: object) -> bool:
    return type(self) is type(other) and self.__dict__ == other.__dict__


def _hash(self: Any) -> int:
    return hash(
        tuple(
            repr(value) if isinstance(value, (dict, list)) else value
            for value in self.__dict__.values()
        )
    )


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
    return f"{type(self).__name__}({fields})"


# Time as milliseconds since 1970 in UTC; ISO 8601 in files.

DAY = 86_400_000
AGE_UNITS = {"h": DAY // 24, "d": DAY, "w": 7 * DAY}
DATE_CHARS = len("2026-01-23")


def now() -> int:
    """Return the current time; RAWKOMEM_NOW (ISO 8601) fixes it for reproducible runs."""
    fixed = os.environ.get("RAWKOMEM_NOW")
    if fixed:
        at, _ = read_time(fixed)
        if at is not None:
            return at
    return time.time_ns() // 1_000_000


def iso(at: int) -> str:
    """Return a time like `2026-01-23T10:30:00Z`, with milliseconds unless they are 0; "" for the unknown time 0."""
    if not at:
        return ""
    seconds, ms = divmod(at, 1000)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{stamp}.{ms:03d}Z" if ms else f"{stamp}Z"


def read_moment(text: str, end: bool = False) -> int | None:
    """Return the time of a date (with `end`, its end), a time or an age like `7d`; None for any other text."""
    text = text.strip()
    if text[:-1].isdecimal() and text[-1:] in AGE_UNITS:
        return max(0, now() - int(text[:-1]) * AGE_UNITS[text[-1]])
    at, _ = read_time(text)
    if at is not None and end and len(text) == DATE_CHARS and "-" in text:
        return at + DAY - 1
    return at


def read_time(text: str) -> tuple[int | None, str]:
    """Return the time that a text names, or None, and a remark about an unusual spelling or an error ("" if none)."""
    # only while reading files: a cold search never parses a date
    from datetime import (
        UTC,
        datetime,
    )

    text = text.strip()
    if text.isdecimal() and 10 <= len(text) <= 13:
        at = int(text) if len(text) > 11 else int(text) * 1000
        return at, "is a number: taken as time since 1970"
    odd = ""
    if ":60" in text:
        text = text.replace(":60", ":59", 1)
        odd = "has a leap second: taken as the second before"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None, "is not an ISO 8601 time"
    if moment.tzinfo is None:
        if len(text) > 10:
            odd = odd or "has no time zone: taken as UTC"
        moment = moment.replace(tzinfo=UTC)
    try:
        return int(moment.timestamp() * 1000), odd
    except (OverflowError, ValueError):
        return None, "is out of range"


# The closed vocabularies of the format: kinds, types, importance, status. One row for each kind of
# entry.


@record
class Kind:
    """A kind of memory: what it is, the prefix of its ids, the folder of its files, and how it is treated."""

    says: str
    prefix: str
    folder: str  # below .rawko/
    # groups other memories: searched and listed, but never injected
    groups: bool = False
    fades: bool = False  # whether `prune` may archive it
    # the record of a finished task: found only if asked for, and vouched for only by a review
    recorded: bool = False
    needs_when: bool = False  # SPEC-0009 expects `whenToUse`


CREATES = {
    "memory": Kind("a fact, a decision or a rule", "mem", "memories", fades=True, needs_when=True),
    "lesson": Kind("what a failure taught", "lesson", "memories/lessons", needs_when=True),
    "skill": Kind("how to do a task", "skill", "memories/skills"),
    "learning": Kind("what several runs of a task have in common", "learning", "memories/learnings",
                     fades=True),
    "reflection": Kind("what several memories say together", "reflection", "memories/reflections",
                       fades=True),
    "trace": Kind("the record of one run", "trace", "traces", recorded=True),
    "experience": Kind("a line of the experience log", "exp", "log", recorded=True),
    "episode": Kind("a group of memories", "ep", "memories/episodes", groups=True),
}  # fmt: skip
GROUPS = tuple(kind for kind, row in CREATES.items() if row.groups)
FADING = tuple(kind for kind, row in CREATES.items() if row.fades)
RECORDED = tuple(kind for kind, row in CREATES.items() if row.recorded)
NEED_WHEN = tuple(kind for kind, row in CREATES.items() if row.needs_when)

# Kinds of entries that change a memory. Everything else about a kind is in state/changes.py.
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

# Memory Lane's types, highest weight first; a memory may have another `type`, a filter accepts only these
TYPES = (
    "correction", "decision", "commitment", "insight", "learning", "confidence", "pattern_seed", "cross_agent",
    "workflow_note", "gap",
)  # fmt: skip

IMPORTANCE = ("low", "medium", "high", "critical")
DEFAULT_IMPORTANCE = "medium"

# link type: the two memories contradict each other, and both are kept
KEPT_BOTH = "keptBoth"
# of an amend with a text: the last amend before it, or the memory, and the changes that waited for a review
AFTER = "after"
# key of an amendment: the values that it replaces, as `field@digest`
REPLACES = "replaces"
ACTIVE = "active"
# shown in place of ACTIVE
EXPIRED = "expired"
NOT_YET_VALID = "not yet valid"
# statuses of memories whose text agents and editors do not show until a person decides
# the rules of a predicate of claims, by their keys in config.yaml; the first value of each is the default
PREDICATE_RULES = {
    "cardinality": ("single", "multi"),
    "conflictPolicy": ("supersede", "require_review", "keep_both"),
    "normalize": ("none", "trim", "lowercase", "lowercase_trim", "currency"),
    "dedupPolicy": ("corroborate", "store"),
}
HELD_BACK = ("quarantined", "deleted")
DRAFT_STATUS = "draft"  # no title or no frontmatter: found by search, never injected
STATUSES = (
    ACTIVE,
    DRAFT_STATUS,
    "conflicted",
    "superseded",
    "disputed",
    "quarantined",
    "archived",
    "deleted",
)


# The frontmatter keys of other memory systems: our key for each, or why the key is kept without
# effect.
#
# No other module lists these names. To read a key, call `extra_value` or `names_of_key`. docs/format.md lists
# the rows.

# values that count as empty, in upper or lower case
EMPTY_WORDS = ("", "~", "null", "none", "undefined")
# our key → its other names; if a file has several of them, our key wins
KEY_NAMES: dict[str, tuple[str, ...]] = {
    ours: tuple(names)
    for ours, *names in map(
        str.split,
        """
        whenToUse       when_to_use
        tags            tag
        discoveredAt    discovered_at created_at createdAt
        discoveredBy    discovered_by agent_id agentId
        discoveredIn    discovered_in
        relatedMemories related_memories
        appliesTo       applies_to
        type            memory_type memoryType
        entities        entity entity_slugs entitySlugs
        session         session_id sessionId
        confidence      confidence_score confidenceScore
        validFrom       valid_from
        validUntil      valid_until
        eventTime       event_time
        supersedes
        supersededBy    superseded_by
        conflictsWith   conflicts_with
        derivedFrom     derived_from
        feedbackScore   feedback_score
        timesObserved   times_observed
        firstObservedAt first_observed_at
        lastObservedAt  last_observed_at
        lastAccessedAt  last_accessed_at last_accessed lastAccessed
        """.strip().split("\n"),
    )
}
# Keys that are kept and shown but have no effect → the reason.
KEPT_KEYS = {
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
KEY_ALIASES = {name: ours for ours, names in KEY_NAMES.items() for name in names}


def names_of_key(ours: str) -> tuple[str, ...]:
    """Return our key, then its other names."""
    return ours, *KEY_NAMES.get(ours, ())


def extra_value(extra: Mapping[str, Value], ours: str) -> Value:
    """Return the value of one of our keys under any of its names; "" if the file has none of them."""
    for name in names_of_key(ours):
        value = extra.get(name)
        if value is not None and not is_empty_value(value):
            return value
    return ""


def items_of(value: Value) -> list[Value]:
    """Return the items of a list; any other value is a list of one."""
    return value if isinstance(value, list) else [value]


def text_of(value: object) -> str:
    """Return a text; an empty one for anything else."""
    return value if isinstance(value, str) else ""


def time_of(value: object) -> int:
    """Return the time of a frontmatter value in milliseconds; 0 if it is not a time."""
    return (read_time(value)[0] or 0) if isinstance(value, str) and value else 0


def is_empty_value(value: object) -> bool:
    """Return whether a value counts as empty: an empty text, or a word such as `null` or `none`."""
    return isinstance(value, str) and value.strip().lower() in EMPTY_WORDS


# The checks that records list in `__check__`: each returns a caller's value as the record stores
# it, or raises BadInput.


class Texts:
    """A field that takes one text or several, and holds a tuple. Records name it for type checkers only."""

    def __get__(self, item: object, owner: object) -> tuple[str, ...]: ...  # type: ignore[empty-body]
    def __set__(self, item: object, value: str | Iterable[str]) -> None: ...


class Number:
    """A field that takes a number or a text that names it (an importance, a time), and holds the number."""

    def __get__(self, item: object, owner: object) -> int: ...  # type: ignore[empty-body]
    def __set__(self, item: object, value: str | int) -> None: ...


class Extra:
    """A field that takes a mapping of texts, numbers, lists and mappings."""

    def __get__(self, item: object, owner: object) -> Mapping[str, Value]: ...  # type: ignore[empty-body]
    def __set__(self, item: object, value: Mapping[str, Any]) -> None: ...


NO_TEXTS: Texts = ()  # type: ignore[assignment]
ANY_RANK: Number = 0  # type: ignore[assignment]
NO_MOMENT: Number = 0  # type: ignore[assignment]
NO_EXTRA: Extra = {}  # type: ignore[assignment]

MAX_SHOWN_CHARS = 60  # of a wrong value, in an error message
MAX_NESTED_DEPTH = 32  # levels of nested values; a file that is read may have at most 8
MOMENTS = "a date (2026-01-23), a time (2026-01-23T10:30:00Z) or an age (24h, 7d, 2w)"


def checked_text(value: Any, where: str) -> str:
    """Return the value if it is a text."""
    if not isinstance(value, str):
        raise _wrong_value(
            where, value, "is not a text", "put it in quotes, or use str()"
        )
    return value


def checked_texts(value: Any, where: str) -> tuple[str, ...]:
    """Return a tuple of texts. A single text becomes one item; an empty text becomes an empty tuple."""
    if isinstance(value, str):
        return (value,) if value else ()
    hint = "pass a text or a list of texts"
    if isinstance(value, (bytes, bytearray, dict)) or not hasattr(value, "__iter__"):
        raise _wrong_value(where, value, "is not a list of texts", hint)
    items = tuple(sorted(value) if isinstance(value, (set, frozenset)) else value)
    for item in items:
        if not isinstance(item, str):
            raise _wrong_value(where, item, "is not a text", hint)
    return items


def checked_flag(value: Any, where: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool):
        raise _wrong_value(
            where, value, "is neither True nor False", "pass True or False"
        )
    return value


def checked_whole(value: Any, where: str) -> int:
    """Return a whole number."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise _wrong_value(where, value, "is not a whole number", "pass an int")
    return int(value)


def checked_share(value: Any, where: str) -> float:
    """Return a number from 0 to 1; reject NaN and infinity."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not 0 <= value <= 1
    ):
        raise _wrong_value(
            where, value, "is not a number from 0 to 1", "pass a number such as 0.6"
        )
    return float(value)


def checked_moment(value: Any, where: str, end: bool = False) -> int:
    """Return a number, or the time that a text names, as milliseconds since 1970; with `end`, a date means its end."""
    if not isinstance(value, str):
        return checked_whole(value, where)
    at = read_moment(value, end) if value else 0
    if at is None:
        raise _wrong_value(where, value, "is not a time", f"use {MOMENTS}")
    return at


def checked_last_moment(value: Any, where: str) -> int:
    """Return milliseconds as checked_moment does; a date means the end of that day."""
    return checked_moment(value, where, end=True)


def checked_word(value: Any, where: str, words: Iterable[str]) -> str:
    """Return the value in lower case if it is one of the words."""
    word = value.lower() if isinstance(value, str) else value
    if word not in words:
        raise _wrong_value(
            where, value, "is not known", "use one of " + ", ".join(words)
        )
    return str(word)


def checked_rank(value: Any, where: str) -> int:
    """Return the position of an importance in IMPORTANCE; accept the position or the word."""
    if isinstance(value, str):
        return IMPORTANCE.index(checked_word(value, where, IMPORTANCE)) if value else 0
    rank = checked_whole(value, where)
    if not 0 <= rank < len(IMPORTANCE):
        raise _wrong_value(
            where, value, "is not an importance", "use one of " + ", ".join(IMPORTANCE)
        )
    return rank


def checked_extra(value: Any, where: str) -> Mapping[str, Value]:
    """Return a mapping of texts, lists and mappings, which are the values a file can hold.

    Numbers and booleans become the texts that YAML has for them, so `False` and `false` in a file are the same.
    """
    if not hasattr(value, "items"):
        raise _wrong_value(where, value, "is not a mapping", "pass a dict")
    mapping: Mapping[str, Value] = _writable(dict(value), where, 0)
    return mapping


def _writable(value: Any, where: str, depth: int) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, int) or (
        isinstance(value, float) and abs(value) < float("inf")
    ):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if depth < MAX_NESTED_DEPTH and isinstance(value, (list, tuple)):
        return [_writable(item, where, depth + 1) for item in value]
    if depth < MAX_NESTED_DEPTH and isinstance(value, dict):
        return {
            checked_text(key, where): _writable(item, f"{where}[{key!r}]", depth + 1)
            for key, item in value.items()
        }
    hint = "pass texts, finite numbers, lists or dicts of them"
    raise _wrong_value(where, value, "cannot be written to a file", hint)


def _wrong_value(where: str, value: object, what: str, hint: str) -> BadInput:
    shown = ascii(value)
    shown = shown if len(shown) <= MAX_SHOWN_CHARS else shown[:MAX_SHOWN_CHARS] + "…"
    return BadInput(f"{where}: {shown} {what}", hint)


def checked_kind(value: Any, where: str) -> str:
    """Return a kind of entry, also one that was added to the tables after this module was read."""
    return checked_word(value, where, {**CREATES, **CHANGES})


def one_of(*words: str) -> Check:
    """Return a check that accepts one of these words."""
    return lambda value, where: checked_word(value, where, words)


def some_of(*words: str) -> Check:
    """Return a check that accepts a list of these words."""
    return lambda value, where: tuple(
        checked_word(word, where, words) for word in checked_texts(value, where)
    )


def checked_kinds(value: Any, where: str) -> Any:
    """Return a list of kinds of memories."""
    return some_of(*CREATES)(value, where)


checked_statuses = some_of(*STATUSES)
checked_importance = one_of(*IMPORTANCE)


# A Problem reports something wrong in a file, with a code of docs/format.md and a hint. It does
# not stop a command.

ERROR = "error"  # the entry or file cannot be used as a memory
WARNING = "warning"  # used, but not exactly as written
STYLE = "style"  # a content rule: does not change the result of a check

LEVELS = (ERROR, WARNING, STYLE)


@record
class Problem:
    """One thing that is wrong with a file. Programs decide by `code`; `message` and `hint` are for people."""

    level: str
    code: str
    message: str
    hint: str = ""
    line: int = 1
    path: str = ""
    quote: str = ""  # the name, id or condition in the file that an editor highlights

    @property
    def in_full(self) -> str:
        """Return the message, followed by the hint in brackets if there is one."""
        return f"{self.message} ({self.hint})" if self.hint else self.message


def _problems(level: str) -> Callable[..., Problem]:
    return lambda *given, **named: Problem(level, *given, **named)


error, warning, style = map(_problems, LEVELS)
