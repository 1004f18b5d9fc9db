"""The index and its search stores: status, rebuild, choose a store, copy, migrate tables."""

from __future__ import annotations

import json
import os
import time
from importlib.util import find_spec
from itertools import takewhile
from typing import TYPE_CHECKING

from ...exchange.folder import write_text
from ...files.given_text import read_text_file
from ...files.layout import Layout, user_repository_config
from ...files.local.background import is_background, steps_aside, yield_disk
from ...format.field import Unreadable
from ...format.frontmatter import read_frontmatter
from ...index.contextual.fill import deepen
from ...index.contextual.pace import Pace
from ...index.open_store import (
    MEMORY,
    SQLITE,
    StoreHome,
    StoreSettings,
    catalogue_path,
    checked,
    open_store,
    plugin,
    plugin_names,
)
from ...index.status import status
from ...index.stores.database import BROKEN, first, open_database
from ...model.errors import BadInput, RawkoError, Refused
from ...model.record import record, replace
from ..core import Core
from ..lazy import Wing
from .publish import names_with_tables, publish

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...index.report import SyncReport
    from ...index.status import Status
    from ...index.stores.protocol import Migrated, StorePlugin
    from ...model.entry import Value
    from ..tables import Published

    Progress = Callable[[int, int], None]

HEAD = "# Written by 'rawkomem store use'.\n"


@record
class StoreStatus:
    """The state of one store."""

    name: str
    used: bool
    installed: bool
    memories: int  # in its catalogue; 0 if it was never filled
    bytes: int  # on this machine
    where: str  # never contains a password
    problem: str = ""
    install: str = ""  # the command that installs its engine, if it is missing


@record
class Copied:
    """The result of a copy."""

    memories: int
    seconds: float


class Store(Wing):
    """The index and its search stores."""

    # The index in use

    def status(self) -> Status:
        """Return whether the index matches the files, by their hashes."""
        return status(self._core.index)

    def rebuild(self, progress: Progress | None = None) -> SyncReport:
        """Rebuild the index from the files."""
        return self._core.index.sync(progress, rebuild=True)

    def deepen(self, progress: Progress | None = None) -> int:
        """Compute missing contextual vectors (minutes for a thousand memories); return their number."""
        if is_background():
            yield_disk()
        return deepen(self._core.index, progress, Pace() if steps_aside() else None)

    # Search stores

    def use(self, name: str, url_env: str = "") -> None:
        """Set the store of this repository in the user's own settings, after a test that it can be opened."""
        if checked(name) == MEMORY:
            raise BadInput("the memory store exists only inside one program", "use Repository.open(store='memory')")
        if url_env and (name == SQLITE or not plugin(name).takes_url):
            raise BadInput(f"the {name} store takes no url", "leave --url-env out")
        if url_env and not url_env.isidentifier():
            raise BadInput(f"--url-env {url_env!r} is not a name", "use the name of an environment variable")
        chosen = self._core.settings.store.named(name)
        chosen = replace(chosen, url_env=url_env or chosen.url_env)
        if name != SQLITE:
            open_store(self._core.layout, chosen, self._core.index.embedder.dims).close()
        file = user_repository_config(self._core.layout)
        text, given = _own_config(file)
        keys = _keys(given, self._core.settings.store, name, url_env)
        changed = _with_store(text, keys)
        if _fields(changed) != {**_fields(text), "store": keys}:
            raise Refused(f"{file} cannot be changed by a program", f"set store.name in it to {name} yourself")
        write_text(file, changed)

    def list(self) -> Sequence[StoreStatus]:
        """Return the state of each store except the memory store; update the store in use first."""
        return [self._status(name) for name in (SQLITE, *plugin_names())]

    def _status(self, name: str) -> StoreStatus:
        layout, settings = self._core.layout, self._core.settings.store
        used, problem = settings.name == name, ""
        if used:
            try:
                self._core.index.refresh()
                self._core.index.store.depth()
            except RawkoError as failure:
                problem = failure.message
        package = "" if name == SQLITE else plugin(name).package
        missing = plugin(name).how_to_install() if package and find_spec(package) is None else ""
        known, size = _known(layout, name), store_size(layout, name)
        return StoreStatus(name, used, not missing, known, size, self._where(name), problem, missing)

    def _where(self, name: str) -> str:
        settings = self._core.settings.store.named(name)
        if name == SQLITE:
            return catalogue_path(self._core.layout, name)
        if settings.url_env or settings.url:
            return f"${settings.url_env}" if settings.url_env else "the url in your config"
        return StoreHome(self._core.layout, settings).folder if plugin(name).local else ""

    def copy(self, source: str, target: str, progress: Progress | None = None) -> Copied:
        """Fill both stores from the files, and check that they contain the same; raise Refused if they differ."""
        if checked(source) == checked(target) or MEMORY in (source, target):
            raise BadInput(f"cannot copy {source} to {target}", f"name two of {', '.join((SQLITE, *plugin_names()))}")
        began = time.monotonic()
        digests = []
        for name in (source, target):
            core = Core(self._core.layout, self._core.warn, store=name)
            try:
                core.index.refresh(progress)
                core.index.follow_commits()
                outside = core.index.outside()
                digests.append(outside.held() if outside else core.index.catalogue.digests())
            finally:
                core.close()
        differing = {id for id, _ in digests[0].items() ^ digests[1].items()}
        if differing:
            raise Refused(f"{len(differing)} memories differ: files changed meanwhile", "run the command again")
        return Copied(len(digests[1]), time.monotonic() - began)

    def publish(self) -> Published:
        """Fill the tables of RFC-0011 that other programs read: yamo_blocks, synthesized_skills, memory_entries."""
        return publish(self._repo)

    def migrate(self, place: str = "") -> Migrated:
        """Migrate tables of RFC-0011 from schema V1 to V2; without a place, those of this repository."""
        store, own = self._with_tables()
        return store.migrate(place or store.place(own))

    def rollback(self, place: str = "", anyway: bool = False) -> int:
        """Undo a migration while its backup exists; return the number of memories afterwards."""
        store, own = self._with_tables()
        return store.rollback(place or store.place(own), anyway)

    def _with_tables(self) -> tuple[StorePlugin, StoreHome]:
        """Return the store that has the tables of RFC-0011, and the place of this repository's tables."""
        name = names_with_tables()[0]
        return plugin(name), StoreHome(self._core.layout, self._core.settings.store.named(name))


def _own_config(file: str) -> tuple[str, Mapping[str, Value]]:
    """Return the text of the user's config for this repository, and its settings below `store`."""
    if not os.path.exists(file):
        return HEAD, {}
    text = read_text_file(file)
    said = _fields(text).get("store", {})
    return text, said if isinstance(said, dict) else {}


def _fields(text: str) -> dict[str, Value]:
    """Return the settings in a file; empty if it cannot be parsed."""
    try:
        return {key: field.value for key, field in read_frontmatter(text)[0].items()}
    except Unreadable:
        return {}


def _keys(given: Mapping[str, Value], used: StoreSettings, name: str, url_env: str) -> dict[str, Value]:
    """Return the new settings below `store`. A change of the store removes the url, which belongs to the old store."""
    same = used.name == name
    kept = {key: value for key, value in given.items() if same or key != "url"}
    taken_back: dict[str, Value] = {"url": ""} if not same and (used.url or used.url_env) else {}
    return {**kept, "name": name, **taken_back, **({"url": f"env:{url_env}"} if url_env else {})}


def _with_store(text: str, keys: Mapping[str, Value]) -> str:
    """Return a config with these keys below `store`, and everything else unchanged."""
    block = ["store:", *(f"  {key}: {json.dumps(value)}" for key, value in keys.items())]
    lines = text.rstrip("\n").split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("store:")), len(lines))
    inside = takewhile(lambda line: line[:1] in ("", " ", "\t"), lines[start + 1 :])
    return "\n".join([*lines[:start], *block, *lines[start + 1 + len([*inside]) :], ""])


def _known(layout: Layout, name: str) -> int:
    path = catalogue_path(layout, name)
    if not os.path.exists(path):
        return 0
    database = open_database(path, readonly=True)
    try:
        return int(first(database, "SELECT count(*) FROM memories WHERE digest != ''")[0])
    except BROKEN:
        return 0
    finally:
        database.close()


def store_size(layout: Layout, name: str) -> int:
    """Return the bytes on this machine: the catalogue, and the store's own folder if it has one."""
    path = catalogue_path(layout, name)
    files = [path, path + "-wal"]
    if name != SQLITE:
        tree = os.walk(StoreHome(layout, StoreSettings(name)).folder)
        files += [os.path.join(folder, file) for folder, _, names in tree for file in names]
    return sum(os.path.getsize(file) for file in files if os.path.exists(file))
