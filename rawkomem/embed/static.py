"""The bundled embedder: a text's vector is the sum of its pieces' vectors. It needs no model run and no network.

Short texts use plain Python on the mapped file, so that a cold query imports nothing heavy; long work uses numpy.
Unknown words are ignored: with a common vector for them, any two texts full of unknown words would look alike, and such
a vector changed no measured figure by more than 0.001.
"""

from __future__ import annotations

import os
import struct
import sys

from .lanes import weighted_sum
from .vectors import TokenVectors
from .wordpiece import WordPiece, knows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAME = "static-384-v2"
FILE = os.path.join(os.path.dirname(__file__), "static-384.bin")
INDEX_CHARS = 3_000  # for longer texts, building the index of pieces is faster than searching the map word by word
NUMPY_TOKENS = 15_000  # for more tokens, importing numpy is faster than plain Python
LOADED_TOKENS = 100  # the same limit if numpy is imported already


class StaticEmbedder:
    """Static token vectors distilled from all-MiniLM-L6-v2; see NOTICE."""

    def __init__(self, path: str = FILE, name: str = NAME):
        self.name = name
        self._vectors = TokenVectors(path)
        self.dims = self._vectors.dims
        self._cutter = WordPiece(self._vectors.find, self._vectors.longest)
        self._indexed = False

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one normalized float32 little-endian vector per text; zeros for a text without known words."""
        if not self._indexed and sum(map(len, texts)) > INDEX_CHARS:
            self._cutter.find = finder(self._vectors.index())
            self._indexed = True
        rows = [self._cutter.rows(text) if knows(text) else [] for text in texts]
        if sum(map(len, rows)) < (LOADED_TOKENS if "numpy" in sys.modules else NUMPY_TOKENS):
            return [self._sum(each) for each in rows]
        from .bulk import sums  # importing numpy takes a tenth of a second, which pays only for bulk work

        return sums(self._vectors, rows)

    def _sum(self, rows: list[int]) -> bytes:
        if not rows:
            return bytes(4 * self.dims)
        times: dict[int, int] = {}  # how often each row occurs
        for row in rows:
            times[row] = times.get(row, 0) + 1
        weights = [number * self._vectors.weight(row) for row, number in times.items()]
        return pack(weighted_sum([self._vectors.row(row) for row in times], weights))


def finder(index: dict[str, int]) -> Callable[[str], int]:
    """Return a function that looks a piece up in an index in memory."""
    return lambda piece: index.get(piece, -1)


def pack(vector: Sequence[float]) -> bytes:
    """Return a vector, normalized, as float32 little-endian bytes; zeros stay zeros."""
    length = sum([x * x for x in vector]) ** 0.5 or 1.0
    return struct.pack(f"<{len(vector)}f", *[x / length for x in vector])
