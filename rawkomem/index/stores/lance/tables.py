"""The tables of the LanceDB store, and how several tables are committed as one.

memory_entries   RFC-0011's table of memories: one row per memory in this store, among rows of other programs
yamo_blocks, synthesized_skills   the RFC's other tables, which a search does not need: see publish.py
held       the memories in this store: digest, and whether they have contextual vectors
passages   their passages, with the columns that filters use; vectors are whole numbers, packed as in the SQLite store
deep       the contextual vectors, with the same columns
postings, beside   which passages contain a term, without and with their surroundings: see words.py
commits    one row that names the versions of all these tables that belong together

LanceDB keeps versions of each table, but has no transaction over several tables. So a writer adds new versions, readers
use the versions that `commits` names, and replacing its one row is the commit. A writer first restores the versions
that `commits` names, which discards the versions of a process that was killed.

memory_entries cannot be restored like this, because other programs write to it, too. It is written last. Before that,
`commits` lists the rows that will be written. A writer that finds such a list restores these rows from the version
before, and leaves all other rows alone.
"""

from __future__ import annotations

import json
import os
from datetime import timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any, cast

os.environ.setdefault("LANCEDB_LOG", "error")  # else it prints harmless messages about merged partitions

import lancedb
import pyarrow as pa
from lancedb.index import Bitmap, BTree, IvfRq

from ....files.lock import lock_in
from ....model.errors import Busy, IndexBroken, Refused
from ....model.record import as_dict, record, replace
from ..documents import BATCH_FILES
from ..sqlite import COLUMNS
from .conditions import RENAMED, among
from .rfc import ENTRIES, TEXT, entries_v2, is_schema_v2, optional, published, required, table_names
from .rows import OURS, entry_rows
from .told import is_url, told
from .words import SCHEMA as POSTINGS_SCHEMA
from .words import Levels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..documents import Document

PASSAGES, DEEP_VECTORS, HELD, COMMITS = "passages", "deep", "held", "commits"
WORDS, BESIDE = "postings", "beside"
VERSIONED = (PASSAGES, DEEP_VECTORS, HELD, WORDS, BESIDE)
MAX_IDS = 500  # ids in one condition
SETTLE_PASSAGES = 20_000  # new passages after which indexes are rebuilt; in a large store, half as many as they hold
MAX_FILL_PASSAGES = 1_000_000  # new passages after which indexes are built before the end of a sync
MAX_UNINDEXED_PASSAGES = 5_000  # passages outside the indexes after a sync: comparing them takes some milliseconds
MAX_LAST_COMMITS = 8  # at the end of a sync, the tables are compacted after this many commits
MAX_LOOSE_COMMITS = 64  # at other times after this many; each commit adds a small file to the tables that it changes
MAX_EXACT_PASSAGES = 20_000  # an exact scan of more passages is slower than the vector index, a copy in bits
PARTITION_PASSAGES = 10_000  # passages in a partition of the vector index
CLUSTERING_ROUNDS = 3  # all partitions are searched, so better ones would find no more
VERSIONS_KEPT = timedelta(seconds=10)  # old versions stay this long for questions that still use them
FILL_VERSIONS_KEPT = timedelta(seconds=1)  # … this long after a first fill, whose old versions double its size
AT_ONCE = timedelta(milliseconds=1)
FOREVER = timedelta(days=36_500)

INTEGERS = {"importance": pa.int32(), "created": pa.int64(), "vouched": pa.int32()}  # the other facets are texts
FILTERED = optional(**{RENAMED.get(name, name): INTEGERS.get(name, TEXT) for name in COLUMNS if name != "id"})
PLACE = required(n=pa.int32(), id=TEXT, number=pa.int32(), field=TEXT, alone=pa.bool_())
PACKED = {"lance-encoding:compression": "zstd"}  # a passage's text is also in the surroundings of others
TEXTS = (
    *optional(head=TEXT),
    *(pa.field(name, TEXT, metadata=PACKED) for name in ("text", "around")),
    *optional(heading=TEXT, line=pa.int32()),
    *optional(words=pa.int32(), beside=pa.int32()),  # tokens, without and with surroundings; -1 if it has none
)
HELD_SCHEMA = pa.schema([*required(id=TEXT), *optional(digest=TEXT, deep=pa.bool_())])
TERM = {"term": BTree}
INDEXED = {PASSAGES: {"n": BTree, "id": BTree, "status": Bitmap, "kind": Bitmap}, WORDS: TERM, BESIDE: TERM}


def schemas(dims: int) -> dict[str, pa.Schema]:
    """Return the schemas of our own tables. A vector of zeros is stored as null."""
    vector = pa.field("vector", pa.list_(pa.float16(), dims))
    return {
        PASSAGES: pa.schema([*PLACE, *TEXTS, *FILTERED, vector]),
        DEEP_VECTORS: pa.schema([*PLACE, *FILTERED, vector]),
        HELD: HELD_SCHEMA,
        WORDS: POSTINGS_SCHEMA,
        BESIDE: POSTINGS_SCHEMA,
    }


@record
class State:
    """The content of `commits`."""

    generation: str
    dims: int
    versions: Mapping[str, int]
    next: int = 0  # row number of the next passage
    segment: int = 0  # number of the next segment
    words: Levels = []
    beside: Levels = []
    settled: int = 0  # passages when indexes were last built
    tidy: int = 0  # passages when the tables were last compacted, with all passages in the indexes
    loose: int = 0  # commits since then
    touched: Sequence[str] = ()  # memories whose rows in memory_entries are being written
    before: int = 0  # the version of memory_entries before this write


class Tables:
    """All tables as of the last commit, or with the changes since `begin`."""

    def __init__(self, place: str, dims: int):
        self.place = place
        self.dims = dims
        self.writing = False
        self._erased = False
        self._local = not is_url(place)
        self._lock = lock_in(place, "lance") if self._local else None
        self._open()

    def __getitem__(self, name: str) -> Any:
        return self._tables[name]

    def rows(self, table: str, where: str, columns: list[str], limit: int | None = None) -> list[dict[str, Any]]:
        """Return these columns of the rows that match a condition."""
        found = self._tables[table].search().where(where).select(columns).limit(limit).to_arrow()
        return cast("list[dict[str, Any]]", found.to_pylist())

    def delete(self, table: str, ids: Sequence[str]) -> None:
        """Remove the rows of these memories."""
        for piece in _pieces(ids):
            self._tables[table].delete(among("id", piece))

    # Opening, and which versions belong together

    def _open(self) -> None:
        try:
            self.db = lancedb.connect(self.place)
            names = table_names(self.db)
            if COMMITS in names:
                try:
                    self._open_tables()
                    return
                except (ValueError, OSError, RuntimeError):
                    if not self._local:
                        raise
            self._make(names)
        except (ValueError, OSError, RuntimeError) as failure:
            said = told(failure, self.place)
            raise IndexBroken(f"the lancedb store cannot be opened: {said}", "check its folder or url") from None

    def _open_tables(self) -> None:
        self._commits = self.db.open_table(COMMITS)
        self._tables = {name: self.db.open_table(name) for name in (*VERSIONED, ENTRIES)}
        self._refuse_v1()
        self._look()

    def _make(self, names: set[str]) -> None:
        """Create the tables; `commits` last, because it marks the others as complete."""
        if ENTRIES in names:
            self._tables = {ENTRIES: self.db.open_table(ENTRIES)}
            self._refuse_v1()
        for name, schema in {ENTRIES: entries_v2(self.dims), **published(self.dims)}.items():
            self.db.create_table(name, schema=schema, exist_ok=True)
        self._tables = {ENTRIES: self.db.open_table(ENTRIES)}
        self._tables[ENTRIES].delete(OURS)  # rows of a store that was lost
        for name, schema in schemas(self.dims).items():
            self._tables[name] = self.db.create_table(name, schema=schema, mode="overwrite")
        self.state = State(token_hex(8), self.dims, self._versions())
        self._commits = self.db.create_table(COMMITS, _row(self.state), mode="overwrite")
        self._look()

    def _refuse_v1(self) -> None:
        """Raise Refused if memory_entries has schema V1 by now."""
        self._tables[ENTRIES].checkout_latest()
        if not is_schema_v2(self._tables[ENTRIES].schema):
            where = "your url" if is_url(self.place) else self.place
            raise Refused(f"{ENTRIES} in {where} has the schema V1", "run 'rawkomem store migrate'")

    def refresh(self) -> bool:
        """Read commits of other processes; return whether there are any."""
        if self.writing:
            return False
        self._commits.checkout_latest()
        if self._commits.version == self.seen:
            return False
        self._look()
        return True

    def _look(self) -> None:
        """Check out the tables as of the last commit."""
        self.seen = self._commits.version  # the commit that is checked out
        self.state = self._committed = State(**json.loads(self._commits.to_arrow()["state"][0].as_py()))
        for name in VERSIONED:
            self._tables[name].checkout(self.state.versions[name])

    def _versions(self) -> dict[str, int]:
        return {name: self._tables[name].version for name in VERSIONED}

    # Writing

    def begin(self) -> None:
        """Start writing; discard the changes of a killed writer. Raise Busy while another process writes."""
        if self._lock and not self._lock.acquire():
            raise Busy("another process is writing to the lancedb store", "try again, or end that process if it hangs")
        try:
            self._commits.checkout_latest()
            self._look()
            self._refuse_v1()
            for name in VERSIONED:
                self._tables[name].checkout_latest()
                if self._tables[name].version != self.state.versions[name]:
                    self._tables[name].restore(self.state.versions[name])
            self._restore_entries()
        except BaseException:
            self._release()
            raise
        self.writing = True

    def _restore_entries(self) -> None:
        """Restore the rows of memory_entries that a killed writer touched."""
        if not self.state.touched:
            return
        rows = self._entries_before()
        self.delete(ENTRIES, self.state.touched)
        if rows:
            self._tables[ENTRIES].add(rows)
        self.state = replace(self.state, versions=self._versions(), touched=())
        self._say(self.state)

    def _entries_before(self) -> pa.Table | None:
        """Return the touched rows as they were before; None if that version is gone or has another schema."""
        table = self.db.open_table(ENTRIES)
        try:
            table.checkout(self.state.before)
        except (ValueError, OSError, RuntimeError):
            return None  # somebody cleaned up: the next put writes the rows again
        if table.schema != self._tables[ENTRIES].schema:
            return None
        found = [table.search().where(among("id", ids)).limit(None) for ids in _pieces(self.state.touched)]
        return pa.concat_tables([query.to_arrow() for query in found])

    def commit(self, changed: Mapping[str, Document | None]) -> None:
        """Make all changes visible to readers. `changed`: the memories put, or dropped (None), since `begin`.

        Raise Busy if another program has committed since.
        """
        self._commits.checkout_latest()
        if self._commits.version != self.seen:
            raise Busy("another program wrote to the lancedb store", "run 'rawkomem index sync' again")
        if changed:
            self._write_entries(changed)
        if self._erased:
            self._forget_published()
        last = sum(document is not None for document in changed.values()) < BATCH_FILES
        kept = VERSIONS_KEPT if self.state.settled else FILL_VERSIONS_KEPT
        settled = self._settle(last)
        self._say(replace(self.state, versions=self._versions()))
        if settled:  # after an erase, which may be a purge, no old version stays
            self._tidy(AT_ONCE if self._erased else kept)
            self._say(replace(self.state, versions=self._versions()))
        self.stop()

    def _write_entries(self, changed: Mapping[str, Document | None]) -> None:
        """Replace our rows in memory_entries, after `commits` lists them. They are deleted first, so never doubled."""
        self._refuse_v1()
        self._say(replace(self._committed, touched=[*changed], before=self._tables[ENTRIES].version))
        self.delete(ENTRIES, [*changed])
        if not self._fits_entries():
            self._tables[ENTRIES] = self.db.create_table(ENTRIES, schema=entries_v2(self.dims), mode="overwrite")
        documents = [document for document in changed.values() if document]
        if documents:
            self._tables[ENTRIES].add(entry_rows(documents, self.dims))

    def _forget_published(self) -> None:
        """Delete our published rows; an empty table is created again with the current length of vectors."""
        for name, schema in published(self.dims).items():
            table = self.db.open_table(name)
            table.delete(OURS)
            if not table.count_rows():
                self.db.create_table(name, schema=schema, mode="overwrite")

    def stop(self) -> None:
        """Stop writing. Readers never see changes that were not committed; the next `begin` discards them."""
        self.writing = self._erased = False
        self._release()
        self._commits.checkout_latest()
        self._look()

    def _release(self) -> None:
        if self._lock and self._lock.stream:
            self._lock.release()

    def erase(self) -> None:
        """Empty our own tables. Raise Refused if other programs' vectors in memory_entries have another length."""
        if not self._fits_entries() and self._tables[ENTRIES].count_rows(f"metadata IS NULL OR NOT ({OURS})"):
            raise Refused(f"{ENTRIES} holds other programs' vectors of another length", "choose another folder or url")
        for name, schema in schemas(self.dims).items():
            self._tables[name] = self.db.create_table(name, schema=schema, mode="overwrite")
        self.state = State(token_hex(8), self.dims, {})
        self._erased = True

    def _fits_entries(self) -> bool:
        """Tell whether our vectors have the length of those in memory_entries."""
        return bool(self._tables[ENTRIES].schema.field("vector").type.list_size == self.dims)

    def _say(self, state: State) -> None:
        """Replace the one row of `commits`."""
        self._commits.add(_row(state), mode="overwrite")
        self.seen = self._commits.version

    def _settle(self, last: bool) -> bool:
        """Compact the tables after many commits, and rebuild indexes after many rows; return whether it compacted."""
        passages = self._tables[PASSAGES].count_rows()
        added = passages - self.state.settled
        grown = added >= max(SETTLE_PASSAGES, self.state.settled // 2) and (last or added >= MAX_FILL_PASSAGES)
        self.state = replace(self.state, loose=self.state.loose + 1)
        waiting = last and self.state.settled and passages - self.state.tidy >= MAX_UNINDEXED_PASSAGES
        most = MAX_LAST_COMMITS if last and self.state.settled else MAX_LOOSE_COMMITS
        if not grown and not waiting and not self._erased and self.state.loose < most:
            return False
        self._tidy(FOREVER)  # until the commit, readers look at older versions
        self.state = replace(self.state, loose=0, tidy=passages)
        if grown:
            self._make_indexes()
            self.state = replace(self.state, settled=passages)
        return True

    def _tidy(self, max_age: timedelta) -> None:
        """Merge small files, add all rows to the indexes, and delete versions older than `max_age`."""
        beside = [self.db.open_table(name) for name in published(self.dims)]
        for table in (*self._tables.values(), *beside, self._commits):
            table.optimize(cleanup_older_than=max_age, delete_unverified=max_age == AT_ONCE)

    def _make_indexes(self) -> None:
        for name, columns in INDEXED.items():
            for column, kind in columns.items():
                self._tables[name].create_index(column, config=kind(), replace=True)
        for name in (PASSAGES, DEEP_VECTORS):
            rows = self._tables[name].count_rows("vector IS NOT NULL")
            if rows > MAX_EXACT_PASSAGES:
                partitions = 1 + rows // PARTITION_PASSAGES
                bits = IvfRq(distance_type="l2", num_partitions=partitions, max_iterations=CLUSTERING_ROUNDS)
                self._tables[name].create_index("vector", config=bits, replace=True)


def _row(state: State) -> pa.Table:
    return pa.table({"state": [json.dumps(as_dict(state))]})


def _pieces(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Return the ids in pieces of at most MAX_IDS."""
    return (ids[start : start + MAX_IDS] for start in range(0, len(ids), MAX_IDS))
