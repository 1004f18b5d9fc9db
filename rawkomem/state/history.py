"""The history of a memory: its entries in the order of the fold, and what each changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.ids import order_key
from ..model.record import as_dict, record
from .changes import REGISTRY
from .fold import after, fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model.entry import Entry, Memory

# Fields that are no news in themselves, or that follow from another field.
BOOKKEEPING = ("entries", "updated", "path", "line", "first_observed", "last_observed", "votes")


@record
class Step:
    """One entry in a few words, and (field, before, after) for everything that it changed."""

    entry: Entry
    told: str
    changes: tuple[tuple[str, object, object], ...]


def history(entries: Iterable[Entry]) -> list[Step]:
    """Return what happened to a memory, the oldest first; entries before its creation changed nothing."""
    ordered = sorted(entries, key=lambda entry: order_key(entry.at, entry.id))
    steps: list[Step] = []
    before: Memory | None = None
    for place, entry in enumerate(ordered):
        now = fold(ordered[: place + 1]) if before is None else after(before, [entry])
        steps.append(Step(entry, _told(entry), _changes(before, now)))
        before = now
    return steps


def _told(entry: Entry) -> str:
    if entry.creates:
        return "created"
    return REGISTRY[entry.kind].tell(entry) if entry.changes else "ignored: unknown kind"


def _changes(before: Memory | None, now: Memory | None) -> tuple[tuple[str, object, object], ...]:
    if before is None or now is None:
        return ()
    known = as_dict(before)
    pairs = ((name, known[name], value) for name, value in as_dict(now).items() if name not in BOOKKEEPING)
    return tuple((name, old, value) for name, old, value in pairs if old != value)
