"""The LanceDB search store; tables.py defines its tables, and how several tables are committed as one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ....model.record import replace
from ..bm25 import length, row_terms
from ..documents import FIRST
from ..sqlite import COLUMNS, pack_all
from .conditions import among
from .migration import remove_old_backup
from .rows import passage_row
from .tables import BESIDE, DEEP_VECTORS, FILTERED, HELD, HELD_SCHEMA, PASSAGES, PLACE, WORDS, Tables, schemas
from .view import View, halves
from .words import full_level, merged, segment_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ....model.filters import Filter
    from ..documents import Document, Hit
    from .words import Levels

LEVELS = {WORDS: "words", BESIDE: "beside"}  # posting table → the field of State that lists its segments


class LanceStore:
    """Implements OutsideStore, which documents the methods. `place`: a folder, or the url of an object store."""

    columns = COLUMNS

    def __init__(self, place: str, dims: int):
        self.place = place
        self.dims = dims
        self._tables = Tables(place, dims)
        self._view = View(self._tables)
        self._pending: dict[str, Document | None] = {}  # changes to write: put, or dropped (None)
        self._written: dict[str, Document | None] = {}  # changes written since the last commit
        self._known: dict[str, tuple[str, bool]] = {}  # memory → digest, and whether it has contextual vectors
        self._committed = -1  # the commit that `_known` belongs to

    def generation(self) -> str:
        """Return the generation, after reading commits of other processes. Every question calls this first."""
        if not self._pending and self._tables.refresh():
            self._changed()
        return f"lancedb {self._tables.state.generation}"

    def _changed(self) -> None:
        self._view = View(self._tables)

    def _now(self) -> View:
        """Return a view that includes changes that are not committed."""
        self._flush()
        return self._view

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
        placed = [(document, at, passage) for document in documents for at, passage in enumerate(document.passages)]
        rows = [passage_row(self._tables.state.next + n, *item) for n, item in enumerate(placed)]
        words = [row_terms(row["head"], row["text"]) for row in rows]
        beside = [row_terms(row["head"], row["around"]) if row["around"] else None for row in rows]
        for row, own, more in zip(rows, words, beside, strict=True):
            row["words"], row["beside"] = length(own), length(more) if more is not None else -1
        vectors = [fine for fine, _ in pack_all([passage.vector for *_, passage in placed])]
        self._insert(PASSAGES, rows, vectors)
        self._tables.state = replace(self._tables.state, next=self._tables.state.next + len(rows))
        self._changed()
        self._add_segment(WORDS, [(row["n"], own) for row, own in zip(rows, words, strict=True)])
        surrounded = [(row["n"], more) for row, more in zip(rows, beside, strict=True) if more is not None]
        self._add_segment(BESIDE, surrounded)
        self._hold({document.id: (document.digest, False) for document in documents})

    def _insert(self, table: str, rows: list[dict[str, Any]], vectors: Sequence[bytes]) -> None:
        if not rows:
            return
        schema = schemas(self.dims)[table]
        nothing = pa.array([not any(vector) for vector in vectors])
        column = pa.FixedSizeListArray.from_arrays(pa.array(halves(b"".join(vectors))), self.dims, mask=nothing)
        columns = [pa.array([row[name] for row in rows], type=schema.field(name).type) for name in schema.names[:-1]]
        self._tables[table].add(pa.table([*columns, column], schema=schema))

    def _hold(self, known: Mapping[str, tuple[str, bool]]) -> None:
        self._known |= known
        rows = [{"id": id, "digest": digest, "deep": deep} for id, (digest, deep) in known.items()]
        self._tables[HELD].add(pa.Table.from_pylist(rows, schema=HELD_SCHEMA))

    def _add_segment(self, table: str, rows: list[tuple[int, list[str]]]) -> None:
        levels = [list(level) for level in getattr(self._tables.state, LEVELS[table])] or [[]]
        levels[0].append(self._next_segment())
        self._tables[table].add(segment_of(rows, levels[0][-1]))
        while (level := full_level(levels)) is not None:
            self._merge(table, levels, level)
        self._tables.state = replace(self._tables.state, **{LEVELS[table]: levels})

    def _merge(self, table: str, levels: Levels, level: int) -> None:
        """Merge all segments of a level into one segment of the next level."""
        condition = among("segment", levels[level])
        rows = self._tables[table].search().where(condition).limit(None).to_arrow()
        if len(levels) == level + 1:
            levels.append([])
        levels[level] = []
        levels[level + 1].append(self._next_segment())
        self._tables[table].delete(condition)
        self._tables[table].add(merged(rows, self._view.alive(), levels[level + 1][-1]))

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
        self._insert(DEEP_VECTORS, [row for rows in ready.values() for row in rows], [fine for fine, _ in packed])
        self._hold({id: (self._known[id][0], True) for id in ready})
        self._changed()

    def flatten(self) -> None:
        self._flush()
        self._begin()
        self._tables[DEEP_VECTORS].delete("true")
        self._tables[HELD].update(values={"deep": False})
        self._known = {id: (digest, False) for id, (digest, _) in self._known.items()}
        self._changed()

    # Asking

    def held(self) -> dict[str, str]:
        self._flush()
        return {row["id"]: row["digest"] for row in self._tables[HELD].to_arrow().to_pylist()}

    def served(self) -> int:
        """Return 0: there is no server."""
        return 0

    def shallow(self, limit: int) -> list[str]:
        return self._now().shallow(limit)

    def depth(self) -> tuple[int, int]:
        return self._now().depth()

    def nearest(self, vector: bytes, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        return self._now().nearest(vector, limit, only, tier)

    def matching(self, words: Sequence[str], limit: int, only: Filter, around: bool = False) -> list[Hit]:
        return self._now().matching(words, limit, only, around)

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        return self._now().vectors(only)

    def passage(self, id: str, number: int) -> str:
        return self._now().passage(id, number)
