"""Opens the index, updates it from the files (sync.py) before every answer, and shows the memories
inside a filter.

Each answer lists the files (`sweep`) and compares the list with the one that the index was built
from. File events are not trusted to report every change. Only an open process with many files skips
some sweeps (SWEEP_PAUSE_FACTOR). A broken index is rebuilt. After a recall, a background process is
started that fills in missing contextual vectors.
"""

from __future__ import annotations

import os
import time
from math import inf

from ..files.background import start_background
from ..files.layout import (
    Layout,
    Sweep,
    Sweeping,
    SweepingApart,
    can_fork,
    files_in,
    sweep,
    user_cache,
)
from ..files.private import Lock, lock_in, open_private, replace_private
from ..files.records import fact, set_fact
from ..model.entries import Memory
from ..model.errors import IndexBroken, RawkoError, StoreAway, Unwritable
from ..model.filters import Filter, asked
from ..model.values import TYPE_CHECKING, now, replace
from ..state.trust import is_valid
from ..text.chunks import CHUNKER, counted
from ..text.language import language_code
from .authors import Authors, Believed
from .catalogue import (
    SCHEMA_VERSION,
    Catalogue,
    Row,
    SyncReport,
    asks_for_facts,
    memory_of,
    own_inode,
    passes_filter,
    row_of,
    rows_inside,
)
from .stores.database import (
    BROKEN,
    can_be_made,
    in_memory,
    index_path,
    memory_path,
    open_database,
    remove_database,
)
from .stores.sqlite import COLUMNS, SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import TypeVar

    import apsw

    from ..embed.embedder import Embedder
    from .ingest import Folding
    from .stores.protocol import OutsideStore, SearchStore

    T = TypeVar("T")

    OpenAuthors = Callable[[], Authors | None]


# Shows memories through a filter. It checks what a store cannot: validity and trust.


class View:
    """The memories of an index that are inside a filter."""

    def __init__(
        self,
        layout: Layout,
        catalogue: Catalogue,
        only: Filter,
        open_authors: OpenAuthors,
        strict: bool = False,
    ):
        self.layout = layout
        self.catalogue = catalogue
        self.only = only
        self.at = now()
        self._open_authors = open_authors
        self.strict = strict  # whether only commits and reviews vouch for a memory
        self._believed: Believed | None = None
        self._folding: Folding | None = None
        self._condition: Callable[[Memory], bool] | None = None
        self._docs: dict[str, str] = {}  # memories that `expect` has read
        self._counts: dict[bool, int] = {}  # what `count` returned

    @property
    def authors(self) -> Authors | None:
        """Return the authors of entries; None if they are unknown."""
        return self._open_authors()

    @property
    def believed(self) -> Believed:
        """Return the trust in memories at the time of this view."""
        if self._believed is None:
            self._believed = Believed(
                self.layout, self.catalogue, self.authors, self.at, self.strict
            )
        return self._believed

    def _trust(self, memory: Memory) -> float:
        return self.believed.trust(memory).value

    @property
    def stored(self) -> Filter:
        """Return the part of the filter that a store can check."""
        only = self.only
        facets = {field.name: getattr(only, field.name) for field, _ in asked(only)}
        if only.where:
            facets["ids"] = self._ids()
        return Filter(**facets)

    def groups(self) -> dict[bool | None, Filter]:
        """Return filters for the store, separate for vouched and unvouched memories, if there are both.

        So unvouched memories cannot crowd out vouched ones.
        """
        if not self.catalogue.has_unvouched():
            return {None: self.stored}
        only = self.stored
        return {True: replace(only, vouched=1), False: replace(only, unvouched=1)}

    def count(self, doubting: bool) -> int:
        """Return the number of active memories; with `doubting`, if some are unvouched, only of those vouched for."""
        if doubting not in self._counts:
            vouched = doubting and self.catalogue.has_unvouched()
            self._counts[doubting] = self.catalogue.count(vouched)
        return self._counts[doubting]

    def row(self, id: str) -> Row | None:
        """Return the columns of a memory that the store found; None if it is outside the filter after all."""
        if self.only.trust or self.only.where:
            memory = self.memory(id)
            return row_of(memory) if memory else None
        row = self.catalogue.row(id)
        if row and (not self.only.current or is_valid(row, self.at)):
            return row
        return None

    def expect(self, ids: Sequence[str]) -> None:
        """Read several memories in one query, because `memory` will be called for most of them."""
        self._docs = self.catalogue.docs_of(ids)

    def whole(self, id: str) -> Memory | None:
        """Return a whole memory, also if it is outside the filter; None if it is unknown."""
        if self.strict and self._is_typed(id):
            return self._folded_again(id)
        doc = self._docs.get(id) or self.catalogue.doc(id)
        return memory_of(doc) if doc else None

    def memory(self, id: str) -> Memory | None:
        """Return a whole memory; None if it is unknown or outside the filter."""
        memory = self.whole(id)
        if memory is None or not passes_filter(memory, self.only, self.at, self._trust):
            return None
        return memory if not self.only.where or self._where(memory) else None

    @property
    def _where(self) -> Callable[[Memory], bool]:
        """Return the condition of the filter."""
        if self._condition is None:
            # few questions have conditions
            from ..files.session_records import Access, accesses
            from ..state.strength import (
                FILTER_FIELDS,
                TIME_FIELDS,
                filter_columns,
                parse_expression,
            )

            test = parse_expression(self.only.where, FILTER_FIELDS, TIME_FIELDS)
            used = accesses(self.layout)

            def condition(memory: Memory) -> bool:
                access = used.get(memory.id, Access())
                return test(filter_columns(memory, access.count, access.last))

            self._condition = condition
        return self._condition

    def _ids(self) -> tuple[str, ...]:
        """Return the memories that pass the filter, except for trust and validity; if none does, an unused id."""

        only = replace(self.only, trust=0.0, current=False)
        known = map(memory_of, self.catalogue.docs())
        passing = [
            memory
            for memory in known
            if passes_filter(memory, only, self.at, self._trust)
        ]
        return tuple(
            memory.id for memory in passing if not only.where or self._where(memory)
        ) or ("",)

    def _is_typed(self, id: str) -> bool:
        """Return whether any entry about a memory was not committed by a person, so that it does not count here."""
        from .ingest import vouching_of

        committed = vouching_of(self.layout, self.catalogue.db, strict=True)
        return not all(
            committed and committed.is_committed(own)
            for own in self.catalogue.digests_about(id).values()
        )

    def _folded_again(self, id: str) -> Memory | None:
        """Return the memory as commits and reviews alone make it.

        A memory that is deleted now stays hidden if the filter names statuses without `deleted`.
        """
        row = self.catalogue.row(id)
        statuses = self.only.statuses
        if row is None or (
            row.status == "deleted" and statuses and "deleted" not in statuses
        ):
            return None
        return self.folding.memory(id)

    def rows(self) -> list[Row]:
        """Return all memories inside the filter, most recently changed first."""

        only = self.only
        rows = self.catalogue.rows(only.statuses, self._valid_at)
        rows = rows_inside(rows, replace(only, statuses=()))
        if asks_for_facts(only):
            return [row for row in rows if self.memory(row.id)]
        return rows

    def page(self, limit: int) -> tuple[list[Row], int]:
        """Return the first memories inside the filter, most recently changed first, and how many there are."""
        only = self.only
        if not limit or replace(only, statuses=(), current=False) != Filter():
            rows = self.rows()
            return rows[: limit or None], len(rows)
        return self.catalogue.page(only.statuses, self._valid_at, limit)

    @property
    def _valid_at(self) -> int:
        """Return when memories must be valid; 0 if they need not be."""
        return self.at if self.only.current else 0

    @property
    def folding(self) -> Folding:
        """Return what folds memories again, from their entries."""
        if self._folding is None:
            from .ingest import Folding, vouching_of

            vouches = vouching_of(self.layout, self.catalogue.db, self.strict)
            self._folding = Folding(self.catalogue, vouches)
        return self._folding


# checksum of the tables in redaction/; the index holds redacted copies, so a change rebuilds it
REDACTION = "20a6603d"
# when the last sweep ended, how long it took, and how many files it saw
NEVER_SWEPT = (0.0, 0.0, 0)
# raise it if an answer that is kept beside the index changes for the same memories
KEPT_VERSION = 1
# up to this many files are swept before every answer: about 20 ms
MAX_SWEPT_FILES = 4_000
# with more files, an open process sweeps again after this many times the last sweep's duration
SWEEP_PAUSE_FACTOR = 10
# CPU time that a sync before an answer may take; hosts stop slow hooks
MAX_ANSWER_SYNC_S = 5.0
# after this time an open process retries an embedder that failed
EMBEDDER_RETRY_S = 60.0
# after a failure, no process of this user asks a store outside for this time
STORE_RETRY_S = 60.0
# for an answer of a store outside, before it counts as lost
STORE_WAIT_S = 4.0
STORE_LOST = "store lost"  # start of the name of a fact in files/records.py
# the next use of the store outside compares it with the catalogue
STORE_IS_BEHIND = "DELETE FROM meta WHERE key = 'outside'"
# The second tier is used while at most this number, or this share, of memories lack contextual vectors.
MAX_MISSING = 3
MAX_MISSING_SHARE = 0.05


class Index:
    """Holds the catalogue and the search store of one repository. The embedder is opened on first use."""

    def __init__(
        self,
        layout: Layout,
        open_embedder: Callable[[], Embedder],
        warn: Callable[[str], None],
        open_deep: Callable[[], Embedder | None] = lambda: None,
        open_outside: Callable[[int], OutsideStore | None] | None = None,
        locate: Callable[[], str] | None = None,
        identities: Callable[[], Sequence[str] | None] = tuple,
    ):
        self.layout = layout
        self.open_embedder = open_embedder
        # opens the second tier's embedder; returns None if there is no second tier
        self.open_deep = open_deep
        # opens a store outside this database, for vectors of some dimensions
        self._open_outside = open_outside
        self.warn = warn
        self._locate = locate  # returns the database's path, if it is not the default
        # patterns of authors that are agents; None: commits do not count
        self._identities = identities
        self._path = ""
        # whether a warning already said that the index is being rebuilt
        self.told = False
        self._embedder: Embedder | None = None
        self._retry_at = 0.0  # when a failed embedder is retried; 0: it has not failed
        self._deep: Embedder | None = None
        self._swept = NEVER_SWEPT
        self._db: apsw.Connection | None = None
        self._anchor: apsw.Connection | None = None  # keeps a database in memory alive
        self._store: SearchStore | None = None
        self._outside: OutsideStore | None = None
        # how long a question waits for the store outside
        self.store_wait_s = STORE_WAIT_S
        # why the store outside is not used, and until when
        self._lost: StoreAway | None = None
        self._lost_until = 0.0
        # whether this question has compared the store outside with the catalogue
        self._is_compared = False

    @property
    def path(self) -> str:
        """Return the path of the database.

        The path is looked up on first use, because it depends on settings, which may be invalid.
        """
        if not self._path:
            self._path = self._locate() if self._locate else index_path(self.layout)
            if not in_memory(self._path) and not can_be_made(self._path):
                folder = os.path.dirname(os.path.dirname(self._path))
                hint = "set XDG_CACHE_HOME to a folder that can be written"
                self.warn(
                    f"each command builds an index in memory, because neither {self.layout.local} nor {folder} can be"
                    f" written ({hint})"
                )
                self._path = memory_path()
                self.told = True
            if in_memory(self._path):
                self._anchor = open_database(self._path)
        return self._path

    def beside(self, name: str) -> str:
        """Return the path of a file in the database's folder; empty if the database is in memory."""
        if in_memory(self.path):
            return ""
        return os.path.join(os.path.dirname(self.path), name)

    def kept(self, suffix: str, state: str, make: Callable[[], T]) -> T:
        """Return an answer about all memories that was kept for a state, or call `make` and keep its answer.

        The answer must be a value for JSON. A process that asks again need not read all memories.
        """
        import json  # a search does not need it

        file = "" if in_memory(self.path) else self.path + suffix
        key = f"{KEPT_VERSION} {self.fingerprint} {state}".encode("utf-8", "replace")
        try:
            with open_private(file, "r") as stream:
                known, _, text = stream.readall().partition(b"\n")
            if known == key:
                kept: T = json.loads(text)
                return kept
        except (OSError, ValueError):
            pass  # none yet, or in memory
        answer = make()
        try:
            if file:
                replace_private(file, key + b"\n" + json.dumps(answer).encode())
        except (OSError, RawkoError):
            pass  # a read-only checkout, or a full disk: the next process asks again
        return answer

    def locked(self, purpose: str = "index") -> AbstractContextManager[object]:
        """Return a lock to hold while writing. A database in memory belongs to one program and needs no lock."""
        if folder := self.beside(""):
            return lock_in(folder, purpose)
        from contextlib import nullcontext  # only for a database in memory

        return nullcontext()

    @property
    def embedder(self) -> Embedder:
        """Return the embedder of this index's vector space."""
        if self._embedder is None or 0 < self._retry_at < time.monotonic():
            self._embedder = self.open_embedder()
            is_absent = self.is_embedder_absent
            self._retry_at = time.monotonic() + EMBEDDER_RETRY_S if is_absent else 0.0
        return self._embedder

    @property
    def is_embedder_absent(self) -> bool:
        """Return whether the embedder failed: its index is kept, and searches match words only."""
        return getattr(self._embedder, "is_absent", False)

    def made_with(self) -> tuple[str, int]:
        """Return name and dimensions of the embedder that the index was built with; ("", 0) without a usable index."""
        try:
            meta = self.catalogue.meta() if os.path.exists(self.path) else {}
        except BROKEN:
            self.release()
            return "", 0
        dims = str(meta.get("dims", ""))
        return str(meta.get("embedder", "")), int(dims) if dims.isdecimal() else 0

    def measured_scale(self) -> str:
        """Return the scale of the embedder's cosines as text for the index; empty for the bundled embedder."""
        from ..embed.embedder import cosine_scale
        from ..embed.static import STATIC_NAME

        if self.embedder.name == STATIC_NAME or self.is_embedder_absent:
            return ""

        return "{:.4f} {:.4f}".format(*cosine_scale(self.embedder))

    def scale(self) -> tuple[float, float]:
        """Return the median and spread of the cosines of unrelated sentences in the first tier."""
        from ..embed.embedder import STATIC_SCALE

        middle, _, spread = str(self.catalogue.meta().get("scale", "")).partition(" ")
        return (float(middle), float(spread)) if spread else STATIC_SCALE

    def deep(self) -> Embedder | None:
        """Return the second tier's embedder if nearly all memories have contextual vectors; else None."""
        if self.is_store_lost:
            return None
        known = self.catalogue.meta().get("deep")
        if not known or not self._is_filled():
            return None
        self._deep = self._deep or self.open_deep()
        return self._deep if self._deep and self._deep.name == known else None

    def _is_filled(self) -> bool:
        """Return whether nearly all memories have contextual vectors; those that nobody vouches for do not count."""
        held, count = self.store.depth()
        if not held or held == count:
            return held > 0
        unvouched = self.catalogue.unvouched()
        count -= len(unvouched)
        allowed = max(MAX_MISSING, int(MAX_MISSING_SHARE * count))
        missing = self.store.shallow(len(unvouched) + allowed + 1)
        return len({*missing} - unvouched) <= min(allowed, count - 1)

    @property
    def fingerprint(self) -> str:
        """Return the versions and settings that the index depends on; it is rebuilt when they change."""
        schema = f"schema {SCHEMA_VERSION}.{len(COLUMNS)}"  # a filter may add a column
        made = f"{schema}, chunker {CHUNKER}, redaction {REDACTION}, embedder {self.embedder.name}"
        return f"{made}, language {language_code()}"

    @property
    def catalogue(self) -> Catalogue:
        """Return the catalogue, as of the last `refresh`; it stays usable when the database is opened again."""
        return _OpenCatalogue(self)

    @property
    def store(self) -> SearchStore:
        """Return the search store, as of the last `refresh`."""
        connection = self.reading()
        if self._store is None:
            self._store = self.open_store(connection)
        return self._store

    def open_store(self, connection: apsw.Connection) -> SearchStore:
        """Return the store on a connection; its vectors may be in a store outside this database.

        While that store is lost, new vectors stay in this database, until `sync` stores the memories again.
        """
        outside = self.outside()
        if outside is None:
            return SqliteStore(connection, self.embedder.dims)
        from .stores.protocol import SplitStore  # few users have another store

        return SplitStore(connection, outside, self._compare_generation)

    def outside(self) -> OutsideStore | None:
        """Return the store outside this database; None if there is none, or if it is lost. Its first use opens it."""
        if self.is_store_lost:
            return None
        if self._outside is None and self._open_outside:
            self._outside = self._open_outside(self.embedder.dims)
        return self._outside

    @property
    def is_store_lost(self) -> bool:
        """Return whether the store outside failed lately, so that questions are answered without it."""
        return time.monotonic() < self._lost_until

    def _compare_generation(self) -> None:
        """Raise IndexBroken if the store outside does not hold what the catalogue says; `answer` syncs then."""
        if not self._is_compared and (outside := self.outside()):
            if outside.generation() != self.catalogue.meta().get("outside"):
                raise _StoreBehind("the store is outdated", "run 'rawkomem index sync'")
            self._is_compared = True

    def _local_first(self, work: Callable[[], T]) -> T:
        """Return what `work` returns. If the store outside fails, warn and do the work without that store."""
        try:
            return work()
        except StoreAway as failure:
            self._lose_store(failure)
        return work()

    def _lose_store(self, failure: StoreAway) -> None:
        """Work without the store outside for STORE_RETRY_S, here and in other processes."""
        self.release()
        self.close_outside()
        self._lost, self._lost_until = failure, time.monotonic() + STORE_RETRY_S
        if not failure.is_remembered:
            self._remember_lost(f"{time.time()}\n{failure.message}\n{failure.hint}")
        if self.store_wait_s < inf:  # else `require_store` reports it
            text = "searches match words only, and changes stay in this clone until the store is back"
            hint = f"{failure.hint}; then run 'rawkomem index sync'"
            self.warn(f"{failure.message}: {text} ({hint})")

    def _remember_lost(self, text: str) -> None:
        try:
            set_fact(self.layout, f"{STORE_LOST} {os.path.basename(self.path)}", text)
        except RawkoError:
            pass  # a read-only checkout: each process asks the store

    def require_store(self) -> None:
        """Raise StoreAway if the store outside is lost."""
        if self._lost and self.is_store_lost:
            raise self._lost

    def retry_store(self) -> None:
        """Use the store outside again, even if it failed a moment ago."""
        self._lost_until = 0.0
        if self.outside():
            self._remember_lost("")

    def check_lost(self) -> None:
        """Raise StoreAway if the store outside failed less than STORE_RETRY_S ago in any process."""
        name = f"{STORE_LOST} {os.path.basename(self.path)}"
        at, *said = fact(self.layout, name).split("\n")
        if at and 0 <= time.time() - float(at) < STORE_RETRY_S:
            failure = StoreAway(*said)
            failure.is_remembered = True
            raise failure

    def close_outside(self) -> None:
        """Close the store outside this database; the next use opens it again."""
        if self._outside is not None:
            self._outside.close()
            self._outside = None

    def commit_outside(self) -> None:
        """Commit to the store outside this database, before the catalogue commits: see sync.py."""
        if self._outside is not None:
            self._outside.commit()

    def reading(self) -> apsw.Connection:
        """Return the connection that catalogue and store read from. Execute BEGIN on it to read one state."""
        if self._db is None:
            self._db = open_database(self.path, readonly=True)
        return self._db

    def follow_commits(self) -> bool:
        """Read new commits, and fold memories again whose entries a person has committed; return whether HEAD moved."""
        return self._local_first(Authors(self, self._identities()).refresh)

    def hold_committed(self, writer: apsw.Connection) -> None:
        """Use what a person committed and files no longer hold; the caller holds the lock and the transaction."""
        Authors(self, self._identities()).hold(writer)

    def fold_again(self, writer: apsw.Connection, targets: set[str]) -> None:
        """Fold memories again whose files did not change, and those with entries that a person committed and no file holds.

        The caller holds the lock and the transaction.
        """
        from .ingest import Ingest, hold_committed

        targets = targets | hold_committed(self.layout, writer, self.warn)
        if targets:
            store = self.open_store(writer)
            ingest = Ingest(self.layout, Catalogue(writer), store, self.embedder)
            ingest.fold_again(targets)
            self.commit_outside()
            if self.is_store_lost:
                writer.execute(STORE_IS_BEHIND)

    def discard(self) -> None:
        """Delete a broken database; the next refresh builds a new one. Raise Unwritable if it cannot be deleted."""
        self.release()
        try:
            with self.locked():
                self.remove()
        except OSError as failure:
            raise Unwritable(
                f"cannot remove {self.path}: {failure.strerror}", "remove it by hand"
            ) from None
        self.told = True

    def remove(self) -> None:
        """Delete the database; the caller holds the lock. A database in memory becomes empty. May raise OSError."""
        if self._anchor is None:
            remove_database(self.path)
        else:
            self._anchor.close()
            self._anchor = open_database(self.path)

    def close(self) -> None:
        """Close database and store."""
        self.release()
        self.close_outside()
        if self._anchor is not None:
            self._anchor.close()
            self._anchor = None
            self._path = ""

    def release(self) -> None:
        """Close the database; the next question opens it again."""
        if self._db is not None:
            self._db.close(True)
            self._db = self._store = None

    def refresh(
        self,
        progress: Callable[[int, int], None] | None = None,
        seen: Sweep | None = None,
    ) -> SyncReport:
        """Update the index from the files; this takes almost no time if nothing has changed.

        `seen`: a sweep of a moment ago.
        """
        started = time.monotonic()
        seen = seen or sweep(self.layout)
        try:
            meta = self.catalogue.meta()
        except BROKEN:
            self.release()
            meta = {}
        if self.why_rebuild(meta) or meta.get("swept") != seen.digest:
            try:
                return self.sync(progress)
            except BROKEN:  # somebody removed the index meanwhile
                self.release()
                return self.sync(progress)
        return SyncReport(files=seen.files, seconds=time.monotonic() - started)

    def answer(self, ask: Callable[[], T]) -> T:
        """Return what `ask` returns on an up-to-date index. If the embedder fails, ask again, by words only.

        Ask during the sweep, and again after a sync if files changed: an error on old data is not raised.
        """
        is_recent = self._is_swept_recently()
        is_synced = False
        while True:
            # digest of the sweep that the index was built from; None: sync it
            swept: str | None = None
            sweeping: Sweeping | SweepingApart | None = None
            failure: Exception | None = None
            try:
                self.reading().execute("BEGIN")
                meta = self.catalogue.meta()
                if self.why_rebuild(meta):
                    raise IndexBroken("the index is outdated", "run 'rawkomem doctor'")
                swept = meta.get("swept")
                self._is_compared = False
                if not is_recent and not is_synced:
                    started = time.monotonic()
                    sweeping = self._start_sweep(swept)
                answer = ask()
            except BROKEN as error:
                self.release()
                failure = error
            except _StoreBehind as error:
                swept = None
                failure = error
            except Exception as error:
                failure = error
            finally:
                # SQLite ends a transaction by itself after an I/O error.
                if self._db is not None and self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            if sweeping:
                seen = sweeping.digest()
                took = time.monotonic() - started
                self._swept = (time.monotonic(), took, files_in(seen))
                swept = swept if swept == seen else None
            if swept is None and not is_synced:
                self._sync_for_answer()
                is_synced = True
            elif failure is None:
                return answer
            elif isinstance(failure, StoreAway):
                self._lose_store(failure)
            elif not self._has_lost_embedder(failure):
                raise failure

    def _is_swept_recently(self) -> bool:
        at, took, files = self._swept
        pause = SWEEP_PAUSE_FACTOR * took
        return files > MAX_SWEPT_FILES and time.monotonic() - at < pause

    def _start_sweep(self, swept: str | None) -> Sweeping | SweepingApart:
        """Start a sweep. `swept` is the digest of the last one, which tells how many files there are."""
        is_long = bool(swept) and files_in(swept or "0") > MAX_SWEPT_FILES
        return (SweepingApart if is_long and can_fork() else Sweeping)(self.layout)

    def _sync_for_answer(self) -> None:
        report = self.sync(max_cpu_s=MAX_ANSWER_SYNC_S)
        if report.left:
            left = f"{report.left} of {counted(report.files, 'file')} are not read yet"
            hint = "run 'rawkomem index sync', or ask again"
            self.warn(f"the index is not complete: {left}; {hint}")

    def _has_lost_embedder(self, failure: Exception) -> bool:
        """Return whether the embedder failed; if so, warn, and search without an embedder from now on."""
        from ..embed.embedder import AbsentEmbedder, EmbedderFailed

        embedder = self._embedder
        if (
            not isinstance(failure, EmbedderFailed)
            or embedder is None
            or self.is_embedder_absent
        ):
            return False
        self._embedder = AbsentEmbedder(embedder.name, embedder.dims)
        self._retry_at = time.monotonic() + EMBEDDER_RETRY_S
        reason = f"{failure.message}. {failure.hint}"
        self.warn(f"the embedder failed, so this search matches words only: {reason}")
        return True

    def expect_changes(self) -> None:
        """Make the next answer sweep the files, because this process wrote one."""
        self._swept = NEVER_SWEPT

    def why_rebuild(self, meta: dict[str, str]) -> str:
        """Return why the index must be rebuilt, judged by its own metadata; empty if it is usable."""
        if not meta:
            return "there is no index yet"
        if meta.get("inode") != own_inode(self.path):
            return "the old index was copied from another place"
        if meta.get("fingerprint") != self.fingerprint:
            return f"the old index was made with {meta.get('fingerprint')!s}"
        return ""

    def sync(
        self,
        progress: Callable[[int, int], None] | None = None,
        rebuild: bool = False,
        max_cpu_s: float = 0.0,
    ) -> SyncReport:
        """Update the index from the files under the index lock. With `rebuild`, start from an empty index.

        With `max_cpu_s`, stop after that much CPU time; the next sync continues.
        """
        from .sync import sync_index  # most questions need no sync

        return self._local_first(lambda: sync_index(self, progress, rebuild, max_cpu_s))


class _StoreBehind(IndexBroken):
    """The store outside does not hold what the catalogue says."""


class _OpenCatalogue(Catalogue):
    """A catalogue that always uses the index's current connection."""

    def __init__(self, index: Index):
        self._index = index

    @property
    def db(self) -> apsw.Connection:  # type: ignore[override]
        """Return the connection."""
        return self._index.reading()


# since a worker was started, so that a failing worker is not restarted all the time
MIN_WORKER_PAUSE_S = 60.0


def worker_lock() -> Lock:
    """Return the lock that the user's only worker holds while it runs; its file tells when it was started."""
    return lock_in(user_cache(), "worker")


def fill_behind(index: Index) -> bool:
    """Start a worker if vectors are missing and the user has no worker; return whether it was started."""
    if index.is_store_lost:
        return False
    job = worker_lock()
    if _has_run_recently(job.path):
        return False
    try:
        held, count = index.store.depth()
    except BROKEN:
        return False  # somebody removed the index a moment ago
    if held == count:
        return False
    try:
        shared = ("--source",) if index.layout.elsewhere else ()
        if not start_background(index.layout, job, "sync", "--deep", *shared):
            return False
        os.utime(job.path)
    except (OSError, RawkoError):
        return False  # no process could be started: the next recall tries again
    return True


def _has_run_recently(path: str) -> bool:
    try:
        return time.time() - os.stat(path).st_mtime < MIN_WORKER_PAUSE_S
    except OSError:
        return False
