"""The tables of RFC-0011 in a LanceDB, for other programs to read; and conditions in LanceDB's SQL.

memory_entries   one row per memory in our store (store.py), among rows of other programs, which always stay
yamo_blocks, synthesized_skills   blocks of the ledger, and skills: `publish` fills them
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import lancedb
import numpy as np
import pyarrow as pa

from ....files.private import lock_in
from ....format.mesh_fields import STORE_MARK_KEY, compact_json
from ....model.entries import Memory
from ....model.errors import NotFound, Refused
from ....model.filters import ALL_OF, ANY_OF, AT_LEAST, Filter, asked
from ....model.values import IMPORTANCE
from ....state.strength import entry_row
from ..protocol import BlocksAfter, Migrated, is_url
from ..sqlite import BODY, Document, lined

if TYPE_CHECKING:
    from numpy.typing import NDArray


Row = dict[str, Any]


# Writes conditions in LanceDB's SQL: columns come from a closed set, and values are literals.

# facets whose names mean something else in LanceDB's SQL
RENAMED = {
    "by": "agent",
    "type": "type_name",
}


def sql_literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def among(column: str, values: Collection[str] | Collection[int]) -> str:
    """Return the condition that a column has one of these values."""
    literals = (
        sql_literal(value) if isinstance(value, str) else str(value) for value in values
    )
    return f"{column} IN ({', '.join(literals)})" if values else "false"


def filter_condition(only: Filter) -> str:
    """Return the condition that a row passes the filter; empty for a filter that lets everything through."""
    where: list[str] = []
    for field, wanted in asked(only):
        column = RENAMED.get(field.column, field.column)
        if field.compare == ANY_OF:
            where.append(among(column, wanted))
        elif field.compare == ALL_OF:
            where += [
                f"contains({column}, {sql_literal(lined([name]))})" for name in wanted
            ]
        else:
            where.append(
                f"{column} {'>=' if field.compare == AT_LEAST else '<'} {int(wanted)}"
            )
    return " AND ".join(where)


# The LanceDB tables of RFC-0011 §2: memory_entries in both its schemas, yamo_blocks,
# synthesized_skills.

ENTRIES = "memory_entries"
BLOCKS = "yamo_blocks"
SKILLS = "synthesized_skills"
TEXT = pa.utf8()
MOMENT = pa.timestamp("ms")


def required_columns(**kinds: pa.DataType) -> tuple[pa.Field, ...]:
    """Return columns that must not be null, by name."""
    return tuple(pa.field(name, kind, nullable=False) for name, kind in kinds.items())


def optional_columns(**kinds: pa.DataType) -> tuple[pa.Field, ...]:
    """Return columns that may be null, by name."""
    return tuple(pa.field(name, kind) for name, kind in kinds.items())


PROMOTED = (  # §2.2; `session_id` tells V2 from V1
    *optional_columns(
        session_id=TEXT,
        agent_id=TEXT,
        memory_type=TEXT,
        importance_score=pa.float32(),
        access_count=pa.int32(),
    ),
    *optional_columns(
        last_accessed=MOMENT,
        heritage_chain=TEXT,
        lesson_pattern_id=TEXT,
        source_skill_id=TEXT,
    ),
)


def entries_v1(dims: int) -> pa.Schema:
    """Return the schema of §2.1."""
    own = required_columns(id=TEXT, vector=pa.list_(pa.float32(), dims), content=TEXT)
    return pa.schema(
        [
            *own,
            *optional_columns(metadata=TEXT),
            *required_columns(created_at=MOMENT),
            *optional_columns(updated_at=MOMENT),
        ]
    )


def entries_v2(dims: int) -> pa.Schema:
    """Return the schema of §2.2."""
    return pa.schema([*entries_v1(dims), *PROMOTED])


def blocks_schema() -> pa.Schema:
    """Return the schema of §2.3."""
    said = required_columns(operation_type=TEXT, yamo_text=TEXT, timestamp=MOMENT)
    hashes = optional_columns(block_hash=TEXT, prev_hash=TEXT, metadata=TEXT)
    return pa.schema(
        [*required_columns(id=TEXT), *optional_columns(agent_id=TEXT), *said, *hashes]
    )


def skills_schema(dims: int) -> pa.Schema:
    """Return the schema of §2.4."""
    own = required_columns(
        id=TEXT,
        name=TEXT,
        intent=TEXT,
        yamo_text=TEXT,
        vector=pa.list_(pa.float32(), dims),
    )
    return pa.schema(
        [*own, *optional_columns(metadata=TEXT), *required_columns(created_at=MOMENT)]
    )


def published_schemas(dims: int) -> dict[str, pa.Schema]:
    """Return the schemas of the tables that only `publish` fills, by name."""
    return {BLOCKS: blocks_schema(), SKILLS: skills_schema(dims)}


def is_schema_v2(schema: pa.Schema) -> bool:
    """Return whether a table has the promoted fields."""
    return "session_id" in schema.names


def is_schema_v1(schema: pa.Schema) -> bool:
    """Return whether a table of memories lacks the promoted fields."""
    return not is_schema_v2(schema) and {"id", "vector", "content", "metadata"} <= set(
        schema.names
    )


def table_names(db: Any) -> set[str]:
    """Return the names of all tables of a database."""
    names: set[str] = set()
    token = None
    while True:
        page = db.list_tables(page_token=token)
        names.update(page.tables)
        token = page.page_token
        if not token:
            return names


PASSAGES = "passages"  # the table of our search store (store.py)
# in the metadata of each row that we write to the tables of the RFC
STORE = {STORE_MARK_KEY: "rawkomem"}
OURS = f"metadata LIKE '%{compact_json(STORE)[1:-1]}%'"
MAX_IDS = 500  # ids in one condition


def writing(place: str) -> AbstractContextManager[object]:
    """Return a lock to hold while writing. LanceDB itself resolves conflicts of writers to an object store."""
    return nullcontext() if is_url(place) else lock_in(place, "lance")


def open_tables(db: Any, dims: int) -> Any:
    """Create missing tables of the RFC; return memory_entries. Raise Refused if it has the schema V1."""
    schemas = {ENTRIES: entries_v2(dims), **published_schemas(dims)}
    for name in schemas.keys() - table_names(db):
        db.create_table(name, schema=schemas[name], exist_ok=True)
    table = db.open_table(ENTRIES)
    if not is_schema_v2(table.schema):
        where = "your url" if is_url(db.uri) else db.uri
        hint = "run 'rawkomem index store migrate'"
        raise Refused(f"{ENTRIES} in {where} has the schema V1", hint)
    return table


def check_lengths(table: Any, dims: int) -> bool:
    """Return whether our vectors have the length of those in memory_entries; raise Refused if others have another."""
    fits: bool = table.schema.field("vector").type.list_size == dims
    if not fits and table.count_rows(f"metadata IS NULL OR NOT ({OURS})"):
        message = f"{ENTRIES} holds other programs' vectors of another length"
        raise Refused(message, "choose another folder or url")
    return fits


def erase_tables(db: Any, dims: int) -> None:
    """Remove our rows from all tables of the RFC; adapt empty tables to the length of our vectors."""
    for name, schema in {ENTRIES: entries_v2(dims), **published_schemas(dims)}.items():
        table = db.open_table(name)
        table.delete(OURS)
        if not table.count_rows():
            db.create_table(name, schema=schema, mode="overwrite")


def delete_rows(table: Any, ids: Sequence[str]) -> None:
    """Remove the rows of these memories."""
    for start in range(0, len(ids), MAX_IDS):
        table.delete(among("id", ids[start : start + MAX_IDS]))


def write_entries(
    table: Any, ids: Sequence[str], documents: Sequence[Document], dims: int
) -> None:
    """Replace our rows of these memories in memory_entries by those of the documents."""
    delete_rows(table, ids)
    if documents:
        rows = [
            {**_entry_row(document), "vector": _memory_vector(document, dims)}
            for document in documents
        ]
        table.add(pa.Table.from_pylist(rows, schema=entries_v2(dims)))


def marked_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for a table of the RFC, with metadata (JSON text) that marks it as ours."""
    return {
        **row,
        "metadata": compact_json({**STORE, **row.get("metadata", {})}),
    }


def _entry_row(document: Document) -> dict[str, Any]:
    """Return the row of a document. An access count of 0 becomes null, because usage is not known here."""
    row = entry_row(document.memory or _memory_of_document(document))
    return marked_row({**row, "access_count": row["access_count"] or None})


def _memory_of_document(document: Document) -> Memory:
    """Return a memory made from a document alone, for a document without a memory."""
    facets = document.facets
    return Memory(
        document.id,
        facets.kind,
        title=document.title,
        body="\n\n".join(
            passage.text for passage in document.passages if passage.field == BODY
        ),
        tags=facets.tags,
        importance=IMPORTANCE[facets.importance],
        status=facets.status,
        by=facets.by,
        created=facets.created,
        updated=facets.created,
        extra={"type": facets.type, "session": facets.session},
    )


def _memory_vector(document: Document, dims: int) -> NDArray[np.float32]:
    """Return a memory's own vector: the direction of the sum of its passages' vectors."""
    total = np.zeros(dims, dtype=np.float32)
    for passage in document.passages:
        if passage.field == BODY:
            total += np.frombuffer(passage.vector, dtype="<f4")
    size = float(np.linalg.norm(total))
    return total / np.float32(size) if size else total


# Migrates memory_entries from V1 to V2 and back (RFC-0011 §11).
#
# The rows are copied to the backup first; then one commit adds the nullable columns. So a killed
# migration leaves V1 or V2 with the same rows, and can be run again.

BACKUP = "memory_entries_v1_backup"
BACKUP_KEPT = timedelta(days=30)  # §11: how long a backup stays


def migrate_entries(db: Any, now: datetime) -> Migrated:
    """Migrate memory_entries from V1 to V2; if it is V2, delete an expired backup."""
    if ENTRIES not in table_names(db):
        raise NotFound(
            f"there is no table {ENTRIES}",
            "name the folder or url of a LanceDB that has one",
        )
    table = db.open_table(ENTRIES)
    if not is_schema_v1(table.schema):
        return Migrated(table.count_rows(), False, remove_old_backup(db, now))
    if BACKUP in table_names(db):
        # of an interrupted migration: the rows may have changed since
        db.drop_table(BACKUP)
    db.create_table(BACKUP, table.to_arrow())
    table.add_columns(list(PROMOTED))
    return Migrated(table.count_rows(), True)


def rollback_entries(db: Any, anyway: bool) -> int:
    """Restore memory_entries from the backup; return how many rows it has. Newer rows are lost only with `anyway`."""
    if BACKUP not in table_names(db):
        raise NotFound(
            "there is no backup to restore",
            "a backup is kept for 30 days; later a migration is final",
        )
    backup = db.open_table(BACKUP)
    table = db.open_table(ENTRIES)
    if not is_schema_v1(table.schema):
        kept = set(backup.to_arrow()["id"].to_pylist())
        since = [id for id in table.to_arrow()["id"].to_pylist() if id not in kept]
        if since and not anyway:
            message = f"{len(since)} memories were added since the migration and would be lost"
            raise Refused(message, "pass --anyway to lose them")
        if PASSAGES in table_names(db):
            db.drop_table(PASSAGES)  # a search store in this database starts again
        db.create_table(ENTRIES, backup.to_arrow(), mode="overwrite")  # one commit
    db.drop_table(BACKUP)
    return int(db.open_table(ENTRIES).count_rows())


def remove_old_backup(db: Any, now: datetime) -> bool:
    """Delete the backup if it is older than 30 days; return whether it was."""
    if BACKUP not in table_names(db):
        return False
    (made, *_) = (
        version["timestamp"] for version in db.open_table(BACKUP).list_versions()
    )
    if now - made.replace(tzinfo=now.tzinfo) < BACKUP_KEPT:
        return False
    db.drop_table(BACKUP)
    return True


# Fills the tables of RFC-0011 with data that a search does not need: blocks of the ledger, skills,
# more columns.


def publish(
    place: str,
    dims: int,
    known: Mapping[str, Row],
    blocks_after: BlocksAfter,
    made: Sequence[Row] | None,
    whole: bool,
) -> int:
    """Add new rows, or with `whole` fill the tables; rows of other programs stay. Return how many memories were filled."""
    db = lancedb.connect(place)
    entries = open_tables(db, dims)
    with writing(place):
        table = db.open_table(BLOCKS)
        held = 0 if whole else table.count_rows(OURS)
        last, rows = blocks_after(held)
        if held and not (last and table.count_rows(among("id", [last]))):
            held, (_, rows) = 0, blocks_after(0)  # they do not continue the table
        if not held:
            _replace_ours(db, BLOCKS, blocks_schema(), rows)
        elif rows:
            marked = [marked_row(row) for row in rows]
            table.add(pa.Table.from_pylist(marked, schema=blocks_schema()))
        if made is not None:
            _replace_ours(db, SKILLS, skills_schema(dims), made)
        return _fill_entries(entries, known, "true" if whole else among("id", known))


def _fill_entries(entries: Any, known: Mapping[str, Row], where: str) -> int:
    """Update the columns of our rows from `known`; return how many rows these are."""
    table = entries.search().where(f"{OURS} AND {where}").limit(None).to_arrow()
    rows = table.to_pylist()
    for row in rows:
        row |= marked_row(known[row["id"]]) if row["id"] in known else {}
    if rows:
        filled = pa.Table.from_pylist(rows, schema=table.schema)
        entries.merge_insert("id").when_matched_update_all().execute(filled)
    return len(rows)


def _replace_ours(db: Any, name: str, schema: pa.Schema, rows: Sequence[Row]) -> None:
    """Replace our rows of a table."""
    filled = pa.Table.from_pylist([marked_row(row) for row in rows], schema=schema)
    merging = db.open_table(name).merge_insert("id").when_matched_update_all()
    merging = merging.when_not_matched_insert_all().when_not_matched_by_source_delete(
        OURS
    )
    merging.execute(filled)
