"""Copy records and texts from another local folder: of an earlier version, of a project before it was in git, or of a
folder that a person adopts.

Each function can be repeated after a kill: what is there already is not copied again.
"""

from __future__ import annotations

import os
from shutil import rmtree

import apsw

from ..model.errors import Unwritable
from .blocks import LedgerRow, chain_rows
from .git_folder import kept_folder
from .layout import Layout, is_local_name, is_own_file, read_bytes, walk
from .private import (
    ASIDE,
    BUSY_TIMEOUT_MS,
    KEPT_FOLDERS,
    RECORDS,
    SUFFIXES,
    replace_private,
)

# what running sessions received: rows refer to each other by number, and expire in days
NOT_COPIED = ("asked", "injected", "chain", "blocks")


def unused_paths(layout: Layout) -> list[str]:
    """Return the local folders beside ours, which others made, and what was set aside in ours."""
    paths: list[str] = []
    for own in dict.fromkeys((layout.local, kept_folder(layout))):
        folder, name = os.path.split(own)
        paths += [
            os.path.join(folder, other)
            for other in _names_in(folder)
            if other != name and is_local_name(other)
        ]
        paths += [
            os.path.join(own, inner)
            for inner in _names_in(own)
            if ASIDE in inner and not inner.endswith(SUFFIXES[1:])
        ]
    return paths


def _names_in(folder: str) -> list[str]:
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def records_in(path: str) -> list[str]:
    """Return the files of records in a local folder, or the path itself if it is such a file; only this user's files."""
    paths = [path]
    if os.path.isdir(path):
        paths = [
            os.path.join(path, name)
            for name in _names_in(path)
            if name.startswith(RECORDS) and name.endswith(".db")
        ]
    return [path for path in paths if is_own_file(path)]


def copy_rows(source: str, db: apsw.Connection) -> dict[str, int]:
    """Copy the new rows of a file of records, in a transaction of the caller; return table → number of rows.

    Views and triggers of the file do not run. Blocks of the ledger are appended to the chain. Raise Unwritable.
    """
    other = apsw.Connection(source, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        other.set_busy_timeout(BUSY_TIMEOUT_MS)
        other.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        other.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        theirs = _tables(other)
        copied = {
            table: _copy_table(other, db, table, [*columns & theirs[table]])
            for table, columns in _tables(db).items()
            if table in theirs and table not in NOT_COPIED
        }
        if "blocks" in theirs:
            copied["blocks"] = _copy_blocks(other, db)
        return copied
    except apsw.Error as failure:
        message = f"cannot copy the records of {source}: {failure}"
        raise Unwritable(message, "check the file and free space") from failure
    finally:
        other.close()


def _tables(db: apsw.Connection) -> dict[str, set[str]]:
    """Return table → its columns, except the number of a row."""
    rows = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    names = [str(name) for (name,) in rows if str(name).isidentifier()]
    return {
        name: {
            str(column) for _, column, *_ in db.execute(f"PRAGMA table_info({name})")
        }
        - {"number"}
        for name in names
    }


def _copy_table(
    other: apsw.Connection, db: apsw.Connection, table: str, columns: list[str]
) -> int:
    listed = ", ".join(columns)
    select = f"SELECT {listed} FROM {table}"
    known = set(db.execute(select))
    new = [row for row in other.execute(select) if row not in known]
    before = db.total_changes()
    db.executemany(
        f"INSERT OR IGNORE INTO {table} ({listed}) VALUES ({', '.join('?' * len(columns))})",
        new,
    )
    if table == "accesses":
        update = "UPDATE accesses SET count = max(count, ?), last = max(last, ?) WHERE id = ?"
        counts = other.execute("SELECT count, last, id FROM accesses").fetchall()
        db.executemany(update, counts)
    return db.total_changes() - before


def _copy_blocks(other: apsw.Connection, db: apsw.Connection) -> int:
    """Append the blocks whose ids are new; their hashes are computed again, because they follow other blocks."""
    known = {id for (id,) in db.execute("SELECT id FROM blocks")}
    columns = ", ".join(LedgerRow.__annotations__)
    rows = other.execute(f"SELECT {columns} FROM blocks ORDER BY number")
    new = [LedgerRow(*values) for values in rows if values[0] not in known]
    chain_rows(db, new)
    return len(new)


def copy_texts(source: str, target: str) -> int:
    """Copy unsaved texts, copies of files and talks that are not in the target folder; return their number.

    Links, and files of other users, are not copied. Raise OSError.
    """
    copied = 0
    for name in KEPT_FOLDERS:
        top = os.path.join(source, name)
        for folder, _, names in walk(top) if not os.path.islink(top) else ():
            for path in (os.path.join(folder, one) for one in sorted(names)):
                new = os.path.join(target, os.path.relpath(path, source))
                if os.path.lexists(new) or not is_own_file(path):
                    continue
                replace_private(new, read_bytes(path), durable=True)
                copied += 1
    return copied


def remove_texts(source: str) -> None:
    """Remove the folders that `copy_texts` copied."""
    for name in KEPT_FOLDERS:
        rmtree(os.path.join(source, name), ignore_errors=True)
