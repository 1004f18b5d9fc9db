"""The tables of the LanceDB store, and which versions of them belong together.

memory_entries, yamo_blocks, synthesized_skills   the tables of RFC-0011; the first has a row for each memory held here,
           beside rows of others, which stay; the other two are made and left to whoever fills them
held       the memories held here: digest, and whether the second tier has them
passages   their pieces, with the columns that filters look at; vectors are whole numbers as the SQLite store packs them
deep       the second tier's vectors, with the same columns
postings, beside   which passages hold a term, and which stand beside one: see words.py
commits    one row that says which versions of all these belong together

LanceDB has versions of each table, and no transactions over several. So writing is done at the end of the tables, a
reader looks at the versions that `commits` names, and replacing that one row is the commit. Who writes first goes back
to what `commits` names: whatever a process that was killed left behind is gone.
"""

from __future__ import annotations

import json
import os
from datetime import timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any

os.environ.setdefault("LANCEDB_LOG", "error")  # its engine tells of merged partitions on stderr, which harm nobody

import lancedb
import pyarrow as pa
from lancedb.index import Bitmap, BTree, IvfRq

from ...files.lock import Lock
from ...model.errors import Busy, IndexBroken, Refused
from ...model.record import as_dict, record, replace
from .conditions import among
from .rfc import BLOCKS, ENTRIES, SKILLS, blocks, entries_v2, is_schema_v2, skills, table_names
from .words import SCHEMA as POSTINGS_SCHEMA
from .words import Levels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PASSAGES, DEEP_VECTORS, HELD, COMMITS = "passages", "deep", "held", "commits"
WORDS, BESIDE = "postings", "beside"
VERSIONED = (PASSAGES, DEEP_VECTORS, HELD, WORDS, BESIDE, ENTRIES)
IDS = 500  # in one condition
SETTLED = 20_000  # passages more than when indexes were last made, or half as many more: they are made again
WAITING = 5_000  # passages that no index holds, at the end of a sync: comparing them takes some milliseconds
LOOSE = 64  # commits, each of which leaves a small file in every table that it wrote to
EXACT_UP_TO = 20_000  # passages; an exact scan of more takes longer than an index, which is a copy of one bit a number
PARTITION = 10_000  # passages in a partition of that index
ROUNDS = 3  # of clustering: since all partitions are looked at, better ones find no more
LINGERS = timedelta(minutes=10)  # how long versions stay for readers that still look at them
AT_ONCE = timedelta(milliseconds=1)
LOCK_WAIT = 600  # seconds

FILTERED = (
    pa.field("kind", pa.utf8()),
    pa.field("status", pa.utf8()),
    pa.field("importance", pa.int32()),
    pa.field("created", pa.int64()),
    pa.field("agent", pa.utf8()),
    pa.field("tags", pa.utf8()),
    pa.field("type_name", pa.utf8()),
    pa.field("category", pa.utf8()),
    pa.field("entities", pa.utf8()),
    pa.field("session", pa.utf8()),
)
PLACE = (
    pa.field("n", pa.int32(), nullable=False),
    pa.field("id", pa.utf8(), nullable=False),
    pa.field("number", pa.int32(), nullable=False),
    pa.field("field", pa.utf8(), nullable=False),
    pa.field("alone", pa.bool_(), nullable=False),
)
TEXTS = (
    pa.field("head", pa.utf8()),
    pa.field("text", pa.utf8()),
    pa.field("around", pa.utf8()),
    pa.field("heading", pa.utf8()),
    pa.field("line", pa.int32()),
    pa.field("words", pa.int32()),  # tokens
    pa.field("beside", pa.int32()),  # tokens with surroundings; -1 where it stands alone
)
HELD_SCHEMA = pa.schema(
    [pa.field("id", pa.utf8(), nullable=False), pa.field("digest", pa.utf8()), pa.field("deep", pa.bool_())]
)
INDEXED = (
    (PASSAGES, "n", BTree),
    (PASSAGES, "id", BTree),
    (PASSAGES, "status", Bitmap),
    (PASSAGES, "kind", Bitmap),
    (WORDS, "term", BTree),
    (BESIDE, "term", BTree),
)


def schemas(dims: int) -> dict[str, pa.Schema]:
    """Of our own tables. A vector is null where nothing is known of a passage: it is close to nothing."""
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
    """What `commits` says."""

    generation: str
    dims: int
    versions: Mapping[str, int]
    next: int = 0  # row number of the next passage
    segment: int = 0  # number of the next segment
    words: Levels = []
    beside: Levels = []
    settled: int = 0  # passages when indexes were last made
    tidy: int = 0  # passages when the tables were last put in order, and all of them in the indexes
    loose: int = 0  # commits since then


class Tables:
    """All tables as the last commit left them, or with what was written since `begin`."""

    def __init__(self, place: str, dims: int):
        self.place = place
        self.dims = dims
        self.writing = False
        self._erased = False
        self._local = "://" not in place
        self._lock = Lock(os.path.join(place, "writing.lock")) if self._local else None
        self._open()

    def __getitem__(self, name: str) -> Any:
        return self._tables[name]

    def rows(self, table: str, where: str, columns: list[str], limit: int | None = None) -> list[dict[str, Any]]:
        """These columns of the rows for which a condition holds."""
        found: list[dict[str, Any]] = (
            self._tables[table].search().where(where).select(columns).limit(limit).to_arrow().to_pylist()
        )
        return found

    def delete(self, table: str, ids: Sequence[str]) -> None:
        """Remove the rows of these memories."""
        for start in range(0, len(ids), IDS):
            self._tables[table].delete(among("id", ids[start : start + IDS]))

    # Opening, and which versions belong together

    def _open(self) -> None:
        try:
            self._db = lancedb.connect(self.place)
            names = table_names(self._db)
            if COMMITS in names:
                try:
                    self._open_tables()
                    return
                except (ValueError, OSError, RuntimeError):
                    if not self._local:
                        raise
            self._make(names)
        except (ValueError, OSError, RuntimeError) as failure:
            said = str(failure).partition("\n")[0][:200]
            raise IndexBroken(f"the lancedb store cannot be opened: {said}", "check its folder or url") from None

    def _open_tables(self) -> None:
        self._commits = self._db.open_table(COMMITS)
        self._tables = {name: self._db.open_table(name) for name in VERSIONED}
        self._look()

    def _make(self, names: set[str]) -> None:
        """Make what is missing; `commits` last, since it says that the others are there."""
        if ENTRIES in names and not is_schema_v2(self._db.open_table(ENTRIES).schema):
            raise Refused(f"{ENTRIES} in {self.place} has the schema V1", "run 'rawkomem store migrate'")
        for name, schema in ((ENTRIES, entries_v2(self.dims)), (BLOCKS, blocks()), (SKILLS, skills(self.dims))):
            self._db.create_table(name, schema=schema, exist_ok=True)
        self._tables = {ENTRIES: self._db.open_table(ENTRIES)}
        for name, schema in schemas(self.dims).items():
            self._tables[name] = self._db.create_table(name, schema=schema, mode=_mode(name, names))
        self.state = State(token_hex(8), self.dims, self._versions())
        self._commits = self._db.create_table(COMMITS, self._row(), mode=_mode(COMMITS, names))
        self._look()

    def refresh(self) -> bool:
        """See what others committed; whether there is anything new to see."""
        if self.writing:
            return False
        self._commits.checkout_latest()
        if self._commits.version == self.seen:
            return False
        self._look()
        return True

    def _look(self) -> None:
        """See the tables as the last commit left them."""
        self.seen = self._commits.version  # the commit that is looked at
        self.state = State(**json.loads(self._commits.to_arrow()["state"][0].as_py()))
        for name, version in self.state.versions.items():
            self._tables[name].checkout(version)

    def _versions(self) -> dict[str, int]:
        return {name: self._tables[name].version for name in VERSIONED}

    def _row(self) -> pa.Table:
        return pa.table({"state": [json.dumps(as_dict(self.state))]})

    # Writing

    def begin(self) -> None:
        """Go to the end of the tables, which is where the last commit left them, or is made so."""
        if self._lock and not self._lock.acquire(LOCK_WAIT):
            raise Busy("another process writes to the lancedb store", "try again, or end the process that hangs")
        self._commits.checkout_latest()
        self._look()
        for name, version in self.state.versions.items():
            self._tables[name].checkout_latest()
            if self._tables[name].version != version:
                self._tables[name].restore(version)
        self.writing = True

    def commit(self, last: bool) -> None:
        """Make all that was written what readers see; `last`: no more is to come soon."""
        self._settle(last)
        self._commits.checkout_latest()
        if self._commits.version != self.seen:
            self.stop()
            raise Busy("another program wrote to the lancedb store", "run 'rawkomem sync' again")
        self._record()
        if self._erased:  # what was erased may be a text that must be gone: no old version stays
            self._tidy(AT_ONCE)
            self._record()
        self.stop()

    def stop(self) -> None:
        """Let go; what was not committed is at the end of the tables, where no reader looks."""
        self.writing = self._erased = False
        if self._lock and self._lock.descriptor >= 0:
            self._lock.release()
        self._commits.checkout_latest()
        self._look()

    def erase(self, ids: Sequence[str]) -> None:
        """Forget everything: these memories, which are all that are held. What stood in memory_entries before stays."""
        self.delete(ENTRIES, ids)
        if self._tables[ENTRIES].schema.field("vector").type.list_size != self.dims:
            if self._tables[ENTRIES].count_rows():
                raise Refused(f"{ENTRIES} holds vectors of another length", "choose another folder or url")
            self._tables[ENTRIES] = self._db.create_table(ENTRIES, schema=entries_v2(self.dims), mode="overwrite")
        for name, schema in schemas(self.dims).items():
            self._tables[name] = self._db.create_table(name, schema=schema, mode="overwrite")
        self.state = State(token_hex(8), self.dims, {})
        self._erased = True

    def _record(self) -> None:
        self.state = replace(self.state, versions=self._versions())
        self._commits.add(self._row(), mode="overwrite")

    def _settle(self, last: bool) -> None:
        """Put the tables in order after many commits, and make indexes anew once much was put.

        Passages that came since are compared one by one, so that few of them may be left when a sync has ended."""
        passages = self._tables[PASSAGES].count_rows()
        grown = passages - self.state.settled >= max(SETTLED, self.state.settled // 2)
        self.state = replace(self.state, loose=self.state.loose + 1)
        waiting = last and self.state.settled and passages - self.state.tidy >= WAITING
        if not grown and not waiting and self.state.loose < LOOSE:
            return
        self._tidy(LINGERS)
        self.state = replace(self.state, loose=0, tidy=passages)
        if grown:
            self._make_indexes()
            self.state = replace(self.state, settled=passages)

    def _tidy(self, lingers: timedelta) -> None:
        """Few large files instead of many small ones, indexes that hold all rows, and no versions older than this."""
        for table in (*self._tables.values(), self._commits):
            table.optimize(cleanup_older_than=lingers, delete_unverified=lingers == AT_ONCE)

    def _make_indexes(self) -> None:
        for name, column, kind in INDEXED:
            self._tables[name].create_index(column, config=kind(), replace=True)
        for name in (PASSAGES, DEEP_VECTORS):
            rows = self._tables[name].count_rows("vector IS NOT NULL")
            if rows > EXACT_UP_TO:
                bits = IvfRq(distance_type="l2", num_partitions=1 + rows // PARTITION, max_iterations=ROUNDS)
                self._tables[name].create_index("vector", config=bits, replace=True)


def _mode(name: str, names: set[str]) -> str:
    return "overwrite" if name in names else "create"
