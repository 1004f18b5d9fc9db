"""Creates and migrates the tables in PostgreSQL (the files in sql/, in one transaction), and configures sessions."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from psycopg import errors, sql

from .connection import StoreFailed
from .rows import speak_vectors

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "rawkomem"
MIGRATION_LOCK = 7_306_921_544  # number of the advisory lock, chosen freely
MIN_SERVER_VERSION = 150_000  # the first version with security_invoker: views use the reader's rights
MIN_VECTOR_VERSION = (0, 7)  # the first version with halfvec

# Timeouts in milliseconds. A person or an agent waits for a statement; a writer may wait for another clone's batch; a
# client that hangs within a transaction must not block the others.
SETTINGS = {
    "statement_timeout": "30000",
    "lock_timeout": "60000",
    "idle_in_transaction_session_timeout": "60000",
    "jit": "off",  # compiling takes longer than our statements
    "random_page_cost": "1.1",  # pages are in memory or on an SSD
    "parallel_setup_cost": "10000",  # starting processes takes longer than most of our statements
}


def prepare(connection: Connection[Any]) -> None:
    """Check that the server can be used, and migrate the tables; raise StoreFailed if that is impossible."""
    _check_server(connection)
    if _version(connection) < len(migrations()):
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            _migrate(connection)


def migrations() -> list[tuple[str, str]]:
    """Return (name, SQL) of every migration, in order."""
    found = (item for item in files(__package__).joinpath("sql").iterdir() if item.name.endswith(".sql"))
    return sorted((item.name, item.read_text(encoding="utf-8")) for item in found)


def _check_server(connection: Connection[Any]) -> None:
    server = connection.info
    if server.server_version < MIN_SERVER_VERSION:
        raise StoreFailed(f"PostgreSQL {server.server_version // 10_000} is too old", "upgrade it to 15 or newer")
    encoding = server.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreFailed(f"the database is encoded in {encoding}", "create one with ENCODING 'UTF8'")


def _version(connection: Connection[Any]) -> int:
    """Return how many migrations the database has had."""
    (known,) = _row(connection, "SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.migrations",))
    (version,) = _row(connection, f"SELECT count(*) FROM {SCHEMA}.migrations") if known else (0,)
    if version > len(migrations()):
        raise StoreFailed("the database was migrated by a newer rawkomem", "upgrade rawkomem on this machine")
    return int(version)


def _migrate(connection: Connection[Any]) -> None:
    where = _extension(connection)
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    connection.execute("SELECT set_config('search_path', %s, true)", (_search_path(where),))
    columns = "name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now()"
    connection.execute(f"CREATE TABLE IF NOT EXISTS migrations ({columns})")
    for name, statements in migrations()[_version(connection) :]:
        connection.execute(statements.encode())
        connection.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))


def _extension(connection: Connection[Any]) -> str:
    """Return the schema that pgvector is in; create the extension in `public` if it is missing."""
    hint = "let an administrator of the database run: CREATE EXTENSION vector;"
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except (errors.FeatureNotSupported, errors.UndefinedFile):
        raise StoreFailed("the server has no pgvector", "install pgvector 0.7 or newer on the server") from None
    except errors.InsufficientPrivilege:
        raise StoreFailed("pgvector is not switched on, and this user may not switch it on", hint) from None
    found = "SELECT n.nspname, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
    where, version = _row(connection, found + " WHERE e.extname = 'vector'")
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_VECTOR_VERSION:
        raise StoreFailed(f"pgvector {version} is too old", "install 0.7, then run: ALTER EXTENSION vector UPDATE;")
    return str(where)


def configure(connection: Connection[Any]) -> None:
    """Configure a session: the search path, timeouts, and the type of vectors."""
    found = "SELECT n.nspname, t.oid::int FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace"
    where, oid = _row(connection, found + " WHERE t.typname = 'halfvec'")
    settings = {**SETTINGS, "search_path": _search_path(where)}
    calls = sql.SQL(", ").join(sql.SQL("set_config({}, {}, false)").format(*pair) for pair in settings.items())
    connection.execute(sql.SQL("SELECT {}").format(calls))
    speak_vectors(connection, oid)


def _search_path(where: str) -> str:
    return f'{SCHEMA}, "{where}"'


def _row(connection: Connection[Any], statement: str, values: tuple[object, ...] = ()) -> tuple[Any, ...]:
    row = connection.execute(statement.encode(), values).fetchone()
    assert row is not None
    return tuple(row)
