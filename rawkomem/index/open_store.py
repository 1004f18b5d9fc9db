"""Which search store an index has: the user's choice, where it lies, and how it is opened.

Every store has a catalogue of its own (`index.db` for SQLite, `index-<name>.db` for the others), so that changing from
one to another and back costs no more than a sync. The store in memory has one in a temporary folder.
"""

from __future__ import annotations

import os

from ..model.errors import BadInput, IndexBroken
from ..model.record import record
from .stores.database import index_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..files.layout import Layout
    from .stores.protocol import OutsideStore

SQLITE, LANCEDB, POSTGRES, MEMORY = "sqlite", "lancedb", "postgres", "memory"
STORES = (SQLITE, LANCEDB, POSTGRES, MEMORY)
FOLDER = "lancedb"  # beside the index, where no url says otherwise


@record
class StoreSettings:
    """The store of one repository. All of it is the user's to say: it decides where memories are sent."""

    name: str = SQLITE
    url: str = ""  # of a database, an object store or a folder
    url_env: str = ""  # the environment variable that holds it
    repository: str = ""  # what the repository is called in a shared database; empty: see `repository_id`

    def named(self, name: str) -> StoreSettings:
        """The settings of another store: a url belongs to the one it was given for."""
        return self if checked(name) == self.name else StoreSettings(name, repository=self.repository)

    def where(self) -> str:
        """The url, which may hold a password: never print it. Where none is set, RAWKOMEM_<STORE>_URL may hold it."""
        if self.url_env and self.url_env not in os.environ:
            raise BadInput(f"the environment variable {self.url_env} is not set", "it should hold the store's url")
        return os.environ.get(self.url_env or f"RAWKOMEM_{self.name.upper()}_URL", self.url)


def checked(name: str) -> str:
    """A store's name; an unknown one is a mistake worth naming."""
    if name not in STORES:
        raise BadInput(f"unknown store {name!r}", f"one of {', '.join(STORES)}")
    return name


def catalogue_path(layout: Layout, name: str) -> str:
    """The index database of a store that is not the one in memory."""
    path = index_path(layout)
    return path if name == SQLITE else os.path.join(os.path.dirname(path), f"index-{name}.db")


def open_store(layout: Layout, settings: StoreSettings, dims: int) -> OutsideStore:
    """The store of these settings, which is not SQLite's."""
    try:
        return _open(layout, settings, dims)
    except ModuleNotFoundError as missing:
        raise BadInput(
            f"the {settings.name} store needs the package {missing.name}", f"pip install 'rawkomem[{settings.name}]'"
        ) from None


def _open(layout: Layout, settings: StoreSettings, dims: int) -> OutsideStore:
    if settings.name == MEMORY:
        from .stores.memory import MemoryStore

        return MemoryStore(dims)
    if settings.name == LANCEDB:
        from typing import cast

        from .stores.lance.store import LanceStore
        from .stores.lance.told import told

        place = lancedb_place(layout, settings)
        telling = Telling(LanceStore(place, dims), LANCEDB, lambda failure: told(failure, place))
        return cast("OutsideStore", telling)
    from ..git.identity import clone_id, repository_id
    from .stores.postgres import open_postgres

    if not settings.where():
        raise BadInput("the postgres store has no url", "rawkomem store use postgres --url-env NAME")
    repository = settings.repository or repository_id(layout)
    return open_postgres(settings.where(), repository, clone_id(layout), dims)


class Telling:
    """A store whose engine raises plain errors of its own: whatever goes wrong in it is told in one line."""

    def __init__(self, store: OutsideStore, name: str, told: Callable[[Exception], str]):
        self._store = store
        self._name = name
        self._told = told  # what may be said of a failure

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)

        def told(*arguments: Any, **named: Any) -> Any:
            try:
                return call(*arguments, **named)
            except (RuntimeError, ValueError, OSError) as failure:
                said = self._told(failure)
                raise IndexBroken(
                    f"the {self._name} store failed: {said}", "try again, or 'rawkomem rebuild'"
                ) from None

        return told if callable(call) else call


def lancedb_place(layout: Layout, settings: StoreSettings) -> str:
    """A folder or object-store url: beside the index, or below the user's url one of this clone's own."""
    from ..git.identity import clone_id, repository_id

    url = settings.where()
    if not url:
        return os.path.join(os.path.dirname(index_path(layout)), FOLDER)
    return f"{url.rstrip('/')}/{settings.repository or repository_id(layout)}/{clone_id(layout)}"


def forget_others(layout: Layout, name: str) -> list[str]:
    """Remove what other stores hold beside the files: some of it may be a text that must be gone.

    Returns the stores with a url, which keep theirs until they are used again and made anew.
    """
    from shutil import rmtree

    from .stores.database import remove_database

    used = [other for other in STORES if other != name and os.path.exists(catalogue_path(layout, other))]
    for other in used:
        remove_database(catalogue_path(layout, other))
    if name != LANCEDB:
        rmtree(os.path.join(os.path.dirname(index_path(layout)), FOLDER), ignore_errors=True)
    return [other for other in used if other in (LANCEDB, POSTGRES)]
