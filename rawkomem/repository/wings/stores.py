"""Search stores of a repository: choosing one, how they stand, filling one beside another, migrating tables."""

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
from ...format.frontmatter import Unreadable, read_frontmatter
from ...index.index import BROKEN
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
from ...index.stores.database import first, open_database
from ...model.errors import BadInput, NotFound, RawkoError, Refused
from ...model.record import record, replace
from .. import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...index.stores.protocol import Migrated, StorePlugin
    from ...model.entry import Value

HEAD = "# Written by 'rawkomem store use'.\n"


@record
class StoreStatus:
    """How one store of a repository stands."""

    name: str
    used: bool
    installed: bool
    memories: int  # that its catalogue knows; 0 where it was never filled
    bytes: int  # on this machine
    where: str  # never with a password
    problem: str = ""
    install: str = ""  # the command that installs its engine, where that is missing


@record
class Copied:
    """What a copy did."""

    memories: int
    seconds: float


def use_store(repository: Repository, name: str, url_env: str = "") -> None:
    """Choose a store for this repository, in the user's own settings, once it can be opened."""
    if checked(name) == MEMORY:
        raise BadInput("the store in memory lasts as long as one program", "Repository.open(store='memory')")
    if url_env and (name == SQLITE or not plugin(name).takes_url):
        raise BadInput(f"the {name} store takes no url", "leave --url-env out")
    if url_env and not url_env.isidentifier():
        raise BadInput(f"--url-env {url_env!r}", "give the name of an environment variable")
    chosen = repository.settings.store.named(name)
    chosen = replace(chosen, url_env=url_env or chosen.url_env)
    if name != SQLITE:
        open_store(repository.layout, chosen, repository.index.embedder.dims).close()
    file = user_repository_config(repository.layout)
    text, given = _own_config(file)
    keys = _keys(given, repository.settings.store, name, url_env)
    changed = _with_store(text, keys)
    if _fields(changed) != {**_fields(text), "store": keys}:
        raise Refused(f"{file} cannot be changed by a program", f"set store.name in it to {name} yourself")
    write_text(file, changed)


def _own_config(file: str) -> tuple[str, Mapping[str, Value]]:
    """The user's file for this repository, and what it says of the store."""
    if not os.path.exists(file):
        return HEAD, {}
    text = read_text_file(file)
    said = _fields(text).get("store", {})
    return text, said if isinstance(said, dict) else {}


def _fields(text: str) -> dict[str, Value]:
    """The settings in a file; none, where it cannot be read."""
    try:
        return {key: field.value for key, field in read_frontmatter(text)[0].items()}
    except Unreadable:
        return {}


def _keys(given: Mapping[str, Value], used: StoreSettings, name: str, url_env: str) -> dict[str, Value]:
    """What the file is to say of the store. A url belongs to the store it was given for: for another one, those that
    are said here or in the user's other file are taken back."""
    same = used.name == name
    kept = {key: value for key, value in given.items() if same or key != "url"}
    taken_back: dict[str, Value] = {"url": ""} if not same and (used.url or used.url_env) else {}
    return {**kept, "name": name, **taken_back, **({"url": f"env:{url_env}"} if url_env else {})}


def _with_store(text: str, keys: Mapping[str, Value]) -> str:
    """A config with these keys below `store`, and whatever else it says as it was."""
    block = ["store:", *(f"  {key}: {json.dumps(value)}" for key, value in keys.items())]
    lines = text.rstrip("\n").split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("store:")), len(lines))
    inside = takewhile(lambda line: line[:1] in ("", " ", "\t"), lines[start + 1 :])
    return "\n".join([*lines[:start], *block, *lines[start + 1 + len([*inside]) :], ""])


def store_statuses(repository: Repository) -> list[StoreStatus]:
    """Return how each store stands that outlives a program; the one in use is brought up to date and asked."""
    return [_status(repository, name) for name in (SQLITE, *plugin_names())]


def _status(repository: Repository, name: str) -> StoreStatus:
    layout, settings = repository.layout, repository.settings.store
    used, problem = settings.name == name, ""
    if used:
        try:
            repository.index.refresh()
            repository.index.store.depth()
        except RawkoError as failure:
            problem = failure.message
    package = "" if name == SQLITE else plugin(name).package
    missing = plugin(name).install if package and find_spec(package) is None else ""
    known, size = _known(layout, name), store_size(layout, name)
    return StoreStatus(name, used, not missing, known, size, _where(repository, name), problem, missing)


def _where(repository: Repository, name: str) -> str:
    settings = repository.settings.store.named(name)
    if name == SQLITE:
        return catalogue_path(repository.layout, name)
    if settings.url_env or settings.url:
        return f"${settings.url_env}" if settings.url_env else "the url in your config"
    return StoreHome(repository.layout, settings).folder if plugin(name).local else ""


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
    """Bytes on this machine: the catalogue, and the store where it lies beside it."""
    path = catalogue_path(layout, name)
    files = [path, path + "-wal"]
    if name != SQLITE:
        tree = os.walk(StoreHome(layout, StoreSettings(name)).folder)
        files += [os.path.join(folder, file) for folder, _, names in tree for file in names]
    return sum(os.path.getsize(file) for file in files if os.path.exists(file))


def copy_store(
    layout: Layout, source: str, target: str, warn: Callable[[str], None], progress: Callable[[int, int], None] | None
) -> Copied:
    """Fill one store beside another, and prove that both hold the same.

    A store is derived: what is copied are the files' memories, not rows that may have gone astray.
    """
    if checked(source) == checked(target) or MEMORY in (source, target):
        raise BadInput(f"cannot copy {source} to {target}", f"name two of {', '.join((SQLITE, *plugin_names()))}")
    began = time.monotonic()
    digests = []
    for name in (source, target):
        repository = Repository(layout, warn, store=name)
        try:
            repository.index.refresh(progress)
            outside = repository.index.outside()
            digests.append(outside.held() if outside else repository.index.catalogue.digests())
        finally:
            repository.close()
    differing = {id for id, _ in digests[0].items() ^ digests[1].items()}
    if differing:
        raise Refused(f"{len(differing)} memories differ: files changed meanwhile", "run it again")
    return Copied(len(digests[1]), time.monotonic() - began)


def migrate_tables(repository: Repository, place: str = "") -> Migrated:
    """Bring tables of RFC-0011 from schema V1 to V2; without a place, this repository's own."""
    store, own = _with_tables(repository)
    return store.migrate(place or store.place(own))


def rollback_tables(repository: Repository, place: str = "", anyway: bool = False) -> int:
    """Undo that, as long as the backup is there; returns how many memories there are then."""
    store, own = _with_tables(repository)
    return store.rollback(place or store.place(own), anyway)


def _with_tables(repository: Repository) -> tuple[StorePlugin, StoreHome]:
    """Return the store that has the tables of RFC-0011, and where it keeps this repository's."""
    name = names_with_tables()[0]
    return plugin(name), StoreHome(repository.layout, repository.settings.store.named(name))


def names_with_tables() -> list[str]:
    """Return the stores that have the tables of RFC-0011."""
    names = [name for name in plugin_names() if plugin(name).rfc_tables]
    if not names:
        raise NotFound("no installed store has the tables of RFC-0011", "install a package that provides one")
    return names
