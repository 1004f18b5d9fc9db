"""Filters on memories. A row of FILTER_FIELDS and a field of `Filter` define each one's option, SQL
and docs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .errors import BadInput
from .values import (
    ACTIVE,
    ANY_RANK,
    CREATES,
    DRAFT_STATUS,
    IMPORTANCE,
    NO_MOMENT,
    NO_TEXTS,
    STATUSES,
    TYPES,
    Number,
    Texts,
    as_dict,
    checked_flag,
    checked_kinds,
    checked_last_moment,
    checked_moment,
    checked_rank,
    checked_share,
    checked_statuses,
    checked_text,
    checked_texts,
    record,
)

Words = str | float | Sequence[str]


READABLE = (ACTIVE, DRAFT_STATUS, "conflicted")  # statuses that are shown by default
INCLUDE_EXPIRED, INCLUDE_ALL = (
    "expired",
    "all",
)  # further words for --include: memories outside their validity window; all memories

# How a filter compares its value with a column.
ANY_OF, ALL_OF, AT_LEAST, BEFORE = "any of", "all of", "at least", "before"


@record
class Filter:
    """Conditions on memories. An empty field accepts every memory. Each field has a row in FILTER_FIELDS."""

    __check__ = {
        **dict.fromkeys(
            ("ids", "tags", "types", "categories", "entities", "agents", "sessions"), checked_texts
        ),
        "kinds": checked_kinds,
        "statuses": checked_statuses,
        "importance": checked_rank,
        "since": checked_moment,
        "until": checked_last_moment,
        "as_of": checked_last_moment,
        "trust": checked_share,
        "current": checked_flag,
        "where": checked_text,
    }

    kinds: Texts = NO_TEXTS
    tags: Texts = NO_TEXTS
    types: Texts = NO_TEXTS
    categories: Texts = NO_TEXTS
    entities: Texts = NO_TEXTS
    agents: Texts = NO_TEXTS
    sessions: Texts = NO_TEXTS
    since: Number = NO_MOMENT
    until: Number = NO_MOMENT
    as_of: Number = NO_MOMENT
    trust: float = 0.0
    where: str = ""
    importance: Number = ANY_RANK
    statuses: Texts = NO_TEXTS
    current: bool = False
    ids: Texts = NO_TEXTS
    vouched: int = 0  # 1: only memories that a person vouches for
    unvouched: int = 0  # 1: only memories that no person vouches for


DEFAULT_FILTER = Filter(statuses=READABLE, current=True)


@record
class Facets:
    """The columns that filters compare. Every store has them; FILTER_FIELDS refers to them."""

    id: str
    kind: str = "memory"
    status: str = "active"
    importance: int = 1  # position in IMPORTANCE
    created: int = 0  # milliseconds since 1970
    tags: tuple[str, ...] = ()
    by: str = ""
    type: str = ""
    category: str = ""
    entities: tuple[str, ...] = ()
    session: str = ""
    vouched: int = 1  # 0: people vouch for memories of this repository, but not for this one


@record
class FilterField:
    """The definition of one field of `Filter`."""

    name: str  # the field of Filter
    word: str = ""  # the argument of `filter_of`, and with dashes the command-line option
    help: str = ""  # help text of the option; empty: no option
    read: Callable[[Any], Any] = tuple  # converts the caller's value; raises BadInput
    short: str = ""  # the option's short form
    many: bool = False  # whether the word takes several values
    column: str = (
        ""  # the field of Facets to compare; empty: index/index.py checks it, not the store
    )
    compare: str = ANY_OF
    any_case: bool = False  # whether case is ignored
    lasting: bool = (
        False  # whether the column never changes, so that --as-of can use the present value
    )
    agents: str = ""  # description of the MCP argument; empty: no argument, to save tokens

    @property
    def option(self) -> str:
        """Return the long command-line option."""
        return "--" + self.word.replace("_", "-")


def _one_of_words(what: str, valid: Iterable[str]) -> Callable[[Sequence[str]], tuple[str, ...]]:
    def read(words: Sequence[str]) -> tuple[str, ...]:
        for word in words:
            if word not in valid:
                raise BadInput(f"unknown {what} {word!r}", "use one of " + ", ".join(valid))
        return tuple(words)

    return read


def _moment(option: str, end: bool = False) -> Callable[[str], int]:
    return lambda text: checked_moment(text, option, end)


def _trust(text: str) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise BadInput(f"--trust: {text!r} is not a number from 0 to 1", "use a number such as 0.6")
    return value


def _importance(text: str) -> int:
    return IMPORTANCE.index(_one_of_words("importance", IMPORTANCE)([text])[0]) if text else 0


def _included(words: Sequence[str]) -> tuple[str, ...]:
    given = [word.strip() for several in words for word in several.split(",")]
    return _one_of_words("status", (*STATUSES, INCLUDE_EXPIRED, INCLUDE_ALL))(given)


def _statuses(words: Sequence[str]) -> tuple[str, ...]:
    included = _included(words)
    if INCLUDE_ALL in included:
        return ()
    return tuple(
        dict.fromkeys((*READABLE, *(status for status in included if status != INCLUDE_EXPIRED)))
    )


def _current(words: Sequence[str]) -> bool:
    return not {INCLUDE_ALL, INCLUDE_EXPIRED} & {*_included(words)}


FILTER_FIELDS = (
    FilterField(
        "kinds", "kind", "Only this kind (memory, lesson, skill, …); may be repeated.", _one_of_words("kind", CREATES),
        short="-k", many=True, column="kind", lasting=True, agents="e.g. lesson",
    ),
    FilterField(
        "tags", "tag", "Only memories with this tag; may be repeated.",
        short="-t", many=True, column="tags", compare=ALL_OF, any_case=True,
    ),
    FilterField(
        "types", "type", "Only this type (correction, decision, insight, …); may be repeated.", _one_of_words("type", TYPES),
        many=True, column="type", any_case=True,
    ),
    FilterField(
        "categories", "category", "Only this category (decision, preference, fact, …); may be repeated.",
        many=True, column="category", any_case=True,
    ),
    FilterField(
        "entities", "entity", "Only about this entity (project:api, or a part of its name); may be repeated.",
        many=True, column="entities", compare=ALL_OF, any_case=True,
    ),
    FilterField(
        "agents", "by", "Only memories discovered by this person or agent; may be repeated.",
        many=True, column="by", any_case=True, lasting=True,
    ),
    FilterField(
        "sessions", "from_session", "Only from this session; may be repeated.", many=True, column="session",
    ),
    FilterField(
        "since", "since", "Only memories discovered since a date, a time, or an age like 7d.", _moment("--since"),
        column="created", compare=AT_LEAST, lasting=True,
    ),
    FilterField(
        "until", "until", "Only memories discovered until a date (inclusive), time or age.", _moment("--until", True),
        column="created", compare=BEFORE, lasting=True,
    ),
    FilterField(
        "as_of", "as_of", "The state at the end of a date, at a time, or some time ago (7d).", _moment("--as-of", True),
    ),
    FilterField("trust", "trust", "Minimum trust, from 0 to 1.", _trust),
    FilterField(
        "where", "filter", "Only where a condition holds: \"memory_type = 'lesson' AND access_count > 2\".", str,
    ),
    FilterField(
        "importance", "importance", "Minimum importance: low, medium, high or critical.", _importance,
        short="-i", column="importance", compare=AT_LEAST,
    ),
    FilterField(
        "statuses", "include", "Include these statuses (superseded,archived, …), 'expired', or 'all'.",
        _statuses, many=True, column="status",
    ),
    FilterField("current", "include", read=_current, many=True),
    FilterField("ids", many=True, column="id", lasting=True),
    FilterField("vouched", read=lambda _: 0, column="vouched", compare=AT_LEAST),
    FilterField("unvouched", read=lambda _: 0, column="vouched", compare=BEFORE),
)  # fmt: skip


def read_filter(words: dict[str, Words]) -> Filter:
    """Return the Filter for option names and values; raise BadInput for an unknown name or a wrong value."""
    known = {field.word for field in FILTER_FIELDS if field.word}
    for word in words:
        if word not in known:
            raise BadInput(f"unknown filter {word!r}", "use one of " + ", ".join(sorted(known)))
    return Filter(
        **{field.name: field.read(_given(field, words.get(field.word))) for field in FILTER_FIELDS}
    )


def _given(field: FilterField, words: Words | None) -> Words:
    """Return the caller's value in the form that the field's `read` expects: a list, or one text."""
    if field.many:
        return [words] if isinstance(words, str) else words or ()
    return words or ""


def asked(only: Filter) -> list[tuple[FilterField, Any]]:
    """Return the filter's non-empty fields that compare a column, each with the value to compare."""
    values = only.__dict__
    found = [
        (field, values[field.name])
        for field in FILTER_FIELDS
        if field.column and values[field.name]
    ]
    return [
        (field, [name.lower() for name in value] if field.any_case else value)
        for field, value in found
    ]


def passes_field(field: FilterField, wanted: Any, own: Any) -> bool:
    """Return whether a column's value `own` passes; `wanted` comes from `asked`."""
    if field.any_case:
        own = own.lower() if isinstance(own, str) else [name.lower() for name in own]
    if field.compare == ANY_OF:
        return own in wanted
    if field.compare == ALL_OF:
        return all(name in own for name in wanted)
    return bool(own >= wanted if field.compare == AT_LEAST else own < wanted)


def filter_text(only: Filter) -> str:
    """Return the fields of a filter that differ from the default, on one line."""
    usual = as_dict(DEFAULT_FILTER)
    return " ".join(
        f"{key}={value}" for key, value in as_dict(only).items() if value and value != usual[key]
    )
