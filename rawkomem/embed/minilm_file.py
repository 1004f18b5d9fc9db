"""The memory-mapped file of the contextual embedder: a sorted vocabulary, word vectors and the layers' weights.

Layout, little-endian, without gaps; n pieces, p positions, d dimensions, w the width in the middle of a layer:
    header    magic, version, n, p, d, w, layers, heads, characters of the longest piece, bytes of the names, zeros
    float32   n scales of the word vectors; p * d position vectors; gain and shift (d each) of the norm after them; per
              layer a scale and a bias for every output of its four products, then gain and shift of its two norms
    uint32    n + 1 offsets at which the pieces start in the names
    int8      n * d word vectors; per layer one column per output: mix d * 3d (queries, keys, values), join d * d,
              widen d * w, narrow w * d; the value of a number is the number times the scale of its word or output
    names     the pieces as UTF-8 in byte order, each ended by a newline
"""

from __future__ import annotations

import mmap
import struct

from ..model.record import record
from .vectors import SortedNames, broken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"rawkomlm"
VERSION = 1
HEADER = struct.Struct("<8s9I20x")  # 64 bytes, so that the floats are aligned
BYTES = {"<f4": 4, "<u4": 4, "i1": 1, "u1": 1}  # per number, under numpy's names of the kinds
MAX_BYTES = 2**31  # no model of this kind is larger


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
class Place:
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
        self.places = places(self.shape)
        names = self.places["names"]  # the last array
        if names.end != len(data):
            raise broken(f"model {path}", f"its {len(data)} bytes do not fit its header")
        super().__init__(data, self.shape.pieces, self.places["offsets"].start, names.start, names.end)


def products(shape: Shape) -> dict[str, tuple[int, int]]:
    """Return the matrix products of a layer: name → (inputs, outputs)."""
    d, w = shape.dims, shape.width
    return {"mix": (d, 3 * d), "join": (d, d), "widen": (d, w), "narrow": (w, d)}


def places(shape: Shape) -> dict[str, Place]:
    """Return every array of a file by its name, in the order of the layout."""
    found: dict[str, Place] = {}
    start = HEADER.size
    for name, kind, dims in parts(shape):
        size = BYTES[kind]
        for count in dims:
            size *= count
        found[name] = Place(kind, dims, start, start + size)
        start += size
    return found


def parts(shape: Shape) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield name, kind and dimensions of each array."""
    yield "word.scale", "<f4", (shape.pieces,)
    yield "position", "<f4", (shape.positions, shape.dims)
    yield from norm_parts("first", shape)
    for layer in range(shape.layers):
        for name, (_, outputs) in products(shape).items():
            yield f"{layer}.{name}.scale", "<f4", (outputs,)
            yield f"{layer}.{name}.bias", "<f4", (outputs,)
        yield from norm_parts(f"{layer}.joined", shape)
        yield from norm_parts(f"{layer}.narrowed", shape)
    yield "offsets", "<u4", (shape.pieces + 1,)
    yield "word", "i1", (shape.pieces, shape.dims)
    for layer in range(shape.layers):
        for name, sides in products(shape).items():
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
        raise broken(f"model {path}", getattr(error, "strerror", None) or str(error))


def read_shape(path: str, start: mmap.mmap) -> Shape:
    """Return the shape in the header; raise RawkoError if the header is invalid."""
    if len(start) < HEADER.size or HEADER.unpack_from(start)[:2] != (MAGIC, VERSION):
        raise broken(f"model {path}", f"it does not start with {MAGIC.decode()} {VERSION}")
    shape = Shape(*HEADER.unpack_from(start)[2:])
    if shape.layers * shape.dims * shape.width > MAX_BYTES or not shape.heads or shape.dims % shape.heads:
        raise broken(f"model {path}", "its header is invalid")
    return shape
