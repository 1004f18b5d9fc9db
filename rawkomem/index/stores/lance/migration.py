"""Migrates memory_entries from V1 to V2 and back (RFC-0011 §11).

The rows are copied to the backup first; then one commit adds the nullable columns. So a killed migration leaves V1 or
V2 with the same rows, and can be run again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ....model.errors import NotFound, Refused
from ..protocol import Migrated
from .rfc import ENTRIES, PROMOTED, is_schema_v1, table_names
from .tables import COMMITS

if TYPE_CHECKING:
    from collections.abc import Callable

BACKUP = "memory_entries_v1_backup"
BACKUP_KEPT = timedelta(days=30)  # §11: how long a backup stays


def migrate(db: Any, now: datetime, at_step: Callable[[str], None] = lambda step: None) -> Migrated:
    """Migrate memory_entries from V1 to V2; if it is V2, delete an expired backup. `at_step` gets each step's name."""
    if ENTRIES not in table_names(db):
        raise NotFound(f"there is no table {ENTRIES}", "name the folder or url of a LanceDB that has one")
    table = db.open_table(ENTRIES)
    if not is_schema_v1(table.schema):
        return Migrated(table.count_rows(), False, remove_old_backup(db, now))
    at_step("begin")
    if BACKUP in table_names(db):
        db.drop_table(BACKUP)  # of an interrupted migration: the rows may have changed since
    at_step("clean")
    db.create_table(BACKUP, table.to_arrow())
    at_step("backup")
    table.add_columns(list(PROMOTED))
    at_step("columns")
    return Migrated(table.count_rows(), True)


def rollback(db: Any, anyway: bool, at_step: Callable[[str], None] = lambda step: None) -> int:
    """Restore memory_entries from the backup; return how many rows it has. Newer rows are lost only with `anyway`."""
    if BACKUP not in table_names(db):
        raise NotFound("there is no backup to restore", "a backup is kept for 30 days; later a migration is final")
    backup, table = db.open_table(BACKUP), db.open_table(ENTRIES)
    if not is_schema_v1(table.schema):
        kept = set(backup.to_arrow()["id"].to_pylist())
        since = [id for id in table.to_arrow()["id"].to_pylist() if id not in kept]
        if since and not anyway:
            message = f"{len(since)} memories were added since the migration and would be lost"
            raise Refused(message, "pass --anyway to lose them")
        at_step("begin")
        if COMMITS in table_names(db):
            db.drop_table(COMMITS)  # a search store in this database loses its rows and starts again
        at_step("forgotten")
        db.create_table(ENTRIES, backup.to_arrow(), mode="overwrite")  # one commit
        at_step("restored")
    db.drop_table(BACKUP)
    at_step("clean")
    return int(db.open_table(ENTRIES).count_rows())


def remove_old_backup(db: Any, now: datetime) -> bool:
    """Delete the backup if it is older than 30 days; return whether it was."""
    if BACKUP not in table_names(db):
        return False
    (made, *_) = (version["timestamp"] for version in db.open_table(BACKUP).list_versions())
    if now - made.replace(tzinfo=now.tzinfo) < BACKUP_KEPT:
        return False
    db.drop_table(BACKUP)
    return True
