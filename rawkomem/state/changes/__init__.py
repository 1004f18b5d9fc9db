"""Kinds of change: one module for each row of CHANGES (model/kinds.py). Each module sets `CHANGE` for REGISTRY."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...model.aliases import is_nothing, said
from ...model.clock import read_time
from ...model.entry import Entry, Memory
from ...model.record import record

if TYPE_CHECKING:
    from ..keys import Key

Fields = dict[str, Any]
Reducer = Callable[[Fields, Entry], Fields]
Trust = Callable[[Memory], float]


@record
class Change:
    """The functions and keys of one kind of change."""

    reduce: Reducer  # (fields of the memory so far, entry) → the fields that change; uses no clock and no weight
    tell: Callable[[Entry], str]  # describes the entry in a few words, for `history` and `explain`
    keys: Mapping[str, Key]  # the keys that `reduce` and `tell` read


class Registry(dict[str, Change]):
    """Kinds of change by name. A module is imported when the first entry of its kind is read."""

    def __missing__(self, kind: str) -> Change:
        change: Change = __import__(f"{__name__}.{kind}", fromlist=("CHANGE",)).CHANGE
        self[kind] = change
        return change


REGISTRY = Registry()


def with_status(status: str) -> Reducer:
    """Return a reducer that sets a status and its reason."""
    return lambda fields, entry: {"status": status, "reason": str(entry.extra.get("reason", ""))}


def ids(entry: Entry, key: str) -> tuple[str, ...]:
    """Return the texts of a key that contains one text or a list, without empty values such as `null`."""
    value = said(entry.extra, key)
    return tuple(str(item) for item in (value if isinstance(value, list) else [value]) if not is_nothing(item))


def time_of(value: object) -> int:
    """Return the time of a frontmatter value in milliseconds; 0 if it is not a time."""
    return (read_time(value)[0] or 0) if isinstance(value, str) and value else 0


def listed(names: tuple[str, ...]) -> str:
    """Return names separated by commas, or "nothing"."""
    return ", ".join(names) or "nothing"
