"""State is a fold: the entries about one id, sorted by (at, id), reduced to a Memory by state/changes/<kind>.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.aliases import said
from ..model.entry import Entry, Memory
from ..model.ids import order_key
from ..model.kinds import ACTIVE, CHANGES, DRAFT
from ..model.record import as_dict, replace
from .changes import REGISTRY, ids, time_of
from .vouch import accepted_in, named, take_apart

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .changes import Fields
    from .vouch import Split, Vouches

# Fields that a memory takes from the entry that creates it.
COPIED = ("id", "kind", "title", "when", "tags", "importance", "by", "found_in", "source", "related", "body", "extra",
          "path", "line")  # fmt: skip
MAX_COUNT_DIGITS = 6  # of a number in a file
ARCHIVE = "archive/"  # a file in this folder is archived without an entry; moving it back undoes that


def fold(entries: Iterable[Entry], vouches: Vouches | None = None) -> Memory | None:
    """Return the memory that results from the entries about one id; None if no entry creates it.

    With `vouches`, changes that nobody vouches for do not change a memory that a person vouches for (state/vouch.py).
    """
    ordered = in_order(entries, vouches)
    creating = next((entry for entry in ordered if entry.creates), None)
    if creating is None:
        return None
    if vouches is None:
        return _reduced(_create(creating), ordered)
    parts = take_apart(creating, ordered, vouches)
    memory = _reduced(_create(creating), parts.counting)
    return replace(memory, vouched=parts.vouched, proposed=tuple(entry.id for entry in parts.proposed))


def fold_proposed(entries: Iterable[Entry], vouches: Vouches) -> tuple[Memory, Split] | None:
    """Return the memory as it would be with all proposed changes, and the split of its changes; None as `fold`."""
    ordered = in_order(entries, vouches)
    creating = next((entry for entry in ordered if entry.creates), None)
    if creating is None:
        return None
    parts = take_apart(creating, ordered, vouches)
    declined = {entry.id for entry in parts.declined}
    return _reduced(_create(creating), [entry for entry in ordered if entry.id not in declined]), parts


def in_order(entries: Iterable[Entry], vouches: Vouches | None = None) -> list[Entry]:
    """Return the entries in the order of the fold, one per id."""
    return sorted(_as_set(entries, vouches), key=lambda entry: order_key(entry.at, entry.id))


def created(entry: Entry) -> Memory:
    """Return the memory that a creating entry makes without further entries."""
    assert entry.creates
    return Memory(**_create(entry))


def after(memory: Memory, entries: Iterable[Entry]) -> Memory:
    """Return the memory after these entries, which must be later than all its entries so far."""
    return _reduced(as_dict(memory), entries)


def _reduced(fields: Fields, ordered: Iterable[Entry]) -> Memory:
    for entry in ordered:
        if entry.kind in CHANGES and not entry.draft:
            fields |= REGISTRY[entry.kind].reduce(fields, entry)
            fields["updated"] = max(fields["updated"], entry.at)
            fields["entries"] += 1
    return Memory(**fields)


def _as_set(entries: Iterable[Entry], vouches: Vouches | None) -> Iterable[Entry]:
    """Return one entry per id: the one with the lowest rank, so that the order of the input does not matter."""
    entries = list(entries)
    accepted = accepted_in(entries, vouches) if vouches else frozenset()
    kept: dict[str, Entry] = {}
    for entry in entries:
        other = kept.get(entry.id)
        if other is None or _rank(entry, vouches, accepted) < _rank(other, vouches, accepted):
            kept[entry.id] = entry
    return kept.values()


def _rank(entry: Entry, vouches: Vouches | None, accepted: Collection[str]) -> tuple[object, ...]:
    """Return the sort key of copies: first those that a person vouches for, then those outside of the archive."""
    doubted = vouches is not None and not vouches(entry) and named(entry) not in accepted
    return (doubted, entry.path.startswith(ARCHIVE), entry.at, entry.path, entry.line, entry.body, repr(entry))


def _create(entry: Entry) -> Fields:
    status = DRAFT if entry.draft else "conflicted" if entry.conflicted else ACTIVE
    put_away = status == ACTIVE and entry.path.startswith(ARCHIVE)
    newer = next(iter(ids(entry, "supersededBy")), "")
    return {
        **{name: getattr(entry, name) for name in COPIED},
        "status": "archived" if put_away else "superseded" if newer and status == ACTIVE else status,
        "reason": f"lies in {ARCHIVE}" if put_away else "",
        "created": entry.at,
        "updated": entry.at,
        "valid_from": _claimed(entry, "validFrom"),
        "valid_until": _claimed(entry, "validUntil"),
        "supersedes": ids(entry, "supersedes"),
        "conflicts_with": ids(entry, "conflictsWith"),
        "superseded_by": newer,
        "repeated": _times_observed(entry) - 1,
        "first_observed": time_of(said(entry.extra, "firstObservedAt")) or entry.at,
        "last_observed": time_of(said(entry.extra, "lastObservedAt")) or entry.at,
        "links": tuple(("member", id) for id in ids(entry, "members")) if entry.kind == "episode" else (),
        "entries": 1,
    }


def _claimed(entry: Entry, key: str) -> int:
    """Return a limit of an entry's validity window, or else of its claim's: a claim's window is the memory's."""
    claim = entry.extra.get("claim")
    return time_of(said(entry.extra, key)) or (time_of(said(claim, key)) if isinstance(claim, dict) else 0)


def _times_observed(entry: Entry) -> int:
    """Return the entry's `timesObserved`, at least 1."""
    given = str(said(entry.extra, "timesObserved"))
    return max(1, int(given)) if given.isdecimal() and len(given) <= MAX_COUNT_DIGITS else 1
