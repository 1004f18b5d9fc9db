"""Opens the index database with apsw (many Pythons build sqlite3 without extension loading), and the
store that the user chose.

SQLite is built in, in a file or in memory. Every other store is a plug-in: a package declares a StorePlugin as an entry
point of the group `rawkomem.stores` (docs/scale.md). Every store has a catalogue of its own (`index-….db` for SQLite,
`index-…-<name>.db` for the others), so that switching to another store and back takes only a sync.
"""

from __future__ import annotations

import os
import sys
from math import inf

import apsw

from ...files.layout import Layout, user_cache
from ...files.private import (
    SUFFIXES,
    check_private,
    make_private_folder,
    open_private,
    secret_name,
)
from ...files.records import UNSAFE_FILE_SYSTEMS, file_system
from ...model.errors import BadInput, IndexBroken
from ...model.values import TYPE_CHECKING, record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from importlib.metadata import EntryPoint

    from .protocol import OutsideStore, StorePlugin


BUSY_TIMEOUT_MS = 20_000  # milliseconds to wait for another writer before giving up
# kB of page cache: enough for a query, small enough for a cold command
CACHE_KB = 8_000
DATABASE_NAME = "index.db"
MEMORY_PREFIX = "file:/rawkomem-"  # start of the names of databases in memory
DatabaseError = apsw.Error  # any error of SQLite
# Errors after which a database must be rebuilt. Other errors are temporary: a full disk, another writer.
BROKEN = (
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.SQLError,
    apsw.FormatError,
    apsw.IOError,
    apsw.CantOpenError,
    apsw.ReadOnlyError,
    apsw.PermissionsError,
    apsw.AuthError,
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.ProtocolError,
    apsw.InternalError,
    apsw.SchemaChangeError,
    apsw.TooBigError,
)


def index_path(layout: Layout) -> str:
    """Return the index's path: beside the files, or in the user's cache folder if that is unsafe or not writable."""
    beside = "" if _unwritable(layout) else secret_name(layout.local, "index")
    if beside and os.path.exists(beside):
        return beside
    from hashlib import sha256

    root = os.path.realpath(layout.root)
    name = "".join(c if c.isalnum() else "-" for c in root)[-100:]
    elsewhere = os.path.join(
        user_cache(),
        f"{name}-{sha256(os.fsencode(root)).hexdigest()[:12]}",
        DATABASE_NAME,
    )
    if (
        not beside
        or os.path.exists(elsewhere)
        or file_system(layout.root) in UNSAFE_FILE_SYSTEMS
    ):
        return elsewhere
    return beside


def _unwritable(layout: Layout) -> bool:
    """Return whether no index can be written beside the files, or their local folder is not private."""
    if not layout.elsewhere and not os.access(layout.root, os.W_OK):
        return True
    try:
        make_private_folder(layout.local)
    except OSError:
        return True
    return not os.access(layout.local, os.W_OK)


def can_be_made(path: str) -> bool:
    """Return whether a file exists, or can be created with the folders that are missing."""
    folder = os.path.dirname(path)
    while not os.path.exists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return os.path.exists(path) or os.access(folder, os.W_OK)


def memory_path() -> str:
    """Return the name of a new database in memory: it lasts as long as a connection to it is open."""
    return f"{MEMORY_PREFIX}{os.urandom(8).hex()}?vfs=memdb"


def in_memory(path: str) -> bool:
    """Return whether a path is a name from `memory_path`."""
    return path.startswith(MEMORY_PREFIX)


def open_database(path: str, readonly: bool = False) -> apsw.Connection:
    """Return a connection with sqlite-vec. Readers open the database read-only, so that they never lock it."""
    if os.path.isabs(path):  # other paths are in memory
        check_database(path, not readonly)
    if readonly:
        flags = apsw.SQLITE_OPEN_READONLY
    else:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(
        path, flags=flags | apsw.SQLITE_OPEN_URI if in_memory(path) else flags
    )
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        if not readonly:
            # take the write lock at BEGIN, not later
            connection.transaction_mode = "IMMEDIATE"
        connection.enable_load_extension(True)
        connection.load_extension(vec_library())
        connection.enable_load_extension(False)
        connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        if not readonly:
            # The first statement that returns a row is the last one that runs.
            connection.execute("PRAGMA synchronous = NORMAL; PRAGMA journal_mode = WAL")
    except BaseException:
        connection.close(True)  # on some systems an open file cannot be replaced
        raise
    return connection


def check_database(path: str, make: bool) -> None:
    """Raise apsw.CantOpenError if SQLite would follow a link or open a file that `open_private` rejects.

    With `make`, create the database first: SQLite gives the files beside it the same permissions.
    """
    try:
        check_private(path)
        if make:
            open_private(path, "a").close()
    except OSError as failure:
        raise apsw.CantOpenError(f"{path}: {failure.strerror}") from None


def marks(values: Collection[object]) -> str:
    """Return a placeholder for each value of a list, in brackets."""
    return f"({', '.join('?' * len(values))})"


def vec_library() -> str:
    """Return the path of the sqlite-vec library, without importing its package, which would import numpy."""
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    for folder in sys.path:
        stem = os.path.join(folder, "sqlite_vec", "vec0")
        if os.path.exists(stem + suffix):
            return stem
    from ...model.installed import how_to_install

    raise IndexBroken(
        "the sqlite-vec library is not installed",
        f"run: {how_to_install('sqlite-vec')}",
    )


def has_tables(connection: apsw.Connection) -> bool:
    """Return whether a database has any table."""
    return bool(connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone())


# suffixes of answers about all memories that are kept beside an index (index.py)
COMPARED = ".compared"
DRAWN = ".drawn"


def remove_database(path: str) -> None:
    """Delete a database, after the files that are beside it: SQLite would replay them into a new one."""
    for suffix in (COMPARED, DRAWN, *reversed(SUFFIXES)):
        try:
            os.unlink(path + suffix)
        except FileNotFoundError:
            pass


SQLITE = "sqlite"
MEMORY = "memory"
ENTRY_POINT_GROUP = "rawkomem.stores"


@record
class StoreSettings:
    """The store of one repository. Only the user may set it, because it decides where memories are sent."""

    name: str = SQLITE
    url: str = ""  # of a database, an object store or a folder
    url_env: str = ""  # the environment variable that holds the url
    # the repository's name in a shared database; empty: see `repository_id`
    repository: str = ""

    def named(self, name: str) -> StoreSettings:
        """Return the settings for another store, without the url, which belongs to this store."""
        if checked_store(name) == self.name:
            return self
        return StoreSettings(name, repository=self.repository)

    def where(self) -> str:
        """Return the url, which may hold a password: never print it.

        The environment variable (`url_env`, or RAWKOMEM_<STORE>_URL) wins over `url`. Raise BadInput if the variable
        of `url_env` is not set.
        """
        if self.url_env and self.url_env not in os.environ:
            raise BadInput(
                f"the environment variable {self.url_env} is not set",
                "set it to the store's url",
            )
        variable = self.url_env or f"RAWKOMEM_{self.name.upper().replace('-', '_')}_URL"
        return os.environ.get(variable, self.url)


@record
class StoreHome:
    """Where a plug-in may keep the data of one repository."""

    layout: Layout
    settings: StoreSettings
    # a command waits so long for an answer of a server, then it works without the store
    wait_s: float = inf

    @property
    def folder(self) -> str:
        """Return the folder on this machine for the store's data. A purge of a text deletes it."""
        return os.path.join(
            os.path.dirname(index_path(self.layout)), self.settings.name
        )

    @property
    def url(self) -> str:
        """Return the user's url for this store; empty if there is none. It may hold a password."""
        return self.settings.where()

    @property
    def repository(self) -> str:
        """Return the name that identifies the repository in a shared database."""
        from ...git.runner import repository_id

        return self.settings.repository or repository_id(self.layout)

    @property
    def clone(self) -> str:
        """Return the name that identifies this checkout of the repository."""
        from ...git.runner import clone_id

        return clone_id(self.layout)


def checked_store(name: str) -> str:
    """Return a store's name; raise BadInput if no package provides such a store."""
    if name not in (SQLITE, MEMORY):
        store_plugin(name)
    return name


def plugin_names() -> list[str]:
    """Return the names of the stores that installed packages provide."""
    return sorted({point.name for point in _entry_points()} - {SQLITE, MEMORY})


def store_plugin(name: str) -> StorePlugin:
    """Return the plug-in of a store; raise BadInput if no package provides it, or if it cannot be loaded."""
    found = next((point for point in _entry_points() if point.name == name), None)
    if found is None:
        raise BadInput(
            f"unknown store {name!r}",
            f"use one of {', '.join((SQLITE, MEMORY, *plugin_names()))}",
        )
    try:
        loaded: StorePlugin = found.load()
    except (ImportError, AttributeError) as failure:
        hint = f"check the package that provides {found.value}"
        raise BadInput(
            f"the store {name!r} cannot be loaded: {failure}", hint
        ) from None
    return loaded


def _entry_points() -> Iterable[EntryPoint]:
    from importlib.metadata import (
        entry_points,  # this import takes longer than a search; SQLite does not need it
    )

    return entry_points(group=ENTRY_POINT_GROUP)


def catalogue_path(layout: Layout, name: str) -> str:
    """Return the path of a store's catalogue; not for the store in memory."""
    path = index_path(layout)
    return path if name == SQLITE else f"{path.removesuffix('.db')}-{name}.db"


def open_store(
    layout: Layout, settings: StoreSettings, dims: int, wait_s: float = inf
) -> OutsideStore:
    """Open the plug-in store of these settings for vectors of `dims` dimensions; raise BadInput if it is unusable."""
    chosen = store_plugin(settings.name)
    try:
        return chosen.open(StoreHome(layout, settings, wait_s), dims)
    except ModuleNotFoundError as missing:
        raise BadInput(
            f"the {settings.name} store needs the package {missing.name}",
            f"run: {chosen.how_to_install()}",
        ) from None


def forget_others(layout: Layout, name: str) -> list[str]:
    """Delete the data of other stores on this machine; return the stores that may still hold data at a url.

    May raise OSError. The catalogue is deleted last, because it is the only sign that the store was used.
    """
    from shutil import rmtree

    used = [other for other in (SQLITE, *plugin_names()) if other != name]
    used = [other for other in used if os.path.exists(catalogue_path(layout, other))]
    for other in used:
        folder = StoreHome(layout, StoreSettings(other)).folder
        if other != SQLITE and os.path.isdir(folder):
            rmtree(folder)
        remove_database(catalogue_path(layout, other))
    return [
        other for other in used if other != SQLITE and store_plugin(other).takes_url
    ]
