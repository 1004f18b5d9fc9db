"""Talks to a PostgreSQL server: a connection, retries, the schema (sql/), and the rows that it keeps.

The driver's messages are not shown if they could quote the URL, because libpq may take a part of a
password for a host.
"""

from __future__ import annotations

import logging
import random
import re
import time
from array import array
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.resources import files
from math import inf
from typing import Any, TypeVar

import psycopg
from psycopg import Connection, errors, sql
from psycopg.conninfo import conninfo_to_dict

from ....model.errors import BadInput, Busy, RawkoError, Unwritable
from ..sqlite import Document, pack_all

AnyConnection = psycopg.Connection[Any]


# The connection to PostgreSQL, retries after it is lost, and errors that say what to do.

T = TypeVar("T")

CONNECT_TIMEOUT_S = 10  # if the URL has no connect_timeout
QUESTION_TIMEOUT_S = 30.0  # for all statements of a question
# pauses between tries: a server restarts in a few seconds
RETRY_PAUSES_S = (0.2, 0.8, 3.2)
# other clones close their connections in a moment
NO_SLOT = re.compile("too many (clients|connections)|connection slots")
LOST_ERRORS = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleInTransactionSessionTimeout,
    errors.UndefinedTable,  # the database was created again meanwhile
    errors.InvalidSchemaName,
    psycopg.InterfaceError,
)
FILES_ARE_FINE = "the files are untouched; the next sync brings the index up to date"

# else the driver prints warnings about a connection that is lost in a transaction
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class StoreFailed(RawkoError):
    """Raised when the database cannot be used."""


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that fails if a statement has no answer at `ends`, a monotonic time."""

    ends = inf

    def wait(self, gen: Any, *given: Any, **named: Any) -> Any:
        """Wait for the server, until `ends`."""
        return super().wait(self._until_end(gen), *given, **named)

    def _until_end(self, steps: Any) -> Any:
        """Pass on what the driver waits for, which asks again several times a second."""
        try:
            state = next(steps)
            while True:
                ready = yield state
                if not ready and time.monotonic() > self.ends:
                    self.pgconn.finish()
                    raise psycopg.OperationalError("no answer in time")
                state = steps.send(ready)
        except StopIteration as end:
            return end.value


class Link:
    """One connection to a database, opened again if it is lost.

    `wait_s`: how long a question waits for all answers of the server, and a write for each of its own.
    """

    def __init__(self, url: str, wait_s: float = inf):
        self.place = database_place(url)
        self._url = url
        self._wait_s = wait_s
        self._ends = inf
        self._options: dict[str, Any] = {
            "autocommit": True,
            "prepare_threshold": None,  # a plan for one filter does not suit the next
            "fallback_application_name": "rawkomem",
        }
        usual = conninfo_to_dict(url).get("connect_timeout") or CONNECT_TIMEOUT_S
        self._options["connect_timeout"] = int(min(float(usual), wait_s))
        self._connection: LimitedConnection | None = None
        self._was_open = False

    def start_clock(self, most_s: float) -> None:
        """Start the time that the next questions may take together, or the next write: `wait_s`, at most `most_s`."""
        self._ends = time.monotonic() + min(self._wait_s, most_s)
        if self._connection is not None:
            self._connection.ends = self._ends

    def run(self, work: Callable[[AnyConnection], T]) -> T:
        """Return what `work` returns on the connection; if that is lost, or none is free, retry after a pause."""
        for pause in (*RETRY_PAUSES_S, inf):
            try:
                return work(self._open())
            except psycopg.Error as failure:
                is_lost = _is_lost(failure)
                if is_lost:
                    self.close()
                left = self._ends - time.monotonic()
                is_soon_back = (is_lost and self._was_open) or NO_SLOT.search(
                    str(failure)
                )
                if not (is_soon_back and pause < left):
                    raise store_error(failure, self.place) from None
            # random: many clones must not reconnect at once
            time.sleep(pause * random.uniform(0.8, 1.2))
        raise AssertionError("the last pause is too long")

    def _open(self) -> AnyConnection:
        if self._connection is None:
            connection = LimitedConnection.connect(self._url, **self._options)
            try:
                connection.ends = self._ends
                prepare_database(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._was_open = True
        self._connection.ends = self._ends
        return self._connection

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def database_place(url: str) -> str:
    """Return `database on host:port` of a URL, without secrets; raise BadInput if the URL cannot be read."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        parts = {"port": "unreadable"}
    port = str(parts.get("port") or "")
    # a password, and no host
    if _is_ambiguous(url) or (port and not port.replace(",", "").isdecimal()):
        hint = "it looks like postgresql://user:password@host:5432/database; percent-encode @ : / ? # % in the password"
        raise BadInput("the database URL cannot be read", hint)
    port = f":{port}" if port else ""
    return f"{parts.get('dbname') or 'the default database'} on {parts.get('host') or 'this machine'}{port}"


def _is_ambiguous(url: str) -> bool:
    """Return whether a part of the password could be taken for a host, a port or a database."""
    _, found, rest = url.partition("://")
    if not found:
        return False
    server = rest.partition("?")[0].partition("/")[0]
    return server.count("@") > 1 or (
        "@" not in server and ":" in server and "@" in rest
    )


def _is_lost(failure: Exception) -> bool:
    if isinstance(failure, LOST_ERRORS):
        return True
    return (
        isinstance(failure, psycopg.OperationalError)
        and (failure.sqlstate or "08")[:2] == "08"
    )


FAILURES: tuple[tuple[str, str, type[RawkoError], str, str], ...] = (
    # SQL states; in libpq's message, if there was no connection; error; what failed; what to do
    (
        "28P01 28000",
        "authentication failed|no password supplied",
        StoreFailed,
        " refuses this user or password",
        "check both in the URL",
    ),
    (
        "3D000",
        "database .*does not exist",
        StoreFailed,
        ": there is no such database",
        "create it, or name another in the URL",
    ),
    (
        "",
        "SSL|certificate",
        StoreFailed,
        ": no secure connection",
        "check sslmode and sslrootcert in the URL",
    ),
    (
        "53300",
        NO_SLOT.pattern,
        StoreFailed,
        " has no free connection",
        "close programs that use it, or raise its max_connections",
    ),
    (
        "55P03 57014 40001 40P01",
        "",
        Busy,
        " is busy: it did not answer in time",
        "try again in a moment",
    ),
    (
        "42501",
        "",
        StoreFailed,
        ": this user lacks rights",
        "let the owner of the schema rawkomem connect first, and grant this user membership in that role",
    ),
    (
        "53100 53200",
        "No space left|out of memory",
        Unwritable,
        ": the server is out of space or memory",
        f"free some there; {FILES_ARE_FINE}",
    ),
)


def store_error(failure: Exception, place: str) -> RawkoError:
    """Return an error with one line and a hint for an error of the driver."""
    state = getattr(failure, "sqlstate", None)
    database = f"PostgreSQL ({place})"
    for states, pattern, error, what, hint in FAILURES:
        if state:
            is_this = state in states.split()
        else:
            is_this = bool(pattern and re.search(pattern, str(failure)))
        if is_this:
            return error(database + what, hint)
    if _is_lost(failure):
        return StoreFailed(
            f"cannot reach {database}",
            f"start it, or check host and port; {FILES_ARE_FINE}",
        )
    why = failure.diag.message_primary if isinstance(failure, psycopg.Error) else ""
    return StoreFailed(f"{database}: {why or type(failure).__name__}", FILES_ARE_FINE)


# Turns documents into the rows that PostgreSQL keeps: hashes, vectors as whole numbers.

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


def vector_text(packed: bytes) -> str:
    """Return a packed vector as pgvector writes it."""
    return f"[{','.join(map(str, array('b', packed)))}]"


def vector_bytes(text: str) -> bytes:
    """Return the packed vector of `vector_text`."""
    return array("b", map(int, text[1:-1].split(","))).tobytes()


def bits_text(bits: bytes) -> str:
    """Return bits as PostgreSQL writes them."""
    return f"{int.from_bytes(bits, 'big'):0{8 * len(bits)}b}"


class StoredVersion:
    """One version of a memory, with its packed vectors."""

    def __init__(self, document: Document, vectors: Sequence[bytes]):
        self.document = document
        self.vectors = vectors
        passages = [(p.text, p.field, p.heading, p.line) for p in document.passages]
        content = (document.title, document.facets, passages, document.told)
        self.hash = sha256(repr(content).encode() + b"".join(vectors)).digest()

    def columns(self) -> tuple[object, ...]:
        """Return the row of `versions`, without number and repository."""
        d = self.document.facets
        told = self.document.told or "{}"
        return (
            storable(d.id),
            self.hash,
            d.kind,
            d.status,
            storable(self.document.title),
            d.importance,
            d.created,
            storable(d.by.lower()),
            [storable(tag.lower()) for tag in d.tags],
            storable(d.type.lower()),
            storable(d.category.lower()),
            [storable(name.lower()) for name in d.entities],
            storable(d.session),
            storable(d.by),
            [storable(tag) for tag in d.tags],
            storable(d.category),
            len(self.document.passages),
            d.vouched,
            told.replace("\\u0000", "\\ufffd"),
        )


def versions_of(documents: Sequence[Document]) -> list[StoredVersion]:
    """Return documents as versions; all vectors are packed in one call."""
    packed = iter(
        pack_all(
            [passage.vector for document in documents for passage in document.passages]
        )
    )
    return [
        StoredVersion(document, [next(packed)[0] for _ in document.passages])
        for document in documents
    ]


def storable(text: str) -> str:
    """Return a text without the one character that PostgreSQL's text cannot hold."""
    return text.replace("\0", "\ufffd")


# Creates and migrates the tables in PostgreSQL (the files in sql/, in one transaction), and
# configures sessions.

SCHEMA = "rawkomem"
MIGRATION_LOCK = 7_306_921_544  # number of the advisory lock, chosen freely
# the first version with security_invoker: views use the reader's rights
MIN_SERVER_VERSION = 150_000
MIN_VECTOR_VERSION = (0, 7)  # the first version with halfvec

# Timeouts in milliseconds. A person or an agent waits for a statement; a writer may wait for another clone's batch; a
# client that hangs within a transaction must not block the others.
SETTINGS = {
    "statement_timeout": "30000",
    "lock_timeout": "60000",
    "idle_in_transaction_session_timeout": "60000",
    "jit": "off",  # compiling takes longer than our statements
    "random_page_cost": "1.1",  # pages are in memory or on an SSD
    # starting processes takes longer than most of our statements
    "parallel_setup_cost": "10000",
}


def prepare_database(connection: Connection[Any]) -> None:
    """Check that the server can be used, and migrate the tables; raise StoreFailed if that is impossible."""
    server = connection.info
    if server.server_version < MIN_SERVER_VERSION:
        raise StoreFailed(
            f"PostgreSQL {server.server_version // 10_000} is too old",
            "upgrade it to 15 or newer",
        )
    encoding = server.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreFailed(
            f"the database is encoded in {encoding}", "create one with ENCODING 'UTF8'"
        )
    if configure_session(connection) < len(migrations()):
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            where = _extension(connection)
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(
                "SELECT set_config('search_path', %s, true)", (_search_path(where),)
            )
            columns = "name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now()"
            connection.execute(f"CREATE TABLE IF NOT EXISTS migrations ({columns})")
            (version,) = _one_row(connection, "SELECT count(*) FROM migrations")
            for name, statements in migrations()[version:]:
                connection.execute(statements.encode())
                connection.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))
        configure_session(connection)


def migrations() -> list[tuple[str, str]]:
    """Return (name, SQL) of every migration, in order."""
    found = (
        item
        for item in files(__package__).joinpath("sql").iterdir()
        if item.name.endswith(".sql")
    )
    return sorted((item.name, item.read_text(encoding="utf-8")) for item in found)


def _extension(connection: Connection[Any]) -> str:
    """Return the schema that pgvector is in; create the extension in `public` if it is missing."""
    hint = "let an administrator of the database run: CREATE EXTENSION vector;"
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except (errors.FeatureNotSupported, errors.UndefinedFile):
        raise StoreFailed(
            "the server has no pgvector", "install pgvector 0.7 or newer on the server"
        ) from None
    except errors.InsufficientPrivilege:
        raise StoreFailed(
            "pgvector is not switched on, and this user may not switch it on", hint
        ) from None
    found = "SELECT n.nspname, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
    where, version = _one_row(connection, found + " WHERE e.extname = 'vector'")
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_VECTOR_VERSION:
        raise StoreFailed(
            f"pgvector {version} is too old",
            "install 0.7, then run: ALTER EXTENSION vector UPDATE;",
        )
    return str(where)


def configure_session(connection: Connection[Any]) -> int:
    """Set the search path and timeouts; return how many migrations the database has had. One statement does all."""
    calls = sql.SQL(", ").join(
        sql.SQL("set_config({}, {}, false)").format(*pair) for pair in SETTINGS.items()
    )
    statement = sql.SQL(
        f"SELECT (SELECT count(*) FROM {SCHEMA}.migrations), {{}},"
        f" set_config('search_path', format('{SCHEMA}, %I', n.nspname), false) FROM pg_type t"
        " JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.typname = 'halfvec'"
    ).format(calls)
    try:
        row = connection.execute(statement).fetchone()
    except errors.UndefinedTable:
        row = None
    version = int(row[0]) if row else 0
    if version > len(migrations()):
        raise StoreFailed(
            "the database was migrated by a newer rawkomem",
            "upgrade rawkomem on this machine",
        )
    return version


def _search_path(where: str) -> str:
    return f'{SCHEMA}, "{where}"'


def _one_row(connection: Connection[Any], statement: str) -> tuple[Any, ...]:
    row = connection.execute(statement.encode()).fetchone()
    assert row is not None
    return tuple(row)
