"""Fills the tables of RFC-0011 with what a search does not need: blocks of the ledger, skills, further columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .rfc import ENTRIES, published
from .rows import OURS, STORE
from .tables import Tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = dict[str, Any]


def publish(place: str, dims: int, known: Mapping[str, Row], ledger: Sequence[Row], made: Sequence[Row]) -> int:
    """Fill the tables, each in one commit, without touching rows of other programs; return how many memories."""
    tables = Tables(place, dims)
    tables.begin()
    try:
        filled = _fill_entries(tables, known)
        for (name, schema), rows in zip(published(dims).items(), (ledger, made), strict=True):
            _replace(tables.db, name, schema, rows)
    finally:
        tables.stop()
    return filled


def _fill_entries(tables: Tables, known: Mapping[str, Row]) -> int:
    found = tables[ENTRIES].search().where(OURS).limit(None).to_arrow()
    ids = found["id"].to_pylist()
    columns = {name for row in known.values() for name in row}
    for name in columns & set(found.schema.names):
        field = found.schema.field(name)
        filled = pa.array([known.get(id, {}).get(name) for id in ids], type=field.type)
        found = found.set_column(found.schema.get_field_index(name), field, filled)
    if ids:
        tables[ENTRIES].merge_insert("id").when_matched_update_all().execute(found)
    return len(ids)


def _replace(db: Any, name: str, schema: pa.Schema, rows: Sequence[Row]) -> None:
    """Replace our rows of a table."""
    marked = [{**row, "metadata": json.dumps({**STORE, **row.get("metadata", {})})} for row in rows]
    merging = db.open_table(name).merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    merging.when_not_matched_by_source_delete(OURS).execute(pa.Table.from_pylist(marked, schema=schema))
