"""The history of a memory: its entries in the order of the fold, with the changes that each made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.record import as_dict, record
from .changes import REGISTRY
from .fold import after, fold, in_order
from .vouch import take_apart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model.entry import Entry, Memory
    from .vouch import Vouches

# Fields that a history does not show, because they follow from other fields.
HIDDEN_FIELDS = ("entries", "updated", "amended", "path", "line", "first_observed", "last_observed", "votes",
               "vouched", "proposed", "retracted", "amended_in", "reviewed_in", "confirmed_by")  # fmt: skip


@record
class Step:
    """One entry, its description in a few words, and (field, before, after) for each field that it changed."""

    entry: Entry
    told: str
    changes: tuple[tuple[str, object, object], ...]
    counts: bool = True  # False: no person vouches for it, so it changed nothing


def history(entries: Iterable[Entry], vouches: Vouches | None = None) -> list[Step]:
    """Return the steps of a memory, oldest first; entries before its creation changed nothing."""
    ordered = in_order(entries, vouches)
    creating = next((entry for entry in ordered if entry.creates), None)
    counting = {entry.id for entry in take_apart(creating, ordered, vouches).counting} if vouches and creating else None
    steps: list[Step] = []
    before: Memory | None = None
    for place, entry in enumerate(ordered):
        if counting is not None and entry.changes and entry.id not in counting:
            steps.append(Step(entry, f"proposed: {_told(entry)}", (), counts=False))
            continue
        now = fold(ordered[: place + 1]) if before is None else after(before, [entry])
        steps.append(Step(entry, _told(entry), _changes(before, now)))
        before = now
    return steps


def _told(entry: Entry) -> str:
    if entry.creates:
        return "created"
    return REGISTRY[entry.kind].tell(entry) if entry.changes else "ignored: unknown kind"


def _changes(before: Memory | None, now: Memory | None) -> tuple[tuple[str, object, object], ...]:
    return differences(before, now) if before and now else ()


def differences(before: Memory, now: Memory) -> tuple[tuple[str, object, object], ...]:
    """Return (field, before, after) for each field that differs."""
    known = as_dict(before)
    pairs = ((name, known[name], value) for name, value in as_dict(now).items() if name not in HIDDEN_FIELDS)
    return tuple((name, old, value) for name, old, value in pairs if old != value)
