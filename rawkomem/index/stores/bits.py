"""Keeps the bits of all vectors in the memory of a long-running process, several times as fast as SQL:
for SQLite and PostgreSQL.

PostgreSQL's writers of a repository take turns, so owners are numbered in the order of their
commits, and new rows are those after the last known owner. Bits of deleted vectors stay until all
bits are loaded again; no search returns them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psycopg import Connection

    from .postgres.store import Clone


# Keeps the coarse bits of one tier in memory for a long-running process: several times as fast as
# SQL.

READ_ROWS = 50_000  # rows read at a time
# rows compared at a time: they fit into the CPU cache, which doubles the speed
CHUNK_ROWS = 32_768


class SqliteBits:
    """Row numbers and bits at one version of the database."""

    def __init__(self, rows: Iterable[tuple[int, bytes]], version: int):
        numbers = [np.zeros(0, np.int64)]
        bits = []
        left = iter(rows)
        while chunk := list(islice(left, READ_ROWS)):
            numbers.append(np.array([n for n, _ in chunk], np.int64))
            bits.append(b"".join(bits for _, bits in chunk))
        self.version = version
        self._numbers = np.concatenate(numbers)
        self._columns = bit_columns(
            np.frombuffer(b"".join(bits), np.uint8).reshape(len(self._numbers), -1)
        )

    def closest(
        self, bits: bytes, limit: int, allowed: Callable[[list[int]], Collection[int]]
    ) -> list[int]:
        """Return the `limit` allowed row numbers with the fewest differing bits, and all ties with the last one."""
        apart = bit_distances(self._columns, bits)
        reach = min(limit, len(apart))
        while reach:
            near = nearest_places(apart, reach)
            inside = allowed(self._numbers[near].tolist())
            kept = sorted(
                (int(apart[at]), int(n))
                for at in near
                if (n := self._numbers[at]) in inside
            )
            if len(kept) >= limit:
                return [n for distance, n in kept if distance <= kept[limit - 1][0]]
            if len(near) == len(apart):
                return [n for _, n in kept]
            reach = min(4 * len(near), len(apart))
        return []


def bit_columns(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return rows of bits as columns of 64-bit words, padded with zeros: one column is compared at a time."""
    missing = -bits.shape[1] % 8
    filled = np.pad(bits, ((0, 0), (0, missing))) if missing else bits
    return np.ascontiguousarray(np.ascontiguousarray(filled).view(np.uint64).T)


def bit_distances(columns: NDArray[np.uint64], asked: bytes) -> NDArray[np.uint16]:
    """Return in how many bits each row differs from `asked`."""
    words = np.frombuffer(asked + bytes(-len(asked) % 8), np.uint64)
    found = np.zeros(columns.shape[1], np.uint16)
    for start in range(0, len(found), CHUNK_ROWS):
        part = found[start : start + CHUNK_ROWS]
        for column, word in zip(columns, words, strict=True):
            part += np.bitwise_count(column[start : start + CHUNK_ROWS] ^ word)
    return found


def nearest_places(apart: NDArray[np.uint16], limit: int) -> NDArray[np.intp]:
    """Return the places of the `limit` smallest distances, and of all ties with the last one."""
    cut = np.searchsorted(np.bincount(apart).cumsum(), limit)
    return np.flatnonzero(apart <= cut)


# vectors with similar bits per requested one; at least 1 in 128 of all
SIMILAR_PER_HIT = 4
SIMILAR_PART = 128
# of a binary COPY, before and after its rows
COPY_HEADER_BYTES = 19
COPY_END_BYTES = 2


class PostgresBits:
    """The bits of one tier. `of`: the clone, with its generation, for which they were loaded."""

    def __init__(self, of: Clone, table: str, dims: int):
        self.of = of
        self._table = table
        self._dims = dims
        self._loaded = 0  # rows when all were loaded
        self._owners: NDArray[np.int64] = np.zeros(0, np.int64)
        self._numbers: NDArray[np.int32] = np.zeros(0, np.int32)
        self._columns = bit_columns(np.zeros((0, -(-dims // 8)), np.uint8))

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
            self._columns = np.concatenate(
                [self._columns, bit_columns(new["bits"])], axis=1
            )

    def _keep(self, rows: NDArray[Any]) -> None:
        self._owners = rows["owner"].astype(np.int64)
        self._numbers = rows["number"].astype(np.int32)
        self._columns = bit_columns(rows["bits"])

    def _read(self, connection: Connection[Any], after: int) -> NDArray[Any]:
        where = f"repository = {self.of.repository} AND dims = {self._dims} AND owner > {after}"
        sql = f"SELECT owner, number, bits FROM {self._table} WHERE {where} ORDER BY owner, number"
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY ({sql}) TO STDOUT (FORMAT BINARY)".encode()) as copy,
        ):
            sent = b"".join(copy)
            heads = [  # a length before each value
                ("fields", ">i2"),
                ("a", ">i4"),
                ("owner", ">i8"),
                ("b", ">i4"),
                ("number", ">i4"),
                ("c", ">i4"),
            ]
            return np.frombuffer(
                sent[COPY_HEADER_BYTES : len(sent) - COPY_END_BYTES],
                dtype=np.dtype(
                    [*heads, ("dims", ">i4"), ("bits", "u1", (-(-self._dims // 8),))]
                ),
            )

    def closest(
        self, bits: bytes, fine: bytes, limit: int
    ) -> tuple[list[int], list[int]]:
        """Return owners and numbers of the vectors whose bits agree best with `fine`, of those with similar bits."""
        similar = max(SIMILAR_PER_HIT * limit, len(self._owners) // SIMILAR_PART)
        near = nearest_places(bit_distances(self._columns, bits), similar)
        words = np.ascontiguousarray(self._columns[:, near].T)
        signs = np.unpackbits(words.view(np.uint8), axis=1, count=self._dims).astype(
            np.float32
        )
        # Not `@`: the threads of its BLAS spin for some 20 ms afterwards, on the core that the server needs.
        agree = np.einsum(
            "ij,j->i", signs, np.frombuffer(fine, np.int8).astype(np.float32)
        )
        best = near[np.argsort(-agree, kind="stable")[:limit]]
        return self._owners[best].tolist(), self._numbers[best].tolist()
