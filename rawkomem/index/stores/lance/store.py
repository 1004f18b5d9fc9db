"""The LanceDB vector store: one table with a row for each passage, which holds its vectors and the columns
that filters use.

Vectors are whole numbers, packed as in the SQLite store. A contextual vector is null until it is computed. LanceDB
commits each change of a table as a whole, so readers never see a part of one. RFC-0011's memory_entries (tables.py) is
written after it. If a process is killed in between, the index has not committed either: the next sync compares the
digests and writes the memory again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lancedb.index import Bitmap, BTree, IvfRq

from ....model.filters import Filter
from ..protocol import CollectingStore, is_url, lance_errors
from ..sqlite import (
    BATCH_FILES,
    BODY,
    COLUMNS,
    DEEP,
    FIRST,
    Document,
    Hit,
    best_hits,
    comparable,
    cosine_of,
    pack,
    pack_all,
    with_ties,
)
from .tables import (
    OURS,
    PASSAGES,
    RENAMED,
    TEXT,
    among,
    check_lengths,
    delete_rows,
    erase_tables,
    filter_condition,
    open_tables,
    optional_columns,
    published_schemas,
    remove_old_backup,
    required_columns,
    table_names,
    write_entries,
    writing,
)

# more than there are partitions, so that all are searched and next to nothing is missed
MAX_PROBES = 100_000
REFINE_FACTOR = 4  # candidates per requested passage that get an exact distance
# divides the whole numbers: LanceDB's clustering sums float16, whose maximum is 65,504
UNIT = 128
# an exact scan of more passages is slower than the vector index, a copy in bits
MAX_EXACT_PASSAGES = 20_000
# passages outside the indexes after a sync: comparing them takes some milliseconds
MAX_UNINDEXED_PASSAGES = 5_000
# versions after which the tables are compacted: each adds a small file
COMPACTED_VERSIONS = 64
PARTITION_PASSAGES = 10_000  # passages in a partition of the vector index
CLUSTERING_ROUNDS = 3  # all partitions are searched, so better ones would find no more
# old versions stay this long for questions that still use them
VERSIONS_KEPT = timedelta(seconds=10)
AT_ONCE = timedelta(milliseconds=1)

INTEGERS = {"importance": pa.int32(), "created": pa.int64(), "vouched": pa.int32()}
FILTERED = {
    RENAMED.get(name, name): INTEGERS.get(name, TEXT)
    for name in COLUMNS
    if name != "id"
}
GENERATION = b"generation"  # key in the metadata of the table's schema
# columns
DEEP_VECTOR = "deep"
VECTOR = "vector"


class LanceStore(CollectingStore):
    """Implements OutsideStore, which documents the methods. `place`: a folder, or the url of an object store."""

    columns = COLUMNS

    def __init__(self, place: str, dims: int):
        self.place = place
        self.dims = dims
        super().__init__()
        self._counts: dict[str, int] = {}  # condition → number of passages
        with lance_errors(place):
            self._db = lancedb.connect(place)
            self._entries = open_tables(self._db, dims)
            self._open()

    def _open(self) -> None:
        if PASSAGES in table_names(self._db):
            try:
                self._table = self._db.open_table(PASSAGES)
                return
            except (ValueError, OSError, RuntimeError):
                if is_url(self.place):
                    raise
        self._entries.delete(OURS)  # rows of a store that was lost
        self._table = self._create()

    def _create(self) -> Any:
        """Create an empty table with a new generation."""
        vector = pa.list_(pa.float16(), self.dims)
        columns = required_columns(id=TEXT, number=pa.int32(), field=TEXT, digest=TEXT)
        columns += optional_columns(**FILTERED, vector=vector, deep=vector)
        schema = pa.schema(columns, metadata={GENERATION: token_hex(8)})
        return self._db.create_table(PASSAGES, schema=schema, mode="overwrite")

    def generation(self) -> str:
        """Return the generation, after reading commits of other processes. Every question calls this first."""
        version = self._table.version
        self._table.checkout_latest()
        if self._table.version != version:
            self._counts.clear()
        return f"lancedb {self._table.schema.metadata[GENERATION].decode()}"

    def erase(self) -> None:
        """Delete all our rows; rows of other programs in memory_entries stay."""
        check_lengths(self._entries, self.dims)
        super().erase()

    def _write(self, documents: Sequence[Document]) -> None:
        self._counts.clear()
        with writing(self.place):
            self._entries = open_tables(self._db, self.dims)
            self._table.checkout_latest()
            remove_old_backup(self._db, datetime.now(UTC))
            version = self._table.version
            if self._is_erased:
                self._table = self._create()
                erase_tables(self._db, self.dims)
                self._entries = open_tables(self._db, self.dims)
            if self._is_flat:
                self._table.update(values_sql={DEEP_VECTOR: "NULL"})
            if self._changed:
                ids = list(self._changed)
                self._replace(ids, self._rows(documents))
                write_entries(self._entries, ids, documents, self.dims)
            if self._deep:
                self._add_deep()
            newer = self._table.version
            is_due = version // COMPACTED_VERSIONS < newer // COMPACTED_VERSIONS
            if len(self._changed) < BATCH_FILES:
                is_due = self._make_indexes() or is_due
            if is_due or self._is_erased:
                self._tidy()

    def _rows(self, documents: Sequence[Document]) -> pa.Table:
        rows: list[dict[str, Any]] = []
        for document in documents:
            facets = comparable(document.facets).items()
            shared = {RENAMED.get(column, column): value for column, value in facets}
            for number, passage in enumerate(document.passages):
                own = {
                    "number": number,
                    "field": passage.field,
                    "digest": document.digest,
                }
                rows.append({**shared, **own})
        schema = self._table.schema
        vectors = self._vectors(
            [p.vector for document in documents for p in document.passages]
        )
        columns = [
            vectors
            if field.name == VECTOR
            else pa.array([row.get(field.name) for row in rows], type=field.type)
            for field in schema
        ]
        return pa.table(columns, schema=schema)

    def _vectors(self, vectors: Sequence[bytes]) -> pa.Array:
        """Return float32 vectors as a column; a vector of zeros becomes null."""
        fine = [packed for packed, _ in pack_all(vectors)]
        nothing = pa.array([not any(vector) for vector in fine], type=pa.bool_())
        numbers = pa.array(float16_of(b"".join(fine)))
        return pa.FixedSizeListArray.from_arrays(numbers, self.dims, mask=nothing)

    def _replace(self, ids: Sequence[str], rows: pa.Table) -> None:
        """Replace the rows of these memories in one commit; plain rows are added faster than merged."""
        if not self._table.count_rows(among("id", ids)):
            if len(rows):
                self._table.add(rows)
        elif not len(rows):
            delete_rows(self._table, ids)
        else:
            merging = self._table.merge_insert(
                ["id", "number"]
            ).when_matched_update_all()
            merging = merging.when_not_matched_insert_all()
            merging = merging.when_not_matched_by_source_delete(among("id", ids))
            merging.execute(rows, on_bad_vectors="null")

    def _add_deep(self) -> None:
        """Store contextual vectors of memories that have as many passages."""
        where = among("id", list(self._deep))
        rows = self._table.search().where(where).limit(None).to_arrow()
        rows = rows.sort_by([("id", "ascending"), ("number", "ascending")])
        counts = Counter(rows["id"].to_pylist())
        ids = sorted(id for id, own in self._deep.items() if 0 < counts[id] == len(own))
        if not ids:
            return
        rows = rows.filter(pc.is_in(rows["id"], pa.array(ids)))
        vectors = self._vectors([vector for id in ids for vector in self._deep[id]])
        field = rows.schema.field(DEEP_VECTOR)
        rows = rows.set_column(rows.schema.get_field_index(DEEP_VECTOR), field, vectors)
        self._replace(ids, rows)

    def _make_indexes(self) -> bool:
        """Rebuild the indexes of a large table after it has grown by half; return whether it must be compacted."""
        passages = self._table.count_rows()
        if passages <= MAX_EXACT_PASSAGES:
            return False
        names = {index.columns[0]: index.name for index in self._table.list_indices()}
        waiting = passages
        if "id" in names:
            waiting = self._table.index_stats(names["id"]).num_unindexed_rows
        if 3 * waiting > passages:
            for column, kind in {"id": BTree, "status": Bitmap}.items():
                self._table.create_index(column, config=kind(), replace=True)
        for column in (VECTOR, DEEP_VECTOR):
            count = self._table.count_rows(f"{column} IS NOT NULL")
            if count > MAX_EXACT_PASSAGES and (
                3 * waiting > passages or column not in names
            ):
                partitions = 1 + count // PARTITION_PASSAGES
                bits = IvfRq(
                    distance_type="l2",
                    num_partitions=partitions,
                    max_iterations=CLUSTERING_ROUNDS,
                )
                self._table.create_index(column, config=bits, replace=True)
        return bool(waiting >= MAX_UNINDEXED_PASSAGES)

    def _tidy(self) -> None:
        """Merge small files, add all rows to the indexes, and delete old versions; after an erase, all of them."""
        kept = AT_ONCE if self._is_erased else VERSIONS_KEPT
        others = [self._db.open_table(name) for name in published_schemas(self.dims)]
        for table in (self._table, self._entries, *others):
            table.optimize(cleanup_older_than=kept, delete_unverified=self._is_erased)

    # Asking

    def held(self) -> dict[str, str]:
        rows = (
            self._table.search()
            .where("number = 0")
            .select(["id", "digest"])
            .limit(None)
        )
        return {row["id"]: row["digest"] for row in rows.to_arrow().to_pylist()}

    def nearest(
        self, vector: bytes, limit: int, only: Filter, tier: str = FIRST
    ) -> list[Hit]:
        fine, _ = pack(vector)
        if not limit or not any(fine):
            return []
        where = filter_condition(only)
        passages = self._count("")
        if where and self._count(where) == passages:
            where = ""
        question = self._table.search(
            float16_of(fine), vector_column_name=DEEP_VECTOR if tier == DEEP else VECTOR
        )
        question = (
            question.distance_type("l2")
            .nprobes(MAX_PROBES)
            .refine_factor(REFINE_FACTOR)
        )
        question = question.select(["id", "number", "_distance"])
        if where:
            question = question.where(where, prefilter=True)
        if where and passages > MAX_EXACT_PASSAGES >= self._count(where):
            question = question.bypass_vector_index()

        def ask(most: int) -> list[tuple[tuple[str, int], float]]:
            rows = question.limit(most).to_arrow().to_pylist()
            near = [((row["id"], row["number"]), row["_distance"]) for row in rows]
            return sorted(
                (row for row in near if row[1] is not None), key=lambda row: row[1]
            )

        return best_hits(
            [
                Hit(id, number, cosine_of(distance * UNIT * UNIT))
                for (id, number), distance in with_ties(ask, limit)
            ],
            limit,
        )

    def _count(self, where: str) -> int:
        """Return how many passages match a condition."""
        if where not in self._counts:
            self._counts[where] = self._table.count_rows(where or None)
        return self._counts[where]

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        inside = filter(
            None, [f"field = '{BODY}' AND {VECTOR} IS NOT NULL", filter_condition(only)]
        )
        rows = (
            self._table.search()
            .where(" AND ".join(inside))
            .select(["id", "number", VECTOR])
        )
        table = (
            rows.limit(None)
            .to_arrow()
            .sort_by([("id", "ascending"), ("number", "ascending")])
        )
        numbers = table[VECTOR].combine_chunks().flatten().to_numpy() * UNIT
        vectors = numbers.astype(np.int8).reshape(len(table), -1)
        return [
            (id, own.tobytes())
            for id, own in zip(table["id"].to_pylist(), vectors, strict=True)
        ]


def float16_of(packed: bytes) -> Any:
    """Return packed vectors as float16, which holds them exactly."""
    return np.frombuffer(packed, dtype=np.int8).astype(np.float16) / np.float16(UNIT)
