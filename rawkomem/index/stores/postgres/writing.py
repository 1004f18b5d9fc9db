"""Writes to PostgreSQL. Each function runs in a transaction that holds the repository's lock, a row of `repositories`.

So writers of one repository take turns, readers never see a part of a version, and locks are taken in one order.
"""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any

from ....model.record import record
from ..sqlite import pack_all
from .rows import Vector, Version, hash_of_vectors, packed_vector, storable, terms_of, tokens_of, versions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from psycopg import Connection

    from ..documents import Document

    Row = tuple[object, ...]

STALE_AFTER = "90 days"  # a clone not used for this long is removed; if it is used again, its index is rebuilt
WRITE_TIMEOUT_MS = 600_000  # for one statement: erasing a million memories takes minutes
COLUMNS = {
    "versions": "n int8, repository int4, id text, hash bytea, kind text, status text, title text, importance int2,"
    " created int8, agent text, tags text[], type text, category text, entities text[], session text, said_by text,"
    " said_tags text[], said_category text, passages int4, tokens int4, arounds int4, around_tokens int4,"
    " vouched int2, told jsonb",
    "passages": "version int8, number int4, field text, alone bool, heading text, line int4, text text",
    "vectors": "owner int8, number int4, repository int4, dims int4, vector halfvec",
    "deep_vectors": "owner int8, number int4, repository int4, dims int4, vector halfvec",
    "bits": "repository int4, dims int4, owner int8, number int4, bits varbit",
    "deep_bits": "repository int4, dims int4, owner int8, number int4, bits varbit",
    "words": "owner int8, number int4, tokens int8[]",
    "arounds": "owner int8, number int4, tokens int8[]",
    "depths": "n int8, version int8, hash bytea",
}


@record
class Clone:
    """A clone as the database knows it."""

    repository: int
    clone: int
    generation: str
    passages: int
    recent: bool  # used within a day


def find_clone(connection: Connection[Any], repository: str, clone: str, lock: bool = False) -> Clone | None:
    """Return the clone of these names; with `lock`, lock its repository until the transaction ends."""
    sql = "SELECT r.n, c.n, c.generation, c.passages, c.seen > now() - interval '1 day' FROM repositories r"
    sql += " JOIN clones c ON c.repository = r.n WHERE r.name = %s AND c.name = %s" + " FOR UPDATE OF r" * lock
    found = connection.execute(sql.encode(), (storable(repository), storable(clone))).fetchone()
    return Clone(*found) if found else None


def lock_clone(connection: Connection[Any], repository: str, clone: str) -> Clone:
    """Return the clone of these names, adding it if missing; lock its repository until the transaction ends."""
    us = find_clone(connection, repository, clone, lock=True)
    if us is None:
        _add_clone(connection, repository, clone)
        us = find_clone(connection, repository, clone, lock=True)
        assert us is not None
    if not us.recent:
        _see_clone(connection, us)
    return us


def _add_clone(connection: Connection[Any], repository: str, clone: str) -> None:
    """Add a clone. Its repository is locked first, because two sessions with a shared lock would deadlock."""
    run = connection.execute
    run("INSERT INTO repositories (name) VALUES (%s) ON CONFLICT DO NOTHING", (storable(repository),))
    run("SELECT FROM repositories WHERE name = %s FOR UPDATE", (storable(repository),))
    run(
        "INSERT INTO clones (repository, name, generation) SELECT n, %s, %s FROM repositories WHERE name = %s"
        " ON CONFLICT DO NOTHING",
        (storable(clone), token_hex(8), storable(repository)),
    )


def _see_clone(connection: Connection[Any], us: Clone) -> None:
    """Record that this clone is in use, and remove stale clones of its repository."""
    connection.execute("UPDATE clones SET seen = now() WHERE n = %s", (us.clone,))
    stale = f"DELETE FROM clones WHERE repository = %s AND seen < now() - interval '{STALE_AFTER}'"
    connection.execute(stale.encode(), (us.repository,))


def put(connection: Connection[Any], us: Clone, documents: Sequence[Document]) -> None:
    """Make the clone hold these memories, and add their versions that the database lacks."""
    latest = {document.id: document for document in documents}
    versions = versions_of(list(latest.values()))
    known = _known(connection, us, versions)
    fresh = [version for version in versions if version.hash not in known]
    numbered = list(zip(_numbers(connection, "versions", len(fresh)), fresh, strict=True))
    _add(connection, us, numbered)
    known |= {version.hash: n for n, version in numbered}
    held = [(storable(v.document.id), known[v.hash], v.document.digest) for v in versions]
    connection.execute(
        "INSERT INTO holdings (clone, id, version, digest) SELECT %s, * FROM unnest(%s::text[], %s::int8[], %s::text[])"
        " ON CONFLICT (clone, id) DO UPDATE SET version = excluded.version, digest = excluded.digest,"
        " deep = CASE WHEN holdings.version = excluded.version THEN holdings.deep END",
        (us.clone, *map(list, zip(*held, strict=True))),
    )


def _known(connection: Connection[Any], us: Clone, versions: Sequence[Version]) -> dict[bytes, int]:
    """Return hash → number of the versions that exist."""
    sql = "SELECT hash, n FROM versions WHERE repository = %s AND hash = ANY(%s)"
    return dict(connection.execute(sql, (us.repository, [version.hash for version in versions])).fetchall())


def _numbers(connection: Connection[Any], table: str, count: int) -> list[int]:
    """Return `count` new row numbers."""
    sql = "SELECT nextval(pg_get_serial_sequence(%s, 'n')) FROM generate_series(1, %s)"
    return [n for (n,) in connection.execute(sql, (table, count)).fetchall()]


def _add(connection: Connection[Any], us: Clone, numbered: Sequence[tuple[int, Version]]) -> None:
    rows: dict[str, list[Row]] = {
        table: [] for table in ("versions", "passages", "vectors", "bits", "words", "arounds")
    }
    for n, version in numbered:
        document = version.document
        terms = [terms_of(document, passage) for passage in document.passages]
        words, arounds = [own for own, _ in terms], [around for _, around in terms if around]
        rows["versions"].append((n, us.repository, *version.columns(words, arounds)))
        for number, (passage, (own, around)) in enumerate(zip(document.passages, terms, strict=True)):
            heading, text = storable(passage.heading), storable(passage.text)
            rows["passages"].append((n, number, passage.field, not around, heading, passage.line, text))
            rows["words"].append((n, number, tokens_of(us.repository, own)))
            if around:
                rows["arounds"].append((n, number, tokens_of(us.repository, around)))
        rows["vectors"] += _vector_rows(us, n, version.vectors)
        rows["bits"] += _bit_rows(us, n, version.vectors)
    for table, own_rows in rows.items():
        _copy(connection, table, own_rows)


def _vector_rows(us: Clone, owner: int, vectors: Sequence[Vector]) -> Iterable[Row]:
    """Return a row for each vector, without vectors of zeros, which are close to nothing."""
    numbered = enumerate(vectors)
    return ((owner, number, us.repository, len(vector), vector) for number, vector in numbered if any(vector))


def _bit_rows(us: Clone, owner: int, vectors: Sequence[Vector]) -> Iterable[Row]:
    """Return a row of bits for each vector, without vectors of zeros."""
    numbered = enumerate(vectors)
    return ((us.repository, len(v), owner, number, v.bits) for number, v in numbered if any(v))


def _copy(connection: Connection[Any], table: str, rows: Iterable[Row]) -> None:
    columns = [column.rsplit(" ", 1) for column in COLUMNS[table].split(", ")]
    names = ", ".join(name for name, _ in columns)
    sql = f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
        copy.set_types([_type(connection, name) for _, name in columns])
        for row in rows:
            copy.write_row(row)


def _type(connection: Connection[Any], name: str) -> str | int:
    """Return a type for `set_types`: its name, or for vectors the oid in this database."""
    return connection.adapters.get_dumper(Vector, "b").oid if name == "halfvec" else name  # type: ignore[arg-type]


def drop(connection: Connection[Any], us: Clone, ids: Sequence[str]) -> None:
    """Remove these memories from the clone."""
    wanted = [storable(id) for id in ids]
    connection.execute("DELETE FROM holdings WHERE clone = %s AND id = ANY(%s)", (us.clone, wanted))


def erase(connection: Connection[Any], us: Clone) -> None:
    """Remove all memories from the clone, and change its generation."""
    connection.execute("DELETE FROM holdings WHERE clone = %s", (us.clone,))
    connection.execute("UPDATE clones SET generation = %s WHERE n = %s", (token_hex(8), us.clone))


def deepen(connection: Connection[Any], us: Clone, vectors: Mapping[str, Sequence[bytes]]) -> None:
    """Store contextual vectors of the clone's memories; skip a memory without one vector per passage."""
    sql = "SELECT h.id, h.version FROM holdings h JOIN versions v ON v.n = h.version"
    sql += " JOIN unnest(%s::text[], %s::int[]) AS given (id, passages) ON given.id = h.id"
    sql += " WHERE h.clone = %s AND v.passages = given.passages"
    ids = {storable(id): own for id, own in vectors.items()}
    found = connection.execute(sql.encode(), (list(ids), [len(own) for own in ids.values()], us.clone)).fetchall()
    fine = iter(pack_all([vector for id, _ in found for vector in ids[id]]))
    sets = {(id, version): [packed_vector(*next(fine)) for _ in ids[id]] for id, version in found}
    hashes = {version: hash_of_vectors(own) for (_, version), own in sets.items()}
    known = _known_depths(connection, hashes)
    fresh = [(version, own) for (_, version), own in sets.items() if version not in known]
    numbered = list(zip(_numbers(connection, "depths", len(fresh)), fresh, strict=True))
    _copy(connection, "depths", ((n, version, hashes[version]) for n, (version, _) in numbered))
    _copy(connection, "deep_vectors", (row for n, (_, own) in numbered for row in _vector_rows(us, n, own)))
    _copy(connection, "deep_bits", (row for n, (_, own) in numbered for row in _bit_rows(us, n, own)))
    known |= {version: n for n, (version, _) in numbered}
    connection.execute(
        "UPDATE holdings h SET deep = given.deep FROM unnest(%s::int8[], %s::int8[]) AS given (version, deep)"
        " WHERE h.clone = %s AND h.version = given.version",
        (list(known), list(known.values()), us.clone),
    )


def _known_depths(connection: Connection[Any], hashes: Mapping[int, bytes]) -> dict[int, int]:
    """Return version → number of the sets of vectors that exist."""
    sql = "SELECT version, n FROM depths JOIN unnest(%s::int8[], %s::bytea[]) AS given (version, hash)"
    sql += " USING (version, hash)"
    return dict(connection.execute(sql.encode(), (list(hashes), list(hashes.values()))).fetchall())


def flatten(connection: Connection[Any], us: Clone) -> None:
    """Remove all contextual vectors from the clone."""
    connection.execute("UPDATE holdings SET deep = NULL WHERE clone = %s AND deep IS NOT NULL", (us.clone,))
