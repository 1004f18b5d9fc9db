"""A search store in this process's memory: for tests, and for programs that want nothing left behind.

Exact: every vector is compared, packed as the SQLite store packs it, and words are ranked as FTS5 ranks them. A passage
has a row number; one that is gone leaves a hole, and the rows are numbered anew when most of them are holes.
"""

from __future__ import annotations

from array import array
from collections import Counter
from secrets import token_hex
from typing import TYPE_CHECKING

import numpy as np

from .bm25 import BREAK, length, phrases, row_terms
from .documents import BODY, DEEP, FIRST, REST, Document, Filter, Hit, Passage
from .ranked import best, phrase_postings, score_rows
from .sqlite import SCALE, head_of, pack, pack_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from .ranked import Postings, Scores

    Mask = NDArray[np.bool_]

ROOM = 1_024  # rows that a table begins with; it doubles when they are taken
MOST_TIMES = 65_535  # occurrences of a term that a posting can tell


class MemoryStore:
    """Implements OutsideStore. Closing it, or the end of the process, is the end of all that it holds."""

    def __init__(self, dims: int):
        self.dims = dims
        self._begin()

    def _begin(self) -> None:
        self._generation = f"memory {token_hex(8)}"
        self._documents: dict[str, Document] = {}
        self._deepened: set[str] = set()
        self._clear_rows()

    def _clear_rows(self) -> None:
        self._rows: list[tuple[str, int] | None] = []  # id and place of each passage; None for a hole
        self._of: dict[str, list[int]] = {}
        self._words, self._around = _Words(), _Words()
        self._vectors = {FIRST: _Vectors(self.dims), DEEP: _Vectors(self.dims)}
        self._masks: dict[Filter, Mask] = {}

    def generation(self) -> str:
        """Another one after `erase`; no two stores share one."""
        return self._generation

    def served(self) -> int:
        """Nothing: all of it is in this process."""
        return 0

    def held(self) -> dict[str, str]:
        """The memories that it holds, with the digests they were put with."""
        return {id: document.digest for id, document in self._documents.items()}

    def commit(self) -> None:
        """Nothing to do: what is put is there, and nothing outlives the process."""

    def close(self) -> None:
        """Let go of everything."""
        self._begin()

    def erase(self) -> None:
        """Forget everything."""
        self._begin()

    def put(self, documents: Sequence[Document]) -> None:
        """Store these memories, replacing what was held of them."""
        self.drop([document.id for document in documents])
        for document in documents:
            self._documents[document.id] = document
        self._place({document.id: document for document in documents}.values())

    def _place(self, documents: Iterable[Document]) -> None:
        placed: list[tuple[int, Document, Passage]] = []
        for document in documents:
            numbers = range(len(self._rows), len(self._rows) + len(document.passages))
            self._rows += [(document.id, place) for place in range(len(document.passages))]
            self._of[document.id] = list(numbers)
            placed += zip(numbers, [document] * len(numbers), document.passages, strict=True)
        for number, document, passage in placed:
            self._words.add(number, row_terms(head_of(document, passage), passage.text))
            if passage.around:
                self._around.add(number, row_terms(head_of(document, passage), passage.around))
        self._vectors[FIRST].put([number for number, *_ in placed], [passage.vector for *_, passage in placed])
        self._masks.clear()

    def drop(self, ids: Sequence[str]) -> None:
        """Forget these memories; unknown ids are fine."""
        for id in ids:
            self._documents.pop(id, None)
            self._deepened.discard(id)
            for number in self._of.pop(id, ()):
                self._rows[number] = None
                self._words.remove(number)
                self._around.remove(number)
                self._vectors[FIRST].remove(number)
                self._vectors[DEEP].remove(number)
        self._masks.clear()
        if len(self._rows) > ROOM and 2 * sum(map(len, self._of.values())) < len(self._rows):
            self._renumber()

    def _renumber(self) -> None:
        deep = {id: [self._vectors[DEEP].packed(number) for number in self._of[id]] for id in self._deepened}
        self._clear_rows()
        self._place(self._documents.values())
        for id, vectors in deep.items():
            self._vectors[DEEP].put_packed(self._of[id], vectors)

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        """Put the second tier's vectors of these memories' passages, in order; unknown ids are fine."""
        for id, own in vectors.items():
            if len(self._of.get(id, ())) == len(own) and id in self._documents:
                self._vectors[DEEP].put(self._of[id], own)
                self._deepened.add(id)

    def shallow(self, limit: int) -> list[str]:
        """Some memories that the second tier does not hold."""
        return [id for id in self._documents if id not in self._deepened][:limit]

    def depth(self) -> tuple[int, int]:
        """How many memories the second tier holds, and how many there are."""
        return len(self._deepened), len(self._documents)

    def flatten(self) -> None:
        """Forget the second tier."""
        self._deepened.clear()
        self._vectors[DEEP] = _Vectors(self.dims)

    def nearest(self, vector: bytes, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        """The passages closest to a vector of this tier, best first, with their cosine."""
        cosines = self._vectors[DEEP if tier == DEEP else FIRST].cosines(vector, len(self._rows))
        inside = self._inside(only)
        if tier == REST:
            inside = inside & self._mask(id for id in self._of if id not in self._deepened)
        return self._hits(np.where(inside, cosines, -np.inf), limit, -np.inf)

    def matching(self, words: Sequence[str], limit: int, only: Filter, around: bool = False) -> list[Hit]:
        """The passages that hold any of these words, or stand beside them with `around`; best first by BM25."""
        table = self._around if around else self._words
        scores = table.scores(phrases(words), lambda number: self._terms(number, around), len(self._rows))
        return self._hits(np.where(self._inside(only), scores, 0.0), limit, 0.0)

    def _terms(self, number: int, around: bool) -> list[str]:
        id, place = self._rows[number] or ("", 0)
        document = self._documents[id]
        passage = document.passages[place]
        return row_terms(head_of(document, passage), passage.around if around else passage.text)

    def _hits(self, scores: Scores, limit: int, least: float) -> list[Hit]:
        hits: list[Hit] = []
        for number in best(scores, limit, least):
            id, place = self._rows[number] or ("", 0)
            passage = self._documents[id].passages[place]
            hits.append(Hit(id, place, float(scores[number]), passage.field, not passage.around))
        return sorted(hits, key=lambda hit: (-hit.score, hit.id, hit.passage))[:limit]

    def _inside(self, only: Filter) -> Mask:
        """The rows that pass a filter; asked anew after every change."""
        if only not in self._masks:
            self._masks[only] = self._mask(id for id, document in self._documents.items() if fits(document, only))
        return self._masks[only]

    def _mask(self, ids: Iterable[str]) -> Mask:
        mask = np.zeros(len(self._rows), dtype=bool)
        mask[[number for id in ids for number in self._of[id]]] = True
        return mask

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        """(id, vector) of every body passage, by id and place; as int8 in whatever scale the store keeps them."""
        first = self._vectors[FIRST]
        inside = ((id, self._documents[id]) for id in sorted(self._documents) if fits(self._documents[id], only))
        return [
            (id, first.packed(number))
            for id, document in inside
            for number, passage in zip(self._of[id], document.passages, strict=True)
            if passage.field == BODY and first.known(number)
        ]

    def passage(self, id: str, number: int) -> str:
        """The text of one passage."""
        document = self._documents.get(id)
        return document.passages[number].text if document and number < len(document.passages) else ""


def fits(document: Document, only: Filter) -> bool:
    """Whether a memory passes a filter; what depends on the clock or on history is not the store's business."""
    any_of = (
        (only.ids, document.id),
        (only.kinds, document.kind),
        (only.statuses, document.status),
        (_lower(only.types), document.type.lower()),
        (_lower(only.categories), document.category.lower()),
        (_lower(only.agents), document.by.lower()),
        (only.sessions, document.session),
    )
    return (
        all(not wanted or own in wanted for wanted, own in any_of)
        and _lower(only.tags) <= _lower(document.tags)
        and _lower(only.entities) <= _lower(document.entities)
        and document.importance >= only.importance
        and document.created >= only.since
        and (not only.until or document.created < only.until)
    )


def _lower(names: Sequence[str]) -> set[str]:
    return {name.lower() for name in names}


class _Words:
    """The posting lists of one column pair. Rows that were removed stay in them and are left out by `_alive`."""

    def __init__(self) -> None:
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self._lengths = np.zeros(ROOM, dtype=np.int32)
        self._alive = np.zeros(ROOM, dtype=bool)

    def add(self, number: int, row: list[str]) -> None:
        if number >= len(self._lengths):
            self._lengths = np.concatenate([self._lengths, np.zeros(number, dtype=np.int32)])
            self._alive = np.concatenate([self._alive, np.zeros(number, dtype=bool)])
        self._lengths[number] = length(row)
        self._alive[number] = True
        for term, times in Counter(term for term in row if term != BREAK).items():
            numbers, counts = self._postings.setdefault(term, (array("i"), array("H")))
            numbers.append(number)
            counts.append(min(times, MOST_TIMES))

    def remove(self, number: int) -> None:
        if number < len(self._alive):
            self._alive[number] = False
            self._lengths[number] = 0

    def scores(self, wanted: Sequence[tuple[str, ...]], terms: Callable[[int], list[str]], rows: int) -> Scores:
        """BM25 of each of so many row numbers."""
        found = [phrase_postings(phrase, self._of, terms) for phrase in wanted]
        known = [postings for postings in found if len(postings[0])]
        if not known:
            return np.zeros(rows)
        scores = score_rows(known, self._lengths, int(self._alive.sum()), int(self._lengths.sum()))
        return np.resize(scores, rows) if rows <= len(scores) else np.pad(scores, (0, rows - len(scores)))

    def _of(self, term: str) -> Postings:
        numbers, times = self._postings.get(term, (array("i"), array("H")))
        rows = np.frombuffer(numbers, dtype=np.int32) if numbers else np.zeros(0, dtype=np.int32)
        counts = np.frombuffer(times, dtype=np.uint16) if times else np.zeros(0, dtype=np.uint16)
        alive = self._alive[rows]
        return rows[alive], counts[alive]


class _Vectors:
    """The vectors of one tier, by row number: whole numbers, as the SQLite store packs them, so products are exact."""

    def __init__(self, dims: int) -> None:
        self._rows = np.zeros((ROOM, dims), dtype=np.float32)
        self._squares = np.zeros(ROOM)  # 0: nothing is known of the row, and it is close to nothing

    def put(self, numbers: Sequence[int], vectors: Sequence[bytes]) -> None:
        self.put_packed(numbers, [fine for fine, _ in pack_all(vectors)])

    def put_packed(self, numbers: Sequence[int], vectors: Sequence[bytes]) -> None:
        for number, vector in zip(numbers, vectors, strict=True):
            while number >= len(self._rows):
                self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
                self._squares = np.concatenate([self._squares, np.zeros_like(self._squares)])
            row = np.frombuffer(vector, dtype=np.int8).astype(np.float32)
            self._rows[number] = row
            self._squares[number] = row @ row

    def remove(self, number: int) -> None:
        if number < len(self._squares):
            self._squares[number] = 0

    def known(self, number: int) -> bool:
        return number < len(self._squares) and bool(self._squares[number])

    def packed(self, number: int) -> bytes:
        return self._rows[number].astype(np.int8).tobytes() if self.known(number) else bytes(self._rows.shape[1])

    def cosines(self, vector: bytes, rows: int) -> Scores:
        """Cosine of each of so many row numbers; minus infinity where nothing is known."""
        wanted = np.frombuffer(pack(vector)[0], dtype=np.int8).astype(np.float32)
        cosines = np.full(rows, -np.inf)
        if wanted.any():
            held = min(rows, len(self._squares))
            squares = self._squares[:held]
            distances = squares + float(wanted @ wanted) - 2 * (self._rows[:held] @ wanted).astype(np.float64)
            cosines[:held] = np.where(squares > 0, 1 - distances / (2 * SCALE * SCALE), -np.inf)
        return cosines
