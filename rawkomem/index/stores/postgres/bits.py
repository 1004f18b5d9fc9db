"""Bits of all vectors of a repository in the memory of a process that stays open, as the server sends them.

Owners are numbered in the order in which they are committed, because writers of a repository take turns: what is new is
what comes after the last one seen. Bits of vectors that are gone stay until many are new; no question finds those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..bits import CHUNK_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from psycopg import Connection

    from .writing import Clone

COPY_HEADER_BYTES, COPY_END_BYTES = 19, 2  # of a binary COPY, before and after its rows


class Bits:
    """The bits of one tier; `of` tells whose they are: a life of this clone in the database."""

    def __init__(self, of: Clone, table: str, dims: int):
        self.of = of
        self._table = table
        self._dims = dims
        self._rows = np.zeros(0, dtype=_layout(dims))
        self._words = np.zeros((0, 0), dtype=np.uint64)
        self._loaded = 0  # rows when all were loaded

    def refresh(self, connection: Connection[Any]) -> None:
        """Load what was committed since; load all anew once there is half as much again."""
        after = int(self._rows["owner"][-1]) if len(self._rows) else 0
        new = self._read(connection, after)
        if not len(new):
            return
        if len(self._rows) + len(new) > self._loaded * 3 // 2:
            self._rows = self._read(connection, 0) if after else new
            self._loaded = len(self._rows)
        else:
            self._rows = np.concatenate([self._rows, new])
        self._words = _words(self._rows["bits"])

    def _read(self, connection: Connection[Any], after: int) -> NDArray[Any]:
        where = f"repository = {self.of.repository} AND dims = {self._dims} AND owner > {after}"
        sql = f"SELECT owner, number, bits FROM {self._table} WHERE {where} ORDER BY owner, number"
        with connection.cursor() as cursor, cursor.copy(f"COPY ({sql}) TO STDOUT (FORMAT BINARY)".encode()) as copy:
            return _rows(copy, self._dims)

    def closest(self, bits: bytes, limit: int) -> tuple[list[int], list[int]]:
        """Return owners and numbers of the vectors that differ in the fewest bits."""
        asked = _words(np.frombuffer(bits, dtype=np.uint8)[None])
        apart = np.empty(len(self._words), dtype=np.int16)
        for at in range(0, len(apart), CHUNK_ROWS):
            apart[at : at + CHUNK_ROWS] = np.bitwise_count(self._words[at : at + CHUNK_ROWS] ^ asked).sum(axis=1)
        best = self._rows[np.argpartition(apart, limit)[:limit] if len(apart) > limit else slice(None)]
        return best["owner"].tolist(), best["number"].tolist()


def _layout(dims: int) -> np.dtype[Any]:
    """Return the layout of a row in a binary COPY: a length before each value."""
    heads = [("fields", ">i2"), ("a", ">i4"), ("owner", ">i8"), ("b", ">i4"), ("number", ">i4"), ("c", ">i4")]
    return np.dtype([*heads, ("dims", ">i4"), ("bits", "u1", (-(-dims // 8),))])


def _rows(chunks: Iterable[Any], dims: int) -> NDArray[Any]:
    sent = b"".join(chunks)
    return np.frombuffer(sent[COPY_HEADER_BYTES : len(sent) - COPY_END_BYTES], dtype=_layout(dims))


def _words(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return bits as 64-bit words, filled up with zeros."""
    missing = -bits.shape[1] % 8
    filled = np.pad(bits, ((0, 0), (0, missing))) if missing else bits
    return np.ascontiguousarray(filled).view(np.uint64)
