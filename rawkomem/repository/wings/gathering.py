"""Move changes from separate files into the files of their memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.gather import Gathered, gather
from ...files.layout import CHANGED
from ...files.lock import lock
from ...git.tracked import committed_files
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ...files.gather import Known
    from ...model.entry import Memory


class Gathering(Wing):
    """Moves committed changes into the files of their memories. Run it on one branch only."""

    def run(self, dry_run: bool = False) -> Gathered:
        """Move every committed change; without git, every change."""
        with lock(self._core.layout, "write"):
            self._core.index.expect_changes()
            committed = committed_files(self._core.layout, CHANGED)
            done = gather(self._core.layout, self._known, committed, dry_run=dry_run)
        self._core.follow()
        return done

    def gather_locked(self, wanted: Callable[[Memory], bool]) -> Gathered:
        """Move the changes of some memories, committed or not, for a caller that holds the lock."""
        self._core.index.expect_changes()
        return gather(self._core.layout, self._known, wanted=wanted)

    def _known(self, ids: Collection[str]) -> dict[str, Known]:
        reading = self._core.reading
        return self._core.read(lambda: {id: (reading.find(id), reading.entries(id)) for id in ids})
