"""Undo changes that this machine made: the last one, or the change that wrote an entry."""

from __future__ import annotations

import shlex
from collections.abc import (
    Iterable,
    Mapping,
    Sequence,
)

from ..files.append import Written
from ..files.archive import FoundFile, without_entries
from ..files.kept_texts import keep_edited
from ..files.layout import Layout
from ..files.machine_records import PERSON, note_change, read_changes
from ..files.reading import read_data
from ..files.replace import Replacing
from ..git.runner import committed_files, tracked_files, untracked_files
from ..model.entries import Change, Entry, Memory, Plan
from ..model.errors import NotFound, Refused
from ..model.ids import new_id
from ..model.values import (
    now,
    record,
    replace,
)
from ..state.fold import (
    Vouches,
)
from ..state.history import (
    HistoryStep,
    history,
    is_present,
    last_change,
    plan_undo,
)
from .core import Wing

DROPPED = "drop"  # starts the names of changes that dropped a draft
EARLIER_HINT = "run 'rawkomem undo --list' to see earlier changes, and 'rawkomem undo CHANGE' to undo one"
MAX_UNDONE = 50  # memories; a larger change is undone only with `everything`


@record
class Undone:
    """A change that was undone, or in a dry run would be: its steps, and the plan that undoes it."""

    change: Change
    steps: tuple[HistoryStep, ...]
    plan: Plan
    written: tuple[Written, ...] = ()
    # memories whose entries of the change leave their files, because git does not have them
    removed: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()  # of these files
    reopened: tuple[str, ...] = ()  # dropped drafts that wait again


class Undoing(Wing):
    """Lists the changes that this machine made, and undoes them: by appending entries, or by removing uncommitted ones."""

    def undo(
        self,
        entry: str = "",
        everything: bool = False,
        by: str = "",
        dry_run: bool = False,
    ) -> Undone:
        """Undo the last change, or the one that wrote an entry or dropped a draft; raise NotFound if there is none.

        Raise Refused if the change is already undone, is a purge, or is not in the files of this branch.

        A change of more than 50 memories, such as a large import, needs `everything`. An agent's change that nobody
        committed is removed from its files; a copy of each file stays in `.rawko/local/edits`.
        """
        change = _chosen_change(read_changes(self._layout), entry)
        if change.name.startswith(DROPPED):
            drafts = self._repo.drafts.store
            reopened = tuple(drafts.decided_as(change.ids))
            if not reopened:
                message = "the drafts of this change expired or were purged"
                raise Refused(f"{message}: it cannot be undone", EARLIER_HINT)
            if not dry_run:
                drafts.reopen(change.ids)
                note_drop(self._layout, reopened, change.name)
            steps = _steps_of_change(change, {})
            return Undone(change, steps, Plan(()), reopened=reopened)
        if dry_run:
            return self._decide(change, everything, by)
        undone: Undone

        def decide() -> Plan:
            nonlocal undone
            undone = self._decide(change, everything, by)
            if undone.removed:
                undone = replace(undone, copies=self._remove(undone))
            left = [
                one for one in undone.plan.entries if one.about not in undone.removed
            ]
            return replace(undone.plan, entries=tuple(left))

        written = self._core.write(decide)
        self._repo.drafts.store.reopen(change.ids)
        return replace(undone, written=tuple(written))

    def changes(self, limit: int = 0) -> list[tuple[Change, tuple[HistoryStep, ...]]]:
        """Return the changes that can be undone, with their steps, latest first; with a limit, only the last ones."""
        done = read_changes(self._layout)
        undone = {change.undoes for change in done}
        undoable = [
            one
            for one in reversed(done)
            if not (one.undoes or one.purged or one.name in undone)
            and (
                not one.name.startswith(DROPPED)
                or self._repo.drafts.store.decided_as(one.ids)
            )
        ]
        return self._core.read(
            lambda: [
                (change, _steps_of_change(change, self._about(change)))
                for change in undoable[: limit or None]
            ]
        )

    def known(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return the memories that exist; the others were purged, or are on another branch."""
        return self._core.known(ids)

    def _uncommitted(
        self,
        change: Change,
        about: Mapping[str, Sequence[Entry]],
        vouches: Vouches | None,
    ) -> set[str]:
        """Return the memories whose entries of a change can be removed from their files, because git does not have them.

        What a person vouches for is not removed, except that a person may remove a memory that they added. A memory
        with later changes is deleted by an entry. If nobody vouches for anything, an entry undoes the change. Raise
        Refused if a program undoes entries that are staged: the next commit would contain them.
        """
        layout = self._layout
        ids = change.ids
        is_person = self._core.via == PERSON
        places: dict[str, set[str]] = {}  # memory → files
        for id, said in about.items():
            own = [entry for entry in said if entry.id in ids]
            is_vouched = vouches is not None and any(map(vouches, own))
            if any(entry.creates for entry in own):
                is_free = len(own) == len(said) and (is_person or not is_vouched)
            else:
                is_free = vouches is not None and not is_vouched
            if own and is_free:
                places[id] = {entry.path for entry in own}
        paths = set[str]().union(*places.values())
        uncommitted = untracked_files(layout, paths)
        in_git = paths - uncommitted
        if in_git and vouches and not is_person:
            committed = committed_files(layout, *in_git) or set()
            staged = tracked_files(layout, in_git) - committed
            if staged:
                files = " ".join(
                    shlex.quote(layout.path(path)) for path in sorted(staged)
                )
                raise Refused(
                    f"the change {change.name} is staged for the next commit",
                    f"run 'git restore --staged {files}', then 'rawkomem undo {change.name}'",
                )
        return {id for id, paths in places.items() if paths <= uncommitted}

    def _remove(self, undone: Undone) -> tuple[str, ...]:
        """Remove entries of a change from their files; return the paths of copies of these files."""
        layout = self._layout
        removed = undone.removed
        gone = [step.entry for step in undone.steps if step.entry.target in removed]
        ids = {entry.id for entry in gone}
        changing = Replacing(layout, self._core.warn)
        before: dict[str, bytes] = {}
        for path in {entry.path for entry in gone}:
            data = before[path] = changing.read(path) or b""
            file = FoundFile(data, read_data(data, path, advice=False))
            left = without_entries(file, lambda entry: entry.id in ids)
            changing.put(path, left or None)
        copies = keep_edited(layout, before)
        changing.finish()
        planned = [one for one in undone.plan.entries if one.about in removed]
        note_change(layout, planned, undone.change.name)
        return copies

    def _about(self, change: Change) -> dict[str, Sequence[Entry]]:
        return {id: self._core.entries(id) for id in change.memories}

    def _decide(self, change: Change, everything: bool, by: str) -> Undone:
        if len(change.memories) > MAX_UNDONE and not everything:
            raise Refused(
                f"the change {change.name} wrote {len(change.memories)} memories",
                f"run 'rawkomem undo {change.name} --all' to undo all of them",
            )

        def read() -> Undone:
            about = self._about(change)
            if not is_present(change, about):
                message = f"no file here contains the change {change.name}"
                raise Refused(
                    message,
                    "switch to its branch, or run 'rawkomem undo --list' to choose another change",
                )
            vouches = self._core.vouching()
            is_person = self._core.via == PERSON
            removed = self._uncommitted(change, about, vouches)
            plan = plan_undo(change, about, vouches, by, is_person, removed)
            steps = _steps_of_change(change, about)
            planned = {entry.about for entry in plan.entries}
            return Undone(change, steps, plan, removed=(*sorted(planned & removed),))

        return self._core.read(read)


def note_drop(layout: Layout, drafts: Iterable[str], undoes: str = "") -> None:
    """Record for `undo` that drafts were dropped, or that a drop was undone."""
    dropped = [Entry(kind="delete", id=id, about=id) for id in drafts]
    note_change(layout, dropped, undoes, new_id(DROPPED, now()))


def _chosen_change(changes: Sequence[Change], entry: str) -> Change:
    if entry:
        matches = [change for change in changes if entry in (change.name, *change.ids)]
        if not matches:
            raise NotFound(
                f"this machine made no change {entry!r}",
                "run 'rawkomem undo --list' to see its changes",
            )
        if any(other.undoes == matches[-1].name for other in changes):
            raise Refused(f"the change {entry} is already undone", "nothing to do")
        return matches[-1]
    change = last_change(changes)
    if change is None:
        raise NotFound(
            "there is no change to undo",
            "run 'rawkomem history ID' to see the changes of a memory",
        )
    if change.purged:
        raise Refused(
            f"the last change was the purge of {change.purged}, which cannot be undone",
            EARLIER_HINT,
        )
    return change


def _steps_of_change(
    change: Change, about: Mapping[str, Sequence[Entry]]
) -> tuple[HistoryStep, ...]:
    if change.name.startswith(DROPPED):
        return tuple(
            HistoryStep(Entry(kind="delete", id=id, about=id), "dropped a draft", ())
            for id in change.ids
        )
    return tuple(
        replace(step, told=step.told.removeprefix("undone: "))
        for said in about.values()
        for step in history(said)
        if step.entry.id in change.ids
    )
