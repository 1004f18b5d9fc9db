"""Opens the index database: where it lies, how it is opened, and the sqlite-vec extension.

apsw instead of the standard sqlite3: many Pythons are built without extension loading, apsw never is.
"""

from __future__ import annotations

import os
import sys

import apsw

from ...files.layout import Layout, user_cache
from ...model.errors import IndexBroken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

BUSY = 20_000  # milliseconds to wait for another writer before giving up
CACHE = 8_000  # kB of page cache: enough for a query, small enough for a cold command
SAFE_NAME = "index.db"
IN_MEMORY = "file:/rawkomem-"  # what the names of databases in memory begin with
# Network and shared file systems without the shared memory that WAL needs.
UNSAFE = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "vboxsf", "drvfs"}
UNSAFE |= {"fuse.sshfs", "fuse.glusterfs"}


def index_path(layout: Layout) -> str:
    """Beside the files; in the user's cache folder where that would not be safe or not be writable."""
    beside = os.path.join(layout.local, SAFE_NAME)
    unwritable = _unwritable(layout)
    if os.path.exists(beside) and not unwritable:
        return beside
    elsewhere = _cache_path(layout)
    if unwritable or os.path.exists(elsewhere) or file_system(layout.root) in UNSAFE:
        return elsewhere
    return beside


def _cache_path(layout: Layout) -> str:
    """A folder of this repository's own: its path as people can read it, and a hash, because `a-b` is not `a/b`."""
    from hashlib import sha256

    root = os.path.realpath(layout.root)
    name = "".join(c if c.isalnum() else "-" for c in root)[-100:]
    return os.path.join(user_cache(), f"{name}-{sha256(os.fsencode(root)).hexdigest()[:12]}", SAFE_NAME)


def _unwritable(layout: Layout) -> bool:
    return not os.access(layout.local if os.path.isdir(layout.local) else layout.root, os.W_OK)


def file_system(path: str) -> str:
    """The type of the file system a path lies on; empty where the system does not tell (then WAL is assumed safe)."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as stream:
            mounts = [line.split(" ")[1:3] for line in stream]
    except OSError:
        return ""
    path = os.path.realpath(path)
    holding = [(mount, kind) for mount, kind in mounts if path == mount or path.startswith(mount.rstrip("/") + "/")]
    return max(holding, default=("", ""))[1]


def memory_path() -> str:
    """Return the name of a new database in memory: it lasts as long as a connection to it is open."""
    return f"{IN_MEMORY}{os.urandom(8).hex()}?vfs=memdb"


def in_memory(path: str) -> bool:
    """Return whether a path is one of `memory_path`."""
    return path.startswith(IN_MEMORY)


def open_database(path: str, readonly: bool = False) -> apsw.Connection:
    """A connection with sqlite-vec loaded. Reads open read-only, so that they can never lock anybody out."""
    flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(path, flags=flags | apsw.SQLITE_OPEN_URI if in_memory(path) else flags)
    connection.set_busy_timeout(BUSY)
    if not readonly:
        connection.transaction_mode = "IMMEDIATE"  # never a write lock taken half-way
    connection.enable_load_extension(True)
    connection.load_extension(vec_library())
    connection.enable_load_extension(False)
    connection.execute(f"PRAGMA cache_size = -{CACHE}")
    if not readonly:
        connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    return connection


def rows(connection: apsw.Connection, sql: str, values: Sequence[str | int | float | bytes | None] = ()) -> list[Any]:
    """All rows of a query, as tuples."""
    return connection.execute(sql, values).fetchall()


def first(connection: apsw.Connection, sql: str, values: Sequence[str | int | float | bytes | None] = ()) -> Any:
    """The first row of a query, or None."""
    return next(iter(connection.execute(sql, values)), None)


def vec_library() -> str:
    """The sqlite-vec library, found without importing its package (which would pull numpy)."""
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    for folder in sys.path:
        stem = os.path.join(folder, "sqlite_vec", "vec0")
        if os.path.exists(stem + suffix):
            return stem
    raise IndexBroken("the sqlite-vec library is not installed", "pip install sqlite-vec")


def has_tables(connection: apsw.Connection) -> bool:
    """Return whether there is anything in a database."""
    return first(connection, "SELECT 1 FROM sqlite_master LIMIT 1") is not None


def remove_database(path: str) -> None:
    """Remove a database with everything SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        try:
            os.unlink(path + suffix)
        except FileNotFoundError:
            pass
