"""The index: opened or rebuilt, never repaired; one reconcile loop updates it before every answer.

The loop sweeps the files, compares them with the listing the index was made from, and reads those that differ. Events
and clocks are never trusted to say that nothing changed.
"""

from __future__ import annotations

import os
import time

import apsw

from ..files.contents import hash_of
from ..files.layout import AREAS, Layout
from ..files.lock import lock_in
from ..files.scan import SEPARATOR, Sweep, Sweeping, changed_at, is_text, stamps, sweep
from ..model.errors import Busy, IndexBroken, NotFound, Refused, Unwritable
from ..model.record import record
from ..text.chunk import CHUNKER
from ..text.count import count
from ..text.language import language_code
from .batches import batches_of
from .catalogue import SCHEMA_VERSION, UNREAD, Catalogue, own_inode
from .stores.database import has_tables, in_memory, index_path, open_database, remove_database
from .stores.sqlite import COLUMNS, SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from contextlib import AbstractContextManager
    from typing import NoReturn, TypeVar

    from ..embed.protocol import Embedder
    from .stores.protocol import OutsideStore, SearchStore

    T = TypeVar("T")

REDACTION = "231c2577"  # checksum of the tables in redaction/rules.py: answers come from redacted copies in the index
RACY_NS = 20_000_000  # a file changed this shortly before the sweep may change again under the same stamp
MAX_LOSS_SHARE = 0.3  # a sync that would drop a larger share of the files first checks that the folder is there
NEVER_SWEPT = (0.0, 0.0, 0)  # when the last sweep ended, how long it took, and how many files it saw
MAX_SWEPT_FILES = 4_000  # files, some 20 ms: up to that many are swept for every answer
SWEEP_PAUSE_FACTOR = 10  # … more of them after ten times what the last sweep took, by a process that stays open
MAX_ANSWER_SYNC_S = 5.0  # seconds of processor time that a question may wait for a sync; hosts end slow hooks
MAX_MISSING, MAX_MISSING_SHARE = 3, 0.05  # memories that may lack vectors in the second tier for it to be used
BROKEN = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.FormatError, apsw.IOError, apsw.CantOpenError)


@record
class SyncReport:
    """The outcome of a sync."""

    read: int = 0  # files that said something new, or are gone
    files: int = 0
    rebuilt: str = ""  # why the index was made anew; empty when it was not
    seconds: float = 0.0
    left: int = 0  # files that wait for the next sync, because this one had used up its time


class Index:
    """Catalogue and store of one repository. The embedder is opened only when something must be embedded."""

    def __init__(
        self,
        layout: Layout,
        open_embedder: Callable[[], Embedder],
        warn: Callable[[str], None],
        open_deep: Callable[[], Embedder | None] | None = None,
        open_outside: Callable[[int], OutsideStore | None] | None = None,
        locate: Callable[[], str] | None = None,
    ):
        self.layout = layout
        self.open_embedder = open_embedder
        self.open_deep = open_deep  # the second tier's; None where there is none
        self._open_outside = open_outside  # a store that is not in this database, for so many dimensions
        self.warn = warn
        self._locate = locate  # tells the database's path, where it is not the usual one
        self._path = ""
        self.told = False  # whether the caller has warned already that the index is being made anew
        self._embedder: Embedder | None = None
        self._deep: Embedder | None = None
        self._swept = NEVER_SWEPT
        self._stop_at = 0.0  # processor time at which a sync stops; 0: when it is done
        self._db: apsw.Connection | None = None
        self._anchor: apsw.Connection | None = None  # keeps a database in memory alive
        self._store: SearchStore | None = None
        self._outside: OutsideStore | None = None

    @property
    def path(self) -> str:
        """Return the path of the database.

        It is looked up on first use: it depends on settings, which may be broken.
        """
        if not self._path:
            self._path = self._locate() if self._locate else index_path(self.layout)
            if in_memory(self._path):
                self._anchor = open_database(self._path)
        return self._path

    def beside(self, name: str) -> str:
        """Return the path of a file beside the database; empty where the database is in memory."""
        return "" if in_memory(self.path) else os.path.join(os.path.dirname(self.path), name)

    def locked(self, purpose: str = "index") -> AbstractContextManager[object]:
        """Return a lock to be held while writing; a database in memory belongs to one program and needs none."""
        if folder := self.beside(""):
            return lock_in(folder, purpose)
        from contextlib import nullcontext

        return nullcontext()

    @property
    def embedder(self) -> Embedder:
        """Return the embedder of this index's vector space."""
        if self._embedder is None:
            self._embedder = self.open_embedder()
        return self._embedder

    def deep(self) -> Embedder | None:
        """Return the second tier's embedder if nearly all memories have their vectors there; else None."""
        if self.open_deep is None:
            return None
        held, count = self.store.depth()
        if not held or count - held > max(MAX_MISSING, MAX_MISSING_SHARE * count):
            return None
        self._deep = self._deep or self.open_deep()
        known = self.catalogue.meta().get("deep")
        return self._deep if self._deep and self._deep.name == known else None

    @property
    def fingerprint(self) -> str:
        """Return what the index was made with; the index is rebuilt when it differs."""
        schema = f"schema {SCHEMA_VERSION}.{len(COLUMNS)}"  # a filter may add a column
        made = f"{schema}, chunker {CHUNKER}, redaction {REDACTION}, embedder {self.embedder.name}"
        made += f", language {language_code()}"
        outside = self.outside()
        return f"{made}, {outside.generation()}" if outside else made

    @property
    def catalogue(self) -> Catalogue:
        """Return the catalogue, as of the last `refresh`."""
        return Catalogue(self.reading())

    @property
    def store(self) -> SearchStore:
        """Return the search store, as of the last `refresh`."""
        connection = self.reading()
        if self._store is None:
            self._store = self.open_store(connection)
        return self._store

    def open_store(self, connection: apsw.Connection) -> SearchStore:
        """Return the store outside, if there is one, else the store in the database of a connection."""
        return self.outside() or SqliteStore(connection, self.embedder.dims)

    def outside(self) -> OutsideStore | None:
        """Return the store that is not in this database, if there is one. It stays open."""
        if self._outside is None and self._open_outside:
            self._outside = self._open_outside(self.embedder.dims)
        return self._outside

    @property
    def columns(self) -> Collection[str]:
        """Return the facets that the store compares."""
        outside = self.outside()
        return outside.columns if outside else COLUMNS

    def commit_outside(self) -> None:
        """Commit to the store outside, before the catalogue commits: see `_mend`."""
        if self._outside is not None:
            self._outside.commit()

    def reading(self) -> apsw.Connection:
        """Return the connection that catalogue and store read from; BEGIN on it to see one state."""
        if self._db is None:
            self._db = open_database(self.path, readonly=True)
        return self._db

    def discard(self) -> None:
        """Remove a broken database; the next refresh makes a new one."""
        self.release()
        with self.locked():
            self._remove()
        self.told = True

    def _remove(self) -> None:
        """Remove the database; a database in memory becomes empty."""
        if self._anchor is None:
            remove_database(self.path)
        else:
            self._anchor.close()
            self._anchor = open_database(self.path)

    def close(self) -> None:
        """Close database and store."""
        self.release()
        if self._outside is not None:
            self._outside.close()
            self._outside = None
        if self._anchor is not None:
            self._anchor.close()
            self._anchor, self._path = None, ""

    def release(self) -> None:
        """Close the database; the next question opens it again."""
        if self._db is not None:
            self._db.close()
            self._db = self._store = None

    def refresh(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Update the index from the files; this is nearly free when nothing changed."""
        started = time.monotonic()
        seen = sweep(self.layout)
        if self.is_fresh(seen):
            return SyncReport(files=seen.files, seconds=time.monotonic() - started)
        return self.sync(progress)

    def answer(self, ask: Callable[[], T]) -> T:
        """Return what `ask` returns on a fresh index: it runs during the sweep, and again after a sync if files
        changed.
        """
        sweeping = None if self._is_recent() else Sweeping(self.layout)
        started = time.monotonic()
        listing, found = self._ask(ask)
        fresh = listing is not None
        if sweeping:
            seen = sweeping.seen()
            self._swept = (time.monotonic(), time.monotonic() - started, seen.files)
            fresh = listing == seen.listing
        if fresh:
            return found()
        report = self.sync(max_cpu_s=MAX_ANSWER_SYNC_S)
        if report.left:
            said = f"the index is not complete: {report.left} of {count(report.files, 'file')} are not read yet"
            self.warn(f"{said}; run 'rawkomem sync', or ask again")
        _, found = self._ask(ask)
        return found()

    def _ask(self, ask: Callable[[], T]) -> tuple[bytes | str | None, Callable[[], T]]:
        """Return the listing that the index was made from (None: rebuild it), and a call that answers or raises."""
        try:
            self.reading().execute("BEGIN")
        except BROKEN as failure:
            self.release()
            return None, _raising(failure)
        try:
            meta = self.catalogue.meta()
            if self._why_rebuild(meta):
                return None, _raising(IndexBroken("the index is outdated", "run 'rawkomem doctor'"))
            try:
                answer = ask()
            except Exception as failure:
                return meta.get("listing"), _raising(failure)
            return meta.get("listing"), lambda: answer
        except BROKEN as failure:
            return None, _raising(failure)
        finally:
            if self._db is not None:
                self._db.execute("ROLLBACK")

    def _is_recent(self) -> bool:
        """Tell whether an open process may skip a sweep that takes long: for ten times as long as it took."""
        at, took, files = self._swept
        return files > MAX_SWEPT_FILES and time.monotonic() - at < SWEEP_PAUSE_FACTOR * took

    def expect_changes(self) -> None:
        """Make the next answer sweep: this process wrote a file."""
        self._swept = NEVER_SWEPT

    def is_fresh(self, seen: Sweep) -> bool:
        """Tell whether the index was made from exactly these files, with today's schema and embedder."""
        try:
            meta = self.catalogue.meta()
        except BROKEN:
            self.release()
            return False
        return not self._why_rebuild(meta) and meta.get("listing") == seen.listing

    def _why_rebuild(self, meta: dict[str, bytes | str]) -> str:
        if not meta:
            return "there is none yet"
        if meta.get("inode") != own_inode(self.path):
            return "it was copied from elsewhere"
        if meta.get("fingerprint") != self.fingerprint:
            return f"it was made with {meta.get('fingerprint')!s}"
        return ""

    def sync(
        self, progress: Callable[[int, int], None] | None = None, rebuild: bool = False, max_cpu_s: float = 0.0
    ) -> SyncReport:
        """Update the index from the files under the index lock. With `rebuild`, make it anew.

        With `max_cpu_s`, stop after that much processor time; the next sync continues.
        """
        started = time.monotonic()
        self.release()
        if not os.path.isdir(self.layout.root):
            raise NotFound(f"{self.layout.root} is gone", "run 'rawkomem init', or go to another folder")
        try:
            if beside := self.beside(""):
                os.makedirs(beside, exist_ok=True)
            with self.locked():
                self._stop_at = time.process_time() + max_cpu_s if max_cpu_s else 0.0
                report = self._sync_locked(progress, rebuild)
        except apsw.FullError:
            raise Unwritable("the disk is full: the index was not updated", "free some space, then try again") from None
        except apsw.ReadOnlyError:
            raise Unwritable(f"cannot write {self.path}", "check permissions") from None
        except (apsw.BusyError, apsw.LockedError):
            raise Busy(f"another program holds {self.path}", "close it, then try again") from None
        except BROKEN as failure:
            raise IndexBroken(f"cannot make the index: {failure}", "check permissions and free space") from None
        except OSError as failure:
            raise Unwritable(f"cannot write the index: {failure.strerror}", "check permissions and space") from None
        finally:
            self.release()
        return SyncReport(report.read, report.files, report.rebuilt, time.monotonic() - started, report.left)

    def is_time_up(self) -> bool:
        """Tell whether the sync under way has used up its processor time."""
        return 0 < self._stop_at < time.process_time()

    def _sync_locked(self, progress: Callable[[int, int], None] | None, rebuild: bool) -> SyncReport:
        """Reconcile; if the database turns out to be broken at any step, remove it and start again."""
        try:
            self.told = self.told or rebuild  # a caller who asks for it knows
            return self._reconcile(progress, "asked for" if rebuild else "")
        except BROKEN as failure:
            self._remove()
            return self._reconcile(progress, f"it cannot be read ({failure})")

    def _reconcile(self, progress: Callable[[int, int], None] | None, why: str) -> SyncReport:
        existed = os.path.exists(self.path)
        writer = open_database(self.path)
        try:
            known = has_tables(writer) if self._anchor else existed
            why = why or self._why_rebuild(Catalogue(writer).meta() if known else {})
            if why:
                self._make_tables(writer)
            else:
                self._mend(writer)
            return _Reconcile(self, writer, why).run(progress)
        finally:
            writer.close()

    def _make_tables(self, writer: apsw.Connection) -> None:
        catalogue = Catalogue(writer)
        with writer:
            catalogue.erase()
            self.open_store(writer).erase()
            self.commit_outside()
            catalogue.set_meta("inode", own_inode(self.path))
            catalogue.set_meta("fingerprint", self.fingerprint)

    def _mend(self, writer: apsw.Connection) -> None:
        """Drop and read again what differs between a store outside and the catalogue.

        A sync that is killed between their commits leaves a difference that no later change of a file would show.
        """
        outside = self.outside()
        catalogue = Catalogue(writer)
        if outside is None or "listing" in catalogue.meta():
            return
        held, known = outside.held(), catalogue.digests()
        outside.drop([id for id in held if id not in known])
        outside.commit()
        with writer:
            for id in [id for id, digest in known.items() if held.get(id) != digest]:
                catalogue.doubt(id)


class _Reconcile:
    """Compares the swept files with the known stamps and reads those that changed, one transaction for each batch."""

    def __init__(self, index: Index, writer: apsw.Connection, why: str):
        self.index = index
        self.db = writer
        self.why = why
        self.known: dict[str, str] = {}
        self.left = 0
        self.catalogue = Catalogue(writer)

    def run(self, progress: Callable[[int, int], None] | None) -> SyncReport:
        started = time.time_ns()
        seen = sweep(self.index.layout)
        found = {path: stamp for path, stamp in stamps(seen.listing).items() if is_text(path)}
        self.known = known = self.catalogue.stamps()
        changed = [path for path, stamp in found.items() if known.get(path) != stamp]
        hidden = tuple(f"{folder}/" for folder in seen.unreadable)
        gone = [path for path in known if path not in found and not path.startswith(hidden)]
        self._guard(len(gone), len(known), seen)
        if found and self.why and not self.index.told:
            self.index.warn(f"making the index from {count(len(found), 'file')}: {self.why}")
        changed = self._really_changed(sorted(changed), found)
        read = self._batches(changed, gone, found, progress) if changed or gone else 0
        self._finish(seen, found, started)
        self.index.told = False
        return SyncReport(read, len(found), self.why, left=self.left)

    def _really_changed(self, paths: list[str], found: dict[str, str]) -> list[str]:
        """Return the files whose bytes differ from those that were read, without touched and unreadable ones."""
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
        from .ahead import ReadAhead
        from .ingest import Ingest  # parsing and folding load much: only when a file changed

        read = done = 0
        batches = batches_of(changed, found)
        ahead = ReadAhead(self.index.layout, batches[1:])  # the first is read here, while the second process starts
        try:
            if self.index.outside():
                self.db.execute("DELETE FROM meta WHERE key = 'listing'")  # at once: see Index._mend
            for batch in batches:
                with self.db:
                    self.db.execute("DELETE FROM meta WHERE key = 'listing'")
                    store = self.index.open_store(self.db)
                    prepared = ahead.take() if done else {}
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
            ahead.close()
        return read

    def _finish(self, seen: Sweep, found: dict[str, str], started: int) -> None:
        """Store the listing, unless files are left; files that changed just now get a stamp that no sweep returns."""
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
            hint = "make the folder readable; if they are really gone, run 'rawkomem rebuild'"
            raise Refused(f"{gone} of {known} indexed files seem to be gone and {root} cannot be read fully", hint)


def _raising(failure: BaseException) -> Callable[[], NoReturn]:
    def fail() -> NoReturn:
        raise failure

    return fail
