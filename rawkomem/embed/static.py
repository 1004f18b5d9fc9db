"""The bundled embedder: a text's vector is the sum of its pieces' vectors. No model to run, no start-up, no network.

Short work is plain Python over the mapped file, so that a cold query imports nothing heavy; long work uses numpy.
An unknown word adds nothing: with a vector of its own any two texts full of unknown words would look alike, and it
changed no measured figure by more than 0.001.
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
INDEX_CHARS = 3_000  # from about here the index of pieces is quicker to build than searching the map word by word
NUMPY_TOKENS = 15_000  # from about here importing numpy is quicker than plain Python
LOADED_TOKENS = 100  # the same once something else has imported numpy


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
        from .bulk import sums  # numpy: a tenth of a second that only bulk work repays

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
    """Return the look-up of a piece in an index that is in memory."""
    return lambda piece: index.get(piece, -1)


def pack(vector: Sequence[float]) -> bytes:
    """Return a vector normalized, as the bytes that cross module borders; all zeros stay so."""
    length = sum([x * x for x in vector]) ** 0.5 or 1.0
    return struct.pack(f"<{len(vector)}f", *[x / length for x in vector])
