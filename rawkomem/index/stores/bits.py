"""Keeps the coarse bits of one tier in memory for a long-running process: several times as fast as SQL."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from numpy.typing import NDArray

READ_ROWS = 50_000  # rows read at a time
CHUNK_ROWS = 32_768  # rows compared at a time: they fit into the CPU cache, which doubles the speed


class Bits:
    """Row numbers and bits at one version of the database."""

    def __init__(self, rows: Iterable[tuple[int, bytes]], version: int):
        numbers, bits, left = [np.zeros(0, np.int64)], [], iter(rows)
        while chunk := list(islice(left, READ_ROWS)):
            numbers.append(np.array([n for n, _ in chunk], np.int64))
            bits.append(b"".join(bits for _, bits in chunk))
        self.version = version
        self._numbers = np.concatenate(numbers)
        self._columns = columns(np.frombuffer(b"".join(bits), np.uint8).reshape(len(self._numbers), -1))

    def closest(self, bits: bytes, limit: int, allowed: Callable[[list[int]], Collection[int]]) -> list[int]:
        """Return the `limit` allowed row numbers with the fewest differing bits, and all ties with the last one."""
        apart = distances(self._columns, bits)
        reach = min(limit, len(apart))
        while reach:
            near = nearest_places(apart, reach)
            inside = allowed(self._numbers[near].tolist())
            kept = sorted((int(apart[at]), int(n)) for at in near if (n := self._numbers[at]) in inside)
            if len(kept) >= limit:
                return [n for distance, n in kept if distance <= kept[limit - 1][0]]
            if len(near) == len(apart):
                return [n for _, n in kept]
            reach = min(4 * len(near), len(apart))
        return []


def columns(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return rows of bits as columns of 64-bit words, padded with zeros: one column is compared at a time."""
    missing = -bits.shape[1] % 8
    filled = np.pad(bits, ((0, 0), (0, missing))) if missing else bits
    return np.ascontiguousarray(np.ascontiguousarray(filled).view(np.uint64).T)


def distances(columns: NDArray[np.uint64], asked: bytes) -> NDArray[np.uint16]:
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
