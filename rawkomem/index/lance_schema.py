"""The LanceDB tables of RFC-0011 §2, and the additive migration of memory_entries from V1 to V2 (§11).

The RFC makes a new table and renames two. Here the old rows are copied to the backup first, and then one commit adds
the nullable columns: whoever is killed at whatever step leaves V1 or V2 with the same rows, and a second try mends it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..model.errors import NotFound, Refused
from ..model.record import record

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRIES, BLOCKS, SKILLS = "memory_entries", "yamo_blocks", "synthesized_skills"
BACKUP = "memory_entries_v1_backup"
KEPT = timedelta(days=30)  # §11: how long a backup stays
MOMENT = pa.timestamp("ms")
PROMOTED = (  # §2.2; `session_id` tells V2 from V1
    pa.field("session_id", pa.utf8()),
    pa.field("agent_id", pa.utf8()),
    pa.field("memory_type", pa.utf8()),
    pa.field("importance_score", pa.float32()),
    pa.field("access_count", pa.int32()),
    pa.field("last_accessed", MOMENT),
    pa.field("heritage_chain", pa.utf8()),
    pa.field("lesson_pattern_id", pa.utf8()),
    pa.field("source_skill_id", pa.utf8()),
)


def entries_v1(dims: int) -> pa.Schema:
    """§2.1"""
    return pa.schema(
        [
            pa.field("id", pa.utf8(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dims), nullable=False),
            pa.field("content", pa.utf8(), nullable=False),
            pa.field("metadata", pa.utf8()),
            pa.field("created_at", MOMENT, nullable=False),
            pa.field("updated_at", MOMENT),
        ]
    )


def entries_v2(dims: int) -> pa.Schema:
    """§2.2"""
    return pa.schema([*entries_v1(dims), *PROMOTED])


def blocks() -> pa.Schema:
    """§2.3"""
    return pa.schema(
        [
            pa.field("id", pa.utf8(), nullable=False),
            pa.field("agent_id", pa.utf8()),
            pa.field("operation_type", pa.utf8(), nullable=False),
            pa.field("yamo_text", pa.utf8(), nullable=False),
            pa.field("timestamp", MOMENT, nullable=False),
            pa.field("block_hash", pa.utf8()),
            pa.field("prev_hash", pa.utf8()),
            pa.field("metadata", pa.utf8()),
        ]
    )


def skills(dims: int) -> pa.Schema:
    """§2.4"""
    return pa.schema(
        [
            pa.field("id", pa.utf8(), nullable=False),
            pa.field("name", pa.utf8(), nullable=False),
            pa.field("intent", pa.utf8(), nullable=False),
            pa.field("yamo_text", pa.utf8(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dims), nullable=False),
            pa.field("metadata", pa.utf8()),
            pa.field("created_at", MOMENT, nullable=False),
        ]
    )


def is_schema_v2(schema: pa.Schema) -> bool:
    """Whether a table has the promoted fields."""
    return "session_id" in schema.names


def is_schema_v1(schema: pa.Schema) -> bool:
    """Whether a table of memories lacks them."""
    return not is_schema_v2(schema) and {"id", "vector", "content", "metadata"} <= set(schema.names)


@record
class Migrated:
    """What a migration did."""

    rows: int
    done: bool  # False: it was V2 already
    removed_backup: bool = False


def migrate(db: Any, now: datetime, at_step: Callable[[str], None] = lambda step: None) -> Migrated:
    """Bring memory_entries from V1 to V2; `at_step` is told where it stands. Also removes a backup that is too old."""
    if ENTRIES not in table_names(db):
        raise NotFound(f"there is no table {ENTRIES}", "name the folder or url of a LanceDB that has one")
    table = db.open_table(ENTRIES)
    if not is_schema_v1(table.schema):
        return Migrated(table.count_rows(), False, _remove_old_backup(db, now))
    at_step("begin")
    if BACKUP in table_names(db):
        db.drop_table(BACKUP)  # of a try that was cut short: the rows may have changed since
    at_step("clean")
    db.create_table(BACKUP, table.to_arrow())
    at_step("backup")
    table.add_columns(list(PROMOTED))
    at_step("columns")
    return Migrated(table.count_rows(), True)


def rollback(db: Any, anyway: bool, at_step: Callable[[str], None] = lambda step: None) -> int:
    """Bring memory_entries back to what it was before the migration; returns how many rows it then has.

    Rows that came since are not in the backup: that they go, somebody must want.
    """
    if BACKUP not in table_names(db):
        raise NotFound("there is no backup to go back to", "it is kept for 30 days after a migration")
    backup, table = db.open_table(BACKUP), db.open_table(ENTRIES)
    if not is_schema_v1(table.schema):
        kept = set(backup.to_arrow()["id"].to_pylist())
        since = [id for id in table.to_arrow()["id"].to_pylist() if id not in kept]
        if since and not anyway:
            raise Refused(f"{len(since)} memories came since the migration and would be lost", "--anyway to lose them")
        at_step("begin")
        db.create_table(ENTRIES, backup.to_arrow(), mode="overwrite")  # one commit
        at_step("restored")
    db.drop_table(BACKUP)
    at_step("clean")
    return int(db.open_table(ENTRIES).count_rows())


def _remove_old_backup(db: Any, now: datetime) -> bool:
    if BACKUP not in table_names(db):
        return False
    (made, *_) = (version["timestamp"] for version in db.open_table(BACKUP).list_versions())
    if now - made.replace(tzinfo=now.tzinfo) < KEPT:
        return False
    db.drop_table(BACKUP)
    return True


def table_names(db: Any) -> set[str]:
    """All tables of a database."""
    names: set[str] = set()
    token = None
    while True:
        page = db.list_tables(page_token=token)
        names.update(page.tables)
        token = page.page_token
        if not token:
            return names
