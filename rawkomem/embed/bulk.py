"""Many texts at once with numpy: gather a text's rows, then one product with their scales sums them up."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .vectors import TokenVectors


def sums(vectors: TokenVectors, texts: list[list[int]]) -> list[bytes]:
    """One packed vector per list of rows."""
    scales, rows = vectors.table()
    factors = np.frombuffer(scales, "<f4")
    table = np.frombuffer(rows, np.int8).reshape(vectors.count, vectors.dims)
    totals = np.zeros((len(texts), vectors.dims), "<f4")
    for number, text in enumerate(texts):
        if text:
            places = np.array(text)
            totals[number] = factors[places] @ table.take(places, axis=0).astype(np.float32)
    lengths = np.linalg.norm(totals, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return [vector.tobytes() for vector in totals / lengths]
