"""Reconciles the index with the files: compares stamps, hashes files with a new stamp, reads those
with a new hash. A missing, broken or outdated database is replaced.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import apsw

from ..files.layout import (
    Sweep,
    changed_at,
    hash_of_file,
    is_text_path,
    sweep,
)
from ..files.private import make_private_folder
from ..model.errors import Busy, IndexBroken, NotFound, Refused, Unwritable
from ..model.values import replace
from ..text.chunks import counted
from .catalogue import CATALOGUE_SCHEMA, UNREAD, Catalogue, SyncReport, own_inode
from .ingest import Ingest, read_ahead, vouching_of
from .stores.database import BROKEN, has_tables, in_memory, open_database
from .stores.sqlite import BATCH_FILES

if TYPE_CHECKING:
    from .index import Index

Progress = Callable[[int, int], None] | None


# Files of one transaction: a sync with a time limit stops between two.
# half a second of reading and embedding; a larger file is a batch of its own
MAX_BATCH_BYTES = 2 << 20
# a file that changed less than this before the sweep may change again with the same stamp
RACY_NS = 20_000_000
# before a sync drops a larger share of the files, it checks that their folder is readable
MAX_LOSS_SHARE = 0.3


def batches_of(paths: Iterable[str], stamps: Mapping[str, str]) -> list[list[str]]:
    """Return the paths in batches of at most BATCH_FILES files and MAX_BATCH_BYTES bytes; [[]] without paths."""
    batches: list[list[str]] = [[]]
    size = 0
    for path in paths:
        # a stamp starts with the size of the file
        bytes = int(stamps[path].partition(" ")[0])
        if batches[-1] and (
            len(batches[-1]) >= BATCH_FILES or size + bytes > MAX_BATCH_BYTES
        ):
            batches.append([])
            size = 0
        batches[-1].append(path)
        size += bytes
    return batches


def sync_index(
    index: Index, progress: Progress, rebuild: bool, max_cpu_s: float = 0.0
) -> SyncReport:
    """Update an index from the files under the index lock. With `rebuild`, start from an empty index."""
    started = time.monotonic()
    index.release()
    if not os.path.isdir(index.layout.root):
        raise NotFound(
            f"{index.layout.root} is gone",
            "run 'rawkomem init', or go to another folder",
        )
    try:
        if beside := index.beside(""):
            make_private_folder(beside)
        with index.locked():
            stop_at = time.process_time() + (max_cpu_s or math.inf)
            try:
                # the caller asked for it: no warning
                index.told = index.told or rebuild
                report = _reconcile(
                    index, progress, "asked for" if rebuild else "", stop_at
                )
            except (
                BROKEN
            ) as failure:  # at any step: delete the database and start again
                why = f"the old index cannot be read ({failure})"
                report = _reconcile(index, progress, why, stop_at)
    except apsw.FullError:
        raise Unwritable(
            "the disk is full: the index was not updated",
            "free some space, then try again",
        ) from None
    except apsw.ReadOnlyError:
        raise Unwritable(f"cannot write {index.path}", "check permissions") from None
    except (apsw.BusyError, apsw.LockedError):
        raise Busy(
            f"another program holds {index.path}", "close it, then try again"
        ) from None
    except apsw.Error as failure:
        raise IndexBroken(
            f"cannot build the index: {failure}", "check permissions and free space"
        ) from None
    except OSError as failure:
        raise Unwritable(
            f"cannot write the index: {failure.strerror}",
            "check permissions and free space",
        ) from None
    finally:
        index.release()
    index.follow_commits()
    return replace(report, seconds=time.monotonic() - started)


def _reconcile(
    index: Index, progress: Progress, why: str, stop_at: float
) -> SyncReport:
    """Reconcile the index; if there is a reason (`why`), or one is found, with an empty database."""
    if (not why and os.path.exists(index.path)) or in_memory(index.path):
        # Writable, so that SQLite replays the journal of a killed process.
        writer = open_database(index.path)
        try:
            why = why or index.why_rebuild(
                Catalogue(writer).meta() if has_tables(writer) else {}
            )
            if not why:
                _compare_outside(index, writer)
                return _update(index, writer, "", stop_at, progress)
        finally:
            writer.close()
    index.remove()
    writer = open_database(index.path)
    try:
        # in one transaction: a killed process leaves a database without tables
        with writer:
            _make_tables(index, writer)
        why = why or index.why_rebuild({})
        return _update(index, writer, why, stop_at, progress)
    finally:
        writer.close()


def _make_tables(index: Index, writer: apsw.Connection) -> None:
    catalogue = Catalogue(writer)
    writer.execute(CATALOGUE_SCHEMA)
    index.open_store(writer).erase()
    index.commit_outside()
    catalogue.set_meta("inode", own_inode(index.path))
    catalogue.set_meta("fingerprint", index.fingerprint)
    catalogue.set_meta("embedder", index.embedder.name)
    catalogue.set_meta("dims", str(index.embedder.dims))
    catalogue.set_meta("scale", index.measured_scale())


def _compare_outside(index: Index, writer: apsw.Connection) -> None:
    """Drop memories that only a store outside holds; mark memories that differ from it to be read again.

    They differ after a sync without the store, after the store has lost its data, and after a sync that was killed
    between the commits of store and catalogue.
    """
    outside = index.outside()
    catalogue = Catalogue(writer)
    if outside is None or outside.generation() == catalogue.meta().get("outside"):
        return
    held = outside.held()
    known = catalogue.digests()
    outside.drop([id for id in held if id not in known])
    outside.commit()
    with writer:
        for id in [id for id, digest in known.items() if held.get(id) != digest]:
            catalogue.doubt(id)


def _update(
    index: Index, writer: apsw.Connection, why: str, stop_at: float, progress: Progress
) -> SyncReport:
    """Compare the swept files with the known stamps, and read those that changed until `stop_at` (CPU time).

    Raise Refused if an unreadable folder looks like a mass deletion.
    """
    started = time.time_ns()
    catalogue = Catalogue(writer)
    seen = sweep(index.layout, stamped=True)
    stamps = {
        path: stamp for path, stamp in (seen.stamps or {}).items() if is_text_path(path)
    }
    known = catalogue.stamps()
    hidden = tuple(f"{folder}/" for folder in seen.unreadable)
    gone = [
        path for path in known if path not in stamps and not path.startswith(hidden)
    ]
    if vouching_of(index.layout, writer) is None:  # else git has what is gone
        _guard(index.layout.root, len(gone), len(known), seen)
    if stamps and why and not index.told:
        index.warn(f"building the index from {counted(len(stamps), 'file')}: {why}")
    changed = _changed(index, catalogue, stamps, known)
    read = left = 0
    if changed or gone:
        # In a transaction of its own, before a store outside commits: see _compare_outside.
        writer.execute("DELETE FROM meta WHERE key IN ('swept', 'outside')")
        read, left = _read_batches(
            index, catalogue, changed, gone, stamps, stop_at, progress
        )
        with writer:
            index.hold_committed(writer)
    if outside := index.outside():
        catalogue.set_meta("outside", outside.generation())
    _finish(catalogue, seen, stamps, started, is_complete=not left)
    index.told = False
    return SyncReport(read, len(stamps), why, left=left)


def _changed(
    index: Index, catalogue: Catalogue, stamps: dict[str, str], known: dict[str, str]
) -> list[str]:
    """Return the files to read: changed or marked as unread, but not those only touched or still unreadable."""
    paths = sorted(path for path, stamp in stamps.items() if known.get(path) != stamp)
    hashes = catalogue.hashes() if known and paths else {}
    changed = []
    with catalogue.db:
        for path in paths:
            now = hash_of_file(index.layout.path(path)) if path in hashes else ""
            is_unread = known.get(path) == UNREAD
            if path in hashes and not is_unread and now == hashes[path]:
                catalogue.set_stamp(path, stamps[path])
            elif now or not is_unread:
                changed.append(path)
    return changed


def _read_batches(
    index: Index,
    catalogue: Catalogue,
    changed: list[str],
    gone: list[str],
    stamps: dict[str, str],
    stop_at: float,
    progress: Progress,
) -> tuple[int, int]:
    """Index the files, one transaction for each batch; return how many, and how many are left."""
    store = index.open_store(catalogue.db)
    batches = batches_of(changed, stamps)
    read = done = 0
    for batch, ahead in zip(batches, read_ahead(index.layout, batches), strict=True):
        with catalogue.db:
            ingest = Ingest(index.layout, catalogue, store, index.embedder)
            read += ingest.run(
                {path: stamps[path] for path in batch}, () if done else gone, ahead
            )
            index.commit_outside()
        done += len(batch)
        if progress:
            progress(done, len(changed))
        if time.process_time() > stop_at:
            break
    return read, len(changed) - done


def _finish(
    catalogue: Catalogue,
    seen: Sweep,
    stamps: dict[str, str],
    started: int,
    is_complete: bool,
) -> None:
    """Store the digest of the sweep, unless files are left to read.

    Files that changed just now get a stamp that no sweep returns, so that the next sync hashes them again.
    """
    unread = catalogue.unread()
    recent = [
        path
        for path, stamp in stamps.items()
        if changed_at(stamp) > started - RACY_NS and path not in unread
    ]
    passing = recent or unread or seen.unreadable
    with catalogue.db:
        for path in recent:
            catalogue.set_stamp(path, "recent")
        if is_complete:
            catalogue.set_meta(
                "swept", f"{seen.digest} passing" if passing else seen.digest
            )


def _guard(root: str, gone: int, known: int, seen: Sweep) -> None:
    """Raise Refused if an unmounted or unreadable folder looks like a mass deletion."""
    if gone > MAX_LOSS_SHARE * known and (
        seen.unreadable or not os.path.isdir(os.path.join(root, "memories"))
    ):
        hint = "make the folder readable; if the files are really gone, run 'rawkomem index rebuild'"
        raise Refused(
            f"{gone} of {known} indexed files seem to be gone and {root} cannot be read fully",
            hint,
        )
