"""The file of token vectors: sorted pieces, with a weight and an int8 row for each; only needed parts are read.

Layout, little-endian, without gaps:
    header    magic, version, number of pieces n, dimensions d (a multiple of 8), characters of the longest piece,
              bytes of the names
    offsets   n + 1 uint32: offset of each piece in the names
    weights   n uint32 up to MAX_WEIGHT
    names     the pieces as UTF-8 in byte order, each ended by a newline
    rows      n * d int8: a piece's vector is its row times its weight, up to a factor that normalizing removes

Weights are whole numbers, so that every sum is exact: the same on any machine and in any order of adding.
"""

from __future__ import annotations

import mmap
import os
import struct

from ..model.errors import RawkoError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import FileIO

MAGIC = b"rawkovec"
VERSION = 1
HEADER = struct.Struct("<8sIIIII")
SPAN = struct.Struct("<II")  # offset of a piece, and of the next one
MAX_WEIGHT = 2**26  # a sum of 2**20 pieces with values up to 2**7 then fits into the 53 bits that float64 holds exactly
HAS_PREAD = hasattr(os, "pread")  # not on Windows


class SortedNames:
    """Names in a mapped file: in byte order, each ended by a newline, with their offsets."""

    def __init__(self, data: mmap.mmap, count: int, offsets: int, names: int, end: int):
        self.map = data
        self.count = count
        self._offsets, self._names, self._end = offsets, names, end

    def find(self, piece: str) -> int:
        """Return the row of a piece, or -1."""
        wanted = piece.encode()
        data, offsets, names, span = self.map, self._offsets, self._names, SPAN.unpack_from
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            start, after = span(data, offsets + 4 * middle)
            name = data[names + start : names + after - 1]
            if name == wanted:
                return middle
            low, high = (middle + 1, high) if name < wanted else (low, middle)
        return -1

    def index(self) -> dict[str, int]:
        """Return piece → row in memory: takes 4 MB and some milliseconds, then a look-up is fifty times as fast."""
        names = self.map[self._names : self._end].decode().split("\n")
        return dict(zip(names, range(self.count), strict=False))  # the text after the last newline is empty


class TokenVectors(SortedNames):
    """An open file: finds pieces in the map, and reads the rows that are needed."""

    def __init__(self, path: str):
        self._file, header = open_file(path)
        count, self.dims, self.longest, size_of_names = header
        self._weights = HEADER.size + 4 * (count + 1)
        names = self._weights + 4 * count
        self._rows = names + size_of_names
        size = os.fstat(self._file.fileno()).st_size
        if size != self._rows + count * self.dims:
            raise broken(f"token vectors {path}", f"its {size} bytes do not fit its header")
        # Map only the names: kernels with large folios would count every touched megabyte of rows as our memory.
        searched = mmap.mmap(self._file.fileno(), self._rows, access=mmap.ACCESS_READ)
        super().__init__(searched, count, HEADER.size, names, self._rows)

    def weight(self, row: int) -> int:
        """Return the factor for the numbers of a row."""
        return int.from_bytes(self.map[self._weights + 4 * row : self._weights + 4 * row + 4], "little")

    def row(self, row: int) -> bytes:
        """Return the int8 numbers of a row."""
        start = self._rows + row * self.dims
        if HAS_PREAD:
            return os.pread(self._file.fileno(), self.dims, start)
        return self._map_all()[start : start + self.dims]

    def table(self) -> tuple[memoryview, memoryview]:
        """Return all weights and all rows, as bytes."""
        return memoryview(self.map)[self._weights : self._names], memoryview(self._map_all())[self._rows :]

    def _map_all(self) -> mmap.mmap:
        if len(self.map) == self._rows:
            self.map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return self.map


def open_file(path: str) -> tuple[FileIO, tuple[int, int, int, int]]:
    """Return the open file and its header: pieces, dimensions, longest piece, bytes of the names."""
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115 (stays open as long as the vectors are in use)
        start = file.read(HEADER.size)
    except OSError as error:
        raise broken(f"token vectors {path}", error.strerror or str(error))
    if len(start) < HEADER.size or HEADER.unpack(start)[:2] != (MAGIC, VERSION):
        file.close()
        raise broken(f"token vectors {path}", f"it does not start with {MAGIC.decode()} {VERSION}")
    return file, HEADER.unpack(start)[2:]


def broken(file: str, why: str) -> RawkoError:
    """Return the error for a bundled file that cannot be used."""
    return RawkoError(f"cannot use the {file}: {why}", "Install rawkomem again: the file comes with it.")
