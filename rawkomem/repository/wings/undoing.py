"""Undo changes that this machine made: the last one, or the change that wrote an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.arrivals import PERSON
from ...files.local.changes import read_changes
from ...index.vouching import vouching
from ...model.entry import Plan
from ...model.errors import NotFound, Refused
from ...model.record import record
from ...state.history import history
from ...state.undo import last_change, plan_undo, present
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...files.append import Written
    from ...model.change import Change
    from ...model.entry import Entry, Memory
    from ...state.history import Step

MAX_UNDONE = 50  # memories; a larger change is undone only with `everything`


@record
class Undone:
    """A change that was undone, or in a dry run would be: its steps, and the plan that undoes it."""

    change: Change
    steps: tuple[Step, ...]
    plan: Plan
    written: tuple[Written, ...] = ()


class Undoing(Wing):
    """Lists the changes that this machine made and undoes them by appending entries."""

    def undo(self, entry: str = "", everything: bool = False, by: str = "", dry_run: bool = False) -> Undone:
        """Undo the last change, or the one that wrote an entry; raise NotFound if there is none.

        Raise Refused if the change is already undone, is a purge, or is not in the files of this branch.

        A change of more than 50 memories, such as a large import, needs `everything`.
        """
        found: list[Undone] = []

        def decide() -> Plan:
            found.append(self._decide(entry, everything, by))
            return found[0].plan

        if dry_run:
            decide()
            return found[0]
        written = self._core.writer.write_decided(decide)
        return Undone(found[0].change, found[0].steps, found[0].plan, tuple(written))

    def changes(self, limit: int) -> list[tuple[Change, tuple[Step, ...]]]:
        """Return the last changes that can be undone, with their steps, latest first."""
        return self.steps(self.undoable()[:limit])

    def undoable(self) -> list[Change]:
        """Return every change that can be undone, latest first."""
        done = read_changes(self._core.layout)
        undone = {change.undoes for change in done}
        return [one for one in reversed(done) if not (one.undoes or one.purged or one.name in undone)]

    def steps(self, changes: Sequence[Change]) -> list[tuple[Change, tuple[Step, ...]]]:
        """Return each change with what it did."""
        return self._core.read(lambda: [(change, _steps(change, self._about(change))) for change in changes])

    def known(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return the memories that exist; the others were purged, or are on another branch."""
        find = self._core.reading.find
        return self._core.read(lambda: {id: memory for id in ids if (memory := find(id))})

    def _about(self, change: Change) -> dict[str, Sequence[Entry]]:
        return {id: self._core.reading.entries(id) for id in change.memories}

    def _decide(self, entry: str, everything: bool, by: str) -> Undone:
        changes = read_changes(self._core.layout)
        change = _chosen(changes, entry)
        if len(change.memories) > MAX_UNDONE and not everything:
            message = f"the last change ({change.name}) wrote {len(change.memories)} memories"
            raise Refused(message, "run 'rawkomem undo --all' to undo all of them")

        def read() -> Undone:
            about = self._about(change)
            if not present(change, about):
                message = f"no file here contains the change {change.name}"
                raise Refused(message, "switch to its branch, or run 'rawkomem undo --list' to choose another change")
            is_person = self._core.via == PERSON
            vouches = vouching(self._core.layout, self._core.index.catalogue.db)
            return Undone(change, _steps(change, about), plan_undo(change, changes, about, vouches, by, is_person))

        return self._core.read(read)


def _chosen(changes: Sequence[Change], entry: str) -> Change:
    if entry:
        named = [change for change in changes if entry in change.ids]
        if not named:
            raise NotFound(f"this machine made no change {entry!r}", "run 'rawkomem undo --list' to see its changes")
        if any(other.undoes == named[-1].name for other in changes):
            raise Refused(f"the change {entry} is already undone", "nothing to do")
        return named[-1]
    change = last_change(changes)
    if change is None:
        raise NotFound("there is no change to undo", "run 'rawkomem history ID' to see the changes of a memory")
    if change.purged:
        hint = "run 'rawkomem undo --list' to see earlier changes, and 'rawkomem undo CHANGE' to undo one"
        raise Refused(f"the last change was the purge of {change.purged}, which cannot be undone", hint)
    return change


def _steps(change: Change, about: Mapping[str, Sequence[Entry]]) -> tuple[Step, ...]:
    return tuple(step for said in about.values() for step in history(said) if step.entry.id in change.ids)
