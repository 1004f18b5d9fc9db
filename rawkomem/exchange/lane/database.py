"""Read a table of an untrusted SQLite file: read-only, without its triggers, views and functions, within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import apsw

from ...model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Row = dict[str, str]  # column → value as text; empty for NULL

MAGIC = b"SQLite format 3\0"
MAX_ROWS = 100_000  # of a table; no person has more memories
MAX_VALUE_CHARS = 1_000_000  # of one value; a longer value is truncated, and the caller skips its row
MAX_CHAR_BYTES = 4  # of a character in UTF-8
MAX_COLUMNS = 100
MAX_STEPS_AT_ONCE = 100_000  # steps of SQLite's virtual machine between two calls of the progress handler
MAX_LOOKS = 20_000  # calls of the progress handler: about two billion steps in all, a minute
OFF = ("ENABLE_TRIGGER", "ENABLE_VIEW", "TRUSTED_SCHEMA", "ENABLE_LOAD_EXTENSION")


def is_database(file: str) -> bool:
    """Tell whether a file starts like an SQLite database."""
    try:
        with open(file, "rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def open_foreign(file: str) -> apsw.Connection:
    """Open an untrusted database; raise BadInput if that is not possible."""
    failure: Exception | None = None
    for options in ("mode=ro", "mode=ro&immutable=1"):  # the second works in a read-only folder
        try:
            connection = apsw.Connection(
                f"file:{quote(file)}?{options}", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            )
            for name in OFF:
                connection.config(getattr(apsw, f"SQLITE_DBCONFIG_{name}"), 0)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.execute("PRAGMA query_only = 1")
            connection.set_progress_handler(_stop_after(MAX_LOOKS), MAX_STEPS_AT_ONCE)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            return connection
        except apsw.Error as error:
            failure = error
    raise BadInput(f"{file} cannot be read as a database: {failure}", "check that it is a complete SQLite file")


def _stop_after(looks: int) -> Callable[[], bool]:
    """Return a progress handler that ends a query after `looks` calls."""
    left = iter(range(looks))
    return lambda: next(left, None) is None


def columns_of(connection: apsw.Connection, table: str) -> list[str]:
    """Return the columns of an ordinary table; empty if there is no such table."""
    kind = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?"
    found = connection.execute(kind, (table,)).fetchone()
    if not found or not found[0] or _is_virtual(connection, table):
        return []
    listed = connection.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (table,)).fetchall()
    return [str(name) for name, hidden in listed if not hidden][:MAX_COLUMNS]


def _is_virtual(connection: apsw.Connection, table: str) -> bool:
    """Tell whether reading a table runs a module's code. The query plan shows it; the schema may be forged."""
    steps = {row[1] for row in connection.execute(f"EXPLAIN SELECT * FROM {_quoted(table)}")}
    return "VOpen" in steps or "OpenRead" not in steps


def rows_of(connection: apsw.Connection, table: str, columns: list[str]) -> Iterator[Row]:
    """Yield the rows of a table as texts; raise apsw.Error if the file is damaged."""
    most = MAX_CHAR_BYTES * (MAX_VALUE_CHARS + 1)
    wanted = ", ".join(f"substr(CAST({_quoted(name)} AS BLOB), 1, {most})" for name in columns)  # a text ends at a NUL
    for values in connection.execute(f"SELECT {wanted} FROM {_quoted(table)} LIMIT {MAX_ROWS + 1}"):
        yield {name: _text(value) for name, value in zip(columns, values, strict=True)}


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
