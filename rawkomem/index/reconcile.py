"""Reconciles the index with the files: compares stamps, hashes files with a new stamp, reads those with a new hash."""

from __future__ import annotations

import os
import time

from ..files.contents import hash_of
from ..files.layout import AREAS
from ..files.scan import SEPARATOR, Sweep, changed_at, is_text, stamps, sweep
from ..model.errors import Refused
from ..text.count import count
from .batches import batches_of
from .catalogue import UNREAD, Catalogue
from .report import SyncReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from .ahead import ReadAhead
    from .index import Index

RACY_NS = 20_000_000  # a file that changed less than this before the sweep may change again with the same stamp
MAX_LOSS_SHARE = 0.3  # before a sync drops a larger share of the files, it checks that their folder is readable


class Reconcile:
    """Compares the swept files with the known stamps and reads those that changed, one transaction for each batch."""

    def __init__(self, index: Index, writer: apsw.Connection, why: str):
        self.index = index
        self.db = writer
        self.why = why
        self.known: dict[str, str] = {}
        self.left = 0
        self.catalogue = Catalogue(writer)

    def run(self, progress: Callable[[int, int], None] | None) -> SyncReport:
        """Update the index from the files. Raise Refused if an unreadable folder looks like a mass deletion."""
        started = time.time_ns()
        seen = sweep(self.index.layout)
        found = {path: stamp for path, stamp in stamps(seen.listing).items() if is_text(path)}
        self.known = known = self.catalogue.stamps()
        changed = [path for path, stamp in found.items() if known.get(path) != stamp]
        hidden = tuple(f"{folder}/" for folder in seen.unreadable)
        gone = [path for path in known if path not in found and not path.startswith(hidden)]
        self._guard(len(gone), len(known), seen)
        if found and self.why and not self.index.told:
            self.index.warn(f"building the index from {count(len(found), 'file')}: {self.why}")
        changed = self._really_changed(sorted(changed), found)
        read = self._batches(changed, gone, found, progress) if changed or gone else 0
        self._finish(seen, found, started)
        self.index.told = False
        return SyncReport(read, len(found), self.why, left=self.left)

    def _really_changed(self, paths: list[str], found: dict[str, str]) -> list[str]:
        """Return the files to read: changed or marked as unread, but not those only touched or still unreadable."""
        if not paths:
            return []
        hashes = self.catalogue.hashes()
        now = {path: hash_of(self.index.layout.path(path)) for path in paths if path in hashes}
        unread = {path for path in now if self.known[path] == UNREAD}
        touched = {path for path in now if now[path] == hashes[path]} - unread
        with self.db:
            for path in touched:
                self.catalogue.set_stamp(path, found[path])
        skipped = touched | {path for path in unread if not now[path]}
        return [path for path in paths if path not in skipped]

    def _batches(
        self, changed: list[str], gone: list[str], found: dict[str, str], progress: Callable[[int, int], None] | None
    ) -> int:
        from .ingest import Ingest  # loads the parser and the fold: only when a file changed

        read = done = 0
        batches = batches_of(changed, found)
        ahead = self._ahead(batches[1:])  # this process reads the first batch meanwhile
        try:
            if self.index.outside():
                self.db.execute("DELETE FROM meta WHERE key = 'listing'")  # committed first: see _compare_outside
            for batch in batches:
                with self.db:
                    self.db.execute("DELETE FROM meta WHERE key = 'listing'")
                    store = self.index.open_store(self.db)
                    prepared = ahead.take() if ahead and done else {}
                    ingest = Ingest(self.index.layout, self.catalogue, store, self.index.embedder, prepared)
                    read += ingest.run({path: found[path] for path in batch}, () if done else gone)
                    self.index.commit_outside()
                done += len(batch)
                if progress:
                    progress(done, len(changed))
                if self.index.is_time_up():
                    self.left = len(changed) - done
                    break
        finally:
            if ahead:
                ahead.close()
        return read

    def _ahead(self, batches: list[list[str]]) -> ReadAhead | None:
        if not batches:
            return None
        from .ahead import ReadAhead  # loads subprocess

        return ReadAhead(self.index.layout, batches)

    def _finish(self, seen: Sweep, found: dict[str, str], started: int) -> None:
        """Store the listing, unless files are left to read.

        Files that changed just now get a stamp that no sweep returns, so that the next sync hashes them again.
        """
        unread = self.catalogue.unread()
        recent = [path for path, stamp in found.items() if changed_at(stamp) > started - RACY_NS and path not in unread]
        passing = recent or unread or seen.unreadable
        with self.db:
            for path in recent:
                self.catalogue.set_stamp(path, "recent")
            if not self.left:
                self.catalogue.set_meta("listing", seen.listing + SEPARATOR.encode() if passing else seen.listing)

    def _guard(self, gone: int, known: int, seen: Sweep) -> None:
        """Raise Refused if an unmounted or unreadable folder looks like a mass deletion."""
        if gone <= MAX_LOSS_SHARE * known:
            return
        root = self.index.layout.root
        areas = [area for area in AREAS if os.path.isdir(os.path.join(root, area))]
        if seen.unreadable or "memories" not in areas:
            hint = "make the folder readable; if the files are really gone, run 'rawkomem index rebuild'"
            raise Refused(f"{gone} of {known} indexed files seem to be gone and {root} cannot be read fully", hint)
