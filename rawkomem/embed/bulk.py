"""Embeds many texts at once with numpy. The vectors have exactly the bytes of the sums in plain
Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .blas import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .static import TokenVectors


BLOCK_TEXTS = 256  # texts that are divided together: a few MB of sums
HALF_BITS = (
    26  # a sum of up to 53 bits is squared in two parts, so that sums of products fit into 63 bits
)


def bulk_sums(vectors: TokenVectors, texts: list[list[int]]) -> list[bytes]:
    """Return one packed vector per list of rows."""
    weights, rows = vectors.table()
    factors = np.frombuffer(weights, "<u4").astype(np.float64)
    table = np.frombuffer(rows, np.int8).reshape(vectors.count, vectors.dims)
    packed: list[bytes] = []
    for start in range(0, len(texts), BLOCK_TEXTS):
        packed += _block_sums(factors, table, texts[start : start + BLOCK_TEXTS])
    return packed


def _block_sums(
    factors: NDArray[np.float64], table: NDArray[np.int8], texts: list[list[int]]
) -> list[bytes]:
    totals = np.zeros((len(texts), table.shape[1]))
    for number, text in enumerate(texts):
        if text:
            rows = np.array(text)
            totals[number] = factors[rows] @ table.take(rows, axis=0).astype(np.float64)
    lengths = np.array([square**0.5 or 1.0 for square in _squares(totals.astype(np.int64))])
    return [vector.tobytes() for vector in (totals / lengths[:, None]).astype("<f4")]


def _squares(totals: NDArray[np.int64]) -> list[int]:
    """Return the sum of the squares of each row, exact."""
    high, low = totals >> HALF_BITS, totals & (2**HALF_BITS - 1)
    parts = zip(
        (high * high).sum(axis=1), (high * low).sum(axis=1), (low * low).sum(axis=1), strict=True
    )
    return [(int(a) << 2 * HALF_BITS) + (int(b) << HALF_BITS + 1) + int(c) for a, b, c in parts]
