"""Opens the search store that the user chose for an index.

SQLite is built in, in a file or in memory. Every other store is a plug-in: a package declares a StorePlugin as an entry
point of the group `rawkomem.stores` (docs/scale.md). Every store has a catalogue of its own (`index.db` for SQLite,
`index-<name>.db` for the others), so that switching to another store and back takes only a sync.
"""

from __future__ import annotations

import os

from ..model.errors import BadInput
from ..model.record import record
from .stores.database import index_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

    from ..files.layout import Layout
    from .stores.protocol import OutsideStore, StorePlugin

SQLITE, MEMORY = "sqlite", "memory"
ENTRY_POINT_GROUP = "rawkomem.stores"


@record
class StoreSettings:
    """The store of one repository. Only the user may set it, because it decides where memories are sent."""

    name: str = SQLITE
    url: str = ""  # of a database, an object store or a folder
    url_env: str = ""  # the environment variable that holds the url
    repository: str = ""  # the repository's name in a shared database; empty: see `repository_id`

    def named(self, name: str) -> StoreSettings:
        """Return the settings for another store, without the url, which belongs to this store."""
        return self if checked(name) == self.name else StoreSettings(name, repository=self.repository)

    def where(self) -> str:
        """Return the url, which may hold a password: never print it.

        The environment variable (`url_env`, or RAWKOMEM_<STORE>_URL) wins over `url`. Raise BadInput if the variable
        of `url_env` is not set.
        """
        if self.url_env and self.url_env not in os.environ:
            raise BadInput(f"the environment variable {self.url_env} is not set", "set it to the store's url")
        variable = self.url_env or f"RAWKOMEM_{self.name.upper().replace('-', '_')}_URL"
        return os.environ.get(variable, self.url)


@record
class StoreHome:
    """Where a plug-in may keep the data of one repository."""

    layout: Layout
    settings: StoreSettings

    @property
    def folder(self) -> str:
        """Return the folder on this machine for the store's data. A purge of a text deletes it."""
        return os.path.join(os.path.dirname(index_path(self.layout)), self.settings.name)

    @property
    def url(self) -> str:
        """Return the user's url for this store; empty if there is none. It may hold a password."""
        return self.settings.where()

    @property
    def repository(self) -> str:
        """Return the name that identifies the repository in a shared database."""
        from ..git.identity import repository_id

        return self.settings.repository or repository_id(self.layout)

    @property
    def clone(self) -> str:
        """Return the name that identifies this checkout of the repository."""
        from ..git.identity import clone_id

        return clone_id(self.layout)


def checked(name: str) -> str:
    """Return a store's name; raise BadInput if no package provides such a store."""
    if name not in (SQLITE, MEMORY):
        plugin(name)
    return name


def plugin_names() -> list[str]:
    """Return the names of the stores that installed packages provide."""
    return sorted({point.name for point in _entry_points()} - {SQLITE, MEMORY})


def plugin(name: str) -> StorePlugin:
    """Return the plug-in of a store; raise BadInput if no package provides it, or if it cannot be loaded."""
    found = next((point for point in _entry_points() if point.name == name), None)
    if found is None:
        raise BadInput(f"unknown store {name!r}", f"use one of {', '.join((SQLITE, MEMORY, *plugin_names()))}")
    try:
        loaded: StorePlugin = found.load()
    except (ImportError, AttributeError) as failure:
        hint = f"check the package that provides {found.value}"
        raise BadInput(f"the store {name!r} cannot be loaded: {failure}", hint) from None
    return loaded


def _entry_points() -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # this import takes longer than a search; SQLite does not need it

    return entry_points(group=ENTRY_POINT_GROUP)


def catalogue_path(layout: Layout, name: str) -> str:
    """Return the path of a store's catalogue; not for the store in memory."""
    path = index_path(layout)
    return path if name == SQLITE else os.path.join(os.path.dirname(path), f"index-{name}.db")


def open_store(layout: Layout, settings: StoreSettings, dims: int) -> OutsideStore:
    """Open the plug-in store of these settings for vectors of `dims` dimensions; raise BadInput if it is unusable."""
    chosen = plugin(settings.name)
    try:
        return chosen.open(StoreHome(layout, settings), dims)
    except ModuleNotFoundError as missing:
        raise BadInput(
            f"the {settings.name} store needs the package {missing.name}", f"run: {chosen.how_to_install()}"
        ) from None


def forget_others(layout: Layout, name: str) -> list[str]:
    """Delete the data of other stores on this machine; return the stores that may still hold data at a url.

    May raise OSError. The catalogue is deleted last, because it is the only sign that the store was used.
    """
    from shutil import rmtree

    from .stores.database import remove_database

    used = [other for other in (SQLITE, *plugin_names()) if other != name]
    used = [other for other in used if os.path.exists(catalogue_path(layout, other))]
    for other in used:
        folder = StoreHome(layout, StoreSettings(other)).folder
        if other != SQLITE and os.path.isdir(folder):
            rmtree(folder)
        remove_database(catalogue_path(layout, other))
    return [other for other in used if other != SQLITE and plugin(other).takes_url]
