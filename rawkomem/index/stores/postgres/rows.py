"""Turns documents into the rows that PostgreSQL keeps: hashes, words as numbers, vectors as whole numbers."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b, sha256
from struct import pack as packed
from struct import unpack
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format

from ....text.scripts.signs import SPREADING
from ..bm25 import BREAK, length, row_terms
from ..sqlite import head_of, pack_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..documents import Document, Passage

BIGINT, BIGINTS, VARBIT, JSONB = 20, 1016, 1562, 3802  # oids
HALVES = [packed(">e", number) for number in (*range(128), *range(-128, 0))]  # by the byte of an int8
HIGH, LOW = (bytes(half[at] for half in HALVES) for at in (0, 1))


HASHED = "told"  # part of every hash, so that versions from before the column `told` are written again

# The facets that the table `versions` has (sql/0001_index.sql): a filter on another facet is passed as ids.
COLUMNS = (
    "id",
    "kind",
    "status",
    "importance",
    "created",
    "tags",
    "by",
    "type",
    "category",
    "entities",
    "session",
    "vouched",
)
RENAMED = {"by": "agent"}  # facet → its column, if that has another name


class Vector(bytes):
    """Whole numbers from -127 to 127, a byte for each dimension, as the SQLite store packs them; and their bits."""

    bits: BitString


class BitString(bytes):
    """One bit for each dimension."""


def packed_vector(fine: bytes, bits: bytes) -> Vector:
    """Return a vector with its bits."""
    vector = Vector(fine)
    vector.bits = BitString(bits)
    return vector


class Tokens(bytes):
    """A bigint[] in the server's binary format."""


class Told(bytes):
    """JSON in the server's encoding."""


class _TokensDumper(Dumper):
    format = Format.BINARY
    oid = BIGINTS

    def dump(self, obj: Tokens) -> Buffer:
        return obj


class _BitsDumper(Dumper):
    format = Format.BINARY
    oid = VARBIT

    def dump(self, obj: BitString) -> Buffer:
        return packed(">i", 8 * len(obj)) + obj


class _ToldDumper(Dumper):
    format = Format.BINARY
    oid = JSONB

    def dump(self, obj: Told) -> Buffer:
        return b"\x01" + obj


class _VectorDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Vector) -> Buffer:
        halves = bytearray(2 * len(obj))
        halves[0::2], halves[1::2] = obj.translate(HIGH), obj.translate(LOW)
        return packed(">hh", len(obj), 0) + halves


class _VectorLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        numbers = unpack(f">{(len(data) - 4) // 2}e", bytes(data)[4:])
        return packed(f"{len(numbers)}b", *map(int, numbers))


def speak_vectors(connection: Connection[Any], oid: int) -> None:
    """Make a connection send and read our types. The oid of `halfvec` differs between databases."""
    connection.adapters.register_dumper(Vector, type("VectorDumper", (_VectorDumper,), {"oid": oid}))
    connection.adapters.register_dumper(Tokens, _TokensDumper)
    connection.adapters.register_dumper(BitString, _BitsDumper)
    connection.adapters.register_dumper(Told, _ToldDumper)
    connection.adapters.register_loader(oid, _VectorLoader)


class Version:
    """One version of a memory. Its words are split on demand, because the database knows most versions."""

    def __init__(self, document: Document, vectors: Sequence[Vector]):
        self.document = document
        self.vectors = vectors
        self.hash = _hash(document, vectors)

    def columns(self, words: Sequence[Sequence[str]], arounds: Sequence[Sequence[str]]) -> tuple[object, ...]:
        """Return the row of `versions`, without number and repository, from the terms of its passages."""
        d = self.document.facets
        sizes = (len(words), sum(map(length, words)), len(arounds), sum(map(length, arounds)))
        plain = (d.kind, d.status, storable(self.document.title), d.importance, d.created)
        lower = (*names([d.by]), names(d.tags), *names([d.type, d.category]), names(d.entities), storable(d.session))
        said = (storable(d.by), [storable(tag) for tag in d.tags], storable(d.category))
        told = Told((self.document.told or "{}").replace("\\u0000", "\\ufffd").encode())
        return (storable(d.id), self.hash, *plain, *lower, *said, *sizes, d.vouched, told)


def versions_of(documents: Sequence[Document]) -> list[Version]:
    """Return documents as versions; all vectors are packed in one call."""
    fine = iter(pack_all([passage.vector for document in documents for passage in document.passages]))
    return [Version(document, [packed_vector(*next(fine)) for _ in document.passages]) for document in documents]


def _hash(document: Document, vectors: Sequence[Vector]) -> bytes:
    """Return a hash of a version with its vectors, so that clones with other models or terms do not share it."""
    passages = [(p.text, p.field, p.heading, p.line, p.around) for p in document.passages]
    said = (HASHED, SPREADING, document.title, document.facets, passages, document.told)
    return sha256(repr(said).encode() + b"".join(vectors)).digest()


def hash_of_vectors(vectors: Sequence[Vector]) -> bytes:
    """Return a hash of a set of vectors."""
    return sha256(b"".join(vectors)).digest()


def terms_of(document: Document, passage: Passage) -> tuple[list[str], list[str]]:
    """Return the terms of a passage, and of its surroundings; an empty list if it has none."""
    head = head_of(document, passage)
    return row_terms(head, passage.text), row_terms(head, passage.around) if passage.around else []


def tokens_of(repository: int, terms: Sequence[str]) -> Tokens:
    """Return the numbers of terms as an array for the server."""
    head = packed(">iiIii", 1, 0, BIGINT, len(terms), 1)
    return Tokens(head + b"".join([_token(repository, term) for term in terms]))


def number_of(repository: int, term: str) -> int:
    """Return the number of a term."""
    return int.from_bytes(_token(repository, term)[4:], "big", signed=True)


@lru_cache(200_000)  # more than the words of most repositories
def _token(repository: int, term: str) -> bytes:
    """Return a term as an array's element: a 64-bit hash, keyed by repository, so that repositories share none."""
    if term == BREAK:
        return packed(">iq", 8, 0)
    return packed(">i", 8) + blake2b(term.encode(), digest_size=8, key=repository.to_bytes(8, "big")).digest()


def names(given: Sequence[str]) -> list[str]:
    """Return names in the form that filters compare: lower case."""
    return [storable(name.lower()) for name in given]


def storable(text: str) -> str:
    """Return a text without the one character that PostgreSQL's text cannot hold."""
    return text.replace("\0", "\ufffd")
