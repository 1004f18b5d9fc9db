"""Opens the index database, replaces a missing, broken or outdated one, and reconciles it with the files.

A new database is created under another name and renamed when it has its tables: a killed process leaves no partial one.
"""

from __future__ import annotations

import os
import time

import apsw

from ..files.local.private import make_private_folder
from ..model.errors import Busy, IndexBroken, NotFound, Unwritable
from .catalogue import Catalogue, own_inode
from .reconcile import Reconcile
from .report import SyncReport
from .stores.database import BROKEN, has_tables, in_memory, open_database, remove_database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .index import Index

    Progress = Callable[[int, int], None] | None

NEW_SUFFIX = ".new"  # suffix of a database until it has its tables


def sync(index: Index, progress: Progress, rebuild: bool, max_cpu_s: float = 0.0) -> SyncReport:
    """Update an index from the files under the index lock. With `rebuild`, start from an empty index."""
    started = time.monotonic()
    index.release()
    if not os.path.isdir(index.layout.root):
        raise NotFound(f"{index.layout.root} is gone", "run 'rawkomem init', or go to another folder")
    try:
        if beside := index.beside(""):
            make_private_folder(beside)
        with index.locked():
            index.limit_time(max_cpu_s)
            report = _sync_locked(index, progress, rebuild)
    except apsw.FullError:
        raise Unwritable("the disk is full: the index was not updated", "free some space, then try again") from None
    except apsw.ReadOnlyError:
        raise Unwritable(f"cannot write {index.path}", "check permissions") from None
    except (apsw.BusyError, apsw.LockedError):
        raise Busy(f"another program holds {index.path}", "close it, then try again") from None
    except apsw.Error as failure:
        raise IndexBroken(f"cannot build the index: {failure}", "check permissions and free space") from None
    except OSError as failure:
        raise Unwritable(f"cannot write the index: {failure.strerror}", "check permissions and free space") from None
    finally:
        index.release()
    index.follow_commits()
    return SyncReport(report.read, report.files, report.rebuilt, time.monotonic() - started, report.left)


def _sync_locked(index: Index, progress: Progress, rebuild: bool) -> SyncReport:
    """Reconcile; if the database turns out to be broken at any step, delete it and start again."""
    try:
        index.told = index.told or rebuild  # the caller asked for it, so no warning is needed
        return _reconcile(index, progress, "asked for" if rebuild else "")
    except BROKEN as failure:
        index.remove()
        return _reconcile(index, progress, f"the old index cannot be read ({failure})")


def _reconcile(index: Index, progress: Progress, why: str) -> SyncReport:
    writer, why = _open(index, why)
    try:
        if not why:
            _compare_outside(index, writer)
        return Reconcile(index, writer, why).run(progress)
    finally:
        writer.close()


def _open(index: Index, why: str) -> tuple[apsw.Connection, str]:
    """Return a connection to a database with tables, and why it was rebuilt; empty if it was not."""
    kept = in_memory(index.path)
    if kept or (not why and os.path.exists(index.path)):
        writer = open_database(index.path)  # writable, so that SQLite replays the journal of a killed process
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
