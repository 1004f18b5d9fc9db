"""Finds similar memories by the cosine of the sums of their body passages' vectors, and groups similar
goals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ..embed.providers import bundled_embedder
from ..text.language import language

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]


# Finds similar memories: pairs by the cosine of the sums of their body passages' vectors.
#
# Vectors are scaled to the length 2,048 and rounded to whole numbers. Every sum of products then
# stays below 2^24, so that float32 is exact and results are the same on every machine.

MAX_LINKS = 5  # links of a memory by similarity (neolata)
VECTOR_LENGTH = 2_048
# the product of two vectors is their cosine times this
COSINE_SCALE = VECTOR_LENGTH * VECTOR_LENGTH
BLOCK_ROWS = 512  # rows compared with all others at once: 40 MB with 20,000 memories


class Neighbors:
    """Memories by the sums of their passages' vectors."""

    def __init__(self, vectors: Sequence[tuple[str, bytes]]):
        self.ids, self.matrix = (
            _by_memory(vectors) if vectors else ([], np.zeros((0, 1), np.float32))
        )
        self.rows = {id: row for row, id in enumerate(self.ids)}

    def pairs(
        self, ids: Collection[str], least: float, of: str = ""
    ) -> list[tuple[str, str, float]]:
        """Return (id, id, cosine) of the pairs among these memories that are among each other's closest, sorted by id.

        With `of`, return only the pairs of this memory. One-sided links would give a memory of everyday words hundreds
        of links, and would depend on the order.
        """
        rows = sorted(self.rows[id] for id in ids if id in self.rows)
        matrix = self.matrix[rows]
        close: dict[tuple[int, int], float] = {}
        if of and rows:
            own = [at for at, row in enumerate(rows) if self.ids[row] == of]
            close = _closest(matrix, own, least)
            close |= _closest(matrix, [column for _, column in close], least)
            close = {pair: cosine for pair, cosine in close.items() if own[0] in pair}
        else:
            for start in range(0, len(rows), BLOCK_ROWS):
                block = range(start, min(start + BLOCK_ROWS, len(rows)))
                close |= _closest(matrix, block, least)
        return [
            (self.ids[rows[row]], self.ids[rows[column]], round(cosine, 4))
            for (row, column), cosine in sorted(close.items())
            if row < column and (column, row) in close
        ]

    def later(
        self,
        ids: Sequence[str],
        least: float,
        done: Collection[str] = (),
        most: int = 0,
    ) -> Iterator[tuple[str, list[tuple[str, float]]]]:
        """Yield for each memory, in order, the memories after it with at least this cosine, the closest first.

        Memories that are `done` at their turn are skipped; `most` above zero limits how many are returned for each.
        """
        known = [id for id in ids if id in self.rows]
        matrix = self.matrix[[self.rows[id] for id in known]]
        for start in range(0, len(known), BLOCK_ROWS):
            products = matrix[start : start + BLOCK_ROWS] @ matrix[start:].T
            for row in range(len(products)):
                if known[start + row] not in done:
                    close = (
                        np.nonzero(products[row, row + 1 :] >= least * COSINE_SCALE)[0]
                        + row
                        + 1
                    )
                    close = close[np.argsort(-products[row, close], kind="stable")][
                        : most or None
                    ]
                    told = [
                        (known[start + at], float(products[row, at]) / COSINE_SCALE)
                        for at in close
                    ]
                    yield known[start + row], told


def _by_memory(vectors: Sequence[tuple[str, bytes]]) -> tuple[list[str], Matrix]:
    """Return the ids, and for each the scaled sum of its passages' vectors."""
    ids = [id for id, _ in vectors]
    starts = [at for at, id in enumerate(ids) if at == 0 or id != ids[at - 1]]
    passages = np.frombuffer(
        b"".join(vector for _, vector in vectors), np.int8
    ).reshape(len(ids), -1)
    sums = np.add.reduceat(passages.astype(np.int32), starts, axis=0).astype(np.float64)
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    lengths[lengths == 0] = 1
    return [ids[at] for at in starts], np.rint(sums / lengths * VECTOR_LENGTH).astype(
        np.float32
    )


def _closest(
    matrix: Matrix, own: Sequence[int], least: float
) -> dict[tuple[int, int], float]:
    """Return (row, column) → cosine of the closest others of some rows; ties go to the smaller id."""
    count = len(matrix)
    products = matrix[list(own)] @ matrix.T
    products[np.arange(len(own)), list(own)] = -2 * COSINE_SCALE
    # Products are whole numbers, so that these keys sort by product first, then by column.
    keys = np.arange(count) - products.astype(np.int64) * count
    most = min(MAX_LINKS, count)
    close: dict[tuple[int, int], float] = {}
    for at, columns in enumerate(
        np.argpartition(keys, most - 1, axis=1)[:, :most].tolist()
    ):
        for column in columns:
            cosine = float(products[at, column]) / COSINE_SCALE
            if cosine >= least:
                close[own[at], column] = cosine
    return close


# Groups similar goals: each text joins the first similar text, by the bundled vectors.


def group_leaders(texts: Sequence[str], least: float) -> list[int]:
    """Return for each text the position of its group's first text, which is its own if no earlier one is similar."""
    first: dict[str, int] = {}
    same = [
        first.setdefault(" ".join(language().words(text)), place)
        for place, text in enumerate(texts)
    ]
    names = {str(place): place for place in first.values()}
    if names:
        vectors = bundled_embedder().embed([texts[place] for place in names.values()])
    else:
        vectors = []
    near = Neighbors(
        [
            (name, _whole_numbers(vector))
            for name, vector in zip(names, vectors, strict=True)
        ]
    )
    lead: dict[str, int] = {}
    for name, close in near.later(list(names), least, lead):
        lead[name] = names[name]
        for other, _ in close:
            lead.setdefault(other, names[name])
    return [lead[str(place)] for place in same]


def _whole_numbers(vector: bytes) -> bytes:
    numbers = np.frombuffer(vector, "<f4")
    return (
        np.rint(numbers / (np.abs(numbers).max() or 1) * 127).astype(np.int8).tobytes()
    )
