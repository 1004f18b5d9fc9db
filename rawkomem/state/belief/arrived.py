"""How an imported memory stood where it comes from. A review lets it in like that, and decides nothing again."""

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

ARRIVED = "importedState"  # key of an entry: how the memory stood in the system that it was imported from
MAX_VOTES = 10  # reinforcements and disputes that become entries; more say nothing new
VOTES = {"reinforcements": "reinforce", "disputes": "dispute"}  # key of the state → kind of change
THERE = "as it stood where it was imported from"


def arrived_as(memory: Memory) -> Mapping[str, Value]:
    """Return how a memory stood elsewhere; empty once somebody reviewed it here, and where nothing is known."""
    state = memory.extra.get(ARRIVED)
    first = memory.status == "quarantined" and not memory.reviewed_in
    return state if first and isinstance(state, dict) else {}


def status_there(memory: Memory) -> str:
    """Return the status that a memory had elsewhere and gets by its first review; `active` where nothing is known."""
    return str(arrived_as(memory).get("status") or ACTIVE)


def settled_there(memory: Memory, rivals: Iterable[Memory]) -> list[Memory]:
    """Return those rivals that held beside a memory in the same system: nothing is to be decided about them."""
    kind = _kind(memory)
    return [one for one in rivals if arrived_as(memory) and ARRIVED in one.extra and _kind(one) == kind]


def open_there(memory: Memory, rivals: Iterable[Memory]) -> list[str]:
    """Return the ids of those rivals whose contradiction nobody had settled elsewhere; either side may say so."""
    return [one.id for one in rivals if one.id in _contradicted(memory) or memory.id in _contradicted(one)]


def _contradicted(memory: Memory) -> list[str]:
    state = memory.extra.get(ARRIVED)
    named = state.get("conflictsWith") if isinstance(state, dict) else None
    return _texts(named) if isinstance(named, list) else []


def carried(memory: Memory, by: str) -> list[Entry]:
    """Return the votes and links that a memory had elsewhere, as entries of whoever lets it in."""
    state = arrived_as(memory)
    entries: list[Entry] = []
    for key, kind in VOTES.items():
        for _ in range(_count(state.get(key))):
            entries.append(about(after(memory, entries), Entry(kind=kind, by=by, extra={"reason": THERE})))
    links = state.get("links")
    for type, named in links.items() if isinstance(links, dict) else ():
        ids = [str(id) for id in named] if isinstance(named, list) else []
        if ids:
            entries.append(linking(after(memory, entries), ids, type, by))
    return entries


def standing_again(memory: Memory, state: Mapping[str, Value], by: str) -> list[Entry]:
    """Return what gives a memory that was just let in the status that it had elsewhere."""
    status, newer = state.get("status"), str(state.get("supersededBy", ""))
    reason = str(state.get("reason") or THERE)
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
