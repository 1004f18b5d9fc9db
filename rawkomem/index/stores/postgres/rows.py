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


HASHED = "told"  # what a hash is of, besides what it always was of: a version of before lacks that column

# The facets that the table `versions` has (sql/0001_index.sql): a filter on any other arrives as ids.
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
RENAMED = {"by": "agent"}  # facet → its column, where that has another name


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
    """A bigint[] as the server reads it."""


class Told(bytes):
    """JSON as the server reads it."""


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
    """Teach a connection to send and read `halfvec`, whose oid is another in every database."""
    connection.adapters.register_dumper(Vector, type("VectorDumper", (_VectorDumper,), {"oid": oid}))
    connection.adapters.register_dumper(Tokens, _TokensDumper)
    connection.adapters.register_dumper(BitString, _BitsDumper)
    connection.adapters.register_dumper(Told, _ToldDumper)
    connection.adapters.register_loader(oid, _VectorLoader)


class Version:
    """What one clone's files say of a memory. Words are split on demand, because most versions are known."""

    def __init__(self, document: Document, vectors: Sequence[Vector]):
        self.document = document
        self.vectors = vectors
        self.hash = _hash(document, vectors)

    def columns(self, words: Sequence[Sequence[str]], arounds: Sequence[Sequence[str]]) -> tuple[object, ...]:
        """Return the row of `versions` after number and repository, given the terms of its passages."""
        d = self.document.facets
        sizes = (len(words), sum(map(length, words)), len(arounds), sum(map(length, arounds)))
        plain = (d.kind, d.status, storable(self.document.title), d.importance, d.created)
        lower = (*names([d.by]), names(d.tags), *names([d.type, d.category]), names(d.entities), storable(d.session))
        said = (storable(d.by), [storable(tag) for tag in d.tags], storable(d.category))
        told = Told((self.document.told or "{}").replace("\\u0000", "\\ufffd").encode())
        return (storable(d.id), self.hash, *plain, *lower, *said, *sizes, d.vouched, told)


def versions_of(documents: Sequence[Document]) -> list[Version]:
    """Return documents with their vectors packed, all at once."""
    fine = iter(pack_all([passage.vector for document in documents for passage in document.passages]))
    return [Version(document, [packed_vector(*next(fine)) for _ in document.passages]) for document in documents]


def _hash(document: Document, vectors: Sequence[Vector]) -> bytes:
    """Return a hash of a version with its vectors: clones with other models or other terms must not get ours."""
    passages = [(p.text, p.field, p.heading, p.line, p.around) for p in document.passages]
    said = (HASHED, SPREADING, document.title, document.facets, passages, document.told)
    return sha256(repr(said).encode() + b"".join(vectors)).digest()


def hash_of_vectors(vectors: Sequence[Vector]) -> bytes:
    """Return a hash of a set of vectors."""
    return sha256(b"".join(vectors)).digest()


def terms_of(document: Document, passage: Passage) -> tuple[list[str], list[str]]:
    """Return the terms of a passage, and of its surroundings, which are none where it stands alone."""
    head = head_of(document, passage)
    return row_terms(head, passage.text), row_terms(head, passage.around) if passage.around else []


def tokens_of(repository: int, terms: Sequence[str]) -> Tokens:
    """Return terms as numbers, as an array for the server."""
    head = packed(">iiIii", 1, 0, BIGINT, len(terms), 1)
    return Tokens(head + b"".join([_token(repository, term) for term in terms]))


def number_of(repository: int, term: str) -> int:
    """Return the number of a term."""
    return int.from_bytes(_token(repository, term)[4:], "big", signed=True)


@lru_cache(200_000)  # more than the words of most repositories
def _token(repository: int, term: str) -> bytes:
    """Return a term as an element of an array: 64 bits, keyed by repository, so that each finds only its passages."""
    if term == BREAK:
        return packed(">iq", 8, 0)
    return packed(">i", 8) + blake2b(term.encode(), digest_size=8, key=repository.to_bytes(8, "big")).digest()


def names(given: Sequence[str]) -> list[str]:
    """Return names as filters compare them."""
    return [storable(name.lower()) for name in given]


def storable(text: str) -> str:
    """Return a text without the one character that PostgreSQL's text cannot hold."""
    return text.replace("\0", "\ufffd")
