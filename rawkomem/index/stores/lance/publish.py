"""Fills the tables of RFC-0011 with data that a search does not need: blocks of the ledger, skills, more columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .conditions import among
from .rfc import BLOCKS, ENTRIES, SKILLS, blocks, published, skills
from .rows import OURS, marked
from .tables import Tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..protocol import Missing

    Row = dict[str, Any]


def publish(place: str, dims: int, known: Mapping[str, Row], ledger: Sequence[Row], made: Sequence[Row]) -> int:
    """Fill the tables, each in one commit; rows of other programs stay. Return how many memories have a row."""
    tables = Tables(place, dims)
    tables.begin()
    try:
        filled = _fill_entries(tables, known)
        for (name, schema), rows in zip(published(dims).items(), (ledger, made), strict=True):
            _replace(tables.db, name, schema, rows)
    finally:
        tables.stop()
    return filled


def publish_new(place: str, dims: int, known: Mapping[str, Row], missing: Missing, made: Sequence[Row] | None) -> bool:
    """Add new rows; return False and write nothing if the new blocks do not continue the table."""
    tables = Tables(place, dims)
    tables.begin()
    try:
        table = tables.db.open_table(BLOCKS)
        found = missing(table.count_rows(OURS))
        if found is None or (found[0] and not table.count_rows(among("id", [found[0]]))):
            return False
        if found[1]:
            table.add(pa.Table.from_pylist([marked(row) for row in found[1]], schema=blocks()))
        if known:
            _fill_entries(tables, known, among("id", [*known]))
        if made is not None:
            _replace(tables.db, SKILLS, skills(dims), made)
    finally:
        tables.stop()
    return True


def _fill_entries(tables: Tables, known: Mapping[str, Row], where: str = "true") -> int:
    """Update the columns of our rows from `known`; return how many rows these are."""
    found = tables[ENTRIES].search().where(f"{OURS} AND {where}").limit(None).to_arrow()
    ids = found["id"].to_pylist()
    rows = {id: marked(known[id]) if id in known else {} for id in ids}
    for name in {column for row in rows.values() for column in row} & set(found.schema.names) - {"id"}:
        field = found.schema.field(name)
        filled = pa.array([rows[id].get(name) for id in ids], type=field.type)
        found = found.set_column(found.schema.get_field_index(name), field, filled)
    if ids:
        tables[ENTRIES].merge_insert("id").when_matched_update_all().execute(found)
    return len(ids)


def _replace(db: Any, name: str, schema: pa.Schema, rows: Sequence[Row]) -> None:
    """Replace our rows of a table."""
    filled = pa.Table.from_pylist([marked(row) for row in rows], schema=schema)
    merging = db.open_table(name).merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    merging.when_not_matched_by_source_delete(OURS).execute(filled)
