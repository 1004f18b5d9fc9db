"""State is a fold: the entries about one id, sorted by (at, id), reduced to a Memory by state/changes/<kind>.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.entry import Entry, Memory
from ..model.ids import order_key
from ..model.kinds import ACTIVE, CHANGES, DRAFT
from ..model.record import as_dict
from .changes import REGISTRY, ids, time_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .changes import Fields

# Fields that a memory takes from the entry that creates it.
COPIED = ("id", "kind", "title", "when", "tags", "importance", "by", "found_in", "source", "related", "body", "extra",
          "path", "line")  # fmt: skip
ARCHIVE = "archive/"  # a file that was moved there is archived without an entry; moving it back undoes that


def fold(entries: Iterable[Entry]) -> Memory | None:
    """Return the memory that these entries about one id make; None while no entry creates it."""
    ordered = sorted(_as_set(entries), key=lambda entry: order_key(entry.at, entry.id))
    creating = next((entry for entry in ordered if entry.creates), None)
    return None if creating is None else _reduced(_create(creating), ordered)


def created(entry: Entry) -> Memory:
    """Return the memory that a creating entry alone makes."""
    assert entry.creates
    return Memory(**_create(entry))


def after(memory: Memory, entries: Iterable[Entry]) -> Memory:
    """Return the memory once these entries about it, later than all it says so far, are written."""
    return _reduced(as_dict(memory), entries)


def _reduced(fields: Fields, ordered: Iterable[Entry]) -> Memory:
    for entry in ordered:
        if entry.kind in CHANGES and not entry.draft:
            fields |= REGISTRY[entry.kind].reduce(fields, entry)
            fields["updated"] = max(fields["updated"], entry.at)
            fields["entries"] += 1
    return Memory(**fields)


def _as_set(entries: Iterable[Entry]) -> Iterable[Entry]:
    """Return one entry for each id; of two that differ under one id, the same one whatever the order."""
    kept: dict[str, Entry] = {}
    for entry in entries:
        other = kept.get(entry.id)
        if other is None or _rank(entry) < _rank(other):
            kept[entry.id] = entry
    return kept.values()


def _rank(entry: Entry) -> tuple[int, str, int, str, str]:
    return (entry.at, entry.path, entry.line, entry.body, repr(entry))


def _create(entry: Entry) -> Fields:
    status = DRAFT if entry.draft else "conflicted" if entry.conflicted else ACTIVE
    put_away = status == ACTIVE and entry.path.startswith(ARCHIVE)
    return {
        **{name: getattr(entry, name) for name in COPIED},
        "status": "archived" if put_away else status,
        "reason": f"lies in {ARCHIVE}" if put_away else "",
        "created": entry.at,
        "updated": entry.at,
        "valid_from": _claimed(entry, "validFrom"),
        "valid_until": _claimed(entry, "validUntil"),
        "supersedes": ids(entry, "supersedes"),
        "conflicts_with": ids(entry, "conflictsWith"),
        "first_observed": entry.at,
        "last_observed": entry.at,
        "links": tuple(("member", id) for id in ids(entry, "members")) if entry.kind == "episode" else (),
        "entries": 1,
    }


def _claimed(entry: Entry, key: str) -> int:
    """Return an end of the window of an entry, or of the claim in it: a claim's window is that of the memory."""
    claim = entry.extra.get("claim")
    return time_of(entry.extra.get(key)) or (time_of(claim.get(key)) if isinstance(claim, dict) else 0)
