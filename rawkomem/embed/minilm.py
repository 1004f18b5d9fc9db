"""The contextual embedder: all-MiniLM-L6-v2 without torch, slower than the static vectors, but better
at meaning. It reads int8 weights from a mapped file and runs on numpy.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ..model.values import record
from .static import (
    SortedNames,
    WordPiece,
    broken_file,
    is_embeddable,
    read_header,
)

if TYPE_CHECKING:
    from .minilm_pass import Encoder


# The memory-mapped file of the contextual embedder: a sorted vocabulary, word vectors and the
# layers' weights.
#
# Layout, little-endian, without gaps; n pieces, p positions, d dimensions, w the width in the middle of a layer:
#     header    magic, version, n, p, d, w, layers, heads, characters of the longest piece, bytes of the names, zeros
#     float32   n scales of the word vectors; p * d position vectors; gain and shift (d each) of
# the norm after them; per
#               layer a scale and a bias for every output of its four products, then gain and shift of its two norms
#     uint32    n + 1 offsets at which the pieces start in the names
#     int8      n * d word vectors; per layer one column per output: mix d * 3d (queries, keys, values), join d * d,
#               widen d * w, narrow w * d; the value of a number is the number times the scale of its word or output
#     names     the pieces as UTF-8 in byte order, each ended by a newline

MINILM_MAGIC = b"rawkomlm"
MINILM_HEADER = struct.Struct("<8s9I20x")  # 64 bytes, so that the floats are aligned
# per number, under numpy's names of the kinds
NUMBER_BYTES = {
    "<f4": 4,
    "<u4": 4,
    "i1": 1,
    "u1": 1,
}


@record
class Shape:
    """The numbers of a header, in order."""

    pieces: int
    positions: int
    dims: int
    width: int
    layers: int
    heads: int
    longest: int
    names: int


@record
class ArrayPlace:
    """The place of an array in the file."""

    kind: str
    dims: tuple[int, ...]
    start: int
    end: int


class WeightsFile(SortedNames):
    """An open file: finds pieces in the vocabulary, and knows the place of each array."""

    def __init__(self, path: str):
        data = map_file(path)
        self.shape = read_shape(path, data)
        self.places = array_places(self.shape)
        names = self.places["names"]  # the last array
        if names.end != len(data):
            raise broken_file(
                f"model {path}", f"its {len(data)} bytes do not fit its header"
            )
        super().__init__(
            data,
            self.shape.pieces,
            self.places["offsets"].start,
            names.start,
            names.end,
        )


def layer_products(shape: Shape) -> dict[str, tuple[int, int]]:
    """Return the matrix products of a layer: name → (inputs, outputs)."""
    d = shape.dims
    w = shape.width
    return {"mix": (d, 3 * d), "join": (d, d), "widen": (d, w), "narrow": (w, d)}


def array_places(shape: Shape) -> dict[str, ArrayPlace]:
    """Return every array of a file by its name, in the order of the layout."""
    places: dict[str, ArrayPlace] = {}
    start = MINILM_HEADER.size
    for name, kind, dims in array_parts(shape):
        size = NUMBER_BYTES[kind]
        for count in dims:
            size *= count
        places[name] = ArrayPlace(kind, dims, start, start + size)
        start += size
    return places


def array_parts(shape: Shape) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield name, kind and dimensions of each array."""
    yield "word.scale", "<f4", (shape.pieces,)
    yield "position", "<f4", (shape.positions, shape.dims)
    yield from norm_parts("first", shape)
    for layer in range(shape.layers):
        for name, (_, outputs) in layer_products(shape).items():
            yield f"{layer}.{name}.scale", "<f4", (outputs,)
            yield f"{layer}.{name}.bias", "<f4", (outputs,)
        yield from norm_parts(f"{layer}.joined", shape)
        yield from norm_parts(f"{layer}.narrowed", shape)
    yield "offsets", "<u4", (shape.pieces + 1,)
    yield "word", "i1", (shape.pieces, shape.dims)
    for layer in range(shape.layers):
        for name, sides in layer_products(shape).items():
            yield f"{layer}.{name}", "i1", sides
    yield "names", "u1", (shape.names,)


def norm_parts(name: str, shape: Shape) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield the two vectors of a layer norm."""
    yield f"{name}.gain", "<f4", (shape.dims,)
    yield f"{name}.shift", "<f4", (shape.dims,)


def map_file(path: str) -> mmap.mmap:
    """Return the whole file as a memory map; the system reads only the pages that are used."""
    try:
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: an empty file
        raise broken_file(
            f"model {path}", getattr(error, "strerror", None) or str(error)
        )


def read_shape(path: str, start: mmap.mmap) -> Shape:
    """Return the shape in the header; raise RawkoError if the header is invalid."""
    return Shape(*read_header(f"model {path}", start, MINILM_HEADER, MINILM_MAGIC))


MINILM_NAME = "minilm-l6-v1"
# BERT expects a text between the first two
START_PIECE = "[CLS]"
END_PIECE = "[SEP]"
UNKNOWN_PIECE = "[UNK]"
MINILM_FILE = os.path.join(os.path.dirname(__file__), "minilm-l6-int8.bin")
# tokens in one pass: larger batches are no faster, smaller ones waste CPU time
BATCH_TOKENS = 768


class MiniLmEmbedder:
    """Embeds with numpy in this process: a seventh of a second to the first vector, then a dozen sections a second."""

    name = MINILM_NAME

    def __init__(self, path: str = MINILM_FILE):
        self._file = WeightsFile(path)
        self.dims = self._file.shape.dims
        find = self._file.find
        longest = self._file.shape.longest
        self._start, self._end = find(START_PIECE), find(END_PIECE)
        self._unknown = find(UNKNOWN_PIECE)
        self._cutter = WordPiece(find, longest, (self._unknown,))
        self._encoder: Encoder | None = None

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector per text; a text is cut after 254 word pieces."""
        self._file.expect(texts)
        cut = [self._rows(text) if is_embeddable(text) else [] for text in texts]
        vectors = [bytes(4 * self.dims)] * len(texts)
        known = [place for place, rows in enumerate(cut) if rows]
        batches = token_batches([cut[place] for place in known])
        if batches:
            for place, vector in zip(known, self._run(batches), strict=True):
                vectors[place] = vector
        return vectors

    def _rows(self, text: str) -> list[int]:
        """Return the rows of a text between two marks; none without a known word, because such texts would look alike."""
        kept = self._cutter.rows(text)[: self._file.shape.positions - 2]
        is_known = any(row != self._unknown for row in kept)
        return [self._start, *kept, self._end] if is_known else []

    def _run(self, batches: list[list[list[int]]]) -> list[bytes]:
        from .minilm_pass import Encoder, workers

        encoder = self._encoder = self._encoder or Encoder(self._file)
        threads = min(workers(), len(batches))
        if threads == 1:
            return [vector for batch in batches for vector in encoder(batch)]
        pool = ThreadPoolExecutor(threads)
        try:
            return [
                vector for vectors in pool.map(encoder, batches) for vector in vectors
            ]
        finally:
            # after an interrupt, leave the remaining batches
            pool.shutdown(cancel_futures=True)


def token_batches(texts: list[list[int]]) -> list[list[list[int]]]:
    """Return the texts in order, in batches of at most BATCH_TOKENS tokens."""
    batches: list[list[list[int]]] = []
    room = 0
    for rows in texts:
        if len(rows) > room:
            batches.append([])
            room = BATCH_TOKENS
        batches[-1].append(rows)
        room -= len(rows)
    return batches
