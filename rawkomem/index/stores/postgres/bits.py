"""Caches the bits of all vectors of a repository in the memory of a long-running process.

Writers of a repository take turns, so owners are numbered in the order of their commits, and new rows are those after
the last known owner. Bits of deleted vectors stay until all bits are loaded again; no search returns them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..bits import columns, distances, nearest_places

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from psycopg import Connection

    from .writing import Clone

SIMILAR_PER_HIT, SIMILAR_PART = 4, 128  # vectors with similar bits per requested one; at least 1 in 128 of all
COPY_HEADER_BYTES, COPY_END_BYTES = 19, 2  # of a binary COPY, before and after its rows


class Bits:
    """The bits of one tier. `of`: the clone, with its generation, for which they were loaded."""

    def __init__(self, of: Clone, table: str, dims: int):
        self.of = of
        self._table = table
        self._dims = dims
        self._loaded = 0  # rows when all were loaded
        self._owners: NDArray[np.int64] = np.zeros(0, np.int64)
        self._numbers: NDArray[np.int32] = np.zeros(0, np.int32)
        self._columns = columns(np.zeros((0, -(-dims // 8)), np.uint8))

    def refresh(self, connection: Connection[Any]) -> None:
        """Load rows committed since the last call; load all rows again when their number has grown by half."""
        after = int(self._owners[-1]) if len(self._owners) else 0
        new = self._read(connection, after)
        if not len(new):
            return
        if len(self._owners) + len(new) > self._loaded * 3 // 2:
            self._keep(self._read(connection, 0) if after else new)
            self._loaded = len(self._owners)
        else:
            self._owners = np.concatenate([self._owners, new["owner"]])
            self._numbers = np.concatenate([self._numbers, new["number"]])
            self._columns = np.concatenate([self._columns, columns(new["bits"])], axis=1)

    def _keep(self, rows: NDArray[Any]) -> None:
        self._owners = rows["owner"].astype(np.int64)
        self._numbers = rows["number"].astype(np.int32)
        self._columns = columns(rows["bits"])

    def _read(self, connection: Connection[Any], after: int) -> NDArray[Any]:
        where = f"repository = {self.of.repository} AND dims = {self._dims} AND owner > {after}"
        sql = f"SELECT owner, number, bits FROM {self._table} WHERE {where} ORDER BY owner, number"
        with connection.cursor() as cursor, cursor.copy(f"COPY ({sql}) TO STDOUT (FORMAT BINARY)".encode()) as copy:
            return _rows(copy, self._dims)

    def closest(self, bits: bytes, fine: bytes, limit: int) -> tuple[list[int], list[int]]:
        """Return owners and numbers of the vectors whose bits agree best with `fine`, of those with similar bits."""
        similar = max(SIMILAR_PER_HIT * limit, len(self._owners) // SIMILAR_PART)
        near = nearest_places(distances(self._columns, bits), similar)
        words = np.ascontiguousarray(self._columns[:, near].T)
        signs = np.unpackbits(words.view(np.uint8), axis=1, count=self._dims).astype(np.float32)
        # Not `@`: the threads of its BLAS spin for some 20 ms afterwards, on the core that the server needs.
        agree = np.einsum("ij,j->i", signs, np.frombuffer(fine, np.int8).astype(np.float32))
        best = near[np.argsort(-agree, kind="stable")[:limit]]
        return self._owners[best].tolist(), self._numbers[best].tolist()


def _layout(dims: int) -> np.dtype[Any]:
    """Return the layout of a row in a binary COPY: a length before each value."""
    heads = [("fields", ">i2"), ("a", ">i4"), ("owner", ">i8"), ("b", ">i4"), ("number", ">i4"), ("c", ">i4")]
    return np.dtype([*heads, ("dims", ">i4"), ("bits", "u1", (-(-dims // 8),))])


def _rows(chunks: Iterable[Any], dims: int) -> NDArray[Any]:
    sent = b"".join(chunks)
    return np.frombuffer(sent[COPY_HEADER_BYTES : len(sent) - COPY_END_BYTES], dtype=_layout(dims))
