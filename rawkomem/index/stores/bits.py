"""Keeps the coarse bits of one tier in memory for a process that stays open: several times as fast as SQL."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from numpy.typing import NDArray

CHUNK_ROWS = 50_000  # read and compared at a time: what fits into the processor's cache is compared twice as fast


class Bits:
    """Row numbers and bits, as they stood at one version of the database."""

    def __init__(self, rows: Iterable[tuple[int, bytes]], version: int):
        numbers, bits, left = [np.zeros(0, np.int64)], [], iter(rows)
        while chunk := list(islice(left, CHUNK_ROWS)):
            numbers.append(np.array([n for n, _ in chunk], np.int64))
            bits.append(b"".join(bits for _, bits in chunk))
        self.version = version
        self._numbers = np.concatenate(numbers)
        self._words = np.frombuffer(b"".join(bits), np.uint64).reshape(len(self._numbers), -1)

    def closest(self, bits: bytes, limit: int, allowed: Callable[[list[int]], Collection[int]]) -> list[int]:
        """Return the allowed row numbers that differ least: `limit` of them, and all that equal the last."""
        distances = self._distances(np.frombuffer(bits, np.uint64))
        reach = min(limit, len(distances))
        while reach:
            cut = np.partition(distances, reach - 1)[reach - 1]
            near = np.nonzero(distances <= cut)[0]
            inside = allowed(self._numbers[near].tolist())
            kept = sorted((int(distances[at]), int(n)) for at in near if (n := self._numbers[at]) in inside)
            if len(kept) >= limit:
                return [n for distance, n in kept if distance <= kept[limit - 1][0]]
            if len(near) == len(distances):
                return [n for _, n in kept]
            reach = min(4 * len(near), len(distances))
        return []

    def _distances(self, asked: NDArray[np.uint64]) -> NDArray[np.uint16]:
        found = np.empty(len(self._words), np.uint16)
        for start in range(0, len(self._words), CHUNK_ROWS):
            differing = np.bitwise_count(self._words[start : start + CHUNK_ROWS] ^ asked)
            found[start : start + CHUNK_ROWS] = differing.sum(axis=1, dtype=np.uint16)
        return found
