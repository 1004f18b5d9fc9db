"""The LanceDB search store: a folder, or an object store, of tables that any Arrow reader understands.

memory_entries, yamo_blocks, synthesized_skills   the tables of RFC-0011; the first has a row for each memory held here,
           beside rows of others, which stay; the other two are made and left to whoever fills them
held       the memories held here: digest, and whether the second tier has them
passages   their pieces, with the columns that filters look at; vectors are whole numbers as the SQLite store packs them
deep       the second tier's vectors, with the same columns
postings, beside   which passages hold a term, and which stand beside one: see lance_words.py
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

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import BTree, IvfRq

from ..files.lock import Lock
from ..model.errors import Busy, IndexBroken, Refused
from ..model.record import as_dict, record, replace
from ..state.strength import IMPORTANCES
from .bm25 import length, phrases, row_terms
from .documents import BODY, DEEP, FIRST, REST, Document, Filter, Hit, Passage
from .lance_schema import BLOCKS, ENTRIES, SKILLS, blocks, entries_v2, is_schema_v2, skills, table_names
from .lance_words import SCHEMA as POSTINGS_SCHEMA
from .lance_words import Levels, full_level, look_up, merged, quoted, segment_of
from .ranked import best, phrase_postings, score_rows
from .sqlite_store import SCALE, head_of, lined, pack, pack_all, with_ties

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

PASSAGES, DEEP_VECTORS, HELD, COMMITS = "passages", "deep", "held", "commits"
WORDS, BESIDE = "postings", "beside"
VERSIONED = (PASSAGES, DEEP_VECTORS, HELD, WORDS, BESIDE, ENTRIES)
IDS = 500  # in one condition
SETTLED = 20_000  # passages more than when indexes were last made, or half as many more: they are made again
LOOSE = 64  # commits, each of which leaves a small file in every table that it wrote to
EXACT_UP_TO = 20_000  # passages; an exact scan of more takes longer than an index, which is a copy of one bit a number
PARTITION = 10_000  # passages in a partition of that index; all are looked at, so that it misses next to nothing
FOUND = 600  # passages, somewhat more than one question finds: older ones are no longer asked for
TEXTS_KEPT = 5_000  # passages
ROUNDS = 3  # of clustering: since all partitions are looked at, better ones find no more
REFINED = 4  # candidates for each passage asked for that get an exact distance
UNIT = 128  # what the whole numbers are divided by: LanceDB's clustering adds float16 up, which ends at 65,504
LINGERS = timedelta(minutes=10)  # how long versions stay for readers that still look at them
AT_ONCE = timedelta(milliseconds=1)
LOCK_WAIT = 600  # seconds
MEMORY_TYPES = ("global", "session", "agent", "lesson", "reflection")  # RFC-0011 §1.2

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


def _halves(packed: bytes) -> NDArray[np.float16]:
    """Packed vectors as float16, which holds them exactly."""
    return np.frombuffer(packed, dtype=np.int8).astype(np.float16) / np.float16(UNIT)


def _vector(dims: int) -> pa.Field:
    """Null where nothing is known of a passage: it is close to nothing."""
    return pa.field("vector", pa.list_(pa.float16(), dims))


def _schemas(dims: int) -> dict[str, pa.Schema]:
    return {
        PASSAGES: pa.schema([*PLACE, *TEXTS, *FILTERED, _vector(dims)]),
        DEEP_VECTORS: pa.schema([*PLACE, *FILTERED, _vector(dims)]),
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
    loose: int = 0  # commits since the tables were last put in order


class LanceStore:
    """Implements OutsideStore. `place`: a folder, or the url of an object store that LanceDB knows."""

    def __init__(self, place: str, dims: int):
        self.place = place
        self.dims = dims
        self._local = "://" not in place
        self._lock = Lock(os.path.join(place, "writing.lock")) if self._local else None
        self._pending: dict[str, Document | None] = {}  # what is to be put, or dropped
        self._writing = self._erased = False
        self._known: dict[str, tuple[str, bool]] = {}  # of the memories held: digest, and whether they are deep
        self._forget_view()
        self._open()

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
        for name, schema in _schemas(self.dims).items():
            self._tables[name] = self._db.create_table(name, schema=schema, mode=_mode(name, names))
        self._state = State(_new_generation(), self.dims, self._versions())
        self._commits = self._db.create_table(COMMITS, self._row(), mode=_mode(COMMITS, names))
        self._look()

    def _look(self) -> None:
        """See the tables as the last commit left them."""
        self._seen = self._commits.version
        self._state = State(**json.loads(self._commits.to_arrow()["state"][0].as_py()))
        for name, version in self._state.versions.items():
            self._tables[name].checkout(version)
        self._forget_view()

    def _forget_view(self) -> None:
        self._conditions: dict[Filter, str] = {}
        self._lengths: dict[str, NDArray[np.int32]] = {}
        self._counts: tuple[int, int] | None = None
        self._found: dict[tuple[str, int], int] = {}  # passages that were found lately, with their row numbers
        self._texts: dict[tuple[str, int], str] = {}

    def _versions(self) -> dict[str, int]:
        return {name: self._tables[name].version for name in VERSIONED}

    def _row(self) -> pa.Table:
        return pa.table({"state": [json.dumps(as_dict(self._state))]})

    def generation(self) -> str:
        """Which life it is in. Every question begins with this: what others committed is seen from here on."""
        if not self._writing and not self._pending:
            self._commits.checkout_latest()
            if self._commits.version != self._seen:
                self._look()
        return f"lancedb {self._state.generation}"

    # Writing

    def put(self, documents: Sequence[Document]) -> None:
        """Store these memories, replacing what was held of them."""
        self._pending |= {document.id: document for document in documents}

    def drop(self, ids: Sequence[str]) -> None:
        """Forget these memories; unknown ids are fine."""
        self._pending |= dict.fromkeys(ids)

    def commit(self) -> None:
        """Make all that was put and dropped what readers see."""
        self._flush()
        if not self._writing:
            return
        self._settle()
        self._commits.checkout_latest()
        if self._commits.version != self._seen:
            self._stop()
            raise Busy("another program wrote to the lancedb store", "run 'rawkomem sync' again")
        self._record()
        if self._erased:  # what was erased may be a text that must be gone: no old version stays
            self._tidy(AT_ONCE)
            self._record()
        self._stop()

    def _record(self) -> None:
        self._state = replace(self._state, versions=self._versions())
        self._commits.add(self._row(), mode="overwrite")

    def _tidy(self, lingers: timedelta) -> None:
        """Few large files instead of many small ones, indexes that hold all rows, and no versions older than this."""
        for table in (*self._tables.values(), self._commits):
            table.optimize(cleanup_older_than=lingers, delete_unverified=lingers == AT_ONCE)

    def close(self) -> None:
        """Let go; what was not committed is at the end of the tables, where no reader looks."""
        self._pending.clear()
        self._stop()

    def _stop(self) -> None:
        self._writing = self._erased = False
        if self._lock and self._lock.descriptor >= 0:
            self._lock.release()
        self._commits.checkout_latest()
        self._look()

    def _begin(self) -> None:
        """Go to the end of the tables, which is where the last commit left them, or is made so."""
        if self._writing:
            return
        if self._lock and not self._lock.acquire(LOCK_WAIT):
            raise Busy("another process writes to the lancedb store", "try again, or end the process that hangs")
        self._commits.checkout_latest()
        self._look()
        for name, version in self._state.versions.items():
            self._tables[name].checkout_latest()
            if self._tables[name].version != version:
                self._tables[name].restore(version)
        rows = self._tables[HELD].to_arrow().to_pylist()
        self._known = {row["id"]: (row["digest"], row["deep"]) for row in rows}
        self._writing = True

    def erase(self) -> None:
        """Forget everything; what stood in memory_entries before us stays."""
        self._pending.clear()
        self._begin()
        self._delete(ENTRIES, list(self._known))
        if self._tables[ENTRIES].schema.field("vector").type.list_size != self.dims:
            if self._tables[ENTRIES].count_rows():
                raise Refused(f"{ENTRIES} holds vectors of another length", "choose another folder or url")
            self._tables[ENTRIES] = self._db.create_table(ENTRIES, schema=entries_v2(self.dims), mode="overwrite")
        for name, schema in _schemas(self.dims).items():
            self._tables[name] = self._db.create_table(name, schema=schema, mode="overwrite")
        self._state = State(_new_generation(), self.dims, {})
        self._known, self._erased = {}, True
        self._forget_view()

    def _flush(self) -> None:
        if not self._pending:
            return
        self._begin()
        pending, self._pending = self._pending, {}
        gone = [id for id in pending if id in self._known]
        for name in (PASSAGES, DEEP_VECTORS, HELD, ENTRIES):
            self._delete(name, gone)
        for id in gone:
            del self._known[id]
        documents = [document for document in pending.values() if document]
        if documents:
            self._add(documents)
        self._forget_view()

    def _delete(self, table: str, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), IDS):
            self._tables[table].delete(_among("id", ids[start : start + IDS]))

    def _add(self, documents: Sequence[Document]) -> None:
        placed = [(document, at, passage) for document in documents for at, passage in enumerate(document.passages)]
        rows = [_passage_row(self._state.next + n, *item) for n, item in enumerate(placed)]
        words = [row_terms(row["head"], row["text"]) for row in rows]
        beside = [row_terms(row["head"], row["around"]) if row["around"] else None for row in rows]
        for row, own, more in zip(rows, words, beside, strict=True):
            row["words"], row["beside"] = length(own), length(more) if more is not None else -1
        vectors = [fine for fine, _ in pack_all([passage.vector for *_, passage in placed])]
        self._insert(PASSAGES, rows, vectors)
        self._state = replace(self._state, next=self._state.next + len(rows))
        self._add_segment(WORDS, [(row["n"], own) for row, own in zip(rows, words, strict=True)])
        self._add_segment(
            BESIDE, [(row["n"], more) for row, more in zip(rows, beside, strict=True) if more is not None]
        )
        self._tables[ENTRIES].add(_entries(documents, self.dims))
        self._hold({document.id: (document.digest, False) for document in documents})

    def _insert(self, table: str, rows: list[dict[str, Any]], vectors: Sequence[bytes]) -> None:
        if not rows:
            return
        schema = _schemas(self.dims)[table]
        numbers = _halves(b"".join(vectors))
        nothing = pa.array([not any(vector) for vector in vectors])
        column = pa.FixedSizeListArray.from_arrays(pa.array(numbers), self.dims, mask=nothing)
        columns = [pa.array([row[name] for row in rows], type=schema.field(name).type) for name in schema.names[:-1]]
        self._tables[table].add(pa.table([*columns, column], schema=schema))

    def _hold(self, known: Mapping[str, tuple[str, bool]]) -> None:
        self._known |= known
        rows = [{"id": id, "digest": digest, "deep": deep} for id, (digest, deep) in known.items()]
        self._tables[HELD].add(pa.Table.from_pylist(rows, schema=HELD_SCHEMA))

    def _add_segment(self, table: str, rows: list[tuple[int, list[str]]]) -> None:
        levels = [list(level) for level in getattr(self._state, _LEVELS[table])] or [[]]
        levels[0].append(self._next_segment())
        self._tables[table].add(segment_of(rows, levels[0][-1]))
        self._forget_view()
        while (level := full_level(levels)) is not None:
            self._merge(table, levels, level)
        self._state = replace(self._state, **{_LEVELS[table]: levels})

    def _merge(self, table: str, levels: Levels, level: int) -> None:
        """All segments of a level as one of the next."""
        condition = f"segment IN ({', '.join(map(str, levels[level]))})"
        rows = self._tables[table].search().where(condition).limit(None).to_arrow()
        if len(levels) == level + 1:
            levels.append([])
        levels[level] = []
        levels[level + 1].append(self._next_segment())
        self._tables[table].delete(condition)
        self._tables[table].add(merged(rows, self._tokens(table) >= 0, levels[level + 1][-1]))

    def _next_segment(self) -> int:
        self._state = replace(self._state, segment=self._state.segment + 1)
        return self._state.segment

    def _settle(self) -> None:
        """Put the tables in order after many commits, and make indexes anew once much was put."""
        passages = self._tables[PASSAGES].count_rows()
        grown = passages - self._state.settled >= max(SETTLED, self._state.settled // 2)
        self._state = replace(self._state, loose=self._state.loose + 1)
        if not grown and self._state.loose < LOOSE:
            return
        self._tidy(LINGERS)
        self._state = replace(self._state, loose=0)
        if grown:
            self._make_indexes()
            self._state = replace(self._state, settled=passages)

    def _make_indexes(self) -> None:
        for name, column in ((PASSAGES, "n"), (PASSAGES, "id"), (WORDS, "term"), (BESIDE, "term")):
            self._tables[name].create_index(column, config=BTree(), replace=True)
        for name in (PASSAGES, DEEP_VECTORS):
            rows = self._tables[name].count_rows("vector IS NOT NULL")
            if rows > EXACT_UP_TO:
                bits = IvfRq(distance_type="l2", num_partitions=1 + rows // PARTITION, max_iterations=ROUNDS)
                self._tables[name].create_index("vector", config=bits, replace=True)

    # The second tier

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        """Put the second tier's vectors of these memories' passages, in order; unknown ids are fine."""
        self._flush()
        if not vectors:
            return
        self._begin()
        columns = [field.name for field in (*PLACE, *FILTERED)]
        found = self._rows(PASSAGES, _among("id", list(vectors)), columns)
        own: dict[str, list[dict[str, Any]]] = {id: [] for id in vectors if id in self._known}
        for row in sorted(found, key=lambda row: row["number"]):
            own[row["id"]].append(row)
        ready = {id: rows for id, rows in own.items() if len(rows) == len(vectors[id])}
        if not ready:
            return
        self._delete(DEEP_VECTORS, list(ready))
        self._delete(HELD, list(ready))
        packed = pack_all([vector for id in ready for vector in vectors[id]])
        self._insert(DEEP_VECTORS, [row for rows in ready.values() for row in rows], [fine for fine, _ in packed])
        self._hold({id: (self._known[id][0], True) for id in ready})
        self._forget_view()

    def shallow(self, limit: int) -> list[str]:
        """Some memories that the second tier does not hold."""
        self._flush()
        return [row["id"] for row in self._rows(HELD, "deep = false", ["id"], limit)]

    def depth(self) -> tuple[int, int]:
        """How many memories the second tier holds, and how many there are."""
        self._flush()
        if self._counts is None:
            self._counts = (self._tables[HELD].count_rows("deep = true"), self._tables[HELD].count_rows())
        return self._counts

    def flatten(self) -> None:
        """Forget the second tier."""
        self._flush()
        self._begin()
        self._tables[DEEP_VECTORS].delete("true")
        self._tables[HELD].update(values={"deep": False})
        self._known = {id: (digest, False) for id, (digest, _) in self._known.items()}
        self._forget_view()

    # Asking

    def held(self) -> dict[str, str]:
        """The memories that it holds, with the digests they were put with."""
        self._flush()
        return {row["id"]: row["digest"] for row in self._tables[HELD].to_arrow().to_pylist()}

    def nearest(self, vector: bytes, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        """The passages closest to a vector of this tier, best first, with their cosine."""
        self._flush()
        fine, _ = pack(vector)
        table = self._tables[DEEP_VECTORS if tier == DEEP else PASSAGES]
        if not limit or not any(fine) or not table.count_rows():
            return []
        conditions = ["vector IS NOT NULL", self._inside(only)]
        if tier == REST:
            conditions.append(_among("id", self.shallow(self.depth()[1])))
        where = " AND ".join(condition for condition in conditions if condition)
        query = _halves(fine)
        seen: dict[int, dict[str, Any]] = {}

        def ask(most: int) -> list[tuple[int, float]]:
            asked = table.search(query, vector_column_name="vector").distance_type("l2").where(where, prefilter=True)
            asked = asked.nprobes(1 + table.count_rows() // PARTITION).refine_factor(REFINED).limit(most)
            rows = asked.select([*(field.name for field in PLACE), "_distance"]).to_arrow().to_pylist()
            seen.update({row["n"]: row for row in rows})
            return sorted(((row["n"], row["_distance"]) for row in rows), key=lambda row: row[1])

        found = with_ties(ask, limit)
        scores = {n: 1 - distance * UNIT * UNIT / (2 * SCALE * SCALE) for n, distance in found}
        return self._hits([seen[n] for n in scores], scores, limit)

    def matching(self, words: Sequence[str], limit: int, only: Filter, around: bool = False) -> list[Hit]:
        """The passages that hold any of these words, or stand beside them with `around`; best first by BM25."""
        self._flush()
        table = BESIDE if around else WORDS
        wanted = phrases(words)
        lengths = self._tokens(table)
        if not wanted or not limit or not len(lengths):
            return []
        postings = look_up(self._tables[table], {term for phrase in wanted for term in phrase}, lengths >= 0)
        found = [
            phrase_postings(phrase, lambda term: postings[term], lambda n: self._row_terms(n, around))
            for phrase in wanted
        ]
        known = lengths[lengths >= 0]
        scores = score_rows([own for own in found if len(own[0])], lengths, len(known), int(known.sum()))
        return self._best_inside(scores, limit, only)

    def _best_inside(self, scores: NDArray[np.float64], limit: int, only: Filter) -> list[Hit]:
        """The best that pass the filter: asked for in growing numbers, until enough do."""
        inside, most, candidates = self._inside(only), limit, int((scores > 0).sum())
        while True:
            numbers = best(scores, most).tolist()
            where = f"n IN ({', '.join(map(str, numbers))}) {'AND' if inside else ''} {inside}"
            rows = self._rows(PASSAGES, where, [field.name for field in PLACE]) if numbers else []
            if len(rows) >= limit or len(numbers) >= candidates:
                return self._hits(rows, {n: float(scores[n]) for n in numbers}, limit)
            most *= 4

    def _tokens(self, table: str) -> NDArray[np.int32]:
        """How many tokens each row number has; -1 where there is no such row."""
        if table not in self._lengths:
            column = "words" if table == WORDS else "beside"
            rows = self._tables[PASSAGES].search().select(["n", column]).limit(None).to_arrow()
            lengths = np.full(self._state.next, -1, dtype=np.int32)
            lengths[rows["n"].to_numpy()] = rows[column].to_numpy()
            self._lengths[table] = lengths
        return self._lengths[table]

    def _row_terms(self, n: int, around: bool) -> list[str]:
        (row,) = self._rows(PASSAGES, f"n = {n}", ["head", "text", "around"])
        return row_terms(row["head"], row["around"] if around else row["text"])

    def _rows(self, table: str, where: str, columns: list[str], limit: int | None = None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (
            self._tables[table].search().where(where).select(columns).limit(limit).to_arrow().to_pylist()
        )
        return found

    def _inside(self, only: Filter) -> str:
        """A condition that keeps a question inside the filter; empty where nothing stands outside of it."""
        if only not in self._conditions:
            where = _where(only)
            outside = bool(where) and self._tables[PASSAGES].count_rows(f"NOT ({where})")
            self._conditions[only] = where if outside else ""
        return self._conditions[only]

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        """(id, vector) of every body passage, by id and place; as int8 in whatever scale the store keeps them."""
        self._flush()
        where = " AND ".join([f"field = '{BODY}' AND vector IS NOT NULL", *filter(None, [self._inside(only)])])
        found = self._tables[PASSAGES].search().where(where).select(["id", "number", "vector"]).limit(None).to_arrow()
        found = found.sort_by([("id", "ascending"), ("number", "ascending")])
        numbers = found["vector"].combine_chunks().flatten().to_numpy() * UNIT
        vectors = numbers.astype(np.int8).reshape(-1, self.dims)
        return list(zip(found["id"].to_pylist(), [vector.tobytes() for vector in vectors], strict=True))

    def passage(self, id: str, number: int) -> str:
        """The text of one passage. Who asks for one found asks for more of them: all are read at once."""
        self._flush()
        if (id, number) not in self._texts:
            one = f"id = {quoted(id)} AND number = {number}"
            many = f"n IN ({', '.join(map(str, self._found.values()))})"
            rows = self._rows(PASSAGES, many if (id, number) in self._found else one, ["id", "number", "text"])
            kept = self._texts if len(self._texts) < TEXTS_KEPT else {}
            told = {(row["id"], row["number"]): row["text"] for row in rows}
            self._texts = {**kept, (id, number): "", **told}
        return self._texts[id, number]

    def _hits(self, rows: Iterable[Mapping[str, Any]], scores: Mapping[int, float], limit: int) -> list[Hit]:
        rows = sorted(rows, key=lambda row: (-scores[row["n"]], row["id"], row["number"]))[:limit]
        found = {**self._found, **{(row["id"], row["number"]): row["n"] for row in rows}}
        self._found = dict([*found.items()][-FOUND:])
        return [Hit(row["id"], row["number"], scores[row["n"]], row["field"], row["alone"]) for row in rows]


_LEVELS = {WORDS: "words", BESIDE: "beside"}  # posting table → where the state keeps its segments


def _new_generation() -> str:
    return token_hex(8)


def _mode(name: str, names: set[str]) -> str:
    return "overwrite" if name in names else "create"


def _among(column: str, values: Sequence[str]) -> str:
    return f"{column} IN ({', '.join(map(quoted, values))})" if values else "false"


def _where(only: Filter) -> str:
    """A filter in LanceDB's SQL. It comes from a closed set of fields, and values are literals."""
    any_of = {
        "id": only.ids,
        "kind": only.kinds,
        "status": only.statuses,
        "type_name": [name.lower() for name in only.types],
        "category": [name.lower() for name in only.categories],
        "agent": [name.lower() for name in only.agents],
        "session": only.sessions,
    }
    where = [_among(column, wanted) for column, wanted in any_of.items() if wanted]
    where += [f"contains(tags, {quoted(lined([tag]))})" for tag in only.tags]
    where += [f"contains(entities, {quoted(lined([entity]))})" for entity in only.entities]
    bounds = (("importance >=", only.importance), ("created >=", only.since), ("created <", only.until))
    where += [f"{condition} {int(bound)}" for condition, bound in bounds if bound]
    return " AND ".join(where)


def _passage_row(n: int, document: Document, at: int, passage: Passage) -> dict[str, Any]:
    return {
        "n": n,
        "id": document.id,
        "number": at,
        "field": passage.field,
        "alone": not passage.around,
        "head": head_of(document, passage),
        "text": passage.text,
        "around": passage.around,
        "heading": passage.heading,
        "line": passage.line,
        "kind": document.kind,
        "status": document.status,
        "importance": document.importance,
        "created": document.created,
        "agent": document.by.lower(),
        "tags": lined(document.tags),
        "type_name": document.type.lower(),
        "category": document.category.lower(),
        "entities": lined(document.entities),
        "session": document.session,
    }


def _entries(documents: Sequence[Document], dims: int) -> pa.Table:
    """The rows of memory_entries: what is not known here is null."""
    scores = list(IMPORTANCES.values())
    schema = entries_v2(dims)
    rows = [
        {
            "id": document.id,
            "content": "\n\n".join(passage.text for passage in document.passages if passage.field == BODY),
            "metadata": json.dumps(_metadata(document), ensure_ascii=False),
            "created_at": document.created,
            "session_id": document.session or None,
            "agent_id": document.by or None,
            "memory_type": _memory_type(document),
            "importance_score": scores[document.importance],
        }
        for document in documents
    ]
    vectors = np.concatenate([_whole(document, dims) for document in documents])
    columns = {"vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors), dims)}
    columns |= {
        field.name: pa.array([row.get(field.name) for row in rows], type=field.type)
        for field in schema
        if field.name not in columns
    }
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _metadata(document: Document) -> dict[str, Any]:
    said = {
        "type": document.type or document.kind,
        "source": document.by,
        "tags": list(document.tags),
        "title": document.title,
        "status": document.status,
        "category": document.category,
        "entities": list(document.entities),
    }
    return {key: value for key, value in said.items() if value}


def _memory_type(document: Document) -> str:
    """One of the RFC's five: as it says itself, or by its kind, or by whether it belongs to a session."""
    for name in (document.type.lower(), document.kind):
        if name in MEMORY_TYPES:
            return name
    return "session" if document.session else "global"


def _whole(document: Document, dims: int) -> NDArray[np.float32]:
    """A memory's own vector: that of its passages together."""
    total = np.zeros(dims, dtype=np.float32)
    for passage in document.passages:
        if passage.field == BODY:
            total += np.frombuffer(passage.vector, dtype="<f4")
    size = float(np.linalg.norm(total))
    return total / np.float32(size) if size else total
