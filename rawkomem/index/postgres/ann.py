"""HNSW indexes over vectors: one for each large repository, so that no other repository's vectors are in its way.

A partial index answers for its repository alone, whose memories are then most of what it yields; and repositories whose
models differ in dimensions can share a table. Small repositories need none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from .schema import configure

if TYPE_CHECKING:
    from psycopg import Connection

BUILDING = 730_692_155  # with the repository's number, the advisory lock of whoever builds
LINKS, BREADTH = 16, 64  # m and ef_construction, pgvector's own: with ef_search (schema.py) they miss next to nothing
BYTES = 3  # for each dimension of a vector, its links included: what a build needs to stay in memory
MOST = 2_000_000  # kB that a build may take on the server


def has_index(connection: Connection[Any], table: str, repository: int, dims: int) -> bool:
    """Whether there is a complete index over these vectors."""
    sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    found = connection.execute(sql, (_name(table, repository, dims),)).fetchone()
    return bool(found and found[0])


def make_index(connection: Connection[Any], table: str, repository: int, passages: int) -> None:
    """Build the index of a repository's vectors, where there is none, while others go on writing.

    A server that is short of memory, a user without the right, a model with too many dimensions: whatever is in the way
    is no reason to fail, because without an index all vectors are compared, which takes longer and is as right."""
    configure(connection)
    dims = _dims(connection, table, repository)
    if not dims or has_index(connection, table, repository, dims):
        return
    ours = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (BUILDING, repository)).fetchone()
    if not ours or not ours[0]:
        return  # another clone is at it
    name = _name(table, repository, dims)
    memory = min(MOST, 64_000 + passages * dims * BYTES // 1000)
    try:
        connection.execute("SET statement_timeout = 0")
        connection.execute(f"SET maintenance_work_mem = {memory}".encode())
        connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}".encode())  # one that was cut short
        create = f"CREATE INDEX CONCURRENTLY {name} ON {table} USING hnsw ((vector::halfvec({dims})) halfvec_l2_ops)"
        create += f" WITH (m = {LINKS}, ef_construction = {BREADTH}) WHERE repository = {repository} AND dims = {dims}"
        connection.execute(create.encode())
    except psycopg.Error:
        return


def _dims(connection: Connection[Any], table: str, repository: int) -> int:
    sql = f"SELECT dims FROM {table} WHERE repository = %s ORDER BY owner DESC LIMIT 1"
    found = connection.execute(sql.encode(), (repository,)).fetchone()
    return int(found[0]) if found else 0


def _name(table: str, repository: int, dims: int) -> str:
    return f"{table}_of_{repository}_in_{dims}"
