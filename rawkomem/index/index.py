"""The index: opened or rebuilt, never repaired, and brought up to date (sync.py) before every answer.

Each answer sweeps the files and compares them with the listing that the index was made from. Events and clocks are
never trusted to say that nothing changed.
"""

from __future__ import annotations

import os
import time

from ..files.layout import Layout
from ..files.lock import lock_in
from ..files.scan import Sweep, Sweeping, sweep
from ..model.errors import IndexBroken, RawkoError, Unwritable
from ..text.chunk import CHUNKER
from ..text.count import count
from ..text.language import language_code
from .catalogue import SCHEMA_VERSION, Catalogue, own_inode
from .stores.database import BROKEN, in_memory, index_path, open_database, remove_database
from .stores.sqlite import COLUMNS, SqliteStore
from .views.authors import Authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager
    from typing import NoReturn, TypeVar

    import apsw

    from ..embed.protocol import Embedder
    from .report import SyncReport
    from .stores.protocol import OutsideStore, SearchStore

    T = TypeVar("T")

REDACTION = "5608932b"  # checksum of the tables in redaction/: answers come from redacted copies in the index
NEVER_SWEPT = (0.0, 0.0, 0)  # when the last sweep ended, how long it took, and how many files it saw
MAX_SWEPT_FILES = 4_000  # files, some 20 ms: up to that many are swept for every answer
SWEEP_PAUSE_FACTOR = 10  # … more of them after ten times what the last sweep took, by a process that stays open
MAX_ANSWER_SYNC_S = 5.0  # seconds of processor time that a question may wait for a sync; hosts end slow hooks
EMBEDDER_RETRY_S = 60.0  # seconds until an open process asks an embedder again that did not answer
MAX_MISSING, MAX_MISSING_SHARE = 3, 0.05  # memories that may lack vectors in the second tier for it to be used


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
        identities: Callable[[], Sequence[str] | None] = tuple,
    ):
        self.layout = layout
        self.open_embedder = open_embedder
        self.open_deep = open_deep  # the second tier's; None where there is none
        self._open_outside = open_outside  # a store that is not in this database, for so many dimensions
        self.warn = warn
        self._locate = locate  # tells the database's path, where it is not the usual one
        self._identities = identities  # patterns of authors that are agents; None: commits do not count
        self._path = ""
        self.told = False  # whether the caller has warned already that the index is being made anew
        self._embedder: Embedder | None = None
        self._retry_at = 0.0  # when an embedder that did not answer is asked again; 0: it answered
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
        if self._embedder is None or 0 < self._retry_at < time.monotonic():
            self._retry_at = 0.0
            self._embedder = self.open_embedder()
            self._note_absence()
        return self._embedder

    def _note_absence(self) -> None:
        if self.is_embedder_absent:
            self._retry_at = time.monotonic() + EMBEDDER_RETRY_S

    @property
    def is_embedder_absent(self) -> bool:
        """Tell whether the embedder did not answer: its index is kept, and questions are answered by words."""
        return getattr(self._embedder, "is_absent", False)

    def made_with(self) -> tuple[str, int]:
        """Return name and dimensions of the embedder that this index was made with; empty where there is none yet."""
        try:
            meta = self.catalogue.meta() if os.path.exists(self.path) else {}
        except BROKEN:
            self.release()
            return "", 0
        dims = str(meta.get("dims", ""))
        return str(meta.get("embedder", "")), int(dims) if dims.isdecimal() else 0

    def deep(self) -> Embedder | None:
        """Return the second tier's embedder if nearly all memories have their vectors there; else None."""
        if self.open_deep is None:
            return None
        held, count = self._depth()
        if not held or count - held > max(MAX_MISSING, MAX_MISSING_SHARE * count):
            return None
        self._deep = self._deep or self.open_deep()
        known = self.catalogue.meta().get("deep")
        return self._deep if self._deep and self._deep.name == known else None

    def _depth(self) -> tuple[int, int]:
        """Return how many memories the second tier holds, and how many there are: of those vouched for, if any."""
        held, count = self.store.depth()
        if held == count or not self.catalogue.has_unvouched():
            return held, count
        missing = [self.catalogue.row(id) for id in self.store.shallow(count - held)]
        count = self.catalogue.count_stored()
        return count - sum(bool(row and row.vouched) for row in missing), count

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
        """Return the catalogue, as of the last `refresh`; it stays of use when the database is opened again."""
        return _OpenCatalogue(self)

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
        """Commit to the store outside, before the catalogue commits: see sync.py."""
        if self._outside is not None:
            self._outside.commit()

    def reading(self) -> apsw.Connection:
        """Return the connection that catalogue and store read from; BEGIN on it to see one state."""
        if self._db is None:
            self._db = open_database(self.path, readonly=True)
        return self._db

    def follow_commits(self) -> bool:
        """Fold memories again whose entries a person committed since; return whether there was anything to do."""
        return Authors(self, self._identities()).refresh()

    def fold_again(self, writer: apsw.Connection, targets: set[str]) -> None:
        """Fold memories again although their files did not change; the caller holds lock and transaction."""
        from .ingest import Ingest

        Ingest(self.layout, Catalogue(writer), self.open_store(writer), self.embedder).fold_again(targets)
        self.commit_outside()

    def discard(self) -> None:
        """Remove a broken database; the next refresh makes a new one."""
        self.release()
        try:
            with self.locked():
                self.remove()
        except OSError as failure:
            raise Unwritable(f"cannot remove {self.path}: {failure.strerror}", "remove it by hand") from None
        self.told = True

    def remove(self) -> None:
        """Remove the database, for a caller that holds the lock; a database in memory becomes empty. Raises OSError."""
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
            self._db.close(True)
            self._db = self._store = None

    def refresh(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Update the index from the files; this is nearly free when nothing changed."""
        started = time.monotonic()
        seen = sweep(self.layout)
        if self.is_fresh(seen):
            from .report import SyncReport  # a question needs none

            return SyncReport(files=seen.files, seconds=time.monotonic() - started)
        return self.sync(progress)

    def answer(self, ask: Callable[[], T]) -> T:
        """Return what `ask` returns on a fresh index. If the embedder stops answering meanwhile, ask by words."""
        try:
            return self._answer(ask)
        except RawkoError as failure:
            if not self._has_lost_embedder(failure):
                raise
        return self._answer(ask)

    def _has_lost_embedder(self, failure: RawkoError) -> bool:
        """Put an empty embedder into the place of one that failed, with a warning; return whether one failed."""
        from ..embed.failure import EmbedderFailed

        if not isinstance(failure, EmbedderFailed) or self._embedder is None or self.is_embedder_absent:
            return False
        from ..embed.absent import Absent

        self._embedder = Absent(self._embedder.name, self._embedder.dims)
        self._note_absence()
        self.warn(f"the embedder does not answer, so this search is by words: {failure.message}. {failure.hint}")
        return True

    def _answer(self, ask: Callable[[], T]) -> T:
        """Run `ask` during the sweep, and again after a sync if files changed."""
        sweeping = None if self._is_recent() else Sweeping(self.layout)
        started = time.monotonic()
        listing, found = self._ask(ask, with_listing=sweeping is not None)
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
            self.warn(f"{said}; run 'rawkomem index sync', or ask again")
        _, found = self._ask(ask)
        return found()

    def _ask(self, ask: Callable[[], T], with_listing: bool = False) -> tuple[bytes | str | None, Callable[[], T]]:
        """Return the listing that the index was made from (None: rebuild it), and a call that answers or raises."""
        try:
            self.reading().execute("BEGIN")
        except BROKEN as failure:
            self.release()
            return None, _raising(failure)
        try:
            meta = self.catalogue.meta(with_listing)
            if self.why_rebuild(meta):
                return None, _raising(IndexBroken("the index is outdated", "run 'rawkomem doctor'"))
            try:
                answer = ask()
            except Exception as failure:
                return meta.get("listing"), _raising(failure)
            return meta.get("listing"), lambda: answer
        except BROKEN as failure:
            return None, _raising(failure)
        finally:
            if self._db is not None and self._db.in_transaction:  # SQLite ends it by itself after an I/O error
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
        return not self.why_rebuild(meta) and meta.get("listing") == seen.listing

    def why_rebuild(self, meta: dict[str, bytes | str]) -> str:
        """Return why the index must be rebuilt, judged by its own metadata; empty if it need not be."""
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
        """Update the index from the files under the index lock. With `rebuild`, start from an empty index.

        With `max_cpu_s`, stop after that much processor time; the next sync continues.
        """
        from .sync import sync  # most questions find the index fresh

        return sync(self, progress, rebuild, max_cpu_s)

    def limit_time(self, max_cpu_s: float) -> None:
        """Start the clock of a sync; 0 sets no limit."""
        self._stop_at = time.process_time() + max_cpu_s if max_cpu_s else 0.0

    def is_time_up(self) -> bool:
        """Tell whether the sync under way has used up its processor time."""
        return 0 < self._stop_at < time.process_time()


class _OpenCatalogue(Catalogue):
    """The catalogue on whatever connection the index reads from."""

    def __init__(self, index: Index):
        self._index = index

    @property
    def db(self) -> apsw.Connection:  # type: ignore[override]
        """Return the connection."""
        return self._index.reading()


def _raising(failure: BaseException) -> Callable[[], NoReturn]:
    def fail() -> NoReturn:
        raise failure

    return fail
