"""The PostgreSQL search store: one index for a team, fed from many clones of many repositories.

Each version of a memory is stored once, and a clone holds the versions that are in its own files
(sql/0001_index.sql). So a clone's answers and word counts match its files, and it cannot change the
answers of another clone. See docs/postgres.md. Changes are collected until a question or a commit,
then written in one transaction that holds the repository's lock, a row of `repositories`: writers
of one repository take turns, readers never see a part of a version, and locks are taken in one
order. After a lost connection the changes are written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from ....model.filters import ALL_OF, ANY_OF, AT_LEAST, BEFORE, Filter, asked
from ....model.values import record
from ..protocol import CollectingStore
from ..sqlite import (
    BATCH_FILES,
    BODY,
    DEEP,
    FIRST,
    Document,
    Hit,
    cosine_of,
    pack,
    pack_all,
)
from .server import (
    COLUMNS,
    QUESTION_TIMEOUT_S,
    RENAMED,
    Link,
    bits_text,
    storable,
    vector_bytes,
    vector_text,
    versions_of,
)

if TYPE_CHECKING:
    import psycopg
    from psycopg import Connection

    from ..bits import PostgresBits

    AnyConnection = psycopg.Connection[Any]

T = TypeVar("T")
Row = tuple[object, ...]
Values = dict[str, object]


# a clone not used for this long is removed; if it is used again, its index is rebuilt
STALE_AFTER = "90 days"
# for one statement: erasing a million memories takes minutes
WRITE_TIMEOUT_MS = 600_000
PAGE_ROWS = 5_000  # of a query for all vectors


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
    versions = versions_of(documents)
    sql = "SELECT hash, n FROM versions WHERE repository = %s AND hash = ANY(%s)"
    known = dict(
        connection.execute(
            sql, (us.repository, [version.hash for version in versions])
        ).fetchall()
    )
    numbered = _numbered(
        connection, "versions", [one for one in versions if one.hash not in known]
    )
    rows = [(n, us.repository, *version.columns()) for n, version in numbered]
    _copy_rows(connection, "versions", rows)
    passages = [
        (n, number, p.field, storable(p.heading), p.line, storable(p.text))
        for n, version in numbered
        for number, p in enumerate(version.document.passages)
    ]
    _copy_rows(connection, "passages", passages)
    _add_vectors(connection, us, {n: version.vectors for n, version in numbered})
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


def _numbered(
    connection: Connection[Any], table: str, items: Sequence[T]
) -> list[tuple[int, T]]:
    """Return the items, each with a new row number of a table."""
    sql = "SELECT nextval(pg_get_serial_sequence(%s, 'n')) FROM generate_series(1, %s)"
    numbers = connection.execute(sql, (table, len(items))).fetchall()
    return [(n, item) for (n,), item in zip(numbers, items, strict=True)]


def _add_vectors(
    connection: Connection[Any],
    us: Clone,
    owners: Mapping[int, Sequence[bytes]],
    prefix: str = "",
) -> None:
    """Add packed vectors and their bits, without vectors of zeros, which are close to nothing."""
    rows = [
        (owner, number, us.repository, len(vector), vector_text(vector))
        for owner, vectors in owners.items()
        for number, vector in enumerate(vectors)
        if any(vector)
    ]
    _copy_rows(connection, f"{prefix}vectors", rows)
    sql = (
        f"INSERT INTO {prefix}bits SELECT repository, dims, owner, number, binary_quantize(vector)"
        f" FROM {prefix}vectors WHERE owner = ANY(%s)"
    )
    connection.execute(sql.encode(), (list(owners),))


def _copy_rows(connection: Connection[Any], table: str, rows: Iterable[Row]) -> None:
    """Add whole rows of a table."""
    sql = f"COPY {table} FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
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
    held = connection.execute(
        sql.encode(), (list(ids), [len(own) for own in ids.values()], us.clone)
    ).fetchall()
    packed = iter(pack_all([vector for id, _ in held for vector in ids[id]]))
    sets = {version: [next(packed)[0] for _ in ids[id]] for id, version in held}
    hashes = {version: sha256(b"".join(own)).digest() for version, own in sets.items()}
    sql = "SELECT version, n FROM depths JOIN unnest(%s::int8[], %s::bytea[]) AS given (version, hash)"
    depths = dict(
        connection.execute(
            f"{sql} USING (version, hash)".encode(),
            (list(hashes), list(hashes.values())),
        ).fetchall()
    )
    numbered = _numbered(
        connection, "depths", [version for version in sets if version not in depths]
    )
    rows = [(n, version, hashes[version]) for n, version in numbered]
    _copy_rows(connection, "depths", rows)
    _add_vectors(connection, us, {n: sets[version] for n, version in numbered}, "deep_")
    depths |= {version: n for n, version in numbered}
    connection.execute(
        "UPDATE holdings h SET deep = given.deep FROM unnest(%s::int8[], %s::int8[]) AS given (version, deep)"
        " WHERE h.clone = %s AND h.version = given.version",
        (list(depths), list(depths.values()), us.clone),
    )


# Searches in PostgreSQL. Answers of a clone come only from the versions that the clone holds.

# vectors with the closest bits that are compared, per requested hit
CANDIDATES_PER_HIT = 10
# beyond the maximum, comparing all takes no longer
MIN_CANDIDATES = 1_000
MAX_CANDIDATES = 30_000
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


def _by_distance(
    connection: Connection[Any], best: str, values: Values
) -> tuple[list[Hit], int]:
    """Return the hits of a query for the best vectors, and the rank of the last hit among all candidates."""
    sql = (
        f"SELECT * FROM ({best}) b ORDER BY b.distance, b.id, b.number LIMIT %(limit)s"
    )
    rows = connection.execute(sql.encode(), values).fetchall()
    hits = [
        Hit(id, number, cosine_of(distance * distance))
        for id, number, distance, _ in rows
    ]
    return hits, max((place for *_, place in rows), default=0)


def _exactly(vectors: str, held: str, where: str) -> str:
    inside = f"SELECT h.id, h.{held} AS owner FROM {HELD_VERSIONS} WHERE h.clone = %(clone)s {where}"
    return (
        f"SELECT i.id, x.number, x.vector <-> %(asked)s::halfvec AS distance, 0 AS place FROM ({inside}) i"
        f" JOIN {vectors} x ON x.owner = i.owner ORDER BY distance, i.id, x.number LIMIT %(limit)s"
    )


def _among(candidates: str, vectors: str, held: str, where: str) -> str:
    """Return a query that compares the candidates, then keeps those that the clone holds, from the best on."""
    compared = (
        f"SELECT x.owner, x.number, x.vector <-> %(asked)s::halfvec AS distance FROM ({candidates}) c"
        f" JOIN {vectors} x ON x.owner = c.owner AND x.number = c.number"
    )
    return (
        "SELECT s.id, c.number, c.distance, c.place FROM"
        f" (SELECT *, row_number() OVER (ORDER BY distance) AS place FROM ({compared} OFFSET 0) x) c CROSS JOIN LATERAL"
        f" (SELECT h.id FROM {HELD_VERSIONS} WHERE h.clone = %(clone)s AND h.{held} = c.owner {where} OFFSET 0) s"
        " ORDER BY c.distance FETCH FIRST %(limit)s ROWS WITH TIES"
    )


def _array_text(numbers: list[int]) -> str:
    """Return an array as text: the driver takes longer to convert a list than the server to answer."""
    return "{" + ",".join(map(str, numbers)) + "}"


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


# up to this many passages are all compared: some 20 ms, and exact
MAX_EXACT_PASSAGES = 10_000
# changed memories after which the planner's statistics are updated
ANALYZE_AFTER_CHANGES = 1_000
ANALYZED_TABLES = (
    "repositories, clones, holdings, versions, passages, vectors, deep_vectors"
)


class PostgresStore(CollectingStore):
    """Implements OutsideStore, which documents the methods, for one clone of a repository."""

    columns = COLUMNS
    tells = True  # the views of neolata's tables show `Document.told`

    def __init__(self, link: Link, repository: str, clone: str, dims: int):
        self.dims = dims
        self._link = link
        self._names = repository, clone
        super().__init__()
        self._unsettled = 0  # memories put since the last ANALYZE
        self._small: dict[
            tuple[Filter, str], bool
        ] = {}  # (filter, tier) → whether all inside are compared
        # table of bits → its copy in memory; None: one question has been asked
        self._bits: dict[str, PostgresBits | None] = {}
        # whether `_us` was read after the last question
        self._is_joined = False
        try:
            self.generation()
        except BaseException:
            link.close()
            raise
        self._is_joined = True

    def _join(self, connection: AnyConnection) -> Clone:
        """Return this clone; add it to the database if it is missing."""
        clone = find_clone(connection, *self._names)
        if clone and clone.recent:
            return clone
        with connection.transaction():
            return lock_clone(connection, *self._names)

    def _write(self, documents: Sequence[Document]) -> None:
        count = len(documents) + len(self._deep)
        self._small.clear()
        self._is_joined = False
        self._link.start_clock(WRITE_TIMEOUT_MS / 1000)
        self._link.run(lambda connection: self._write_all(connection, documents))
        self._unsettled += count
        if count < BATCH_FILES and self._unsettled >= ANALYZE_AFTER_CHANGES:
            self._unsettled = 0
            self._link.run(
                lambda connection: connection.execute(f"ANALYZE {ANALYZED_TABLES}")
            )

    def _write_all(
        self, connection: AnyConnection, documents: Sequence[Document]
    ) -> None:
        """Make all changes in one transaction that holds the repository's lock."""
        with connection.transaction():
            run = connection.execute
            run(f"SET LOCAL statement_timeout = {WRITE_TIMEOUT_MS}")
            us = self._us = lock_clone(connection, *self._names)
            if self._is_erased:
                run("DELETE FROM holdings WHERE clone = %s", (us.clone,))
                run(
                    "UPDATE clones SET generation = %s WHERE n = %s",
                    (token_hex(8), us.clone),
                )
            if self._is_flat:
                flat = "UPDATE holdings SET deep = NULL WHERE clone = %s AND deep IS NOT NULL"
                run(flat, (us.clone,))
            dropped = [storable(id) for id, put in self._changed.items() if not put]
            if dropped:
                run(
                    "DELETE FROM holdings WHERE clone = %s AND id = ANY(%s)",
                    (us.clone, dropped),
                )
            if documents:
                put_versions(connection, us, documents)
            if self._deep:
                put_deep_vectors(connection, us, self._deep)

    def close(self) -> None:
        """Close the connection; discard changes that were not committed."""
        super().close()
        self._link.close()

    # Asking

    def _rows(self, sql: str, **values: object) -> list[Any]:
        """Return the rows of a query, which may name this clone as `%(clone)s`."""
        values["clone"] = self._us.clone
        return self._link.run(
            lambda connection: connection.execute(sql.encode(), values).fetchall()
        )

    def generation(self) -> str:
        """Return the generation, after reading commits of other processes."""
        if not self._is_joined:
            self._link.start_clock(QUESTION_TIMEOUT_S)
            self._us = self._link.run(self._join)
        self._is_joined = False
        return f"postgres {self._us.generation}"

    def nearest(
        self, vector: bytes, limit: int, only: Filter, tier: str = FIRST
    ) -> list[Hit]:
        if not limit:
            return []
        exact = self._compares_all(only, tier)
        return self._link.run(
            lambda connection: self._nearest(
                connection, vector, limit, only, tier, exact
            )
        )

    def _nearest(
        self,
        connection: AnyConnection,
        vector: bytes,
        limit: int,
        only: Filter,
        tier: str,
        exact: bool,
    ) -> list[Hit]:
        """Compare all passages inside the filter, if `exact`, else those with the closest bits."""
        fine, bits = pack(vector)
        if not any(fine):
            return []
        where, values = filter_sql(only)
        values |= {"clone": self._us.clone, "asked": vector_text(fine), "limit": limit}
        prefix, held = ("deep_", "deep") if tier == DEEP else ("", "version")
        vectors = f"{prefix}vectors"
        close = max(MIN_CANDIDATES, CANDIDATES_PER_HIT * limit)
        while not exact and close <= MAX_CANDIDATES:
            sql, more = self._candidates(connection, f"{prefix}bits", bits, fine, close)
            hits, looked_at = _by_distance(
                connection, _among(sql, vectors, held, where), {**values, **more}
            )
            if len(hits) == limit and looked_at <= 2 * limit + SPARE_LOOKS:
                return hits
            # few pass the filter, or most belong to other clones
            close *= MORE_CANDIDATES
        return _by_distance(connection, _exactly(vectors, held, where), values)[0]

    def _candidates(
        self,
        connection: AnyConnection,
        table: str,
        bits: bytes,
        fine: bytes,
        close: int,
    ) -> tuple[str, Values]:
        """Return a query for the vectors with the closest bits. From its second question on, a process caches all bits."""
        us = self._us
        dims = len(fine)
        if table not in self._bits:
            self._bits[table] = None
            where = f"repository = {us.repository} AND dims = {dims}"
            order = "bit_count(bits # %(bits)s::varbit)"
            sql = f"SELECT owner, number FROM {table} WHERE {where} ORDER BY {order} LIMIT {close}"
            return sql, {"bits": bits_text(bits)}
        # loads numpy, which pays only in a long-running process
        from ..bits import PostgresBits

        copy = self._bits[table]
        if copy is None or (copy.of.repository, copy.of.generation) != (
            us.repository,
            us.generation,
        ):
            copy = self._bits[table] = PostgresBits(us, table, dims)
        copy.refresh(connection)
        owners, numbers = copy.closest(bits, fine, close)
        sql = "SELECT * FROM unnest(%(owners)s::int8[], %(numbers)s::int4[]) AS u (owner, number)"
        return sql, {"owners": _array_text(owners), "numbers": _array_text(numbers)}

    def _compares_all(self, only: Filter, tier: str) -> bool:
        """Return whether so few passages are inside the filter that all of them are compared."""
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
        where, values = filter_sql(only)
        sql = (
            f"SELECT h.id, x.vector::text FROM {HELD_VERSIONS} JOIN vectors x ON x.owner = h.version"
            " JOIN passages p ON p.version = x.owner AND p.number = x.number"
            f" WHERE h.clone = %(clone)s AND p.field = '{BODY}' {where} ORDER BY h.id, x.number"
        )
        values["clone"] = self._us.clone
        return self._link.run(
            lambda connection: self._all_rows(connection, sql, values)
        )

    def _all_rows(
        self, connection: Connection[Any], sql: str, values: Mapping[str, object]
    ) -> list[tuple[str, bytes]]:
        """Return all vectors of a query: the clock starts again for each page, because they may take minutes."""
        found: list[tuple[str, bytes]] = []
        self._link.start_clock(QUESTION_TIMEOUT_S)
        with connection.transaction(), connection.cursor("vectors") as cursor:
            cursor.execute(sql.encode(), values)
            while page := cursor.fetchmany(PAGE_ROWS):
                found += [(id, vector_bytes(text)) for id, text in page]
                self._link.start_clock(QUESTION_TIMEOUT_S)
        return found

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
