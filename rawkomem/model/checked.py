"""The checks that records list in `__check__`: each returns a caller's value as the record stores it, or raises
BadInput."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .clock import read_moment
from .errors import BadInput
from .kinds import CHANGES, CREATES, IMPORTANCE, STATUSES

if TYPE_CHECKING:
    from .entry import Value

Check = Callable[[Any, str], Any]


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
MAX_DEPTH = 32  # levels of nested values; a file that is read may have at most 8
MOMENTS = "a date (2026-01-23), a time (2026-01-23T10:30:00Z) or an age (24h, 7d, 2w)"


def checked_text(value: Any, where: str) -> str:
    """Return the value if it is a text."""
    if not isinstance(value, str):
        raise _refused(where, value, "is not a text", "put it in quotes, or use str()")
    return value


def checked_texts(value: Any, where: str) -> tuple[str, ...]:
    """Return a tuple of texts. A single text becomes one item; an empty text becomes an empty tuple."""
    if isinstance(value, str):
        return (value,) if value else ()
    hint = "pass a text or a list of texts"
    if isinstance(value, (bytes, bytearray, dict)) or not hasattr(value, "__iter__"):
        raise _refused(where, value, "is not a list of texts", hint)
    items = tuple(sorted(value) if isinstance(value, (set, frozenset)) else value)
    for item in items:
        if not isinstance(item, str):
            raise _refused(where, item, "is not a text", hint)
    return items


def checked_flag(value: Any, where: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool):
        raise _refused(where, value, "is neither True nor False", "pass True or False")
    return value


def checked_whole(value: Any, where: str) -> int:
    """Return a whole number."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise _refused(where, value, "is not a whole number", "pass an int")
    return int(value)


def checked_share(value: Any, where: str) -> float:
    """Return a number from 0 to 1; reject NaN and infinity."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise _refused(where, value, "is not a number from 0 to 1", "pass a number such as 0.6")
    return float(value)


def checked_moment(value: Any, where: str, end: bool = False) -> int:
    """Return a number, or the time that a text names, as milliseconds since 1970; with `end`, a date means its end."""
    if not isinstance(value, str):
        return checked_whole(value, where)
    at = read_moment(value, end) if value else 0
    if at is None:
        raise _refused(where, value, "is not a time", f"use {MOMENTS}")
    return at


def checked_last_moment(value: Any, where: str) -> int:
    """Return milliseconds as checked_moment does; a date means the end of that day."""
    return checked_moment(value, where, end=True)


def checked_word(value: Any, where: str, words: Iterable[str]) -> str:
    """Return the value in lower case if it is one of the words."""
    word = value.lower() if isinstance(value, str) else value
    if word not in words:
        raise _refused(where, value, "is not known", "use one of " + ", ".join(words))
    return str(word)


def checked_rank(value: Any, where: str) -> int:
    """Return the position of an importance in IMPORTANCE; accept the position or the word."""
    if isinstance(value, str):
        return IMPORTANCE.index(checked_word(value, where, IMPORTANCE)) if value else 0
    rank = checked_whole(value, where)
    if not 0 <= rank < len(IMPORTANCE):
        raise _refused(where, value, "is not an importance", "use one of " + ", ".join(IMPORTANCE))
    return rank


def checked_extra(value: Any, where: str) -> Mapping[str, Value]:
    """Return a mapping of texts, finite numbers, lists and mappings, which are the values a file can hold."""
    if not hasattr(value, "items"):
        raise _refused(where, value, "is not a mapping", "pass a dict")
    return {checked_text(key, where): _writable(item, f"{where}[{key!r}]", 1) for key, item in value.items()}


def _writable(value: Any, where: str, depth: int) -> Any:
    if isinstance(value, (str, int)) or (isinstance(value, float) and abs(value) < float("inf")):
        return value
    if depth < MAX_DEPTH and isinstance(value, (list, tuple)):
        return [_writable(item, where, depth + 1) for item in value]
    if depth < MAX_DEPTH and isinstance(value, dict):
        return {checked_text(key, where): _writable(item, where, depth + 1) for key, item in value.items()}
    raise _refused(where, value, "cannot be written to a file", "pass texts, finite numbers, lists or dicts of them")


def _refused(where: str, value: object, what: str, hint: str) -> BadInput:
    shown = ascii(value)
    shown = shown if len(shown) <= MAX_SHOWN_CHARS else shown[:MAX_SHOWN_CHARS] + "…"
    return BadInput(f"{where}: {shown} {what}", hint)


def one_of(*words: str) -> Check:
    """Return a check that accepts one of these words."""
    return lambda value, where: checked_word(value, where, words)


def some_of(*words: str) -> Check:
    """Return a check that accepts a list of these words."""
    return lambda value, where: tuple(checked_word(word, where, words) for word in checked_texts(value, where))


checked_kind: Check = lambda value, where: checked_word(value, where, (*CREATES, *CHANGES))  # noqa: E731
checked_kinds = some_of(*CREATES)
checked_statuses = some_of(*STATUSES)
checked_importance = one_of(*IMPORTANCE)
