"""Makes HNSW indexes over vectors: one partial index per large repository, which holds no other vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from ....model.record import record
from ..documents import DEEP
from .schema import configure

if TYPE_CHECKING:
    from psycopg import Connection

    from .writing import Clone

BUILD_LOCK = 730_692_155  # with the repository's number, the advisory lock of whoever builds
LINKS, BREADTH = 16, 64  # m and ef_construction, pgvector's own: with ef_search (schema.py) they miss next to nothing
BYTES_PER_DIMENSION = 5  # for each dimension of a vector, its links included: what a build needs to stay in memory
MAX_BUILD_KB = 2_000_000  # kB that a build may take on the server


@record
class Wanted:
    """An index over the vectors of one tier of a repository."""

    tier: str
    repository: int
    dims: int

    @property
    def table(self) -> str:
        return "deep_vectors" if self.tier == DEEP else "vectors"

    @property
    def name(self) -> str:
        return f"{self.table}_of_{self.repository}_in_{self.dims}"


def has_index(connection: Connection[Any], us: Clone, tier: str, dims: int) -> bool:
    """Tell whether there is a complete index over these vectors."""
    sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    found = connection.execute(sql, (Wanted(tier, us.repository, dims).name,)).fetchone()
    return bool(found and found[0])


def missing_index(connection: Connection[Any], us: Clone, tier: str) -> Wanted | None:
    """Return the index that a clone's vectors of a tier lack; None where there are no vectors, or they have it."""
    table, column = ("deep_vectors", "deep") if tier == DEEP else ("vectors", "version")
    sql = f"SELECT x.dims FROM holdings h JOIN {table} x ON x.owner = h.{column} WHERE h.clone = %s LIMIT 1"
    found = connection.execute(sql.encode(), (us.clone,)).fetchone()
    if not found or has_index(connection, us, tier, found[0]):
        return None
    return Wanted(tier, us.repository, found[0])


def make_index(connection: Connection[Any], us: Clone, wanted: Wanted) -> None:
    """Build an index while others write; do nothing if another clone does, or the server cannot: scans still work."""
    configure(connection)
    ours = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (BUILD_LOCK, us.repository)).fetchone()
    if not ours or not ours[0]:
        return
    memory = min(MAX_BUILD_KB, 64_000 + us.passages * wanted.dims * BYTES_PER_DIMENSION // 1000)
    vector = f"(vector::halfvec({wanted.dims})) halfvec_l2_ops"
    inside = f"repository = {us.repository} AND dims = {wanted.dims}"
    links = f"m = {LINKS}, ef_construction = {BREADTH}"
    create = f"CREATE INDEX CONCURRENTLY {wanted.name} ON {wanted.table} USING hnsw ({vector}) WITH ({links})"
    try:
        connection.execute("SET statement_timeout = 0")
        connection.execute(f"SET maintenance_work_mem = {memory}".encode())
        connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {wanted.name}".encode())  # one that was cut short
        connection.execute(f"{create} WHERE {inside}".encode())
    except psycopg.Error:
        return
