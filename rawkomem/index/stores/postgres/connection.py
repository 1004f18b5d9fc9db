"""Connections to PostgreSQL: a pool, retries after a lost connection, and errors that say what to do.

The driver's messages are not shown if they could quote the URL, because libpq may take a part of a password for a host.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from ....model.errors import BadInput, Busy, RawkoError, Unwritable

if TYPE_CHECKING:
    Connection = psycopg.Connection[Any]
    Work = Callable[[Connection], Any]

T = TypeVar("T")

MAX_CONNECTIONS = 4  # per process: few questions run at once, and servers limit connections
POOL_WAIT_S = 3.0  # wait for a connection of the pool, before the server is probed
CONNECT_TIMEOUT_S = 10  # if the URL has no connect_timeout
RETRY_PAUSES_S = (0.2, 0.8, 3.2)  # pauses between tries: a server restarts in a few seconds
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

logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # else the pool prints its retries


class StoreFailed(RawkoError):
    """Raised when the database cannot be used."""


class Connections:
    """The connections to one database. `prepare` makes the database usable; `configure` sets up a session."""

    def __init__(self, url: str, prepare: Work, configure: Work):
        self.url = url
        self.place = place_of(url)
        self._prepare = prepare
        self._options: dict[str, Any] = {
            "autocommit": True,
            "prepare_threshold": None,  # a plan for one filter does not suit the next
            "fallback_application_name": "rawkomem",
        }
        if "connect_timeout" not in conninfo_to_dict(url):
            self._options["connect_timeout"] = CONNECT_TIMEOUT_S
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            kwargs=self._options,
            min_size=0,
            max_size=MAX_CONNECTIONS,
            open=False,
            configure=configure,
            num_workers=1,
        )
        self.probe()
        self._pool.open()

    def probe(self) -> None:
        """Connect and make the database usable; raise an error with the reason if that fails."""
        self.alone(self._prepare)

    def run(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns on a connection of the pool; retry if the connection is lost."""

        def once() -> T:
            connection = self.take()
            try:
                return work(connection)
            finally:
                self.give_back(connection)

        return self.retried(once)

    def retried(self, work: Callable[[], T], undo: Callable[[], None] | None = None) -> T:
        """Return what `work` returns. On an error call `undo`; retry after a pause if the connection was lost."""
        for pause in (*RETRY_PAUSES_S, None):
            try:
                return work()
            except (psycopg.Error, PoolTimeout) as failure:
                if undo:
                    undo()
                if pause is None or not _is_lost(failure):
                    raise told(failure, self.place) from None
            time.sleep(pause * random.uniform(0.8, 1.2))  # random: many clones must not reconnect at once
            self._reach_again(pause == RETRY_PAUSES_S[-1])
        raise AssertionError("the last pause is None")

    def _reach_again(self, is_last: bool) -> None:
        try:
            self.probe()
            self._pool.check()
        except RawkoError:
            if is_last:
                raise

    def take(self) -> Connection:
        """Take a connection from the pool; pass it to `give_back` afterwards."""
        return self._pool.getconn(POOL_WAIT_S)

    def give_back(self, connection: Connection) -> None:
        """Return a connection to the pool; roll back changes that it did not commit."""
        try:
            connection.rollback()
        except psycopg.Error:
            connection.close()  # it is lost: the pool replaces it
        self._pool.putconn(connection)

    def alone(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns on a connection of its own, outside the pool."""
        try:
            with psycopg.connect(self.url, **self._options) as connection:
                return work(connection)
        except psycopg.Error as failure:
            raise told(failure, self.place) from None

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


def place_of(url: str) -> str:
    """Return `database on host:port` of a URL, without secrets; raise BadInput if the URL cannot be read."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        parts = {"port": "unreadable"}
    port = str(parts.get("port") or "")
    if _is_ambiguous(url) or (port and not port.replace(",", "").isdecimal()):  # a password, and no host
        hint = "it looks like postgresql://user:password@host:5432/database; percent-encode @ : / ? # % in the password"
        raise BadInput("the database URL cannot be read", hint)
    port = f":{port}" if port else ""
    return f"{parts.get('dbname') or 'the default database'} on {parts.get('host') or 'this machine'}{port}"


def _is_ambiguous(url: str) -> bool:
    """Tell whether a part of the password could be taken for a host, a port or a database."""
    _, found, rest = url.partition("://")
    if not found:
        return False
    server = rest.partition("?")[0].partition("/")[0]
    return server.count("@") > 1 or ("@" not in server and ":" in server and "@" in rest)


def _is_lost(failure: Exception) -> bool:
    if isinstance(failure, (*LOST_ERRORS, PoolTimeout)):
        return True
    return isinstance(failure, psycopg.OperationalError) and (failure.sqlstate or "08")[:2] == "08"


def told(failure: Exception, place: str) -> RawkoError:
    """Return an error with one line and a hint for an error of the driver."""
    state = getattr(failure, "sqlstate", None) or ""
    said = str(failure) if not state else ""  # libpq's message, if there was no connection
    database = f"PostgreSQL ({place})"
    if state in ("28P01", "28000") or "authentication failed" in said or "no password supplied" in said:
        return StoreFailed(f"{database} refuses this user or password", "check both in the URL")
    if state == "3D000" or ("database" in said and "does not exist" in said):
        return StoreFailed(f"{database}: there is no such database", "create it, or name another in the URL")
    if "SSL" in said or "certificate" in said:
        return StoreFailed(f"no secure connection to {database}", "check sslmode and sslrootcert in the URL")
    if state in ("55P03", "57014", "53300", "40001", "40P01"):
        return Busy(f"{database} is busy: it did not answer in time", "try again in a moment")
    if _is_lost(failure):
        return StoreFailed(f"cannot reach {database}", f"start it, or check host and port; {FILES_ARE_FINE}")
    if state == "42501":
        hint = "let the owner of the schema rawkomem connect first, and grant this user membership in that role"
        return StoreFailed(f"{database}: this user lacks rights", hint)
    if state in ("53100", "53200"):
        return Unwritable(f"{database}: the server is out of space or memory", f"free some there; {FILES_ARE_FINE}")
    why = failure.diag.message_primary if isinstance(failure, psycopg.Error) else ""
    return StoreFailed(f"{database}: {why or type(failure).__name__}", FILES_ARE_FINE)
