"""Retention: move idle traces with a learning to the archive, compress its old months into bundles; restore both."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...files.bundle import bundles, bundles_of, folder_of, holding, markdown_in, pack, unpack
from ...files.lock import lock
from ...files.move import ARCHIVE, Move, from_archive, move_files, to_archive
from ...files.rotate import ARCHIVED_LOG
from ...model.clock import DAY, iso, now
from ...model.entry import Plan
from ...model.errors import BadInput, NotFound
from ...model.record import record
from ..lazy import Wing
from .lifecycle import learned_files, trace_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...files.layout import Layout
    from ...model.entry import Memory
    from ...state.lifecycle.census import Census

IDLE_MS = DAY  # LLMos archives short-term memory after 24 hours without activity
BUNDLED_AFTER_MS = 365 * DAY  # LLMos compresses the archive after a year


@record
class Retained:
    """The result of a run, or of a dry run."""

    plan: Plan
    moves: tuple[Move, ...]
    packed: tuple[str, ...]  # folders of the archive that became bundles
    written: bool


class Retention(Wing):
    """Moves traces with a learning to the archive, compresses old months, and undoes both."""

    def run(self, dry_run: bool = False, by: str = "") -> Retained:
        """Turn traces into learnings, move those traces to the archive, then compress months that ended a year ago."""
        learned = self._repo.lifecycle.learn_traces(dry_run, by)
        census = self._repo.lifecycle.census()
        census = census.after(learned.plan) if dry_run else census
        leaving = plan_moves(census, self._core.settings.keep_days)
        if not dry_run:
            taught = {id: moves for id, moves in leaving.items() if id}
            for id in self._repo.lifecycle.unfound_by_goals(census, taught):
                del leaving[id]
        moves = [move for some in leaving.values() for move in some]
        if dry_run:
            months = {*months_in(self._core.layout), *(os.path.dirname(move.target) for move in moves)}
            return Retained(learned.plan, tuple(moves), tuple(old_months(months, now())), written=False)
        with lock(self._core.layout, "write"):
            done = move_files(self._core.layout, moves)
            packed = old_months(months_in(self._core.layout), now())
            if packed:
                self._repo.gathering.gather_locked(lambda memory: os.path.dirname(memory.path) in packed)
            for month in packed:
                pack(self._core.layout, month)
        self._core.follow()
        return Retained(learned.plan, tuple(done), tuple(packed), written=True)

    def archived(self) -> dict[str, int]:
        """Return the content of the archive: folder → number of files, bundle → 0; sorted by name."""
        layout = self._core.layout
        counts = dict.fromkeys(bundles(layout), 0)
        for place, _, _ in os.walk(layout.path(ARCHIVE)):
            folder = layout.relative(place)
            count = len(markdown_in(layout, folder))
            if count:
                counts[folder] = count
        return dict(sorted(counts.items()))

    def restore(self, what: Sequence[str]) -> tuple[list[Move], list[str]]:
        """Unpack bundled months, and move months or traces back; return the moves and the unpacked months."""
        moves: list[Move] = []
        unpacked: list[str] = []
        for name in what:
            folder = self._bundled(name)
            if folder:
                with lock(self._core.layout, "write"):
                    unpack(self._core.layout, folder)
                unpacked.append(folder)
                self._core.index.expect_changes()
            if not folder or not _is_month(name.rpartition("/")[2]):
                moves += self._back(name)
        with lock(self._core.layout, "write"):
            done = move_files(self._core.layout, moves)
        self._core.follow()
        return done, unpacked

    def _bundled(self, name: str) -> str:
        """Return the folder of the bundle for a month, or for a trace that is only in a bundle; "" if there is none."""
        layout = self._core.layout
        if _is_month(name.rpartition("/")[2]):
            folder = name if name.startswith(f"{ARCHIVE}/") else f"{ARCHIVE}/{name}"
            return folder if bundles_of(layout, folder) else ""
        known = self._core.read(lambda: self._core.index.catalogue.resolve(name))
        return "" if known else folder_of(holding(layout, name))

    def _back(self, name: str) -> list[Move]:
        if _is_month(name):
            folder = f"{ARCHIVE}/{name}"
            if not os.path.isdir(self._core.layout.path(folder)):
                raise NotFound(f"the archive has no month {name}", "run 'rawkomem tidy retention list'")
            return [from_archive(f"{folder}/{file}") for file in markdown_in(self._core.layout, folder)]
        memory = self._repo.get(name)
        if not memory.path.startswith(f"{ARCHIVE}/"):
            hint = f"to undo a change of its status, run 'rawkomem restore {memory.id}'"
            raise BadInput(f"{memory.id} is in {memory.path}, not in the archive", hint)
        if memory.path.startswith(f"{ARCHIVED_LOG}/"):
            raise BadInput(
                f"{memory.id} is an old entry of the experience log", f"read it with 'rawkomem show {memory.id}'"
            )
        return [from_archive(memory.path)]


def plan_moves(census: Census, keep_days: int) -> dict[str, list[Move]]:
    """Return learning → the moves of its idle traces; '' → the moves of other traces that are idle for `keep_days`."""
    leaving = learned_files(census, lambda memory: _idle(census, memory) >= IDLE_MS)
    if keep_days:
        known = {move.source for moves in leaving.values() for move in moves}
        old = trace_files(census, lambda memory: _idle(census, memory) >= keep_days * DAY)
        left = [to_archive(path, f"idle for more than {keep_days} days") for path in old if path not in known]
        leaving |= {"": left} if left else {}
    return leaving


def _idle(census: Census, memory: Memory) -> int:
    """Return the milliseconds since the last change of a memory; 0 if its time is unknown."""
    return census.now - census.touched(memory) if census.touched(memory) else 0


def months_in(layout: Layout) -> list[str]:
    """Return the folders of the archive that contain the files of one month."""
    parents = [parent for parent in (ARCHIVE, ARCHIVED_LOG) if os.path.isdir(layout.path(parent))]
    found = [f"{parent}/{name}" for parent in parents for name in os.listdir(layout.path(parent)) if _is_month(name)]
    return [month for month in found if os.path.isdir(layout.path(month)) and markdown_in(layout, month)]


def old_months(months: Iterable[str], at: int) -> list[str]:
    """Return the folders whose month ended more than a year ago."""
    last = iso(at - BUNDLED_AFTER_MS)[:7]
    return sorted(month for month in months if _is_month(os.path.basename(month)) and os.path.basename(month) < last)


def _is_month(name: str) -> bool:
    return len(name) == 7 and name[4] == "-" and name[:4].isdecimal() and name[5:].isdecimal()
