"""Reads the table of a foreign SQLite file: read-only, without its triggers, views and functions, within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import apsw

from ...model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Row = dict[str, str]  # column → value as text; empty where it is NULL

MAGIC = b"SQLite format 3\0"
MAX_ROWS = 100_000  # of a table: more is no memory of one person
MAX_VALUE_CHARS = 1_000_000  # of one value; longer ones are cut, and the caller skips the row
MAX_CHAR_BYTES = 4  # of a character in UTF-8
MAX_COLUMNS = 100
MAX_STEPS_AT_ONCE = 100_000  # of SQLite's virtual machine between two looks
MAX_LOOKS = 20_000  # together about two thousand million steps: a minute
OFF = ("ENABLE_TRIGGER", "ENABLE_VIEW", "TRUSTED_SCHEMA", "ENABLE_LOAD_EXTENSION")


def is_database(file: str) -> bool:
    """Return whether a file begins as SQLite's files do."""
    try:
        with open(file, "rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def open_foreign(file: str) -> apsw.Connection:
    """Open a database that somebody else wrote; raise BadInput where that is not possible."""
    failure: Exception | None = None
    for options in ("mode=ro", "mode=ro&immutable=1"):  # the second needs no folder that can be written to
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
    raise BadInput(f"{file} cannot be read as a database: {failure}", "is it complete, and SQLite's?")


def _stop_after(looks: int) -> Callable[[], bool]:
    """Return a handler that ends a query after so many calls."""
    left = iter(range(looks))
    return lambda: next(left, None) is None


def columns_of(connection: apsw.Connection, table: str) -> list[str]:
    """Return the columns of an ordinary table; empty where there is none of that name."""
    kind = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?"
    found = connection.execute(kind, (table,)).fetchone()
    if not found or not found[0] or _is_virtual(connection, table):
        return []
    listed = connection.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (table,)).fetchall()
    return [str(name) for name, hidden in listed if not hidden][:MAX_COLUMNS]


def _is_virtual(connection: apsw.Connection, table: str) -> bool:
    """Tell whether reading a table runs the code of a module; what the schema says of its pages may be forged."""
    steps = {row[1] for row in connection.execute(f"EXPLAIN SELECT * FROM {_quoted(table)}")}
    return "VOpen" in steps or "OpenRead" not in steps


def rows_of(connection: apsw.Connection, table: str, columns: list[str]) -> Iterator[Row]:
    """Yield the rows of a table as text; raise apsw.Error where the file is damaged."""
    most = MAX_CHAR_BYTES * (MAX_VALUE_CHARS + 1)
    wanted = ", ".join(f"substr(CAST({_quoted(name)} AS BLOB), 1, {most})" for name in columns)  # of a text, to a NUL
    for values in connection.execute(f"SELECT {wanted} FROM {_quoted(table)} LIMIT {MAX_ROWS + 1}"):
        yield {name: _text(value) for name, value in zip(columns, values, strict=True)}


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
