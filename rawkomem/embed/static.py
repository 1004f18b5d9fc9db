"""The bundled embedder: WordPiece cuts a text, and its vector is the sum of its pieces' vectors, read
from a mapped file.

Short texts use plain Python, so that a cold query imports nothing heavy; long work uses numpy.
Unknown words are ignored: with a common vector for them, any two texts full of unknown
words would look alike.
"""

from __future__ import annotations

import math
import mmap
import os
import struct
import sys
from bisect import bisect_left
from io import FileIO
from itertools import chain

from ..model.errors import RawkoError
from ..model.values import TYPE_CHECKING
from ..text.clean import is_within, range_edges

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


# The file of token vectors: sorted pieces, with a weight and an int8 row for each; only needed
# parts are read.
#
# Layout, little-endian, without gaps:
#     header    magic, version, number of pieces n, dimensions d (a multiple of 8), characters of the longest piece,
#               bytes of the names
#     offsets   n + 1 uint32: offset of each piece in the names
#     weights   n uint32 up to MAX_WEIGHT
#     names     the pieces as UTF-8 in byte order, each ended by a newline
#     rows      n * d int8: a piece's vector is its row times its weight, up to a factor that normalizing removes
#
# Weights are whole numbers, so that every sum is exact: the same on any machine and in any order
# of adding.

VECTORS_MAGIC = b"rawkovec"
FILE_VERSION = 1  # of both bundled files
VECTORS_HEADER = struct.Struct("<8sIIIII")
SPAN = struct.Struct("<II")  # offset of a piece, and of the next one
# tools/train_static.py scales the weights to it: a sum of 2**20 pieces with values up to 2**7 then fits into the 53 bits
# that float64 holds exactly
MAX_WEIGHT = 2**26
# for longer texts, building the index of pieces is faster than searching the map word by word
INDEX_CHARS = 3_000
HAS_PREAD = hasattr(os, "pread")  # not on Windows


class SortedNames:
    """Names in a mapped file: in byte order, each ended by a newline, with their offsets."""

    def __init__(self, data: mmap.mmap, count: int, offsets: int, names: int, end: int):
        self.map = data
        self.count = count
        self._offsets = offsets
        self._names = names
        self._end = end
        self._index: dict[str, int] = {}

    def expect(self, texts: Sequence[str]) -> None:
        """Index the names in memory if the texts are long enough to repay it."""
        if not self._index and sum(map(len, texts)) > INDEX_CHARS:
            self._index = self.index()

    def find(self, piece: str) -> int:
        """Return the row of a piece, or -1."""
        if self._index:
            return self._index.get(piece, -1)
        wanted = piece.encode()
        row = bisect_left(range(self.count), wanted, key=self._name)
        return row if row < self.count and self._name(row) == wanted else -1

    def _name(self, row: int) -> bytes:
        start, after = SPAN.unpack_from(self.map, self._offsets + 4 * row)
        return self.map[self._names + start : self._names + after - 1]

    def index(self) -> dict[str, int]:
        """Return piece → row in memory: takes 4 MB and some milliseconds, then a look-up is fifty times as fast."""
        names = self.map[self._names : self._end].decode().split("\n")
        names.pop()  # the text after the last newline is empty
        return {name: row for row, name in enumerate(names)}


class TokenVectors(SortedNames):
    """An open file: finds pieces in the map, and reads the rows that are needed."""

    def __init__(self, path: str):
        self._file, header = open_vectors(path)
        count, self.dims, self.longest, size_of_names = header
        self._weights = VECTORS_HEADER.size + 4 * (count + 1)
        names = self._weights + 4 * count
        self._rows = names + size_of_names
        size = os.fstat(self._file.fileno()).st_size
        if size != self._rows + count * self.dims:
            raise broken_file(
                f"token vectors {path}", f"its {size} bytes do not fit its header"
            )
        # Map only the names: kernels with large folios would count every touched megabyte of rows as our memory.
        searched = mmap.mmap(self._file.fileno(), self._rows, access=mmap.ACCESS_READ)
        super().__init__(searched, count, VECTORS_HEADER.size, names, self._rows)

    def weight(self, row: int) -> int:
        """Return the factor for the numbers of a row."""
        return int.from_bytes(
            self.map[self._weights + 4 * row : self._weights + 4 * row + 4], "little"
        )

    def row(self, row: int) -> bytes:
        """Return the int8 numbers of a row."""
        start = self._rows + row * self.dims
        if HAS_PREAD:
            return os.pread(self._file.fileno(), self.dims, start)
        return self._map_all()[start : start + self.dims]

    def table(self) -> tuple[memoryview, memoryview]:
        """Return all weights and all rows, as bytes."""
        return memoryview(self.map)[self._weights : self._names], memoryview(
            self._map_all()
        )[self._rows :]

    def _map_all(self) -> mmap.mmap:
        if len(self.map) == self._rows:
            self.map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return self.map


def open_vectors(path: str) -> tuple[FileIO, tuple[Any, ...]]:
    """Return the open file and its header: pieces, dimensions, longest piece, bytes of the names."""
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115
        start = file.read(VECTORS_HEADER.size)
    except OSError as error:
        raise broken_file(f"token vectors {path}", error.strerror or str(error))
    what = f"token vectors {path}"
    return file, read_header(what, start, VECTORS_HEADER, VECTORS_MAGIC)


def read_header(
    what: str, data: bytes | mmap.mmap, header: struct.Struct, magic: bytes
) -> tuple[Any, ...]:
    """Return the numbers of a file's header, after its magic and its version; raise RawkoError if it is another file."""
    if len(data) < header.size or header.unpack_from(data)[:2] != (magic, FILE_VERSION):
        start = f"{magic.decode()} {FILE_VERSION}"
        raise broken_file(what, f"it does not start with {start}")
    return header.unpack_from(data)[2:]


def broken_file(file: str, why: str) -> RawkoError:
    """Return the error for a bundled file that cannot be used."""
    return RawkoError(
        f"cannot use the {file}: {why}",
        "Install rawkomem again: the file comes with it.",
    )


# WordPiece: cuts a text into rows of a vocabulary, exactly as BERT's uncased models do.
#
# Clean, lower-case and strip accents; split at spaces, punctuation and CJK characters; then take
# the longest known piece from the left of each word. Special tokens such as `[MASK]` are not
# recognized, because a text is data.

# a longer word is unknown, as in BERT; this also limits the work on hashes and base64
MAX_WORD_CHARS = 100
# about 14 MB; a megabyte of mixed documentation has half as many distinct words
MAX_CACHED_WORDS = 65_536
MAX_CACHED_CHARS = 8_192  # about 1 MB; enough for the scripts of one repository
LOWER_BYTES = bytes(range(256)).lower()  # with CONTROLS and MARKS: plain() for ASCII
CONTROL_BYTES = bytes(
    code for code in range(128) if code == 127 or (code < 32 and code not in b"\t\n\r")
)
SPACED_MARKS = [(mark, f" {mark} ") for mark in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]
INNER = "##"  # marks a piece that does not start its word
# controls, formats, private use, surrogates; accents, once decomposed
DROPPED = ("Cc", "Cf", "Co", "Cs", "Mn")
# the blocks that the `tokenizers` library splits; its error 2B920 (for 2B820) is kept, so that
# ids are equal
CJK_BLOCKS = range_edges(
    "3400-4DBF 4E00-9FFF F900-FAFF 20000-2A6DF 2A700-2B73F 2B740-2B81F 2B920-2CEAF 2F800-2FA1F"
)


class WordPiece:
    """Cuts texts into rows. `find` looks a piece up (-1: unknown); `longest`: characters of the longest piece."""

    def __init__(
        self, find: Callable[[str], int], longest: int, unknown: tuple[int, ...] = ()
    ):
        self.find = find
        self._longest = longest
        self._unknown = unknown  # the rows of an unknown word
        self._cut: dict[str, tuple[int, ...]] = {}

    def rows(self, text: str) -> list[int]:
        """Return the rows of a text's pieces, in order."""
        words = bert_words(text)
        pieces = list(map(self._cut.get, words))
        if None in pieces:
            pieces = [
                self._learn(word) if known is None else known
                for word, known in zip(words, pieces, strict=True)
            ]
        return list(chain.from_iterable(pieces))  # type: ignore[arg-type]

    def _learn(self, word: str) -> tuple[int, ...]:
        if len(self._cut) >= MAX_CACHED_WORDS:
            self._cut.clear()  # rare, and cheaper than tracking the order of use
        pieces = self._cut[word] = self._pieces(word)
        return pieces

    def _pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > MAX_WORD_CHARS:
            return self._unknown
        rows = []
        start = 0
        while start < len(word):
            row, start = self._longest_from(word, start)
            if row < 0:
                return self._unknown
            rows.append(row)
        return tuple(rows)

    def _longest_from(self, word: str, start: int) -> tuple[int, int]:
        prefix = INNER if start else ""
        for end in range(min(len(word), start + self._longest), start, -1):
            row = self.find(prefix + word[start:end])
            if row >= 0:
                return row, end
        return -1, len(word)


def bert_words(text: str) -> list[str]:
    """Return the words of a text: cleaned, lower-cased, without accents, split at punctuation and CJK characters."""
    if not text.isascii():
        # a megabyte of tables that most queries do not need
        from unicodedata import normalize

        return normalize("NFD", text).translate(PLAIN_CHARACTERS).split()
    simple = text.encode().translate(LOWER_BYTES, CONTROL_BYTES).decode()
    # twice as fast as one translate() to strings of several characters
    for mark, spaced in SPACED_MARKS:
        if mark in simple:
            simple = simple.replace(mark, spaced)
    return simple.split()


def is_embeddable(text: str) -> bool:
    """Return whether a model that was trained on English can embed a text.

    Its vocabulary has the letters of other scripts, but few of their words: any two such texts would look alike.
    """
    if text.isascii():
        return True
    # tables that most texts do not need
    from ..text.scripts import is_foreign, is_mostly_foreign

    return not any(map(is_foreign, set(text))) or not is_mostly_foreign(
        bert_words(text)
    )


def plain_character(code: int) -> str:
    """Return what one decomposed character becomes: nothing, a space, itself lower-cased, or itself between spaces."""
    from unicodedata import category as category_of  # as in words()

    char = chr(code)
    category = category_of(char)
    if char in "\t\n\r" or (char.isspace() and category != "Cc"):
        return " "
    if category in DROPPED or char == "\ufffd":
        return ""
    char = char.lower()
    return f" {char} " if _stands_alone(char, category) else char


def _stands_alone(char: str, category: str) -> bool:
    if char.isascii():
        # also $+<=>^`|~, which are not punctuation in Unicode
        return not char.isalnum()
    return category[0] == "P" or (len(char) == 1 and is_within(char, CJK_BLOCKS))


class _Plain(dict[int, str]):
    """Caches plain() for str.translate."""

    def __missing__(self, code: int) -> str:
        plain = plain_character(code)
        if len(self) < MAX_CACHED_CHARS:
            self[code] = plain
        return plain


PLAIN_CHARACTERS = _Plain()


# Computes weighted sums of int8 rows without numpy, six times as fast as adding number by number.
#
# A big integer serves as an array of 64-bit lanes, each wide enough for a sum. A row of bytes
# becomes eight such integers, one for each byte of a lane. Multiplying or adding the integers
# multiplies or adds all lanes at once.

LANE_BYTES = 8  # bytes: weights may add up to 2**56
SHIFTS = range(0, 8 * LANE_BYTES, 8)
OFFSET = 128  # lanes hold no negative numbers: -128..127 are summed as 0..255


def weighted_sum(rows: Sequence[bytes], weights: Sequence[int]) -> list[int]:
    """Return the sum of weight * row, exact; the rows' length is a multiple of LANE_BYTES."""
    size = len(rows[0])
    flip = int.from_bytes(b"\x80" * size, "little")  # turns int8 into uint8 + OFFSET
    mask = int.from_bytes(
        (b"\xff" + bytes(LANE_BYTES - 1)) * (size // LANE_BYTES), "little"
    )
    sums = [0] * LANE_BYTES
    for row, weight in zip(rows, weights, strict=True):
        shifted = int.from_bytes(row, "little") ^ flip
        sums = [
            have + (shifted >> shift & mask) * weight
            for have, shift in zip(sums, SHIFTS, strict=True)
        ]
    offset = OFFSET * sum(weights)
    unpack = struct.Struct(f"<{size // LANE_BYTES}Q").unpack
    total = [0] * size
    for place, lanes in enumerate(sums):
        total[place::LANE_BYTES] = [
            lane - offset for lane in unpack(lanes.to_bytes(size, "little"))
        ]
    return total


# The bundled embedder: a text's vector is the sum of its pieces' vectors. It needs no model run
# and no network.
#
# Short texts use plain Python on the mapped file, so that a cold query imports nothing heavy; long
# work uses numpy. Unknown words are ignored: with a common vector for them, any two texts full of
# unknown words would look alike, and such a vector changed no measured figure by more than 0.001.

STATIC_NAME = "static-384-v2"
STATIC_FILE = os.path.join(os.path.dirname(__file__), "static-384.bin")
NUMPY_TOKENS = 15_000  # for more tokens, importing numpy is faster than plain Python
LOADED_TOKENS = 100  # the same limit if numpy is imported already


class StaticEmbedder:
    """Static token vectors distilled from all-MiniLM-L6-v2; see NOTICE."""

    def __init__(self, path: str = STATIC_FILE, name: str = STATIC_NAME):
        self.name = name
        self._vectors = TokenVectors(path)
        self.dims = self._vectors.dims
        self._cutter = WordPiece(self._vectors.find, self._vectors.longest)

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one normalized float32 little-endian vector per text; zeros for a text without known words."""
        self._vectors.expect(texts)
        rows = [
            self._cutter.rows(text) if is_embeddable(text) else [] for text in texts
        ]
        if sum(map(len, rows)) < (
            LOADED_TOKENS if "numpy" in sys.modules else NUMPY_TOKENS
        ):
            return [self._sum(each) for each in rows]
        return self._bulk_sums(rows)

    def _sum(self, rows: list[int]) -> bytes:
        if not rows:
            return bytes(4 * self.dims)
        times: dict[int, int] = {}  # how often each row occurs
        for row in rows:
            times[row] = times.get(row, 0) + 1
        weights = [number * self._vectors.weight(row) for row, number in times.items()]
        return pack_vector(
            weighted_sum([self._vectors.row(row) for row in times], weights)
        )

    def _bulk_sums(self, texts: list[list[int]]) -> list[bytes]:
        """Return the same vectors with numpy. Importing it takes a tenth of a second, which pays only for bulk work."""
        from .minilm_pass import np

        weights, numbers = self._vectors.table()
        factors = np.frombuffer(weights, "<u4").astype(np.float64)
        table = np.frombuffer(numbers, np.int8).reshape(self._vectors.count, self.dims)
        packed = []
        for text in texts:
            rows = np.array(text, np.int64)
            total = factors[rows] @ table.take(rows, axis=0).astype(np.float64)
            # The length must be exact, so that the bytes are those of _sum: squares in two halves of 26 bits.
            whole = total.astype(np.int64)
            high = whole >> 26
            low = whole & (2**26 - 1)
            square = (int(high @ high) << 52) + (int(high @ low) << 27) + int(low @ low)
            packed.append((total / (square**0.5 or 1.0)).astype("<f4").tobytes())
        return packed


def pack_vector(vector: Sequence[float]) -> bytes:
    """Return a vector, normalized, as float32 little-endian bytes; zeros stay zeros."""
    length = sum([x * x for x in vector]) ** 0.5 or 1.0
    return struct.pack(f"<{len(vector)}f", *[x / length for x in vector])


# Rates how rare a word is by the length of its bundled vector, which training made short for
# frequent words.

# logarithms of the lengths of "use" and of "analytics"
COMMONEST = 23.2
RAREST = 24.4
MIN_RARITY = 0.05


class Rarity:
    """Rates words from nearly 0 (the, use) to 1 (a name that is not in the vocabulary)."""

    def __init__(self) -> None:
        self._vectors = TokenVectors(STATIC_FILE)
        self._known: dict[str, float] = {}

    def __call__(self, word: str) -> float:
        """Return how rare a lower-case word is."""
        if word not in self._known:
            self._known[word] = self._rate(self._vectors.find(word))
        return self._known[word]

    def _rate(self, row: int) -> float:
        if row < 0:
            return 1.0
        length = math.sqrt(
            sum(
                [
                    number * number
                    for number in memoryview(self._vectors.row(row)).cast("b")
                ]
            )
        )
        log_length = math.log(max(1.0, length * self._vectors.weight(row)))
        return max(
            MIN_RARITY, min(1.0, (log_length - COMMONEST) / (RAREST - COMMONEST))
        )
