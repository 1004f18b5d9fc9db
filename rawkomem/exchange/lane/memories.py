"""Read Memory Lane's `memories.db` (v4.1) as entries: text, type, validity, votes and observations."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import apsw

from ...format.read_entries import KEYS
from ...model.errors import BadInput
from ...model.record import replace
from ..entry import entry_from, moment, texts
from ..markdown.note import RENAMED as OTHER_NAME
from ..markdown.note import with_long_fields
from ..notes import OWN_ID
from ..source import Page
from ..stores import as_values
from .database import MAX_ROWS, MAX_VALUE_CHARS, columns_of, is_database, open_foreign, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...model.entry import Entry, Value
    from ..source import Source
    from .database import Row

TABLE = "memories"
NEEDED_COLUMNS = ("id", "content")
SKIPPED_COLUMNS = ("embedding",)  # computed from the text
READ_COLUMNS = ("id", "content", "metadata", "tags", "created_at")  # these become parts of the entry itself
LISTS = ("auto_tags", "keywords")  # columns with a JSON array
IMPORTANCE = {  # type → importance; other types get medium
    **dict.fromkeys(("correction", "decision", "commitment"), "high"),
    **dict.fromkeys(("pattern_seed", "cross_agent", "workflow_note", "gap"), "low"),
}
RENAMED = {  # Memory Lane's key → ours; other keys keep their name
    "memory_type": "type", "confidence_score": "confidence", "valid_from": "validFrom", "valid_until": "validUntil",
    "superseded_by": "supersededBy", "feedback_score": "feedbackScore", "times_observed": "timesObserved",
    "first_observed_at": "firstObservedAt", "last_observed_at": "lastObservedAt", "last_accessed_at": "lastAccessedAt",
}  # fmt: skip
USUAL = {  # default values, which are not stored
    "collection": ("memory-lane",), "decay_factor": ("1.0", "1"), "feedback_count": ("0",), "access_count": ("0",),
    "feedbackScore": ("1.0", "1"), "timesObserved": ("1",),
}  # fmt: skip
CONDITIONS = ("whenToUse", "when_to_use", "triggers", "conditions")


def is_lane(source: Source) -> bool:
    """Tell whether a file is a database with Memory Lane's table."""
    if source.is_folder or not is_database(source.path):
        return False
    try:
        connection = open_foreign(source.path)
        columns = columns_of(connection, TABLE)
        connection.close()
    except (apsw.Error, BadInput):
        return False
    return set(NEEDED_COLUMNS) <= set(columns)


def read_lane(source: Source) -> Iterator[Entry]:
    """Yield a memory for each row. A superseded memory names its successor by the successor's new id."""
    connection, place = open_foreign(source.path), source.place(source.path)
    try:
        columns = [name for name in columns_of(connection, TABLE) if name not in SKIPPED_COLUMNS]
        if not set(NEEDED_COLUMNS) <= set(columns):
            raise BadInput(
                f"{source.path} has no table {TABLE} with the columns id and content", "name Memory Lane's database"
            )
        for number, row in enumerate(rows_of(connection, TABLE, columns)):
            if number == MAX_ROWS:
                source.refuse(place, f"more than {MAX_ROWS:,} memories: the rest is not read")
                return
            name = f"{place}#{row['id'] or number + 1}"
            if not row["content"].strip():
                source.skip(name, "it has no text")
            elif any(len(value) > MAX_VALUE_CHARS for value in row.values()):
                source.refuse(name, "too large")
            else:
                yield _entry(source, row, place)
    except apsw.Error as failure:
        source.refuse(place, f"the database is damaged: {failure}")
    finally:
        connection.close()


def _entry(source: Source, row: Row, place: str) -> Entry:
    given = _parsed(row.get("metadata", ""))
    if row.get("metadata", "").strip() and not isinstance(given, dict):
        source.skip(f"{place}#{row['id']}", "its metadata is not a JSON object: only the columns are imported")
    about: dict[str, Any] = given if isinstance(given, dict) else {}
    extra, content = with_long_fields(_extra(row, about), row["content"])
    tags = [*_listed(row.get("tags", "")), *texts(as_values(about.get("tags") or []))]
    when = [condition for key in CONDITIONS for condition in texts(as_values(about.get(key) or []))]
    type = str(extra.get("type", "")).lower()
    made = entry_from(
        Page(place, "", moment(row.get("created_at")) or moment(row.get("updated_at"))),
        row["content"].strip().partition("\n")[0],
        content,
        row["id"],
        when,
        tags,
        IMPORTANCE.get(type, "medium"),
        extra=extra,
    )
    return replace(made, id=id_of(row["id"]))


def _extra(row: Row, about: dict[str, Any]) -> dict[str, Value]:
    """Return the other fields of a row and its metadata; a column takes precedence over a metadata field."""
    columns: dict[str, Value] = {key: value for key, value in row.items() if key not in READ_COLUMNS and value}
    columns |= {key: [*_listed(row[key])] for key in LISTS if row.get(key)}
    fields = as_values({key: value for key, value in about.items() if key not in ("tags", *CONDITIONS)})
    assert isinstance(fields, dict)
    named = {RENAMED.get(key, key): value for key, value in {**fields, **columns}.items() if value}
    for key in ("supersedes", "supersededBy"):
        if key in named:
            named[key] = [id_of(id) for id in texts(named[key])]
    told = {key: value for key, value in named.items() if value and value not in USUAL.get(key, ())}
    return {OTHER_NAME.format(key) if key in KEYS else key: value for key, value in told.items()}


def id_of(id: str) -> str:
    """Return our id for an id of Memory Lane."""
    return (
        id if OWN_ID.fullmatch(id) else f"mem_{sha256(f'memory-lane {id}'.encode('utf-8', 'replace')).hexdigest()[:12]}"
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _listed(text: str) -> list[str]:
    """Return the texts of a column with a JSON array or comma-separated words."""
    value = _parsed(text)
    return texts(as_values(value)) if isinstance(value, list) else texts(text)
