"""Keep what this machine remembers in one private SQLite file, `local-….db`: a table for each subject.

The file is in git's own folder, where all work trees of a repository share it; without git, it is in `.rawko/local`.

A change is one transaction, so a kill leaves either all of it or nothing. The file is used only if it was made
here: its header holds a seal made of its inode and the folder's secret. Another file, or a damaged one, is set aside.
The rows of a file with another schema are copied into a new file. A process opens the file once. WAL with `synchronous
= NORMAL` writes no change twice and survives a kill; a power cut may lose the last changes, except those that are
`durable`.

Records and texts of another local folder are copied: of an earlier version, of a project before it was in git, of a
folder that a person adopts. Each copy can be repeated after a kill: what is there already is not copied again.
"""

from __future__ import annotations

import _thread
import os
import sys

import apsw

from ..model.errors import RawkoError, Unwritable
from ..model.values import TYPE_CHECKING
from .blocks import LedgerRow, chain_rows
from .git_folder import kept_folder
from .layout import Layout, is_local_name, is_own_file, names_in, read_bytes, walk
from .private import (
    ASIDE,
    BUSY_TIMEOUT_MS,
    KEPT_FOLDERS,
    RECORDS,
    SUFFIXES,
    Lock,
    aside_path,
    check_private,
    open_private,
    replace_private,
    seal_of,
    secret_name,
)

if TYPE_CHECKING:
    from typing import Any

    Cell = str | int | float | bytes | None


LOCK_WAIT_S = 5.0  # to wait for another process that makes the file
CHECKPOINT_PAGES = 100  # of the WAL, after which SQLite moves them into the database
DAMAGED = (apsw.CorruptError, apsw.NotADBError)
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE asked (number INTEGER PRIMARY KEY, at INT, session TEXT, prompt TEXT, heard INT);
CREATE INDEX asked_by_session ON asked (session);
CREATE TABLE injected (number INTEGER PRIMARY KEY, at INT, session TEXT, asked INT, tokens INT, keys TEXT);
CREATE INDEX injected_by_session ON injected (session);
CREATE TABLE usage (number INTEGER PRIMARY KEY, at INT, session TEXT, tokens INT, ids TEXT, saved INT);
CREATE INDEX usage_by_time ON usage (at);
CREATE TABLE accesses (id TEXT PRIMARY KEY, count INT, last INT) WITHOUT ROWID;
CREATE TABLE effects (id TEXT, what TEXT, source TEXT, at INT, PRIMARY KEY (id, what, source)) WITHOUT ROWID;
CREATE TABLE drafts (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, at INT, session TEXT, draft TEXT, asked INT, decision TEXT, entry TEXT
);
CREATE TABLE prompts (number INTEGER PRIMARY KEY, at INT, session TEXT, text TEXT);
CREATE TABLE transcripts (number INTEGER PRIMARY KEY, session TEXT UNIQUE, path TEXT);
CREATE TABLE recorded (number INTEGER PRIMARY KEY, path TEXT UNIQUE, size INT);
CREATE TABLE rule_files (number INTEGER PRIMARY KEY, path TEXT UNIQUE, checksum TEXT);
CREATE TABLE learned (number INTEGER PRIMARY KEY, source TEXT, part TEXT, UNIQUE (source, part));
CREATE TABLE changes (number INTEGER PRIMARY KEY, name TEXT, undoes TEXT, entry TEXT, memory TEXT);
CREATE TABLE arrivals (id TEXT, digest TEXT, how TEXT, PRIMARY KEY (id, digest)) WITHOUT ROWID;
CREATE TABLE purges (id TEXT, checkout INT, PRIMARY KEY (id, checkout)) WITHOUT ROWID;
CREATE TABLE calls (number INTEGER PRIMARY KEY, at INT, host TEXT, event TEXT, took_ms INT, reported INT);
CREATE TABLE seen (key TEXT PRIMARY KEY, at REAL) WITHOUT ROWID;
CREATE TABLE news (number INTEGER PRIMARY KEY, line TEXT);
CREATE TABLE sink_queue (
    number INTEGER PRIMARY KEY, key TEXT UNIQUE, memory TEXT, event TEXT, tries INT, again INT, failure TEXT
);
CREATE TABLE sink_dropped (number INTEGER PRIMARY KEY, at INT, memory TEXT, event TEXT, failure TEXT);
CREATE TABLE blocks (
    number INTEGER PRIMARY KEY, id TEXT, agent_id TEXT, operation_type TEXT, timestamp INT, yamo_text TEXT,
    prev_hash TEXT, block_hash TEXT
);
CREATE INDEX blocks_by_operation ON blocks (operation_type);
CREATE TABLE chain (blocks INT, last_hash TEXT, follows TEXT);
CREATE TABLE chain_notes (number INTEGER PRIMARY KEY, note TEXT);
"""
MAX_ROWS = {  # of a table; `insert` removes the oldest rows beyond it
    "asked": 2_000, "injected": 2_000, "prompts": 500, "drafts": 4_000, "transcripts": 100, "recorded": 100,
    "rule_files": 1_000, "learned": 50_000, "changes": 20_000, "calls": 300, "news": 20, "sink_dropped": 1_000,
}  # fmt: skip
# Network and shared file systems without the shared memory that WAL needs.
UNSAFE_FILE_SYSTEMS = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "vboxsf", "drvfs", "fuse.sshfs", "fuse.glusterfs"
}  # fmt: skip
_using = _thread.RLock()  # one thread at a time uses the connections
# path → process, inode, connection
_connections: dict[str, tuple[int, int, apsw.Connection]] = {}
_paths: dict[str, str] = {}  # .rawko folder → path of the records that are open
# .rawko folders in which this process looked for earlier records
_looked: set[str] = set()
# a forked process must not close what its parent opened
_of_parent: list[apsw.Connection] = []


def read(layout: Layout, sql: str, *values: Cell) -> list[Any]:
    """Return the rows of a query; none if there is no file, or if it cannot be read."""
    with _using:
        try:
            connection = _connection(layout, make=False)
            return connection.execute(sql, values).fetchall() if connection else []
        except (apsw.Error, OSError, RawkoError) as failure:
            _look_after(layout, failure)
            return []


class change:
    """A transaction: `with change(layout) as db`. If it fails, nothing is changed; raise Unwritable.

    With `durable`, the change is on disk when the block ends.
    """

    def __init__(self, layout: Layout, durable: bool = False):
        self.layout = layout
        self.durable = durable

    def __enter__(self) -> apsw.Connection:
        _using.acquire()
        try:
            connection = _connection(self.layout, make=True)
            if connection is None:
                raise FileNotFoundError("the folder local/ is gone")
            if self.durable:
                connection.execute("PRAGMA synchronous = FULL")
            connection.__enter__()
        except BaseException as failure:
            self._end(failure)
            raise
        self.connection = connection
        return connection

    def __exit__(self, kind: Any, failure: BaseException | None, trace: Any) -> None:
        try:
            self.connection.__exit__(kind, failure, trace)
            if self.durable:
                self.connection.execute("PRAGMA synchronous = NORMAL")
        except (apsw.Error, OSError) as later:
            failure = failure or later
        self._end(failure)

    def _end(self, failure: BaseException | None) -> None:
        _using.release()
        if isinstance(failure, apsw.Error | OSError):
            _look_after(self.layout, failure)
            reason = getattr(failure, "strerror", "") or str(failure)
            message = f"cannot use the records in {kept_folder(self.layout)}: {reason}"
            raise Unwritable(message, "check permissions and free space") from None


def note(layout: Layout, table: str, *values: Cell) -> None:
    """Insert one row in a transaction of its own. Ignore errors: a command must not fail for want of a record."""
    try:
        with change(layout) as db:
            insert(db, table, *values)
    except RawkoError:
        pass


def execute(layout: Layout, sql: str, *values: Cell, durable: bool = False) -> None:
    """Execute one statement in a transaction of its own; raise Unwritable."""
    with change(layout, durable) as db:
        db.execute(sql, values)


def insert(db: apsw.Connection, table: str, *values: Cell) -> int:
    """Insert a row, replace one with the same key, remove rows beyond the table's limit; return the row's number."""
    texts = [
        value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for value in values
    ]
    marks = ", ?" * len(values)
    db.execute(f"INSERT OR REPLACE INTO {table} VALUES (NULL{marks})", texts)
    number = db.last_insert_rowid()
    if most := MAX_ROWS.get(table):
        oldest = (
            f"SELECT number FROM {table} ORDER BY number DESC LIMIT 1 OFFSET {most}"
        )
        db.execute(f"DELETE FROM {table} WHERE number <= ({oldest})")
    return number


def fact(layout: Layout, name: str) -> str:
    """Return a value that `set_fact` stored; empty if there is none."""
    rows = read(layout, "SELECT value FROM facts WHERE name = ?", name)
    return str(rows[0][0]) if rows else ""


def set_fact(layout: Layout, name: str, value: str, replace: bool = True) -> None:
    """Store a value; without `replace`, a stored value wins. Raise Unwritable."""
    verb = "REPLACE" if replace else "IGNORE"
    execute(layout, f"INSERT OR {verb} INTO facts VALUES (?, ?)", name, value)


def checkout_of(layout: Layout) -> int:
    """Return a number that tells checkouts with the same records apart: the inode of `.rawko`, which a move keeps.

    Return 0 if there is no such folder.
    """
    return _inode_of(layout.root)


def open_intents(layout: Layout) -> list[str]:
    """Return the ids of memories whose purge in this checkout has not finished; every command asks."""
    sql = "SELECT id FROM purges WHERE checkout = ? ORDER BY id"
    return [id for (id,) in read(layout, sql, checkout_of(layout))]


def records_path(layout: Layout, make: bool = False) -> str:
    """Return the path of the file; with `make`, create its folder. Raise OSError if there is no folder of ours."""
    return secret_name(kept_folder(layout), RECORDS, make)


def close_records() -> None:
    """Close all connections, for example before a fork: SQLite's connections must not cross it."""
    with _using:
        while _connections:
            process, _, connection = _connections.popitem()[1]
            if process == os.getpid():
                connection.close()
            else:
                _of_parent.append(connection)


def erase_removed(layout: Layout) -> None:
    """Remove the traces of deleted rows from the disk, after a purge. Raise Unwritable."""
    try:
        with _using:
            connection = _connection(layout, make=False)
            if connection:
                connection.execute("VACUUM")
                done: list[Any] = connection.execute(
                    "PRAGMA wal_checkpoint(TRUNCATE)"
                ).fetchall()
                if done[0][0]:
                    raise apsw.BusyError("another process reads it")
    except (apsw.Error, OSError) as failure:
        message = f"cannot use the records in {kept_folder(layout)}: {failure}"
        raise Unwritable(message, "try again") from None


# Open the file, make it, or set it aside.


def _connection(layout: Layout, make: bool) -> apsw.Connection | None:
    """Return the connection of this process; None if there is no file and `make` is False."""
    if layout.root in _paths and (opened := _opened(_paths[layout.root])):
        return opened
    earlier = _earlier_records(layout)
    make = make or bool(earlier)
    try:
        path = records_path(layout, make)
    except FileNotFoundError:
        return None
    if opened := _opened(path):
        return opened
    if path in _connections:
        close_records()
    is_made = bool(_inode_of(path))
    if not is_made and not make:
        return None
    connection = (_open_sealed(path) if is_made else None) or _install(path, make)
    if connection:
        _connections[path] = (os.getpid(), _inode_of(path), connection)
        _paths[layout.root] = path
        if earlier:
            _take_over(layout, earlier)
    return connection


def _opened(path: str) -> apsw.Connection | None:
    """Return the connection that this process opened before, if the file at this path is still the same.

    Its folder is not checked again: the file's name holds a secret, which nobody else can give a file of this inode.
    """
    process, inode, connection = _connections.get(path, (0, 0, None))
    return connection if (process, inode) == (os.getpid(), _inode_of(path)) else None


def _earlier_records(layout: Layout) -> str:
    """Return the file that an earlier version, or a project without git, left in `.rawko/local`; empty if there is none.

    Each process looks once.
    """
    if layout.root in _looked:
        return ""
    _looked.add(layout.root)
    try:
        path = secret_name(layout.local, RECORDS)
    except OSError:
        return ""
    is_other = kept_folder(layout) != os.path.dirname(path)
    return path if is_other and os.path.exists(path) else ""


def _take_over(layout: Layout, earlier: str) -> None:
    """Move rows and texts from `.rawko/local` to the folder of records; on an error, the next process tries again.

    The earlier file is removed last, so that a kill loses nothing.
    """

    source = os.path.dirname(earlier)
    try:
        with Lock(f"{earlier}.lock", LOCK_WAIT_S):
            if not os.path.exists(earlier):
                return  # another process has done it
            copy_texts(source, kept_folder(layout))
            take_rows(layout, earlier)
            remove_texts(source)
            _remove(earlier)
    except (OSError, RawkoError) as failure:
        if isinstance(failure.__cause__, DAMAGED):
            _set_aside(earlier)
        else:
            sys.stderr.write(f"rawkomem: {ascii(str(failure))[1:-1]}\n")


def take_rows(layout: Layout, source: str) -> dict[str, int]:
    """Copy the rows of another file of records durably; return table → number of rows. Raise Unwritable."""

    with change(layout, durable=True) as db:
        return copy_rows(source, db)


def _inode_of(path: str) -> int:
    try:
        return os.lstat(path).st_ino
    except FileNotFoundError:
        return 0


def _install(path: str, make: bool) -> apsw.Connection | None:
    """Set aside a file that is damaged or was not made here; with `make`, make another and open it.

    A file of ours with another schema is replaced by a copy with this schema.
    """
    with Lock(f"{path}.lock", LOCK_WAIT_S):
        # made by another process
        connection = _open_sealed(path) if _inode_of(path) else None
        if connection is None:
            older = path if _is_older(path) else ""
            # A log of another file must not be replayed into a new one.
            if not older and any(os.path.lexists(path + one) for one in SUFFIXES):
                _set_aside(path)
            if make or older:
                try:
                    _make(path, older)
                except Unwritable:  # the older file is damaged
                    _set_aside(path)
                    _make(path)
                connection = _open_sealed(path)
    return connection


def _is_older(path: str) -> bool:
    """Return whether a file of ours has another schema."""
    connection = _open_sealed(path, any_schema=True) if _inode_of(path) else None
    if connection is None:
        return False
    connection.close()
    return True


def _make(path: str, older: str = "") -> None:
    """Make a file with the rows of an older one, or an empty file, and move it to its place."""
    new = f"{path}.new"
    open_private(new, "w").close()
    connection = apsw.Connection(new, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        application, user = _seal(path, os.stat(new).st_ino)
        connection.execute("PRAGMA journal_mode = MEMORY").fetchall()
        connection.execute(
            f"BEGIN; {SCHEMA} INSERT INTO chain VALUES (0, '{'0' * 64}', '{'0' * 64}');"
            f" PRAGMA application_id = {application}; PRAGMA user_version = {user}; COMMIT"
        )
        if file_system(path) not in UNSAFE_FILE_SYSTEMS:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        if older:
            with connection:
                copy_rows(older, connection)
            _remove(older, SUFFIXES[1:])
    finally:
        connection.close()
    os.replace(new, path)


def _remove(path: str, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Remove the files of a database whose rows were copied, the database itself last."""
    for suffix in reversed(suffixes):
        if os.path.lexists(path + suffix):
            os.unlink(path + suffix)


def _open_sealed(path: str, any_schema: bool = False) -> apsw.Connection | None:
    """Return a connection; None if the file is damaged, is a link, was not made here, or has another schema."""
    try:
        check_private(path)
    except OSError:
        return None
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            stated = _stated_seal(connection)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            # a read-only folder, in which SQLite cannot make its -shm file
            place = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            connection = apsw.Connection(f"file:{place}?immutable=1", flags=flags)
            stated = _stated_seal(connection)
    except DAMAGED:
        return None
    seal = _seal(path, os.stat(path).st_ino)
    if stated[0] != seal[0] or (stated[1] != seal[1] and not any_schema):
        connection.close()
        return None
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.transaction_mode = "IMMEDIATE"  # take the write lock at BEGIN, not later
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.wal_autocheckpoint(CHECKPOINT_PAGES)
    connection.execute(
        "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON"
    ).fetchall()
    return connection


def _stated_seal(connection: apsw.Connection) -> tuple[int, int]:
    """Return the seal in a file's header. This reads no schema, which may be hostile."""
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    stated: list[Any] = connection.execute("PRAGMA application_id").fetchall()
    stated += connection.execute("PRAGMA user_version").fetchall()
    return stated[0][0], stated[1][0]


def _seal(path: str, inode: int) -> tuple[int, int]:
    """Return the two numbers that the header of our file with this inode and schema at this path holds."""
    from binascii import crc32

    data = seal_of(path, inode).encode()
    return crc32(data) - 2**31, crc32(data[::-1] + SCHEMA.encode()) - 2**31


def _look_after(layout: Layout, failure: BaseException) -> None:
    """After a failure, set the file aside if it is damaged, and if no other process has done so."""
    if isinstance(failure, DAMAGED):
        with _using:
            try:
                path = records_path(layout)
                if path in _connections:
                    inode = _connections[path][1]
                else:
                    inode = _inode_of(path)
                close_records()
                with Lock(f"{path}.lock", LOCK_WAIT_S):
                    if _inode_of(path) == inode:
                        _set_aside(path)
            except (OSError, RawkoError):
                pass


def _set_aside(path: str) -> None:
    """Rename a file, after the files beside it, and say so."""
    aside = aside_path(path + ASIDE)
    for suffix in reversed(SUFFIXES):
        try:
            os.rename(path + suffix, aside + suffix)
        except FileNotFoundError:
            continue
    sys.stderr.write(
        f"rawkomem: {ascii(path)[1:-1]} is damaged or was not made here, and is not used:"
        f" it is now {os.path.basename(aside)}; for details, run 'rawkomem doctor'\n"
    )


def file_system(path: str) -> str:
    """Return the type of a path's file system; empty (WAL is assumed safe) if the system does not tell."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as stream:
            mounts = [line.split(" ")[1:3] for line in stream]
    except OSError:
        return ""
    path = os.path.realpath(path)
    holding = [
        (mount, kind)
        for mount, kind in mounts
        if path == mount or path.startswith(mount.rstrip("/") + "/")
    ]
    return max(holding, default=("", ""))[1]


# what running sessions received: rows refer to each other by number, and expire in days
NOT_COPIED = ("asked", "injected", "chain", "blocks")


def unused_paths(layout: Layout) -> list[str]:
    """Return the local folders beside ours, which others made, and what was set aside in ours."""
    paths: list[str] = []
    for own in dict.fromkeys((layout.local, kept_folder(layout))):
        folder, name = os.path.split(own)
        paths += [
            os.path.join(folder, other)
            for other in names_in(folder)
            if other != name and is_local_name(other)
        ]
        paths += [
            os.path.join(own, inner)
            for inner in names_in(own)
            if ASIDE in inner and not inner.endswith(SUFFIXES[1:])
        ]
    return paths


def records_in(path: str) -> list[str]:
    """Return the files of records in a local folder, or the path itself if it is such a file; only this user's files."""
    paths = [path]
    if os.path.isdir(path):
        paths = [
            os.path.join(path, name)
            for name in names_in(path)
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
    from shutil import rmtree  # slow to import, and hooks load this module

    for name in KEPT_FOLDERS:
        rmtree(os.path.join(source, name), ignore_errors=True)
