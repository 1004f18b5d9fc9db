"""Filters on memories. A row of FILTER_FIELDS and a field of `Filter` define each one's option, SQL
and docs.
"""

from __future__ import annotations

from .errors import check_known
from .values import (
    ACTIVE,
    ANY_RANK,
    CREATES,
    DRAFT_STATUS,
    EXPIRED,
    NO_MOMENT,
    NO_TEXTS,
    RECORDED,
    STATUSES,
    TYPE_CHECKING,
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
    replace,
    some_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .values import Check

    Words = str | float | Sequence[str]


READABLE = (ACTIVE, DRAFT_STATUS, "conflicted")  # statuses that are shown by default
# further words for --include: memories outside their validity window; all memories
INCLUDE_EXPIRED = EXPIRED
INCLUDE_ALL = "all"

# How a filter compares its value with a column.
ANY_OF = "any of"
ALL_OF = "all of"
AT_LEAST = "at least"
BEFORE = "before"


@record
class Filter:
    """Conditions on memories. An empty field accepts every memory. Each field has a row in FILTER_FIELDS."""

    __check__ = {
        **dict.fromkeys(
            ("ids", "tags", "types", "categories", "entities", "agents", "sessions"),
            checked_texts,
        ),
        "kinds": checked_kinds,
        "statuses": checked_statuses,
        "importance": checked_rank,
        "since": checked_moment,
        "until": checked_last_moment,
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
    # 0: people vouch for memories of this repository, but not for this one
    vouched: int = 1


@record
class FilterField:
    """The definition of one field of `Filter`."""

    name: str  # the field of Filter
    # the argument of `filter_of`, and with dashes the command-line option
    word: str = ""
    help: str = ""  # help text of the option; empty: no option
    read: Check = checked_texts  # converts the caller's value; raises BadInput
    short: str = ""  # the option's short form
    many: bool = False  # whether the word takes several values
    # the field of Facets to compare; empty: index/index.py checks it, not the store
    column: str = ""
    compare: str = ANY_OF
    any_case: bool = False  # whether case is ignored
    # description of the MCP argument; empty: no argument, to save tokens
    agents: str = ""

    @property
    def option(self) -> str:
        """Return the long command-line option."""
        return "--" + self.word.replace("_", "-")


def read_share(value: Any, where: str) -> float:
    """Return a number from 0 to 1, also from its text."""
    try:
        value = float(value)
    except ValueError:
        pass  # checked_share refuses it
    return checked_share(value, where)


def _included(words: Words, where: str) -> tuple[str, ...]:
    listed = [
        word.strip()
        for several in checked_texts(words, where)
        for word in several.split(",")
    ]
    return some_of(*STATUSES, INCLUDE_EXPIRED, INCLUDE_ALL)(listed, where)  # type: ignore[no-any-return]


def _statuses(words: Words, where: str) -> tuple[str, ...]:
    included = _included(words, where)
    if INCLUDE_ALL in included:
        return ()
    more = [status for status in included if status != INCLUDE_EXPIRED]
    return tuple(dict.fromkeys((*READABLE, *more)))


def _current(words: Words, where: str) -> bool:
    return not {INCLUDE_ALL, INCLUDE_EXPIRED}.intersection(_included(words, where))


FILTER_FIELDS = (
    FilterField(
        "kinds", "kind", "Only this kind (memory, lesson, skill, …); may be repeated.", checked_kinds,
        short="-k", many=True, column="kind", agents="e.g. lesson",
    ),
    FilterField(
        "tags", "tag", "Only memories with this tag; may be repeated.",
        short="-t", many=True, column="tags", compare=ALL_OF, any_case=True,
    ),
    FilterField(
        "types", "type", "Only this type (correction, decision, insight, …); may be repeated.", some_of(*TYPES),
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
        many=True, column="by", any_case=True,
    ),
    FilterField(
        "sessions", "from_session", "Only from this session; may be repeated.", many=True, column="session",
    ),
    FilterField(
        "since", "since", "Only memories discovered since a date, a time, or an age like 7d.", checked_moment,
        column="created", compare=AT_LEAST,
    ),
    FilterField(
        "until", "until", "Only memories discovered until a date (inclusive), time or age.", checked_last_moment,
        column="created", compare=BEFORE,
    ),
    FilterField("trust", "trust", "Minimum trust, from 0 to 1.", read_share),
    FilterField(
        "where", "filter", "Only where a condition holds: \"memory_type = 'lesson' AND access_count > 2\".", checked_text,
    ),
    FilterField(
        "importance", "importance", "Minimum importance: low, medium, high or critical.", checked_rank,
        short="-i", column="importance", compare=AT_LEAST,
    ),
    FilterField(
        "statuses", "include", "Include these statuses (superseded,archived, …), 'expired', or 'all'.",
        _statuses, many=True, column="status",
    ),
    FilterField("current", "include", read=_current, many=True),
    FilterField("ids", many=True, column="id"),
    FilterField("vouched", column="vouched", compare=AT_LEAST),
    FilterField("unvouched", column="vouched", compare=BEFORE),
)  # fmt: skip


def read_filter(words: dict[str, Words]) -> Filter:
    """Return the Filter for option names and values; raise BadInput for an unknown name or a wrong value."""
    known = sorted({field.word for field in FILTER_FIELDS if field.word})
    for word in words:
        check_known("filter", word, known)
    values = {
        field.name: field.read(words[field.word], field.option)
        for field in FILTER_FIELDS
        if words.get(field.word)
    }
    return replace(DEFAULT_FILTER, **values)


def without_records(only: Filter | None) -> Filter:
    """Return a filter, or the default one, that leaves out records of runs, such as traces, unless it names kinds or ids."""
    only = only or DEFAULT_FILTER
    if only.kinds or only.ids:
        return only
    return replace(only, kinds=[kind for kind in CREATES if kind not in RECORDED])


def asked(only: Filter) -> list[tuple[FilterField, Any]]:
    """Return the filter's non-empty fields that compare a column, each with the value to compare."""
    values = only.__dict__
    fields = [
        (field, values[field.name])
        for field in FILTER_FIELDS
        if field.column and values[field.name]
    ]
    return [
        (field, [name.lower() for name in value] if field.any_case else value)
        for field, value in fields
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
        f"{key}={value}"
        for key, value in as_dict(only).items()
        if value and value != usual[key]
    )
