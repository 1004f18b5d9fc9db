"""Import numpy with one thread for matrix products, if nothing has imported it before; BERT's forward pass in numpy: int8 weights, float32 arithmetic, several texts in one batch without
padding.

The tokens of all texts are rows of one matrix, so that each product of a layer is one large
product. Only attention, which must stay inside a text, is computed text by text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..files.background import is_background

# Starting OpenBLAS's thread pool takes 35 ms of a cold query, and our own threads, one per batch of texts, are faster.
# The environment is restored, so that programs that this process starts are not slowed down.
THREADS_VARIABLE = "OPENBLAS_NUM_THREADS"  # read once, when the library is loaded
if "numpy" in sys.modules or THREADS_VARIABLE in os.environ:
    import numpy as numpy

    HAS_ONE_THREAD = os.environ.get(THREADS_VARIABLE) == "1"
else:
    os.environ[THREADS_VARIABLE] = "1"
    import numpy as numpy

    del os.environ[THREADS_VARIABLE]
    HAS_ONE_THREAD = True
np = numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .minilm import WeightsFile

    Floats = NDArray[np.float32]
    Arrays = dict[str, NDArray[Any]]


EPSILON = np.float32(1e-12)  # added to a variance, as in BERT
# the bits of float16's infinity: those of positive finite numbers are smaller
INFINITE = 0x7C00
NEGATIVE = 0x8000  # the sign bit of float16


def workers() -> int:
    """Return how many threads to use: one per core, or one if products may use threads of their own.

    A background process uses one.
    """
    if is_background() or not HAS_ONE_THREAD:
        return 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Linear:
    """One product with its scales and biases. Weights stay int8 in the mapped file and are cast in each pass."""

    def __init__(self, arrays: Arrays, name: str):
        self._weights = arrays[name]
        self.scale: Floats = arrays[f"{name}.scale"].copy()
        self.bias: Floats = arrays[f"{name}.bias"].copy()

    def __call__(self, inputs: Floats) -> Floats:
        result: Floats = inputs @ self._weights.astype(np.float32)
        result *= self.scale
        result += self.bias
        return result


class Norm:
    """Layer norm, in place."""

    def __init__(self, arrays: Arrays, name: str):
        self._gain = arrays[f"{name}.gain"]
        self._shift = arrays[f"{name}.shift"]
        self._mean = np.full((len(self._gain), 1), 1 / len(self._gain), np.float32)

    def __call__(self, tokens: Floats) -> Floats:
        tokens -= tokens @ self._mean
        variance = np.einsum("ij,ij->i", tokens, tokens) * self._mean[0]
        tokens *= (1 / np.sqrt(variance + EPSILON))[:, None]
        tokens *= self._gain
        tokens += self._shift
        return tokens


class EncoderLayer:
    """Attention, then two products with GELU between them; each half is added to its input and normed."""

    def __init__(self, arrays: Arrays, number: int, heads: int, gelu: Floats):
        self._heads = heads
        self._gelu = gelu
        self.linears = [
            Linear(arrays, f"{number}.{name}")
            for name in ("mix", "join", "widen", "narrow")
        ]
        self._norms = [
            Norm(arrays, f"{number}.{name}") for name in ("joined", "narrowed")
        ]
        mix = self.linears[0]
        width = len(self.linears[1].bias)
        for part in (mix.scale, mix.bias):  # scale the queries instead of every score
            part[:width] *= np.float32((width // heads) ** -0.5)

    def __call__(self, tokens: Floats, edges: Sequence[int]) -> Floats:
        mix, join, widen, narrow = self.linears
        mixed = mix(tokens)
        seen = np.empty_like(tokens)
        for start, end in pairwise(edges):
            attend(mixed[start:end], seen[start:end], self._heads)
        joined = join(seen)
        joined += tokens
        tokens = self._norms[0](joined)
        wide = widen(tokens)
        np.take(
            self._gelu, wide.astype(np.float16).view(np.uint16), out=wide, mode="clip"
        )
        narrowed = narrow(wide)
        narrowed += tokens
        return self._norms[1](narrowed)


class Encoder:
    """The whole model: takes rows of the vocabulary, returns normalized vectors."""

    def __init__(self, file: WeightsFile):
        arrays: Arrays = {
            name: np.frombuffer(
                memoryview(file.map)[place.start : place.end], place.kind
            ).reshape(place.dims)
            for name, place in file.places.items()
        }
        self._words = arrays["word"]
        self._scales = arrays["word.scale"]
        self._positions = arrays["position"]
        self._first = Norm(arrays, "first")
        gelu = gelu_table()
        self._layers = [
            EncoderLayer(arrays, number, file.shape.heads, gelu)
            for number in range(file.shape.layers)
        ]

    def __call__(self, texts: Sequence[Sequence[int]]) -> list[bytes]:
        """Return the mean of each text's tokens, normalized."""
        edges = [0, *np.cumsum([len(rows) for rows in texts]).tolist()]
        tokens = self._embed(texts)
        for layer in self._layers:
            tokens = layer(tokens, edges)
        sums = np.add.reduceat(tokens, edges[:-1], axis=0)
        sums /= np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
        return [vector.tobytes() for vector in sums.astype("<f4")]

    def _embed(self, texts: Sequence[Sequence[int]]) -> Floats:
        rows = np.concatenate(texts)
        tokens: Floats = self._words[rows].astype(np.float32)
        tokens *= self._scales[rows][:, None]
        tokens += np.concatenate([self._positions[: len(text)] for text in texts])
        return self._first(tokens)


def attend(mixed: Floats, seen: Floats, heads: int) -> None:
    """Fill `seen` with one text's attention: the values, weighted by the products of queries and keys."""
    tokens = len(mixed)
    queries, keys, values = mixed.reshape(tokens, 3, heads, -1).transpose(1, 2, 0, 3)
    weights = powers(queries @ keys.transpose(0, 2, 1))
    view = seen.reshape(tokens, heads, -1).transpose(1, 0, 2)
    np.matmul(weights, values, out=view)
    view *= (1 / np.einsum("hij->hi", weights))[:, :, None]


def powers(scores: Floats) -> Floats:
    """Return exp(scores), up to a factor per row that keeps it finite."""
    scores -= np.maximum.reduce(scores, axis=-1, keepdims=True)
    return np.exp(scores, out=scores)


def gelu_table() -> Floats:
    """Return GELU of every float16, indexed by its bits: a look-up is twice as fast as computing it."""
    x = np.arange(INFINITE, dtype=np.uint16).view(np.float16).astype(np.float32)
    slope = np.float32((2 / np.pi) ** 0.5)
    # Hendrycks and Gimpel 2016
    positive = x * (1 + np.tanh(slope * (x + np.float32(0.044715) * x * x * x))) / 2
    table = np.zeros(2 * NEGATIVE, np.float32)
    table[:INFINITE] = positive
    table[NEGATIVE : NEGATIVE + INFINITE] = positive - x
    return table
