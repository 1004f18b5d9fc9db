"""A Filter from the words of a face; what is wrong with a word is said, with the words that are right."""

from __future__ import annotations

from ..index.stores.documents import Filter
from ..model.clock import read_moment
from ..model.errors import BadInput
from ..model.kinds import ACTIVE, CREATES, DRAFT, IMPORTANCE, STATUSES, TYPES
from ..model.record import as_dict, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

READABLE = (ACTIVE, DRAFT, "conflicted")  # what is shown by default; the rest is history
EXPIRED, ALL = "expired", "all"  # beside statuses: outside its validity window; everything
DEFAULT = Filter(statuses=READABLE, current=True)
MOMENTS = "a date (2026-01-23), a time (2026-01-23T10:30:00Z) or an age (24h, 7d, 2w)"


def filter_of(
    kind: Sequence[str] = (),
    tag: Sequence[str] = (),
    importance: str = "",
    include: Sequence[str] = (),
    type: Sequence[str] = (),
    category: Sequence[str] = (),
    entity: Sequence[str] = (),
    by: Sequence[str] = (),
    from_session: Sequence[str] = (),
    since: str = "",
    until: str = "",
    as_of: str = "",
    trust: str = "",
    filter: str = "",
) -> Filter:
    """The Filter that these words ask for; each is called like the option of the command line."""
    _known("kind", kind, CREATES)
    _known("type", type, TYPES)
    _known("importance", [importance] if importance else (), IMPORTANCE)
    include = [word.strip() for words in include for word in words.split(",")]
    _known("status", include, (*STATUSES, EXPIRED, ALL))
    more = tuple(status for status in include if status != EXPIRED)
    return Filter(
        kinds=tuple(kind),
        statuses=() if ALL in include else tuple(dict.fromkeys((*READABLE, *more))),
        tags=tuple(tag),
        importance=IMPORTANCE.index(importance) if importance else 0,
        since=_moment("since", since),
        until=_moment("until", until, end=True),
        types=tuple(type),
        categories=tuple(category),
        entities=tuple(entity),
        agents=tuple(by),
        sessions=tuple(from_session),
        trust=_trust(trust),
        current=ALL not in include and EXPIRED not in include,
        as_of=_moment("as-of", as_of, end=True),
        where=_understood(filter),
    )


def window(only: Filter, since: str, until: str) -> Filter:
    """The filter with a time window around it; an empty side stays as it is."""
    return replace(
        only,
        since=_moment("since", since) if since else only.since,
        until=_moment("until", until, end=True) if until else only.until,
    )


def as_text(only: Filter) -> str:
    """What a filter asks for beyond the usual, in one line."""
    usual = as_dict(DEFAULT)
    return " ".join(f"{key}={value}" for key, value in as_dict(only).items() if value and value != usual[key])


def _known(field: str, words: Iterable[str], valid: Iterable[str]) -> None:
    for word in words:
        if word not in valid:
            raise BadInput(f"unknown {field} {word!r}", "one of " + ", ".join(valid))


def _understood(expression: str) -> str:
    """The expression, once it is sure that it can be read."""
    if expression:
        from ..state.lifecycle.promoted import FIELDS
        from ..text.expression import parse_expression  # a regex compiler: only for those who ask for it

        parse_expression(expression, FIELDS)
    return expression


def _moment(field: str, text: str, end: bool = False) -> int:
    at = read_moment(text, end) if text else 0
    if at is None:
        raise BadInput(f"--{field}: {text!r} names no time", f"give {MOMENTS}")
    return at


def _trust(text: str) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise BadInput(f"--trust: {text!r} is no trust", "give a number from 0 to 1, like 0.6")
    return value
