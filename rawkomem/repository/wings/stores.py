"""Search stores of a repository: choosing one, how they stand, filling one beside another, and LanceDB's migration."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar

from ...exchange.folder import write_text
from ...files.given_text import read_text_file
from ...files.layout import Layout, user_repository_config
from ...format.frontmatter import Unreadable, read_frontmatter
from ...index.index import BROKEN
from ...index.open_store import (
    FOLDER,
    LANCEDB,
    MEMORY,
    SQLITE,
    STORES,
    catalogue_path,
    checked,
    lancedb_place,
    open_store,
)
from ...index.stores.database import first, index_path, open_database
from ...model.errors import BadInput, RawkoError, Refused
from ...model.record import record, replace
from .. import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...index.open_store import StoreSettings
    from ...index.stores.lance.migration import Migrated
    from ...model.entry import Value

T = TypeVar("T")

HEAD = "# Written by 'rawkomem store use'.\n"
PACKAGES = {"lancedb": "lancedb", "postgres": "psycopg"}  # store → what its extra brings


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


@record
class Copied:
    """What a copy did."""

    memories: int
    seconds: float


def use_store(repository: Repository, name: str, url_env: str = "") -> None:
    """Choose a store for this repository, in the user's own settings, once it can be opened."""
    if checked(name) == MEMORY:
        raise BadInput("the store in memory lasts as long as one program", "Repository.open(store='memory')")
    if url_env and (name == SQLITE or not url_env.isidentifier()):
        raise BadInput(f"--url-env {url_env!r}", "the name of an environment variable, for lancedb and postgres")
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
    """How each store stands that can outlive a program; the one in use is brought up to date and asked."""
    return [_status(repository, name) for name in STORES if name != MEMORY]


def _status(repository: Repository, name: str) -> StoreStatus:
    layout, settings = repository.layout, repository.settings.store
    used, problem = settings.name == name, ""
    if used:
        try:
            repository.index.refresh()
            repository.index.store.depth()
        except RawkoError as failure:
            problem = failure.message
    installed = name not in PACKAGES or find_spec(PACKAGES[name]) is not None
    known, size = _known(layout, name), store_size(layout, name)
    return StoreStatus(name, used, installed, known, size, _where(repository, name), problem)


def _where(repository: Repository, name: str) -> str:
    settings = repository.settings.store.named(name)
    if name == SQLITE:
        return catalogue_path(repository.layout, name)
    if settings.url_env or settings.url:
        return f"${settings.url_env}" if settings.url_env else "the url in your config"
    return os.path.join(os.path.dirname(index_path(repository.layout)), FOLDER) if name == LANCEDB else ""


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
    if name == LANCEDB:
        tree = os.walk(os.path.join(os.path.dirname(path), FOLDER))
        files += [os.path.join(folder, file) for folder, _, names in tree for file in names]
    return sum(os.path.getsize(file) for file in files if os.path.exists(file))


def copy_store(
    layout: Layout, source: str, target: str, warn: Callable[[str], None], progress: Callable[[int, int], None] | None
) -> Copied:
    """Fill one store beside another, and prove that both hold the same.

    A store is derived: what is copied are the files' memories, not rows that may have gone astray.
    """
    if checked(source) == checked(target) or MEMORY in (source, target):
        raise BadInput(f"cannot copy {source} to {target}", "name two stores that last: sqlite, lancedb, postgres")
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


def migrate_lancedb(repository: Repository, place: str = "") -> Migrated:
    """Bring a LanceDB from RFC-0011's schema V1 to V2; without a place, this repository's own."""
    from ...index.stores.lance.migration import migrate

    return _with_lancedb(repository, place, lambda db: migrate(db, datetime.now(UTC)))


def rollback_lancedb(repository: Repository, place: str = "", anyway: bool = False) -> int:
    """Undo that, as long as the backup is there; returns how many memories it then has."""
    from ...index.stores.lance.migration import rollback

    return _with_lancedb(repository, place, lambda db: rollback(db, anyway))


def _with_lancedb(repository: Repository, place: str, work: Callable[[Any], T]) -> T:
    """What `work` does with a LanceDB; whatever its engine says to that is told in one line."""
    try:
        import lancedb
    except ModuleNotFoundError:
        raise BadInput("this needs the package lancedb", "pip install 'rawkomem[lancedb]'") from None
    from ...index.stores.lance.told import told

    place = place or lancedb_place(repository.layout, repository.settings.store.named(LANCEDB))
    try:
        return work(lancedb.connect(place))
    except (ValueError, OSError, RuntimeError) as failure:
        raise BadInput(f"the LanceDB cannot be used: {told(failure, place)}", "check its folder or url") from None
