"""Read Memory Lane's `memories.db` (v4.1), an untrusted SQLite file: read-only and within limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import apsw

from ..model.entries import Entry, Value
from ..model.errors import BadInput
from ..model.values import filled, replace, without
from .imported_entries import as_values, id_here, texts_in
from .notes import item_entry, renamed_fields, with_long_fields
from .sources import Source

Row = dict[str, str]


# Read a table of an untrusted SQLite file: read-only, without its triggers, views and functions,
# within limits.

MAX_ROWS = 100_000  # of a table; no person has more memories
# of one value; a longer value is truncated, and the caller skips its row
MAX_VALUE_CHARS = 1_000_000
MAX_CHAR_BYTES = 4  # of a character in UTF-8
MAX_COLUMNS = 100
# steps of SQLite's virtual machine between two calls of the progress handler
MAX_STEPS_AT_ONCE = 100_000
# calls of the progress handler: about two billion steps in all, a minute
MAX_LOOKS = 20_000
SWITCHED_OFF = (
    "ENABLE_TRIGGER",
    "ENABLE_VIEW",
    "TRUSTED_SCHEMA",
    "ENABLE_LOAD_EXTENSION",
)


def open_untrusted(file: str) -> apsw.Connection:
    """Open an untrusted database; raise BadInput if that is not possible."""
    failure: Exception | None = None
    # the second works in a read-only folder
    for options in ("mode=ro", "mode=ro&immutable=1"):
        try:
            connection = apsw.Connection(
                f"file:{quote(file)}?{options}",
                flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
            )
            for name in SWITCHED_OFF:
                connection.config(getattr(apsw, f"SQLITE_DBCONFIG_{name}"), 0)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.execute("PRAGMA query_only = 1")
            connection.set_progress_handler(_stop_after_looks(), MAX_STEPS_AT_ONCE)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            return connection
        except apsw.Error as error:
            failure = error
    raise BadInput(
        f"{file} cannot be read as a database: {failure}",
        "check that it is a complete SQLite file",
    )


def _stop_after_looks() -> Callable[[], bool]:
    """Return a progress handler that ends a query after MAX_LOOKS calls."""
    left = iter(range(MAX_LOOKS))
    return lambda: next(left, None) is None


def columns_of(connection: apsw.Connection, table: str) -> list[str]:
    """Return the columns of an ordinary table; empty if there is no such table."""
    kind = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?"
    root = connection.execute(kind, (table,)).fetchone()
    if not root or not root[0] or _is_virtual(connection, table):
        return []
    listed = connection.execute(
        "SELECT name, hidden FROM pragma_table_xinfo(?)", (table,)
    ).fetchall()
    return [str(name) for name, hidden in listed if not hidden][:MAX_COLUMNS]


def _is_virtual(connection: apsw.Connection, table: str) -> bool:
    """Return whether reading a table runs a module's code. The query plan shows it; the schema may be forged."""
    steps = {
        row[1] for row in connection.execute(f"EXPLAIN SELECT * FROM {_quoted(table)}")
    }
    return "VOpen" in steps or "OpenRead" not in steps


def rows_of(
    connection: apsw.Connection, table: str, columns: list[str]
) -> Iterator[Row]:
    """Yield the rows of a table as texts; raise apsw.Error if the file is damaged."""
    most = MAX_CHAR_BYTES * (MAX_VALUE_CHARS + 1)
    # a text ends at a NUL
    wanted = ", ".join(
        f"substr(CAST({_quoted(name)} AS BLOB), 1, {most})" for name in columns
    )
    for values in connection.execute(
        f"SELECT {wanted} FROM {_quoted(table)} LIMIT {MAX_ROWS + 1}"
    ):
        yield {
            name: value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
            for name, value in zip(columns, values, strict=True)
        }


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


LANE_TABLE = "memories"
NEEDED_COLUMNS = ("id", "content")
SKIPPED_COLUMNS = ("embedding",)  # computed from the text
# these become parts of the entry itself
READ_COLUMNS = ("id", "content", "metadata", "tags", "created_at")
LIST_COLUMNS = ("auto_tags", "keywords")  # columns with a JSON array
IMPORTANCE = {  # type → importance; other types get medium
    **dict.fromkeys(("correction", "decision", "commitment"), "high"),
    **dict.fromkeys(("pattern_seed", "cross_agent", "workflow_note", "gap"), "low"),
}
LANE_KEYS = {  # Memory Lane's key → ours; other keys keep their name
    "memory_type": "type", "confidence_score": "confidence", "valid_from": "validFrom", "valid_until": "validUntil",
    "superseded_by": "supersededBy", "feedback_score": "feedbackScore", "times_observed": "timesObserved",
    "first_observed_at": "firstObservedAt", "last_observed_at": "lastObservedAt", "last_accessed_at": "lastAccessedAt",
}  # fmt: skip
DEFAULT_VALUES = {  # default values, which are not stored
    "collection": ("memory-lane",), "decay_factor": ("1.0", "1"), "feedback_count": ("0",), "access_count": ("0",),
    "feedbackScore": ("1.0", "1"), "timesObserved": ("1",),
}  # fmt: skip
CONDITION_KEYS = ("whenToUse", "when_to_use", "triggers", "conditions")


def is_lane(source: Source) -> bool:
    """Return whether a file is a database with Memory Lane's table."""
    try:
        connection = open_untrusted(source.path)
        columns = columns_of(connection, LANE_TABLE)
        connection.close()
    except (apsw.Error, BadInput):
        return False
    return set(NEEDED_COLUMNS) <= set(columns)


def read_lane(source: Source) -> Iterator[Entry]:
    """Yield a memory for each row. A superseded memory names its successor by the successor's new id."""
    connection = open_untrusted(source.path)
    place = source.place(source.path)
    try:
        columns = [
            name
            for name in columns_of(connection, LANE_TABLE)
            if name not in SKIPPED_COLUMNS
        ]
        if not set(NEEDED_COLUMNS) <= set(columns):
            raise BadInput(
                f"{source.path} has no table {LANE_TABLE} with the columns id and content",
                "name Memory Lane's database",
            )
        for number, row in enumerate(rows_of(connection, LANE_TABLE, columns)):
            if number == MAX_ROWS:
                source.refuse(
                    place, f"more than {MAX_ROWS:,} memories: the rest is not read"
                )
                return
            name = f"{place}#{row['id'] or number + 1}"
            if not row["content"].strip():
                source.skip(name, "it has no text")
            elif any(len(value) > MAX_VALUE_CHARS for value in row.values()):
                source.refuse(name, "too large")
            else:
                yield _lane_entry(source, row, place)
    except apsw.Error as failure:
        source.refuse(place, f"the database is damaged: {failure}")
    finally:
        connection.close()


def _lane_entry(source: Source, row: Row, place: str) -> Entry:
    metadata = _parsed_json(row.get("metadata", ""))
    if row.get("metadata", "").strip() and not isinstance(metadata, dict):
        source.skip(
            f"{place}#{row['id']}",
            "its metadata is not a JSON object: only the columns are imported",
        )
    about: dict[str, Any] = metadata if isinstance(metadata, dict) else {}
    extra, content = with_long_fields(_lane_extra(row, about), row["content"])
    texts = {key: texts_in(as_values(value or [])) for key, value in about.items()}
    type = str(extra.get("type", "")).lower()
    entry = item_entry(
        {**row, "memory": content},
        place,
        row["content"].strip().partition("\n")[0],
        when=[one for key in CONDITION_KEYS for one in texts.get(key, ())],
        tags=[*_listed_texts(row.get("tags", "")), *texts.get("tags", ())],
        importance=IMPORTANCE.get(type, "medium"),
        extra=extra,
    )
    return replace(entry, id=lane_id(row["id"]))


def _lane_extra(row: Row, about: dict[str, Any]) -> dict[str, Value]:
    """Return the other fields of a row and its metadata; a column takes precedence over a metadata field."""
    columns: dict[str, Value] = filled(without(row, *READ_COLUMNS))
    columns |= {key: [*_listed_texts(row[key])] for key in LIST_COLUMNS if row.get(key)}
    fields = as_values(without(about, "tags", *CONDITION_KEYS))
    assert isinstance(fields, dict)
    named = {
        LANE_KEYS.get(key, key): value
        for key, value in {**fields, **columns}.items()
        if value
    }
    for key in ("supersedes", "supersededBy"):
        if key in named:
            named[key] = [lane_id(id) for id in texts_in(named[key])]
    unusual = {
        key: value
        for key, value in named.items()
        if value not in DEFAULT_VALUES.get(key, ())
    }
    return renamed_fields(unusual)


def lane_id(id: str) -> str:
    """Return our id for an id of Memory Lane."""
    return id_here(id, "memory-lane ")


def _parsed_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _listed_texts(text: str) -> list[str]:
    """Return the texts of a column with a JSON array or comma-separated words."""
    value = _parsed_json(text)
    return texts_in(as_values(value)) if isinstance(value, list) else texts_in(text)
