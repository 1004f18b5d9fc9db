"""The PostgreSQL search store: one index for a team, fed from many clones of many repositories.

Each version of a memory is stored once, and a clone holds the versions that are in its own files
(sql/0001_index.sql). So a clone's answers and word counts match its files, and it cannot change the
answers of another clone. See docs/postgres.md. Changes are collected until a question or a commit,
then written in one transaction that holds the repository's lock, a row of `repositories`: writers
of one repository take turns, readers never see a part of a version, and locks are taken in one
order. After a lost connection the changes are written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from ....model.filters import ALL_OF, ANY_OF, AT_LEAST, BEFORE, Filter, asked
from ....model.values import record
from ..protocol import BaseStore
from ..sqlite import (
    BATCH_FILES,
    BODY,
    DEEP,
    FIRST,
    SCALE,
    Document,
    Hit,
    pack,
    pack_all,
)
from .server import (
    COLUMNS,
    RENAMED,
    BitString,
    Connections,
    Vector,
    Version,
    hash_of_vectors,
    packed_vector,
    storable,
    versions_of,
)

if TYPE_CHECKING:
    import psycopg
    from psycopg import Connection

    from ..bits import PostgresBits

    Kept = dict[str, PostgresBits | None]
    AnyConnection = psycopg.Connection[Any]
    Change = Callable[[AnyConnection, "Clone"], object]

Row = tuple[object, ...]
Values = dict[str, object]


# Writes to PostgreSQL. Each function runs in a transaction that holds the repository's lock, a row
# of `repositories`.
#
# So writers of one repository take turns, readers never see a part of a version, and locks are
# taken in one order.

# a clone not used for this long is removed; if it is used again, its index is rebuilt
STALE_AFTER = "90 days"
# for one statement: erasing a million memories takes minutes
WRITE_TIMEOUT_MS = 600_000
COPIED_COLUMNS = {
    "versions": "n int8, repository int4, id text, hash bytea, kind text, status text, title text, importance int2,"
    " created int8, agent text, tags text[], type text, category text, entities text[], session text, said_by text,"
    " said_tags text[], said_category text, passages int4, vouched int2, told jsonb",
    "passages": "version int8, number int4, field text, heading text, line int4, text text",
    "vectors": "owner int8, number int4, repository int4, dims int4, vector halfvec",
    "deep_vectors": "owner int8, number int4, repository int4, dims int4, vector halfvec",
    "bits": "repository int4, dims int4, owner int8, number int4, bits varbit",
    "deep_bits": "repository int4, dims int4, owner int8, number int4, bits varbit",
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


def find_clone(
    connection: Connection[Any], repository: str, clone: str, lock: bool = False
) -> Clone | None:
    """Return the clone of these names; with `lock`, lock its repository until the transaction ends."""
    sql = "SELECT r.n, c.n, c.generation, c.passages, c.seen > now() - interval '1 day' FROM repositories r"
    sql += (
        " JOIN clones c ON c.repository = r.n WHERE r.name = %s AND c.name = %s"
        + " FOR UPDATE OF r" * lock
    )
    found = connection.execute(
        sql.encode(), (storable(repository), storable(clone))
    ).fetchone()
    return Clone(*found) if found else None


def lock_clone(connection: Connection[Any], repository: str, clone: str) -> Clone:
    """Return the clone of these names, adding it if missing; lock its repository until the transaction ends."""
    us = find_clone(connection, repository, clone, lock=True)
    if us is None:
        run = connection.execute
        run(
            "INSERT INTO repositories (name) VALUES (%s) ON CONFLICT DO NOTHING",
            (storable(repository),),
        )
        run(
            "SELECT FROM repositories WHERE name = %s FOR UPDATE",
            (storable(repository),),
        )
        run(
            "INSERT INTO clones (repository, name, generation) SELECT n, %s, %s FROM repositories WHERE name = %s"
            " ON CONFLICT DO NOTHING",
            (storable(clone), token_hex(8), storable(repository)),
        )
        us = find_clone(connection, repository, clone, lock=True)
        assert us is not None
    if not us.recent:
        connection.execute("UPDATE clones SET seen = now() WHERE n = %s", (us.clone,))
        stale = f"DELETE FROM clones WHERE repository = %s AND seen < now() - interval '{STALE_AFTER}'"
        connection.execute(stale.encode(), (us.repository,))
    return us


def put_versions(
    connection: Connection[Any], us: Clone, documents: Sequence[Document]
) -> None:
    """Make the clone hold these memories, and add their versions that the database lacks."""
    latest = {document.id: document for document in documents}
    versions = versions_of(list(latest.values()))
    sql = "SELECT hash, n FROM versions WHERE repository = %s AND hash = ANY(%s)"
    known = dict(
        connection.execute(
            sql, (us.repository, [version.hash for version in versions])
        ).fetchall()
    )
    fresh = [version for version in versions if version.hash not in known]
    numbered = list(
        zip(_new_numbers(connection, "versions", len(fresh)), fresh, strict=True)
    )
    _add_versions(connection, us, numbered)
    known |= {version.hash: n for n, version in numbered}
    held = [
        (storable(v.document.id), known[v.hash], v.document.digest) for v in versions
    ]
    connection.execute(
        "INSERT INTO holdings (clone, id, version, digest) SELECT %s, * FROM unnest(%s::text[], %s::int8[], %s::text[])"
        " ON CONFLICT (clone, id) DO UPDATE SET version = excluded.version, digest = excluded.digest,"
        " deep = CASE WHEN holdings.version = excluded.version THEN holdings.deep END",
        (us.clone, *map(list, zip(*held, strict=True))),
    )


def _new_numbers(connection: Connection[Any], table: str, count: int) -> list[int]:
    """Return `count` new row numbers."""
    sql = "SELECT nextval(pg_get_serial_sequence(%s, 'n')) FROM generate_series(1, %s)"
    return [n for (n,) in connection.execute(sql, (table, count)).fetchall()]


def _add_versions(
    connection: Connection[Any], us: Clone, numbered: Sequence[tuple[int, Version]]
) -> None:
    rows: dict[str, list[Row]] = {
        "versions": [],
        "passages": [],
        "vectors": [],
        "bits": [],
    }
    for n, version in numbered:
        rows["versions"].append((n, us.repository, *version.columns()))
        for number, passage in enumerate(version.document.passages):
            heading, text = storable(passage.heading), storable(passage.text)
            rows["passages"].append(
                (n, number, passage.field, heading, passage.line, text)
            )
        rows["vectors"] += _vector_rows(us, n, version.vectors)
        rows["bits"] += _bit_rows(us, n, version.vectors)
    for table, own_rows in rows.items():
        _copy_rows(connection, table, own_rows)


def _vector_rows(us: Clone, owner: int, vectors: Sequence[Vector]) -> Iterable[Row]:
    """Return a row for each vector, without vectors of zeros, which are close to nothing."""
    numbered = enumerate(vectors)
    return (
        (owner, number, us.repository, len(vector), vector)
        for number, vector in numbered
        if any(vector)
    )


def _bit_rows(us: Clone, owner: int, vectors: Sequence[Vector]) -> Iterable[Row]:
    """Return a row of bits for each vector, without vectors of zeros."""
    numbered = enumerate(vectors)
    return (
        (us.repository, len(v), owner, number, v.bits)
        for number, v in numbered
        if any(v)
    )


def _copy_rows(connection: Connection[Any], table: str, rows: Iterable[Row]) -> None:
    columns = [column.rsplit(" ", 1) for column in COPIED_COLUMNS[table].split(", ")]
    names = ", ".join(name for name, _ in columns)
    sql = f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
        vector_oid = connection.adapters.get_dumper(Vector, "b").oid  # type: ignore[arg-type]
        copy.set_types(
            [vector_oid if name == "halfvec" else name for _, name in columns]
        )
        for row in rows:
            copy.write_row(row)


def put_deep_vectors(
    connection: Connection[Any], us: Clone, vectors: Mapping[str, Sequence[bytes]]
) -> None:
    """Store contextual vectors of the clone's memories; skip a memory without one vector per passage."""
    sql = "SELECT h.id, h.version FROM holdings h JOIN versions v ON v.n = h.version"
    sql += (
        " JOIN unnest(%s::text[], %s::int[]) AS given (id, passages) ON given.id = h.id"
    )
    sql += " WHERE h.clone = %s AND v.passages = given.passages"
    ids = {storable(id): own for id, own in vectors.items()}
    found = connection.execute(
        sql.encode(), (list(ids), [len(own) for own in ids.values()], us.clone)
    ).fetchall()
    fine = iter(pack_all([vector for id, _ in found for vector in ids[id]]))
    sets = {
        (id, version): [packed_vector(*next(fine)) for _ in ids[id]]
        for id, version in found
    }
    hashes = {version: hash_of_vectors(own) for (_, version), own in sets.items()}
    known = _known_depths(connection, hashes)
    fresh = [
        (version, own) for (_, version), own in sets.items() if version not in known
    ]
    numbered = list(
        zip(_new_numbers(connection, "depths", len(fresh)), fresh, strict=True)
    )
    _copy_rows(
        connection,
        "depths",
        ((n, version, hashes[version]) for n, (version, _) in numbered),
    )
    _copy_rows(
        connection,
        "deep_vectors",
        (row for n, (_, own) in numbered for row in _vector_rows(us, n, own)),
    )
    _copy_rows(
        connection,
        "deep_bits",
        (row for n, (_, own) in numbered for row in _bit_rows(us, n, own)),
    )
    known |= {version: n for n, (version, _) in numbered}
    connection.execute(
        "UPDATE holdings h SET deep = given.deep FROM unnest(%s::int8[], %s::int8[]) AS given (version, deep)"
        " WHERE h.clone = %s AND h.version = given.version",
        (list(known), list(known.values()), us.clone),
    )


def _known_depths(
    connection: Connection[Any], hashes: Mapping[int, bytes]
) -> dict[int, int]:
    """Return version → number of the sets of vectors that exist."""
    sql = "SELECT version, n FROM depths JOIN unnest(%s::int8[], %s::bytea[]) AS given (version, hash)"
    sql += " USING (version, hash)"
    return dict(
        connection.execute(
            sql.encode(), (list(hashes), list(hashes.values()))
        ).fetchall()
    )


# Searches in PostgreSQL. Answers of a clone come only from the versions that the clone holds.

# vectors with the closest bits that are compared, per requested hit
CANDIDATES_PER_HIT = 10
# beyond the maximum, comparing all takes no longer
MIN_CANDIDATES, MAX_CANDIDATES = 1_000, 30_000
# factor for the next try, if the filter passed less than half of the candidates
MORE_CANDIDATES = 5
# candidates that may be looked at beyond twice the limit: a few hits say little about a filter
SPARE_LOOKS = 10
COMPARED = {
    ANY_OF: "= ANY({})",
    ALL_OF: "@> {}::text[]",
    AT_LEAST: ">= {}",
    BEFORE: "< {}",
}
HELD_VERSIONS = "holdings h JOIN versions v ON v.n = h.version"


def nearest_passages(
    connection: Connection[Any],
    us: Clone,
    vector: bytes,
    limit: int,
    only: Filter,
    tier: str,
    exact: bool,
    kept: Kept,
) -> list[Hit]:
    """Return the passages closest to a vector of this tier, best first.

    With `exact`, compare all passages, else those with the closest bits.
    """
    fine, bits = pack(vector)
    if not any(fine):
        return []
    where, values = filter_sql(only)
    values |= {"clone": us.clone, "asked": Vector(fine), "limit": limit}
    vectors, held = ("deep_vectors", "deep") if tier == DEEP else ("vectors", "version")
    close = max(MIN_CANDIDATES, CANDIDATES_PER_HIT * limit)
    while not exact and close <= MAX_CANDIDATES:
        sql, more = _candidates_by_bits(connection, us, tier, bits, fine, close, kept)
        found, looked_at = _by_distance(
            connection, _among(sql, vectors, held, where), {**values, **more}
        )
        if len(found) == limit and looked_at <= 2 * limit + SPARE_LOOKS:
            return found
        close *= MORE_CANDIDATES  # few pass the filter, or most belong to other clones
    return _by_distance(connection, _exactly(vectors, held, where), values)[0]


def _by_distance(
    connection: Connection[Any], best: str, values: Values
) -> tuple[list[Hit], int]:
    """Return the hits of a query for the best vectors, and the rank of the last hit among all candidates."""
    sql = (
        f"SELECT * FROM ({best}) b ORDER BY b.distance, b.id, b.number LIMIT %(limit)s"
    )
    rows = connection.execute(sql.encode(), values).fetchall()
    hits = [
        Hit(id, number, 1 - distance * distance / (2 * SCALE * SCALE))
        for id, number, distance, _ in rows
    ]
    return hits, max((place for *_, place in rows), default=0)


def _exactly(vectors: str, held: str, where: str) -> str:
    inside = f"SELECT h.id, h.{held} AS owner FROM {HELD_VERSIONS} WHERE h.clone = %(clone)s {where}"
    return (
        f"SELECT i.id, x.number, x.vector <-> %(asked)b AS distance, 0 AS place FROM ({inside}) i"
        f" JOIN {vectors} x ON x.owner = i.owner ORDER BY distance, i.id, x.number LIMIT %(limit)s"
    )


def _among(candidates: str, vectors: str, held: str, where: str) -> str:
    """Return a query that compares the candidates, then keeps those that the clone holds, from the best on."""
    compared = (
        f"SELECT x.owner, x.number, x.vector <-> %(asked)b AS distance FROM ({candidates}) c"
        f" JOIN {vectors} x ON x.owner = c.owner AND x.number = c.number"
    )
    return (
        "SELECT s.id, c.number, c.distance, c.place FROM"
        f" (SELECT *, row_number() OVER (ORDER BY distance) AS place FROM ({compared} OFFSET 0) x) c CROSS JOIN LATERAL"
        f" (SELECT h.id FROM {HELD_VERSIONS} WHERE h.clone = %(clone)s AND h.{held} = c.owner {where} OFFSET 0) s"
        " ORDER BY c.distance FETCH FIRST %(limit)s ROWS WITH TIES"
    )


def _candidates_by_bits(
    connection: Connection[Any],
    us: Clone,
    tier: str,
    bits: bytes,
    fine: bytes,
    close: int,
    kept: Kept,
) -> tuple[str, Values]:
    """Return a query for the vectors with the closest bits. From its second question on, a process caches all bits."""
    table, dims = "deep_bits" if tier == DEEP else "bits", len(fine)
    if table not in kept:
        kept[table] = None
        where = f"repository = {us.repository} AND dims = {dims}"
        sql = f"SELECT owner, number FROM {table} WHERE {where} ORDER BY bit_count(bits # %(bits)b) LIMIT {close}"
        return sql, {"bits": BitString(bits)}
    # loads numpy, which pays only in a long-running process
    from ..bits import PostgresBits

    known = kept[table]
    if known is None or (known.of.repository, known.of.generation) != (
        us.repository,
        us.generation,
    ):
        known = kept[table] = PostgresBits(us, table, dims)
    known.refresh(connection)
    owners, numbers = known.closest(bits, fine, close)
    sql = "SELECT * FROM unnest(%(owners)s::int8[], %(numbers)s::int4[]) AS u (owner, number)"
    return sql, {"owners": _array_text(owners), "numbers": _array_text(numbers)}


def _array_text(numbers: list[int]) -> str:
    """Return an array as text: the driver takes longer to convert a list than the server to answer."""
    return "{" + ",".join(map(str, numbers)) + "}"


def body_vectors(
    connection: Connection[Any], us: Clone, only: Filter
) -> list[tuple[str, bytes]]:
    """Return (id, vector) of every body passage inside the filter, sorted by id and number."""
    where, values = filter_sql(only)
    sql = (
        f"SELECT h.id, x.vector FROM {HELD_VERSIONS} JOIN vectors x ON x.owner = h.version"
        " JOIN passages p ON p.version = x.owner AND p.number = x.number"
        f" WHERE h.clone = %(clone)s AND p.field = '{BODY}' {where} ORDER BY h.id, x.number"
    )
    return connection.execute(
        sql.encode(), {**values, "clone": us.clone}, binary=True
    ).fetchall()


def filter_sql(only: Filter) -> tuple[str, Values]:
    """Return a filter as SQL over `h` and `v`, and the values it names."""
    where: list[str] = []
    values: Values = {}
    for field, wanted in asked(only):
        column = RENAMED.get(field.column, field.column)
        values[field.name] = (
            [storable(name) for name in wanted]
            if isinstance(wanted, (list, tuple))
            else wanted
        )
        where.append(
            f"AND v.{column} {COMPARED[field.compare].format(f'%({field.name})s')}"
        )
    return " ".join(where), values


# The PostgreSQL store: one index for a team, fed from many clones of many repositories.

T = TypeVar("T")

# up to this many passages are all compared: some 20 ms, and exact
MAX_EXACT_PASSAGES = 10_000
# changed memories after which the planner's statistics are updated
ANALYZE_AFTER_CHANGES = 1_000
ANALYZED_TABLES = (
    "repositories, clones, holdings, versions, passages, vectors, deep_vectors"
)


class PostgresStore(BaseStore):
    """Implements OutsideStore, which documents the methods, for one clone of a repository."""

    columns = COLUMNS
    tells = True  # the views of neolata's tables show `Document.told`

    def __init__(
        self, connections: Connections, repository: str, clone: str, dims: int
    ):
        self.dims = dims
        self._connections = connections
        self._names = repository, clone
        self._changes: list[Change] = []  # since the last commit
        self._put = self._unsettled = (
            0  # memories put since the last commit; since the last ANALYZE
        )
        self._small: dict[
            tuple[Filter, str], bool
        ] = {}  # (filter, tier) → whether all inside are compared
        self._kept: Kept = {}
        try:
            self._us = connections.run(self._join)
        except BaseException:
            connections.close()
            raise

    def _join(self, connection: AnyConnection) -> Clone:
        """Return this clone; add it to the database if it is missing."""
        clone = find_clone(connection, *self._names)
        if clone and clone.recent:
            return clone
        with connection.transaction():
            return lock_clone(connection, *self._names)

    # Writing: changes are collected until `commit`.

    def put(self, documents: Sequence[Document]) -> None:
        if documents:
            self._put += len(documents)
            self._changes.append(
                lambda connection, us: put_versions(connection, us, documents)
            )

    def drop(self, ids: Sequence[str]) -> None:
        if ids:
            sql = (
                "DELETE FROM holdings WHERE clone = %(clone)s AND id = ANY(%(values)s)"
            )
            self._change(sql, [storable(id) for id in ids])

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        if vectors:
            self._put += len(vectors)
            self._changes.append(
                lambda connection, us: put_deep_vectors(connection, us, vectors)
            )

    def flatten(self) -> None:
        self._change(
            "UPDATE holdings SET deep = NULL WHERE clone = %(clone)s AND deep IS NOT NULL"
        )

    def erase(self) -> None:
        """Remove everything that this clone holds, and change its generation."""
        self._changes.clear()
        self._put = 0
        self._change("DELETE FROM holdings WHERE clone = %(clone)s")
        self._change(
            "UPDATE clones SET generation = %(values)s WHERE n = %(clone)s",
            token_hex(8),
        )

    def _change(self, sql: str, values: object = None) -> None:
        """Collect a statement, which names this clone as `%(clone)s`, and perhaps `%(values)s`."""
        self._changes.append(
            lambda connection, us: connection.execute(
                sql.encode(), {"clone": us.clone, "values": values}
            )
        )

    def commit(self) -> None:
        if not self._changes:
            return
        put, self._put = self._put, 0
        try:
            self._connections.run(self._write)
        finally:
            self._changes.clear()
            self._small.clear()
        self._unsettled += put
        if put < BATCH_FILES and self._unsettled >= ANALYZE_AFTER_CHANGES:
            self._unsettled = 0
            self._connections.run(
                lambda connection: connection.execute(f"ANALYZE {ANALYZED_TABLES}")
            )

    def _write(self, connection: AnyConnection) -> None:
        """Make all changes in one transaction that holds the repository's lock."""
        with connection.transaction():
            connection.execute(f"SET LOCAL statement_timeout = {WRITE_TIMEOUT_MS}")
            self._us = lock_clone(connection, *self._names)
            for change in self._changes:
                change(connection, self._us)

    def close(self) -> None:
        """Close all connections; discard changes that were not committed."""
        self._changes.clear()
        self._connections.close()

    # Asking

    def _rows(self, sql: str, **values: object) -> list[Any]:
        """Return the rows of a query, which may name this clone as `%(clone)s`."""
        values["clone"] = self._us.clone
        return self._connections.run(
            lambda connection: connection.execute(sql.encode(), values).fetchall()
        )

    def generation(self) -> str:
        """Return the generation, after reading commits of other processes."""
        self._us = self._connections.run(self._join)
        return f"postgres {self._us.generation}"

    def nearest(
        self, vector: bytes, limit: int, only: Filter, tier: str = FIRST
    ) -> list[Hit]:
        if not limit:
            return []
        exact = self._compares_all(only, tier)
        return self._connections.run(
            lambda connection: nearest_passages(
                connection, self._us, vector, limit, only, tier, exact, self._kept
            )
        )

    def _compares_all(self, only: Filter, tier: str) -> bool:
        """Tell whether so few passages are inside the filter that all of them are compared."""
        if self._us.passages <= MAX_EXACT_PASSAGES:
            return True
        if (only, tier) not in self._small:
            where, values = filter_sql(only)
            inside = f"{HELD_VERSIONS} WHERE h.clone = %(clone)s {where}"
            few = f"SELECT v.passages FROM {inside} LIMIT {MAX_EXACT_PASSAGES + 1}"
            sql = f"SELECT coalesce(sum(passages), 0) <= {MAX_EXACT_PASSAGES} FROM ({few}) i"
            ((self._small[only, tier],),) = self._rows(sql, **values)
        return self._small[only, tier]

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        return self._connections.run(
            lambda connection: body_vectors(connection, self._us, only)
        )

    def held(self) -> dict[str, str]:
        return dict(
            self._rows("SELECT id, digest FROM holdings WHERE clone = %(clone)s")
        )

    def served(self) -> int:
        """Return the bytes of all tables and their indexes, of all clones."""
        sql = "SELECT sum(pg_total_relation_size(oid))::int8 FROM pg_class"
        ((size,),) = self._rows(
            f"{sql} WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        return int(size)
