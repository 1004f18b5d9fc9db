"""The state of an imported memory in the system that it comes from. The first review here restores that state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Entry
from ...model.kinds import ACTIVE
from ..changes.archive import archiving
from ..changes.link import linking
from ..changes.quarantine import holding
from ..changes.supersede import superseding
from ..decide import about
from ..facets import IMPORTED
from ..fold import after

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...model.entry import Memory, Value

ARRIVED = "importedState"  # key of an entry: the memory's state in the system that it was imported from
MAX_VOTES = 10  # maximum number of reinforcements, and of disputes, that become entries
VOTES = {"reinforcements": "reinforce", "disputes": "dispute"}  # key of the state → kind of change
IMPORT_REASON = "as it stood where it was imported from"


def arrived_as(memory: Memory) -> Mapping[str, Value]:
    """Return a memory's state in the other system; empty if it is unknown or somebody reviewed the memory here."""
    state = memory.extra.get(ARRIVED)
    first = memory.status == "quarantined" and not memory.reviewed_in
    return state if first and isinstance(state, dict) else {}


def status_there(memory: Memory) -> str:
    """Return the status in the other system, which the first review restores; `active` if it is unknown."""
    return str(arrived_as(memory).get("status") or ACTIVE)


def settled_there(memory: Memory, rivals: Iterable[Memory]) -> list[Memory]:
    """Return the rivals from the same system. They were in use there together, so a review does not settle them."""
    kind = _kind(memory)
    return [one for one in rivals if arrived_as(memory) and ARRIVED in one.extra and _kind(one) == kind]


def open_there(memory: Memory, rivals: Iterable[Memory]) -> list[str]:
    """Return the ids of rivals with an open conflict in the other system; either memory may record it."""
    return [one.id for one in rivals if one.id in _contradicted(memory) or memory.id in _contradicted(one)]


def _contradicted(memory: Memory) -> list[str]:
    state = memory.extra.get(ARRIVED)
    named = state.get("conflictsWith") if isinstance(state, dict) else None
    return _texts(named) if isinstance(named, list) else []


def carried(memory: Memory, by: str) -> list[Entry]:
    """Return the votes and links from the other system as entries, with the reviewer as author."""
    state = arrived_as(memory)
    entries: list[Entry] = []
    for key, kind in VOTES.items():
        for _ in range(_count(state.get(key))):
            entries.append(about(after(memory, entries), Entry(kind=kind, by=by, extra={"reason": IMPORT_REASON})))
    links = state.get("links")
    for type, named in links.items() if isinstance(links, dict) else ():
        ids = [str(id) for id in named] if isinstance(named, list) else []
        if ids:
            entries.append(linking(after(memory, entries), ids, type, by))
    return entries


def standing_again(memory: Memory, state: Mapping[str, Value], by: str) -> list[Entry]:
    """Return the entries that give a memory its status from the other system, after its first review."""
    status, newer = state.get("status"), str(state.get("supersededBy", ""))
    reason = str(state.get("reason") or IMPORT_REASON)
    if status == "superseded" and newer:
        return [superseding(memory, newer, reason, by)]
    if status in ("superseded", "archived"):
        return [archiving(memory, reason, by)]
    if status == "disputed":
        return [about(memory, Entry(kind="dispute", by=by, extra={"reason": reason, "outcome": "disputed"}))]
    if status == "quarantined":
        return [holding(memory, reason, by, _contradicted(memory))]
    return []


def _texts(values: Sequence[Value]) -> list[str]:
    return [str(value) for value in values]


def _kind(memory: Memory) -> str:
    return str(memory.extra.get(IMPORTED, "")).partition(":")[0]


def _count(value: Value | None) -> int:
    return min(int(value), MAX_VOTES) if isinstance(value, str) and value.isascii() and value.isdecimal() else 0
