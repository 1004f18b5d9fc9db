"""The tables of the LanceDB store, those of RFC-0011, and how several tables are committed as one.

memory_entries   RFC-0011's table of memories: one row per memory in this store, among rows of other programs
yamo_blocks, synthesized_skills   the RFC's other tables, which a search does not need: `publish` fills them
held       the memories in this store: digest, and whether they have contextual vectors
passages   their passages, with the columns that filters use; vectors are whole numbers, packed as in the SQLite store
deep       the contextual vectors, with the same columns
postings, beside   which passages contain a term, without and with their surroundings. A segment holds the postings of
           one batch; eight segments of a level are merged into one of the next level
commits    one row that names the versions of all these tables that belong together

LanceDB keeps versions of each table, but has no transaction over several tables. So a writer adds
new versions, readers use the versions that `commits` names, and replacing its one row is the
commit. A writer first restores the versions that `commits` names, which discards the versions of a
process that was killed.

memory_entries cannot be restored like this, because other programs write to it, too. It is written last. Before that,
`commits` lists the rows that will be written. A writer that finds such a list restores these rows from the version
before, and leaves all other rows alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any, cast

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import Bitmap, BTree, IvfRq

from ....files.private import lock_in
from ....format.mesh_fields import STORE_MARK_KEY
from ....model.entries import Memory
from ....model.errors import Busy, IndexBroken, NotFound, Refused
from ....model.filters import ALL_OF, ANY_OF, AT_LEAST, Filter, asked
from ....model.values import IMPORTANCE, as_dict, record, replace
from ....state.strength import entry_row
from ..protocol import BREAK, Migrated, Missing, is_url, lance_message, occurrences
from ..sqlite import BATCH_FILES, BODY, COLUMNS, Document, Passage, comparable, head_of, lined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Postings = tuple[NDArray[np.int32], NDArray[np.uint16]]

Row = dict[str, Any]


# Writes conditions in LanceDB's SQL: columns come from a closed set, and values are literals.

RENAMED = {
    "by": "agent",
    "type": "type_name",
}  # facets whose names mean something else in LanceDB's SQL


def sql_literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def among(column: str, values: Collection[str] | Collection[int]) -> str:
    """Return the condition that a column has one of these values."""
    literals = (sql_literal(value) if isinstance(value, str) else str(value) for value in values)
    return f"{column} IN ({', '.join(literals)})" if values else "false"


def filter_condition(only: Filter) -> str:
    """Return the condition that a row passes the filter; empty for a filter that lets everything through."""
    where: list[str] = []
    for field, wanted in asked(only):
        column = RENAMED.get(field.column, field.column)
        if field.compare == ANY_OF:
            where.append(among(column, wanted))
        elif field.compare == ALL_OF:
            where += [f"contains({column}, {sql_literal(lined([name]))})" for name in wanted]
        else:
            where.append(f"{column} {'>=' if field.compare == AT_LEAST else '<'} {int(wanted)}")
    return " AND ".join(where)


# The LanceDB tables of RFC-0011 §2: memory_entries in both its schemas, yamo_blocks,
# synthesized_skills.

ENTRIES, BLOCKS, SKILLS = "memory_entries", "yamo_blocks", "synthesized_skills"
TEXT, MOMENT = pa.utf8(), pa.timestamp("ms")


def required_columns(**kinds: pa.DataType) -> tuple[pa.Field, ...]:
    """Return columns that must not be null, by name."""
    return tuple(pa.field(name, kind, nullable=False) for name, kind in kinds.items())


def optional_columns(**kinds: pa.DataType) -> tuple[pa.Field, ...]:
    """Return columns that may be null, by name."""
    return tuple(pa.field(name, kind) for name, kind in kinds.items())


PROMOTED = (  # §2.2; `session_id` tells V2 from V1
    *optional_columns(
        session_id=TEXT,
        agent_id=TEXT,
        memory_type=TEXT,
        importance_score=pa.float32(),
        access_count=pa.int32(),
    ),
    *optional_columns(
        last_accessed=MOMENT, heritage_chain=TEXT, lesson_pattern_id=TEXT, source_skill_id=TEXT
    ),
)


def entries_v1(dims: int) -> pa.Schema:
    """Return the schema of §2.1."""
    own = required_columns(id=TEXT, vector=pa.list_(pa.float32(), dims), content=TEXT)
    return pa.schema(
        [
            *own,
            *optional_columns(metadata=TEXT),
            *required_columns(created_at=MOMENT),
            *optional_columns(updated_at=MOMENT),
        ]
    )


def entries_v2(dims: int) -> pa.Schema:
    """Return the schema of §2.2."""
    return pa.schema([*entries_v1(dims), *PROMOTED])


def blocks_schema() -> pa.Schema:
    """Return the schema of §2.3."""
    said = required_columns(operation_type=TEXT, yamo_text=TEXT, timestamp=MOMENT)
    hashes = optional_columns(block_hash=TEXT, prev_hash=TEXT, metadata=TEXT)
    return pa.schema([*required_columns(id=TEXT), *optional_columns(agent_id=TEXT), *said, *hashes])


def skills_schema(dims: int) -> pa.Schema:
    """Return the schema of §2.4."""
    own = required_columns(
        id=TEXT, name=TEXT, intent=TEXT, yamo_text=TEXT, vector=pa.list_(pa.float32(), dims)
    )
    return pa.schema([*own, *optional_columns(metadata=TEXT), *required_columns(created_at=MOMENT)])


def published_schemas(dims: int) -> dict[str, pa.Schema]:
    """Return the schemas of the tables that only `publish` fills, by name."""
    return {BLOCKS: blocks_schema(), SKILLS: skills_schema(dims)}


def is_schema_v2(schema: pa.Schema) -> bool:
    """Tell whether a table has the promoted fields."""
    return "session_id" in schema.names


def is_schema_v1(schema: pa.Schema) -> bool:
    """Tell whether a table of memories lacks the promoted fields."""
    return not is_schema_v2(schema) and {"id", "vector", "content", "metadata"} <= set(schema.names)


def table_names(db: Any) -> set[str]:
    """Return the names of all tables of a database."""
    names: set[str] = set()
    token = None
    while True:
        page = db.list_tables(page_token=token)
        names.update(page.tables)
        token = page.page_token
        if not token:
            return names


# Turns memories into rows of our own table `passages`, and of RFC-0011's memory_entries.

STORE = {
    STORE_MARK_KEY: "rawkomem"
}  # in the metadata of each row that we write to the tables of the RFC
OURS = f"metadata LIKE '%{json.dumps(STORE)[1:-1]}%'"


def passage_row(n: int, document: Document, at: int, passage: Passage) -> dict[str, Any]:
    """Return a row of `passages`, without its vector and its counts of words."""
    return {
        "n": n,
        "number": at,
        "field": passage.field,
        "alone": not passage.around,
        "head": head_of(document, passage),
        "text": passage.text,
        "around": passage.around,
        "heading": passage.heading,
        "line": passage.line,
        **{
            RENAMED.get(column, column): value
            for column, value in comparable(document.facets).items()
        },
    }


def marked_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for a table of the RFC, with metadata (JSON text) that marks it as ours."""
    return {**row, "metadata": json.dumps({**STORE, **row.get("metadata", {})}, ensure_ascii=False)}


def _entry_row(document: Document) -> dict[str, Any]:
    """Return the row of a document. An access count of 0 becomes null, because usage is not known here."""
    row = entry_row(document.memory or _memory_of_document(document))
    return marked_row({**row, "access_count": row["access_count"] or None})


def _memory_of_document(document: Document) -> Memory:
    """Return a memory made from a document alone, for a document without a memory."""
    facets = document.facets
    return Memory(
        document.id,
        facets.kind,
        title=document.title,
        body="\n\n".join(passage.text for passage in document.passages if passage.field == BODY),
        tags=facets.tags,
        importance=IMPORTANCE[facets.importance],
        status=facets.status,
        by=facets.by,
        created=facets.created,
        updated=facets.created,
        extra={"type": facets.type, "session": facets.session},
    )


def _memory_vector(document: Document, dims: int) -> NDArray[np.float32]:
    """Return a memory's own vector: the direction of the sum of its passages' vectors."""
    total = np.zeros(dims, dtype=np.float32)
    for passage in document.passages:
        if passage.field == BODY:
            total += np.frombuffer(passage.vector, dtype="<f4")
    size = float(np.linalg.norm(total))
    return total / np.float32(size) if size else total


# Keeps posting lists in LanceDB tables: which passages contain a term, and how often.
#
# A segment holds the postings of one batch, with one row per term. Eight segments of a level are
# merged into one of the next level, so that a term has few rows. Deleted passages stay in the
# lists until a merge.

SEGMENTS_PER_LEVEL = 8
POSTINGS_SCHEMA = pa.schema(
    required_columns(
        term=TEXT, segment=pa.int32(), numbers=pa.list_(pa.int32()), times=pa.list_(pa.uint16())
    )
)

Levels = list[list[int]]  # the segments of each level


def segment_of(rows: Iterable[tuple[int, list[str]]], segment: int) -> pa.Table:
    """Return the posting lists of these passages, by term."""
    known: dict[str, int] = {}
    terms: list[int] = []
    numbers: list[int] = []
    for number, row in rows:
        own = [known.setdefault(term, len(known)) for term in row if term != BREAK]
        terms += own
        numbers += [number] * len(own)
    pairs = np.array(terms, dtype=np.int64) << 32 | np.array(numbers, dtype=np.int64)
    unique, times = np.unique(pairs, return_counts=True)
    return _posting_table(list(known), unique >> 32, unique & 0xFFFFFFFF, times, segment)


def merged_segments(table: pa.Table, alive: NDArray[np.bool_], segment: int) -> pa.Table:
    """Return several segments as one, without deleted passages."""
    encoded = table["term"].combine_chunks().dictionary_encode()
    lists = table["numbers"].combine_chunks()
    sizes = np.diff(lists.offsets.to_numpy())
    codes = np.repeat(encoded.indices.to_numpy(), sizes)
    numbers = lists.flatten().to_numpy()
    times = table["times"].combine_chunks().flatten().to_numpy()
    kept = alive[numbers]
    codes, numbers, times = codes[kept], numbers[kept], times[kept]
    order = np.lexsort((numbers, codes))
    return _posting_table(
        encoded.dictionary.to_pylist(), codes[order], numbers[order], times[order], segment
    )


def _posting_table(
    terms: Sequence[str],
    codes: NDArray[Any],
    numbers: NDArray[Any],
    times: NDArray[Any],
    segment: int,
) -> pa.Table:
    """Return rows of SCHEMA from postings that are sorted by term."""
    present, starts = np.unique(codes, return_index=True)
    offsets = pa.array([*starts, len(codes)], type=pa.int32())
    lists = pa.ListArray.from_arrays(offsets, pa.array(numbers.astype(np.int32)))
    counts = pa.ListArray.from_arrays(
        offsets, pa.array(np.minimum(times, 65_535).astype(np.uint16))
    )
    held = pa.array([terms[code] for code in present], type=TEXT)
    return pa.table(
        [held, pa.array(np.full(len(present), segment, dtype=np.int32)), lists, counts],
        schema=POSTINGS_SCHEMA,
    )


def look_up(table: Any, terms: Collection[str], alive: NDArray[np.bool_]) -> dict[str, Postings]:
    """Return the postings of these terms, without deleted passages."""
    nothing = (np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint16))
    if not terms:
        return {}
    found = (
        table.search().where(among("term", terms)).select(["term", "numbers", "times"]).to_arrow()
    )
    parts: dict[str, list[Postings]] = {term: [nothing] for term in terms}
    for term, numbers, times in zip(
        *(found[name] for name in ("term", "numbers", "times")), strict=True
    ):
        parts[term.as_py()].append((numbers.values.to_numpy(), times.values.to_numpy()))
    return {term: _joined_postings(own, alive) for term, own in parts.items()}


def _joined_postings(parts: Sequence[Postings], alive: NDArray[np.bool_]) -> Postings:
    numbers = np.concatenate([numbers for numbers, _ in parts])
    times = np.concatenate([times for _, times in parts])
    kept = alive[numbers]
    order = np.argsort(numbers[kept], kind="stable")  # quick, because each part is sorted
    return numbers[kept][order], times[kept][order]


def phrase_postings(
    phrase: Sequence[str], postings: Mapping[str, Postings], row: Callable[[int], list[str]]
) -> Postings:
    """Return the postings of a phrase; `row` returns a row's terms, to check that the phrase's terms are adjacent."""
    numbers, times = postings[phrase[0]]
    if len(phrase) == 1:
        return numbers, times
    for term in phrase[1:]:
        numbers = np.intersect1d(numbers, postings[term][0], assume_unique=True)
    times = np.array([occurrences(phrase, row(int(number))) for number in numbers], dtype=np.uint16)
    return numbers[times > 0], times[times > 0]


def full_level(levels: Levels) -> int | None:
    """Return the lowest level that has enough segments to be merged."""
    return next(
        (level for level, segments in enumerate(levels) if len(segments) >= SEGMENTS_PER_LEVEL),
        None,
    )


# The tables of the LanceDB store, and how several tables are committed as one.
#
# - memory_entries: RFC-0011's table of memories: one row per memory in this store, among rows of
#   other programs
# - yamo_blocks, synthesized_skills: the RFC's other tables, which a search does not need
# - held: the memories in this store: digest, and whether they have contextual vectors
# - passages: their passages, with the columns that filters use; vectors are whole numbers, packed
#   as in the SQLite store
# - deep: the contextual vectors, with the same columns
# - postings, beside: which passages contain a term, without and with their surroundings
# - commits: one row that names the versions of all these tables that belong together
#
# LanceDB keeps versions of each table, but has no transaction over several tables. So a writer
# adds new versions, readers use the versions that `commits` names, and replacing its one row is
# the commit. A writer first restores the versions that `commits` names, which discards the
# versions of a process that was killed.
#
# memory_entries cannot be restored like this, because other programs write to it, too. It is
# written last. Before that, `commits` lists the rows that will be written. A writer that finds
# such a list restores these rows from the version before, and leaves all other rows alone.

os.environ.setdefault(
    "LANCEDB_LOG", "error"
)  # else it prints harmless messages about merged partitions


PASSAGES, DEEP_VECTORS, HELD, COMMITS = "passages", "deep", "held", "commits"
WORDS, BESIDE = "postings", "beside"
VERSIONED = (PASSAGES, DEEP_VECTORS, HELD, WORDS, BESIDE)
MAX_IDS = 500  # ids in one condition
SETTLE_PASSAGES = 20_000  # new passages after which indexes are rebuilt; in a large store, half as many as they hold
MAX_FILL_PASSAGES = 1_000_000  # new passages after which indexes are built before the end of a sync
MAX_UNINDEXED_PASSAGES = (
    5_000  # passages outside the indexes after a sync: comparing them takes some milliseconds
)
MAX_LAST_COMMITS = 8  # at the end of a sync, the tables are compacted after this many commits
MAX_LOOSE_COMMITS = 64  # at other times after this many; each commit adds a small file to the tables that it changes
MAX_EXACT_PASSAGES = (
    20_000  # an exact scan of more passages is slower than the vector index, a copy in bits
)
PARTITION_PASSAGES = 10_000  # passages in a partition of the vector index
CLUSTERING_ROUNDS = 3  # all partitions are searched, so better ones would find no more
VERSIONS_KEPT = timedelta(
    seconds=10
)  # old versions stay this long for questions that still use them
FILL_VERSIONS_KEPT = timedelta(
    seconds=1
)  # … this long after a first fill, whose old versions double its size
AT_ONCE = timedelta(milliseconds=1)
FOREVER = timedelta(days=36_500)

INTEGERS = {
    "importance": pa.int32(),
    "created": pa.int64(),
    "vouched": pa.int32(),
}  # the other facets are texts
FILTERED = optional_columns(
    **{RENAMED.get(name, name): INTEGERS.get(name, TEXT) for name in COLUMNS if name != "id"}
)
PLACE = required_columns(n=pa.int32(), id=TEXT, number=pa.int32(), field=TEXT, alone=pa.bool_())
PACKED = {
    "lance-encoding:compression": "zstd"
}  # a passage's text is also in the surroundings of others
TEXTS = (
    *optional_columns(head=TEXT),
    *(pa.field(name, TEXT, metadata=PACKED) for name in ("text", "around")),
    *optional_columns(heading=TEXT, line=pa.int32()),
    *optional_columns(
        words=pa.int32(), beside=pa.int32()
    ),  # tokens, without and with surroundings; -1 if it has none
)
HELD_SCHEMA = pa.schema(
    [*required_columns(id=TEXT), *optional_columns(digest=TEXT, deep=pa.bool_())]
)
TERM = {"term": BTree}
INDEXED = {
    PASSAGES: {"n": BTree, "id": BTree, "status": Bitmap, "kind": Bitmap},
    WORDS: TERM,
    BESIDE: TERM,
}


def own_schemas(dims: int) -> dict[str, pa.Schema]:
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

    def rows(
        self, table: str, where: str, columns: list[str], limit: int | None = None
    ) -> list[dict[str, Any]]:
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
            said = lance_message(failure, self.place)
            raise IndexBroken(
                f"the lancedb store cannot be opened: {said}", "check its folder or url"
            ) from None

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
        for name, schema in {
            ENTRIES: entries_v2(self.dims),
            **published_schemas(self.dims),
        }.items():
            self.db.create_table(name, schema=schema, exist_ok=True)
        self._tables = {ENTRIES: self.db.open_table(ENTRIES)}
        self._tables[ENTRIES].delete(OURS)  # rows of a store that was lost
        for name, schema in own_schemas(self.dims).items():
            self._tables[name] = self.db.create_table(name, schema=schema, mode="overwrite")
        self.state = State(token_hex(8), self.dims, self._versions())
        self._commits = self.db.create_table(COMMITS, _state_row(self.state), mode="overwrite")
        self._look()

    def _refuse_v1(self) -> None:
        """Raise Refused if memory_entries has schema V1 by now."""
        self._tables[ENTRIES].checkout_latest()
        if not is_schema_v2(self._tables[ENTRIES].schema):
            where = "your url" if is_url(self.place) else self.place
            raise Refused(
                f"{ENTRIES} in {where} has the schema V1", "run 'rawkomem index store migrate'"
            )

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
        self.state = self._committed = State(
            **json.loads(self._commits.to_arrow()["state"][0].as_py())
        )
        for name in VERSIONED:
            self._tables[name].checkout(self.state.versions[name])

    def _versions(self) -> dict[str, int]:
        return {name: self._tables[name].version for name in VERSIONED}

    # Writing

    def begin(self) -> None:
        """Start writing; discard the changes of a killed writer. Raise Busy while another process writes."""
        if self._lock and not self._lock.acquire():
            raise Busy(
                "another process is writing to the lancedb store",
                "try again, or end that process if it hangs",
            )
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
        found = [
            table.search().where(among("id", ids)).limit(None)
            for ids in _pieces(self.state.touched)
        ]
        return pa.concat_tables([query.to_arrow() for query in found])

    def commit(self, changed: Mapping[str, Document | None]) -> None:
        """Make all changes visible to readers. `changed`: the memories put, or dropped (None), since `begin`.

        Raise Busy if another program has committed since.
        """
        self._commits.checkout_latest()
        if self._commits.version != self.seen:
            raise Busy(
                "another program wrote to the lancedb store", "run 'rawkomem index sync' again"
            )
        if changed:
            self._write_entries(changed)
        if self._erased:
            for name, schema in published_schemas(self.dims).items():
                table = self.db.open_table(name)
                table.delete(OURS)
                if not table.count_rows():  # the length of vectors may have changed
                    self.db.create_table(name, schema=schema, mode="overwrite")
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
        self._say(
            replace(self._committed, touched=[*changed], before=self._tables[ENTRIES].version)
        )
        self.delete(ENTRIES, [*changed])
        if not self._fits_entries():
            self._tables[ENTRIES] = self.db.create_table(
                ENTRIES, schema=entries_v2(self.dims), mode="overwrite"
            )
        documents = [document for document in changed.values() if document]
        if documents:
            schema = entries_v2(self.dims)
            rows = [_entry_row(document) for document in documents]
            vectors = np.concatenate(
                [_memory_vector(document, self.dims) for document in documents]
            )
            columns = {"vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors), self.dims)}
            columns |= {
                field.name: pa.array([row.get(field.name) for row in rows], type=field.type)
                for field in schema
                if field.name not in columns
            }
            self._tables[ENTRIES].add(
                pa.table([columns[name] for name in schema.names], schema=schema)
            )

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
        if not self._fits_entries() and self._tables[ENTRIES].count_rows(
            f"metadata IS NULL OR NOT ({OURS})"
        ):
            raise Refused(
                f"{ENTRIES} holds other programs' vectors of another length",
                "choose another folder or url",
            )
        for name, schema in own_schemas(self.dims).items():
            self._tables[name] = self.db.create_table(name, schema=schema, mode="overwrite")
        self.state = State(token_hex(8), self.dims, {})
        self._erased = True

    def _fits_entries(self) -> bool:
        """Tell whether our vectors have the length of those in memory_entries."""
        return bool(self._tables[ENTRIES].schema.field("vector").type.list_size == self.dims)

    def _say(self, state: State) -> None:
        """Replace the one row of `commits`."""
        self._commits.add(_state_row(state), mode="overwrite")
        self.seen = self._commits.version

    def _settle(self, last: bool) -> bool:
        """Compact the tables after many commits, and rebuild indexes after many rows; return whether it compacted."""
        passages = self._tables[PASSAGES].count_rows()
        added = passages - self.state.settled
        grown = added >= max(SETTLE_PASSAGES, self.state.settled // 2) and (
            last or added >= MAX_FILL_PASSAGES
        )
        self.state = replace(self.state, loose=self.state.loose + 1)
        waiting = (
            last and self.state.settled and passages - self.state.tidy >= MAX_UNINDEXED_PASSAGES
        )
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
        beside = [self.db.open_table(name) for name in published_schemas(self.dims)]
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
                bits = IvfRq(
                    distance_type="l2", num_partitions=partitions, max_iterations=CLUSTERING_ROUNDS
                )
                self._tables[name].create_index("vector", config=bits, replace=True)


def _state_row(state: State) -> pa.Table:
    return pa.table({"state": [json.dumps(as_dict(state))]})


def _pieces(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Return the ids in pieces of at most MAX_IDS."""
    return (ids[start : start + MAX_IDS] for start in range(0, len(ids), MAX_IDS))


# Migrates memory_entries from V1 to V2 and back (RFC-0011 §11).
#
# The rows are copied to the backup first; then one commit adds the nullable columns. So a killed
# migration leaves V1 or V2 with the same rows, and can be run again.

BACKUP = "memory_entries_v1_backup"
BACKUP_KEPT = timedelta(days=30)  # §11: how long a backup stays


def migrate_entries(db: Any, now: datetime) -> Migrated:
    """Migrate memory_entries from V1 to V2; if it is V2, delete an expired backup."""
    if ENTRIES not in table_names(db):
        raise NotFound(
            f"there is no table {ENTRIES}", "name the folder or url of a LanceDB that has one"
        )
    table = db.open_table(ENTRIES)
    if not is_schema_v1(table.schema):
        return Migrated(table.count_rows(), False, remove_old_backup(db, now))
    if BACKUP in table_names(db):
        db.drop_table(BACKUP)  # of an interrupted migration: the rows may have changed since
    db.create_table(BACKUP, table.to_arrow())
    table.add_columns(list(PROMOTED))
    return Migrated(table.count_rows(), True)


def rollback_entries(db: Any, anyway: bool) -> int:
    """Restore memory_entries from the backup; return how many rows it has. Newer rows are lost only with `anyway`."""
    if BACKUP not in table_names(db):
        raise NotFound(
            "there is no backup to restore",
            "a backup is kept for 30 days; later a migration is final",
        )
    backup, table = db.open_table(BACKUP), db.open_table(ENTRIES)
    if not is_schema_v1(table.schema):
        kept = set(backup.to_arrow()["id"].to_pylist())
        since = [id for id in table.to_arrow()["id"].to_pylist() if id not in kept]
        if since and not anyway:
            message = f"{len(since)} memories were added since the migration and would be lost"
            raise Refused(message, "pass --anyway to lose them")
        if COMMITS in table_names(db):
            db.drop_table(
                COMMITS
            )  # a search store in this database loses its rows and starts again
        db.create_table(ENTRIES, backup.to_arrow(), mode="overwrite")  # one commit
    db.drop_table(BACKUP)
    return int(db.open_table(ENTRIES).count_rows())


def remove_old_backup(db: Any, now: datetime) -> bool:
    """Delete the backup if it is older than 30 days; return whether it was."""
    if BACKUP not in table_names(db):
        return False
    (made, *_) = (version["timestamp"] for version in db.open_table(BACKUP).list_versions())
    if now - made.replace(tzinfo=now.tzinfo) < BACKUP_KEPT:
        return False
    db.drop_table(BACKUP)
    return True


# Fills the tables of RFC-0011 with data that a search does not need: blocks of the ledger, skills,
# more columns.


def publish(
    place: str, dims: int, known: Mapping[str, Row], ledger: Sequence[Row], made: Sequence[Row]
) -> int:
    """Fill the tables, each in one commit; rows of other programs stay. Return how many memories have a row."""
    tables = Tables(place, dims)
    tables.begin()
    try:
        filled = _fill_entries(tables, known)
        for (name, schema), rows in zip(
            published_schemas(dims).items(), (ledger, made), strict=True
        ):
            _replace_ours(tables.db, name, schema, rows)
    finally:
        tables.stop()
    return filled


def publish_new(
    place: str, dims: int, known: Mapping[str, Row], missing: Missing, made: Sequence[Row] | None
) -> bool:
    """Add new rows; return False and write nothing if the new blocks do not continue the table."""
    tables = Tables(place, dims)
    tables.begin()
    try:
        table = tables.db.open_table(BLOCKS)
        found = missing(table.count_rows(OURS))
        if found is None or (found[0] and not table.count_rows(among("id", [found[0]]))):
            return False
        if found[1]:
            table.add(
                pa.Table.from_pylist([marked_row(row) for row in found[1]], schema=blocks_schema())
            )
        if known:
            _fill_entries(tables, known, among("id", [*known]))
        if made is not None:
            _replace_ours(tables.db, SKILLS, skills_schema(dims), made)
    finally:
        tables.stop()
    return True


def _fill_entries(tables: Tables, known: Mapping[str, Row], where: str = "true") -> int:
    """Update the columns of our rows from `known`; return how many rows these are."""
    found = tables[ENTRIES].search().where(f"{OURS} AND {where}").limit(None).to_arrow()
    ids = found["id"].to_pylist()
    rows = {id: marked_row(known[id]) if id in known else {} for id in ids}
    for name in {column for row in rows.values() for column in row} & set(found.schema.names) - {
        "id"
    }:
        field = found.schema.field(name)
        filled = pa.array([rows[id].get(name) for id in ids], type=field.type)
        found = found.set_column(found.schema.get_field_index(name), field, filled)
    if ids:
        tables[ENTRIES].merge_insert("id").when_matched_update_all().execute(found)
    return len(ids)


def _replace_ours(db: Any, name: str, schema: pa.Schema, rows: Sequence[Row]) -> None:
    """Replace our rows of a table."""
    filled = pa.Table.from_pylist([marked_row(row) for row in rows], schema=schema)
    merging = (
        db.open_table(name)
        .merge_insert("id")
        .when_matched_update_all()
        .when_not_matched_insert_all()
    )
    merging.when_not_matched_by_source_delete(OURS).execute(filled)
