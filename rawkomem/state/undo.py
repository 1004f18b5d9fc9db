"""Undo a change: find the entries that change memories into their state without the entries of that change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.entry import Plan
from ..model.errors import Refused
from .changes.delete import plan_delete
from .changes.review import plan_decide
from .fold import fold
from .toward import entries_toward

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..model.change import Change
    from ..model.entry import Entry
    from .vouch import Vouches

REASON = "undo"


def last_change(changes: Sequence[Change]) -> Change | None:
    """Return the last change that was not undone and is not an undo itself, or None."""
    undone = {change.undoes for change in changes}
    return next((one for one in reversed(changes) if not one.undoes and one.name not in undone), None)


def plan_undo(
    change: Change,
    changes: Sequence[Change],
    about: Mapping[str, Sequence[Entry]],
    vouches: Vouches | None = None,
    by: str = "",
    is_person: bool = True,
) -> Plan:
    """Plan to undo a change; `about` has all entries about its memories, `changes` all changes of this machine.

    A later change of the same field by somebody else is kept. Only a person can undo a proposed change.
    """
    entries: list[Entry] = []
    for id in change.memories:
        said = about.get(id, ())
        now = fold(said, vouches)
        if now is None:
            continue
        if any(entry.creates and entry.id in change.ids for entry in said):
            entries += plan_delete(now, REASON, by).entries if now.status != "deleted" else ()
            continue
        waiting = [entry for entry in said if entry.id in change.ids and entry.id in now.proposed]
        if waiting and not is_person:
            raise Refused(
                f"the change of {id} waits for a person's review", f"ask a person to run 'rawkomem review {id}'"
            )
        if waiting:
            entries += plan_decide(now, waiting, accept=False, reason=REASON, by=by).entries
        left_out = change.ids | _taken_back(changes, said)
        wanted = fold([entry for entry in said if entry.id not in left_out], vouches)
        entries += entries_toward(now, wanted, REASON, by) if wanted else ()
    if not entries:
        message = f"the change {change.name} has no effect now: later changes replaced it, or nobody vouches for it"
        raise Refused(message, "run 'rawkomem history ID' to see the changes of a memory")
    return Plan(tuple(entries), f"undo {change.name}", undoes=change.name)


def _taken_back(changes: Sequence[Change], said: Sequence[Entry]) -> set[str]:
    """Return the ids of entries of undone changes, and of the entries that undid them: together they have no effect.

    If the undone change added a memory, its entries are not included, because the deletion must stay.
    """
    known = {change.name: change for change in changes}
    pairs = [(known[one.undoes].ids, one.ids) for one in changes if one.undoes in known]
    creating = {entry.id for entry in said if entry.creates}
    return {id for undone, undoing in pairs if not undone & creating for id in (*undone, *undoing)}


def present(change: Change, about: Mapping[str, Collection[Entry]]) -> bool:
    """Return whether an entry of a change is in the files; it may be on another branch."""
    return any(entry.id in change.ids for said in about.values() for entry in said)
