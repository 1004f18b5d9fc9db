"""The LanceDB search store; it caches what it has read until the tables change (tables.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ....model.filters import Filter
from ....model.values import replace
from ..protocol import K1, B, BaseStore, phrases_of, row_terms, token_count
from ..sqlite import (
    BODY,
    COLUMNS,
    DEEP,
    FIRST,
    HUGE_PASSAGES,
    MAX_RANKED_PASSAGES,
    REST,
    SCALE,
    SCORE_DIGITS,
    Document,
    Hit,
    idf,
    pack,
    pack_all,
    rarest,
    with_ties,
)
from .tables import (
    BESIDE,
    DEEP_VECTORS,
    FILTERED,
    HELD,
    HELD_SCHEMA,
    MAX_EXACT_PASSAGES,
    PASSAGES,
    PLACE,
    WORDS,
    Tables,
    among,
    filter_condition,
    full_level,
    look_up,
    merged_segments,
    own_schemas,
    passage_row,
    phrase_postings,
    remove_old_backup,
    segment_of,
    sql_literal,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .tables import Postings

    Scores = NDArray[np.float64]


# Searches the LanceDB store, and caches what it has read until the tables change.

MAX_PROBES = 100_000  # more than there are partitions, so that all are searched and next to nothing is missed
REFINE_FACTOR = 4  # candidates per requested passage that get an exact distance
UNIT = 128  # divides the whole numbers: LanceDB's clustering sums float16, whose maximum is 65,504
FETCHED_TEXTS = (
    30  # hits per question whose texts are read in one query: more than most answers show
)
MAX_FOUND_PASSAGES = 120  # recent hits whose texts are read in one query
MAX_CACHED_TEXTS = 5_000  # passages whose texts are cached


class Lengths:
    """Token counts by row number, -1 where there is no such row, and their sums."""

    def __init__(self, tokens: NDArray[np.int32], vouched: NDArray[np.bool_]):
        self.tokens = tokens
        self.known = tokens >= 0
        self._vouched = vouched
        self._is_uniform = (
            bool(vouched[self.known].all()) or not vouched[self.known].any()
        )  # all are vouched for, or none
        self._sizes = [
            _rows_and_tokens(tokens, self.known),
            _rows_and_tokens(tokens, self.known & vouched),
        ]

    def score(self, found: Sequence[Postings]) -> Scores:
        """Return the BM25 of every row. Rows that nobody vouches for do not change the scores of vouched rows."""
        if self._is_uniform:
            return self._score(found, found, *self._sizes[0])
        inside, outside = (
            [_postings_within(own, mask) for own in found]
            for mask in (self._vouched, ~self._vouched)
        )
        scores = self._score(found, outside, *self._sizes[0])
        scores[self._vouched] = self._score(inside, inside, *self._sizes[1])[self._vouched]
        return scores

    def _score(
        self, found: Sequence[Postings], scored: Sequence[Postings], rows: int, tokens: int
    ) -> Scores:
        """Return the BM25 of these postings, of which the `scored` ones count; `rows` and `tokens` are their index's.

        In a huge index, phrases that are frequent among the scored rows are ignored beside rarer ones.
        """
        kept = [at for at, own in enumerate(scored) if len(own[0])]
        if rows > HUGE_PASSAGES:
            kept = sorted(rarest([(len(scored[at][0]), at) for at in kept], MAX_RANKED_PASSAGES))
        scores = np.zeros(len(self.tokens))
        for numbers, times in (found[at] for at in kept):
            shortness = K1 * (1 - B + B * self.tokens[numbers] / (tokens / rows))
            scores[numbers] += idf(rows, len(numbers)) * (times * (K1 + 1)) / (times + shortness)
        held = np.flatnonzero(scores != 0)  # four times as fast as without the comparison
        scores[held] = scores[held].round(SCORE_DIGITS)
        return scores


def _postings_within(postings: Postings, mask: NDArray[np.bool_]) -> Postings:
    """Return the postings of the rows in a mask."""
    numbers, times = postings
    kept = mask[numbers]
    return numbers[kept], times[kept]


def _rows_and_tokens(tokens: NDArray[np.int32], kept: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the number of rows and of their tokens."""
    return int(kept.sum()), int(tokens[kept].sum(dtype=np.int64))


def float16_of(packed: bytes) -> NDArray[np.float16]:
    """Return packed vectors as float16, which holds them exactly."""
    return np.frombuffer(packed, dtype=np.int8).astype(np.float16) / np.float16(UNIT)


class _PassageRows:
    """The places and lengths of all passages, by row number."""

    def __init__(self, table: pa.Table, count: int):
        numbers = table["n"].to_numpy()
        self._table = table.combine_chunks()
        self._at = np.full(count, -1, dtype=np.int32)  # row number → position in the table
        self._at[numbers] = np.arange(len(numbers), dtype=np.int32)
        vouched = self._by_number(table["vouched"].to_numpy()) == 1
        self.words = Lengths(self._by_number(table["words"].to_numpy()), vouched)
        self.beside = Lengths(self._by_number(table["beside"].to_numpy()), vouched)

    def _by_number(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the values of a column by row number; -1 where there is no such row."""
        return np.where(self._at >= 0, np.append(numbers, np.int32(-1))[self._at], np.int32(-1))

    def places(self, numbers: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Return the rows with these row numbers."""
        rows: list[dict[str, Any]] = self._table.take(self._at[numbers]).to_pylist()
        return rows


# The LanceDB search store; tables.py defines its tables, and how several tables are committed as
# one.

LEVELS = {
    WORDS: "words",
    BESIDE: "beside",
}  # posting table → the field of State that lists its segments


class LanceStore(BaseStore):
    """Implements OutsideStore, which documents the methods. `place`: a folder, or the url of an object store."""

    columns = COLUMNS

    def __init__(self, place: str, dims: int):
        self.place = place
        self.dims = dims
        self._tables = Tables(place, dims)
        self._changed()
        self._pending: dict[str, Document | None] = {}  # changes to write: put, or dropped (None)
        self._written: dict[str, Document | None] = {}  # changes written since the last commit
        self._known: dict[
            str, tuple[str, bool]
        ] = {}  # memory → digest, and whether it has contextual vectors
        self._committed = -1  # the commit that `_known` belongs to

    def generation(self) -> str:
        """Return the generation, after reading commits of other processes. Every question calls this first."""
        if not self._pending and self._tables.refresh():
            self._changed()
        return f"lancedb {self._tables.state.generation}"

    def _changed(self) -> None:
        """Forget what was read from the tables."""
        self._conditions: dict[Filter, str] = {}
        self._masks: dict[Filter, NDArray[np.bool_]] = {}  # filter → which row numbers are inside
        self._all: _PassageRows | None = None
        self._counts: dict[tuple[str, str], int] = {}  # (table, condition) → number of rows
        self._depth: tuple[int, int] | None = None
        self._found: dict[tuple[str, int], int] = {}  # recent hits → row number
        self._texts: dict[tuple[str, int], str] = {}

    # Writing

    def put(self, documents: Sequence[Document]) -> None:
        self._pending |= {document.id: document for document in documents}

    def drop(self, ids: Sequence[str]) -> None:
        self._pending |= dict.fromkeys(ids)

    def commit(self) -> None:
        self._flush()
        if not self._tables.writing:
            return
        try:
            self._tables.commit(self._written)
        except BaseException:
            self.close()
            raise
        self._written = {}
        self._committed = self._tables.seen
        self._changed()

    def close(self) -> None:
        """Close the tables; discard changes that were not committed."""
        self._pending.clear()
        self._written.clear()
        self._tables.stop()
        self._changed()

    def erase(self) -> None:
        """Delete all our rows; rows of other programs in memory_entries stay."""
        self._pending.clear()
        self._begin()
        self._tables.erase()
        self._written |= dict.fromkeys(self._known)
        self._known = {}
        self._changed()

    def _begin(self) -> None:
        if self._tables.writing:
            return
        self._tables.begin()
        if self._tables.seen != self._committed:
            remove_old_backup(self._tables.db, datetime.now(UTC))
            rows = self._tables[HELD].to_arrow().to_pylist()
            self._known = {row["id"]: (row["digest"], row["deep"]) for row in rows}
            self._changed()
        self._committed = -1

    def _flush(self) -> None:
        if not self._pending:
            return
        self._begin()
        pending, self._pending = self._pending, {}
        gone = [id for id in pending if id in self._known]
        for name in (PASSAGES, DEEP_VECTORS, HELD):
            self._tables.delete(name, gone)
        for id in gone:
            del self._known[id]
        documents = [document for document in pending.values() if document]
        if documents:
            self._add(documents)
        self._written |= pending
        self._changed()

    def _add(self, documents: Sequence[Document]) -> None:
        placed = [
            (document, at, passage)
            for document in documents
            for at, passage in enumerate(document.passages)
        ]
        rows = [passage_row(self._tables.state.next + n, *item) for n, item in enumerate(placed)]
        words = [row_terms(row["head"], row["text"]) for row in rows]
        beside = [row_terms(row["head"], row["around"]) if row["around"] else None for row in rows]
        for row, own, more in zip(rows, words, beside, strict=True):
            row["words"], row["beside"] = (
                token_count(own),
                token_count(more) if more is not None else -1,
            )
        vectors = [fine for fine, _ in pack_all([passage.vector for *_, passage in placed])]
        self._insert(PASSAGES, rows, vectors)
        self._tables.state = replace(self._tables.state, next=self._tables.state.next + len(rows))
        self._changed()
        self._add_segment(WORDS, [(row["n"], own) for row, own in zip(rows, words, strict=True)])
        surrounded = [
            (row["n"], more) for row, more in zip(rows, beside, strict=True) if more is not None
        ]
        self._add_segment(BESIDE, surrounded)
        self._hold({document.id: (document.digest, False) for document in documents})

    def _insert(self, table: str, rows: list[dict[str, Any]], vectors: Sequence[bytes]) -> None:
        if not rows:
            return
        schema = own_schemas(self.dims)[table]
        nothing = pa.array([not any(vector) for vector in vectors])
        column = pa.FixedSizeListArray.from_arrays(
            pa.array(float16_of(b"".join(vectors))), self.dims, mask=nothing
        )
        columns = [
            pa.array([row[name] for row in rows], type=schema.field(name).type)
            for name in schema.names[:-1]
        ]
        self._tables[table].add(pa.table([*columns, column], schema=schema))

    def _hold(self, known: Mapping[str, tuple[str, bool]]) -> None:
        self._known |= known
        rows = [{"id": id, "digest": digest, "deep": deep} for id, (digest, deep) in known.items()]
        self._tables[HELD].add(pa.Table.from_pylist(rows, schema=HELD_SCHEMA))

    def _add_segment(self, table: str, rows: list[tuple[int, list[str]]]) -> None:
        levels = [list(level) for level in getattr(self._tables.state, LEVELS[table])] or [[]]
        levels[0].append(self._next_segment())
        self._tables[table].add(segment_of(rows, levels[0][-1]))
        while (level := full_level(levels)) is not None:  # merge it into one segment of the next
            condition = among("segment", levels[level])
            found = self._tables[table].search().where(condition).limit(None).to_arrow()
            if len(levels) == level + 1:
                levels.append([])
            levels[level] = []
            levels[level + 1].append(self._next_segment())
            self._tables[table].delete(condition)
            self._tables[table].add(merged_segments(found, self._where(""), levels[level + 1][-1]))
        self._tables.state = replace(self._tables.state, **{LEVELS[table]: levels})

    def _next_segment(self) -> int:
        self._tables.state = replace(self._tables.state, segment=self._tables.state.segment + 1)
        return self._tables.state.segment

    # The second tier

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        self._flush()
        if not vectors:
            return
        self._begin()
        columns = [field.name for field in (*PLACE, *FILTERED)]
        found = self._tables.rows(PASSAGES, among("id", list(vectors)), columns)
        own: dict[str, list[dict[str, Any]]] = {id: [] for id in vectors if id in self._known}
        for row in sorted(found, key=lambda row: row["number"]):
            own[row["id"]].append(row)
        ready = {id: rows for id, rows in own.items() if len(rows) == len(vectors[id])}
        if not ready:
            return
        self._tables.delete(DEEP_VECTORS, list(ready))
        self._tables.delete(HELD, list(ready))
        packed = pack_all([vector for id in ready for vector in vectors[id]])
        self._insert(
            DEEP_VECTORS,
            [row for rows in ready.values() for row in rows],
            [fine for fine, _ in packed],
        )
        self._hold({id: (self._known[id][0], True) for id in ready})
        self._changed()

    def flatten(self) -> None:
        self._flush()
        self._begin()
        self._tables[DEEP_VECTORS].delete("true")
        self._tables[HELD].update(values={"deep": False})
        self._known = {id: (digest, False) for id, (digest, _) in self._known.items()}
        self._changed()

    # Asking: each method includes changes that are not committed.

    def held(self) -> dict[str, str]:
        self._flush()
        return {row["id"]: row["digest"] for row in self._tables[HELD].to_arrow().to_pylist()}

    def depth(self) -> tuple[int, int]:
        self._flush()
        if self._depth is None:
            held = self._tables[HELD]
            self._depth = (held.count_rows("deep = true"), held.count_rows())
        return self._depth

    def shallow(self, limit: int) -> list[str]:
        self._flush()
        return [row["id"] for row in self._tables.rows(HELD, "deep = false", ["id"], limit)]

    def nearest(self, vector: bytes, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        self._flush()
        fine, _ = pack(vector)
        table = self._tables[DEEP_VECTORS if tier == DEEP else PASSAGES]
        if not limit or not any(fine) or not self._count(tier, ""):
            return []
        conditions = [self._inside(only)]
        if tier == REST:
            conditions.append(among("id", self.shallow(self.depth()[1])))
        where = " AND ".join(filter(None, conditions))
        few = bool(where) and self._count(tier, "") > MAX_EXACT_PASSAGES >= self._count(tier, where)

        def ask(most: int) -> list[tuple[int, float]]:
            asked = table.search(float16_of(fine), vector_column_name="vector").distance_type("l2")
            asked = asked.where(where, prefilter=True) if where else asked
            asked = asked.bypass_vector_index() if few else asked
            asked = asked.nprobes(MAX_PROBES).refine_factor(REFINE_FACTOR).limit(most)
            found = asked.select(["n", "_distance"]).to_arrow().to_pylist()
            near = [(row["n"], row["_distance"]) for row in found if row["_distance"] is not None]
            return sorted(near, key=lambda row: row[1])

        found = with_ties(ask, limit)
        scores = {n: 1 - distance * UNIT * UNIT / (2 * SCALE * SCALE) for n, distance in found}
        return self._hits(self.rows().places(np.fromiter(scores, np.int64)), scores, limit)

    def _count(self, tier: str, where: str) -> int:
        """Return how many rows of a tier's table match a condition."""
        name = DEEP_VECTORS if tier == DEEP else PASSAGES
        if (name, where) not in self._counts:
            self._counts[name, where] = self._tables[name].count_rows(where or None)
        return self._counts[name, where]

    def matching(
        self, words: Sequence[str], limit: int, only: Filter, around: bool = False
    ) -> list[Hit]:
        self._flush()
        wanted = phrases_of(words)
        rows = self.rows()
        lengths = rows.beside if around else rows.words
        if not wanted or not limit or not len(lengths.known):
            return []
        table = self._tables[BESIDE if around else WORDS]
        postings = look_up(table, {term for phrase in wanted for term in phrase}, lengths.known)
        found = [
            phrase_postings(phrase, postings, lambda n: self._row_terms(n, around))
            for phrase in wanted
        ]
        scores = lengths.score(found)
        if self._inside(only):
            if only not in self._masks:
                self._masks[only] = self._where(self._inside(only))
            scores[~self._masks[only]] = 0
        above = np.flatnonzero(scores > 0)
        if len(above) > limit:
            last = np.partition(scores[above], len(above) - limit)[len(above) - limit]
            above = above[scores[above] >= last]
        numbers = above[np.argsort(-scores[above], kind="stable")]
        return self._hits(
            rows.places(numbers), {n: float(scores[n]) for n in numbers.tolist()}, limit
        )

    def rows(self) -> _PassageRows:
        """Return the places and lengths of all passages; they are read once."""
        if self._all is None:
            columns = [*(field.name for field in PLACE), "words", "beside", "vouched"]
            found = self._tables[PASSAGES].search().select(columns).limit(None).to_arrow()
            self._all = _PassageRows(found, self._tables.state.next)
        return self._all

    def _inside(self, only: Filter) -> str:
        """Return the filter as a condition; empty if every passage passes it."""
        if only not in self._conditions:
            where = filter_condition(only)
            outside = bool(where) and self._tables[PASSAGES].count_rows(f"NOT ({where})")
            self._conditions[only] = where if outside else ""
        return self._conditions[only]

    def _where(self, condition: str) -> NDArray[np.bool_]:
        """Return which row numbers match a condition."""
        asked = self._tables[PASSAGES].search()
        found = (
            (asked.where(condition) if condition else asked).select(["n"]).limit(None).to_arrow()
        )
        mask = np.zeros(self._tables.state.next, dtype=np.bool_)
        mask[found["n"].to_numpy()] = True
        return mask

    def _row_terms(self, n: int, around: bool) -> list[str]:
        (row,) = self._tables.rows(PASSAGES, f"n = {n}", ["head", "text", "around"])
        return row_terms(row["head"], row["around"] if around else row["text"])

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        self._flush()
        where = " AND ".join(
            [f"field = '{BODY}' AND vector IS NOT NULL", *filter(None, [self._inside(only)])]
        )
        found = (
            self._tables[PASSAGES]
            .search()
            .where(where)
            .select(["id", "number", "vector"])
            .limit(None)
            .to_arrow()
        )
        found = found.sort_by([("id", "ascending"), ("number", "ascending")])
        numbers = found["vector"].combine_chunks().flatten().to_numpy() * UNIT
        vectors = numbers.astype(np.int8).reshape(len(found), -1)
        return list(
            zip(found["id"].to_pylist(), [vector.tobytes() for vector in vectors], strict=True)
        )

    def passage(self, id: str, number: int) -> str:
        """Return the text of one passage; the texts of all recent hits are read at once."""
        self._flush()
        if (id, number) not in self._texts:
            one = f"id = {sql_literal(id)} AND number = {number}"
            where = among("n", self._found.values()) if (id, number) in self._found else one
            rows = self._tables.rows(PASSAGES, where, ["id", "number", "text"])
            kept = self._texts if len(self._texts) < MAX_CACHED_TEXTS else {}
            told = {(row["id"], row["number"]): row["text"] for row in rows}
            self._texts = {**kept, (id, number): "", **told}
        return self._texts[id, number]

    def _hits(
        self, rows: Iterable[Mapping[str, Any]], scores: Mapping[int, float], limit: int
    ) -> list[Hit]:
        rows = sorted(rows, key=lambda row: (-scores[row["n"]], row["id"], row["number"]))[:limit]
        found = {
            **self._found,
            **{(row["id"], row["number"]): row["n"] for row in rows[:FETCHED_TEXTS]},
        }
        self._found = dict([*found.items()][-MAX_FOUND_PASSAGES:])
        return [
            Hit(row["id"], row["number"], scores[row["n"]], row["field"], row["alone"])
            for row in rows
        ]
