"""Reconciles the index with the files: compares stamps, hashes files with a new stamp, reads those
with a new hash.

A missing, broken or outdated database is replaced. A new one is created under another name and
renamed when it has its tables: a killed process leaves no partial one.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import apsw

from ..files.layout import (
    AREAS,
    SEPARATOR,
    Sweep,
    changed_at,
    hash_of_file,
    is_text_path,
    stamps_in,
    sweep,
)
from ..files.private import make_private_folder
from ..model.errors import Busy, IndexBroken, NotFound, Refused, Unwritable
from ..text.chunks import counted
from .catalogue import UNREAD, Catalogue, SyncReport, own_inode
from .ingest import Ingest
from .readings import read_ahead
from .stores.database import BROKEN, has_tables, in_memory, open_database, remove_database
from .stores.sqlite import BATCH_FILES

if TYPE_CHECKING:
    from .index import Index

Progress = Callable[[int, int], None] | None


# Splits the files of a sync into batches: one transaction each, and a sync with a time limit stops
# between two.

MAX_BATCH_BYTES = (
    2 << 20
)  # half a second of reading and embedding; a larger file is a batch of its own


def batches_of(paths: Iterable[str], stamps: Mapping[str, str]) -> list[list[str]]:
    """Return the paths in batches of at most BATCH_FILES files and MAX_BATCH_BYTES bytes; [[]] without paths."""
    batches: list[list[str]] = [[]]
    size = 0
    for path in paths:
        bytes = int(stamps[path].partition(" ")[0])  # a stamp starts with the size of the file
        if batches[-1] and (len(batches[-1]) >= BATCH_FILES or size + bytes > MAX_BATCH_BYTES):
            batches.append([])
            size = 0
        batches[-1].append(path)
        size += bytes
    return batches


# Reconciles the index with the files: compares stamps, hashes files with a new stamp, reads those
# with a new hash.

RACY_NS = 20_000_000  # a file that changed less than this before the sweep may change again with the same stamp
MAX_LOSS_SHARE = (
    0.3  # before a sync drops a larger share of the files, it checks that their folder is readable
)


class Reconcile:
    """Compares the swept files with the known stamps and reads those that changed, one transaction for each batch."""

    def __init__(self, index: Index, writer: apsw.Connection, why: str, stop_at: float):
        self.index = index
        self.stop_at = stop_at  # CPU time
        self.db = writer
        self.why = why
        self.known: dict[str, str] = {}
        self.left = 0
        self.catalogue = Catalogue(writer)

    def run(self, progress: Callable[[int, int], None] | None) -> SyncReport:
        """Update the index from the files. Raise Refused if an unreadable folder looks like a mass deletion."""
        started = time.time_ns()
        seen = sweep(self.index.layout)
        found = {
            path: stamp for path, stamp in stamps_in(seen.listing).items() if is_text_path(path)
        }
        self.known = known = self.catalogue.stamps()
        changed = [path for path, stamp in found.items() if known.get(path) != stamp]
        hidden = tuple(f"{folder}/" for folder in seen.unreadable)
        gone = [path for path in known if path not in found and not path.startswith(hidden)]
        self._guard(len(gone), len(known), seen)
        if found and self.why and not self.index.told:
            self.index.warn(f"building the index from {counted(len(found), 'file')}: {self.why}")
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
        now = {path: hash_of_file(self.index.layout.path(path)) for path in paths if path in hashes}
        unread = {path for path in now if self.known[path] == UNREAD}
        touched = {path for path in now if now[path] == hashes[path]} - unread
        with self.db:
            for path in touched:
                self.catalogue.set_stamp(path, found[path])
        skipped = touched | {path for path in unread if not now[path]}
        return [path for path in paths if path not in skipped]

    def _batches(
        self,
        changed: list[str],
        gone: list[str],
        found: dict[str, str],
        progress: Callable[[int, int], None] | None,
    ) -> int:
        read = done = 0
        if self.index.outside():
            self.db.execute("DELETE FROM meta WHERE key = 'listing'")  # see _compare_outside
        batches = batches_of(changed, found)
        for batch, ahead in zip(batches, read_ahead(self.index.layout, batches), strict=True):
            with self.db:
                self.db.execute("DELETE FROM meta WHERE key = 'listing'")
                store = self.index.open_store(self.db)
                ingest = Ingest(self.index.layout, self.catalogue, store, self.index.embedder)
                stamps = {path: found[path] for path in batch}
                read += ingest.run(stamps, () if done else gone, ahead)
                self.index.commit_outside()
            done += len(batch)
            if progress:
                progress(done, len(changed))
            if time.process_time() > self.stop_at:
                self.left = len(changed) - done
                break
        return read

    def _finish(self, seen: Sweep, found: dict[str, str], started: int) -> None:
        """Store the listing, unless files are left to read.

        Files that changed just now get a stamp that no sweep returns, so that the next sync hashes them again.
        """
        unread = self.catalogue.unread()
        recent = [
            path
            for path, stamp in found.items()
            if changed_at(stamp) > started - RACY_NS and path not in unread
        ]
        passing = recent or unread or seen.unreadable
        with self.db:
            for path in recent:
                self.catalogue.set_stamp(path, "recent")
            if not self.left:
                self.catalogue.set_meta(
                    "listing", seen.listing + SEPARATOR.encode() if passing else seen.listing
                )

    def _guard(self, gone: int, known: int, seen: Sweep) -> None:
        """Raise Refused if an unmounted or unreadable folder looks like a mass deletion."""
        if gone <= MAX_LOSS_SHARE * known:
            return
        root = self.index.layout.root
        areas = [area for area in AREAS if os.path.isdir(os.path.join(root, area))]
        if seen.unreadable or "memories" not in areas:
            hint = "make the folder readable; if the files are really gone, run 'rawkomem index rebuild'"
            raise Refused(
                f"{gone} of {known} indexed files seem to be gone and {root} cannot be read fully",
                hint,
            )


# Opens the index database, replaces a missing, broken or outdated one, and reconciles it with the
# files.
#
# A new database is created under another name and renamed when it has its tables: a killed process
# leaves no partial one.

NEW_SUFFIX = ".new"  # suffix of a database until it has its tables


def sync_index(
    index: Index, progress: Progress, rebuild: bool, max_cpu_s: float = 0.0
) -> SyncReport:
    """Update an index from the files under the index lock. With `rebuild`, start from an empty index."""
    started = time.monotonic()
    index.release()
    if not os.path.isdir(index.layout.root):
        raise NotFound(
            f"{index.layout.root} is gone", "run 'rawkomem init', or go to another folder"
        )
    try:
        if beside := index.beside(""):
            make_private_folder(beside)
        with index.locked():
            stop_at = time.process_time() + (max_cpu_s or math.inf)
            try:
                index.told = index.told or rebuild  # the caller asked for it: no warning
                report = _reconcile(index, progress, "asked for" if rebuild else "", stop_at)
            except BROKEN as failure:  # at any step: delete the database and start again
                index.remove()
                why = f"the old index cannot be read ({failure})"
                report = _reconcile(index, progress, why, stop_at)
    except apsw.FullError:
        raise Unwritable(
            "the disk is full: the index was not updated", "free some space, then try again"
        ) from None
    except apsw.ReadOnlyError:
        raise Unwritable(f"cannot write {index.path}", "check permissions") from None
    except (apsw.BusyError, apsw.LockedError):
        raise Busy(f"another program holds {index.path}", "close it, then try again") from None
    except apsw.Error as failure:
        raise IndexBroken(
            f"cannot build the index: {failure}", "check permissions and free space"
        ) from None
    except OSError as failure:
        raise Unwritable(
            f"cannot write the index: {failure.strerror}", "check permissions and free space"
        ) from None
    finally:
        index.release()
    index.follow_commits()
    return SyncReport(
        report.read, report.files, report.rebuilt, time.monotonic() - started, report.left
    )


def _reconcile(index: Index, progress: Progress, why: str, stop_at: float) -> SyncReport:
    writer, why = _open_writer(index, why)
    try:
        if not why:
            _compare_outside(index, writer)
        return Reconcile(index, writer, why, stop_at).run(progress)
    finally:
        writer.close()


def _open_writer(index: Index, why: str) -> tuple[apsw.Connection, str]:
    """Return a connection to a database with tables, and why it was rebuilt; empty if it was not."""
    kept = in_memory(index.path)
    if kept or (not why and os.path.exists(index.path)):
        writer = open_database(
            index.path
        )  # writable, so that SQLite replays the journal of a killed process
        try:
            why = why or index.why_rebuild(Catalogue(writer).meta() if has_tables(writer) else {})
            if why and kept:
                _make_tables(index, writer, index.path)
            if kept or not why:
                return writer, why
        except BaseException:
            writer.close(True)
            raise
        writer.close()
    _put_new_database(index)
    return open_database(index.path), why or index.why_rebuild({})


def _put_new_database(index: Index) -> None:
    """Create a database with empty tables, delete the old one, and give the new one its name."""
    path = index.path + NEW_SUFFIX
    remove_database(path)
    made = open_database(path)
    try:
        _make_tables(index, made, path)
    finally:
        made.close()  # closing the last connection moves the log into the file
    index.remove()  # with its journals, which SQLite would replay into the new one
    os.replace(path, index.path)
    remove_database(path)


def _make_tables(index: Index, writer: apsw.Connection, path: str) -> None:
    catalogue = Catalogue(writer)
    with writer:
        catalogue.erase()
        index.open_store(writer).erase()
        index.commit_outside()
        catalogue.set_meta("inode", own_inode(path))
        catalogue.set_meta("fingerprint", index.fingerprint)
        catalogue.set_meta("embedder", index.embedder.name)
        catalogue.set_meta("dims", str(index.embedder.dims))


def _compare_outside(index: Index, writer: apsw.Connection) -> None:
    """Drop memories that only a store outside holds; mark memories that differ from it to be read again.

    A sync that is killed between the commits of store and catalogue leaves a difference that no file would show.
    """
    outside = index.outside()
    catalogue = Catalogue(writer)
    if outside is None or "listing" in catalogue.meta():
        return
    held, known = outside.held(), catalogue.digests()
    outside.drop([id for id in held if id not in known])
    outside.commit()
    with writer:
        for id in [id for id, digest in known.items() if held.get(id) != digest]:
            catalogue.doubt(id)
