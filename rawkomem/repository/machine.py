"""The index and its search stores on this machine: status, rebuild, choose a store, copy, migrate
tables; and the checks of `rawkomem doctor`.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import takewhile

import apsw

from ..embed.embedder import AUTO_PROVIDER
from ..embed.providers import BUNDLED_PROVIDER
from ..files.journal import is_background, steps_aside
from ..files.layout import Layout, git_files, read_text_file, user_repository_config
from ..files.records import UNSAFE_FILE_SYSTEMS, file_system
from ..files.replace import replace_whole
from ..format.frontmatter import Unreadable, read_frontmatter
from ..git.connection import DRIVER_SECTION
from ..git.runner import GitFailed, work_tree
from ..index.catalogue import SyncReport
from ..index.contextual import deepen
from ..index.index import worker_lock
from ..index.status import Status, status
from ..index.stores.database import (
    BROKEN,
    MEMORY,
    SQLITE,
    StoreHome,
    StoreSettings,
    catalogue_path,
    checked_store,
    first,
    memory_path,
    open_database,
    open_store,
    plugin_names,
    store_plugin,
    vec_library,
)
from ..index.stores.protocol import Migrated, StorePlugin
from ..model.entries import Value
from ..model.errors import BadInput, RawkoError, Refused
from ..model.installed import how_to_install
from ..model.values import record, replace
from ..redaction.find import engine
from ..text.chunks import counted
from . import Repository
from .core import Core, Wing
from .mesh_tables import Published, names_with_tables, publish

Progress = Callable[[int, int], None]


# Check this machine and this repository for `rawkomem doctor`; each finding has a hint.

PACKAGES = ("rawkomem", "apsw", "sqlite-vec", "google-re2", "numpy", "pyyaml", "watchdog",
            "click")  # fmt: skip


@record
class Finding:
    """The result of one check."""

    name: str
    ok: bool
    text: str
    hint: str = ""


def examine(repository: Repository | None) -> list[Finding]:
    """Run all checks and return their findings. An error in a check becomes a finding."""
    checks: list[Callable[[], Finding]] = [_python, _packages, _sqlite, _patterns]
    findings = [_checked(check) for check in checks]
    if repository is None:
        return [
            *findings,
            Finding("repository", False, "no repository here", "run 'rawkomem init'"),
        ]
    parts = (
        _folder,
        _location,
        _integrity,
        _freshness,
        _embedder,
        _git_ignores,
        _merges,
    )
    findings += [_checked(lambda part=part: part(repository)) for part in parts]  # type: ignore[misc]
    return findings + [
        Finding("layer", not one.problem, one.told)
        for one in repository.layers.standings()
    ]


def _checked(check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except (RawkoError, OSError, apsw.Error) as failure:
        name = (
            getattr(check, "__name__", "check").strip("_<>").replace("lambda", "check")
        )
        return Finding(name, False, str(failure), getattr(failure, "hint", ""))


def _python() -> Finding:
    return Finding(
        "python",
        sys.version_info >= (3, 11),
        f"{platform.python_version()} on {platform.system()}",
    )


def _packages() -> Finding:
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    return Finding(
        "packages",
        not missing,
        ", ".join(found),
        f"missing: {', '.join(missing)}" if missing else "",
    )


def _sqlite() -> Finding:
    memory = open_database(memory_path())
    (vec,) = first(memory, "SELECT vec_version()")
    return Finding(
        "sqlite",
        True,
        f"{apsw.sqlite_lib_version()}, sqlite-vec {vec} ({os.path.basename(vec_library())})",
    )


def _patterns() -> Finding:
    ok = engine() == "re2"
    return Finding(
        "patterns",
        ok,
        f"engine: {engine()}",
        ""
        if ok
        else f"regexes match as plain substrings; run: {how_to_install('google-re2')}",
    )


def _folder(repository: Repository) -> Finding:
    root = repository.layout.root
    for problem in git_files(root):
        return Finding("folder", False, problem.message, problem.hint)
    ok = os.access(root, os.R_OK | os.W_OK | os.X_OK)
    return Finding(
        "folder",
        ok,
        root,
        "" if ok else "not writable: memories can be read but not stored",
    )


def _location(repository: Repository) -> Finding:
    kind = file_system(repository.layout.root) or "unknown"
    elsewhere = (
        ""
        if kind not in UNSAFE_FILE_SYSTEMS
        else "WAL is not safe there: the index is in your cache folder"
    )
    return Finding(
        "index", True, f"{repository.core.index.path} (file system {kind})", elsewhere
    )


def _integrity(repository: Repository) -> Finding:
    repository.core.index.refresh()
    database = open_database(repository.core.index.path, readonly=True)
    (answer,) = first(database, "PRAGMA quick_check(1)")
    database.close()
    return Finding(
        "integrity",
        answer == "ok",
        answer,
        "" if answer == "ok" else "run 'rawkomem index rebuild'",
    )


def _freshness(repository: Repository) -> Finding:
    status = repository.store.status()
    text = f"{counted(status.files, 'file')} {status.files_hash}, index {status.index_hash}"
    return Finding(
        "freshness",
        status.fresh,
        text,
        "" if status.fresh else f"differs: {', '.join(status.behind[:3])}",
    )


def _embedder(repository: Repository) -> Finding:
    embedder = repository.core.index.embedder
    wanted = repository.settings.embedder.provider
    answers = not repository.core.index.is_embedder_absent
    ok = answers and (
        wanted in (AUTO_PROVIDER, BUNDLED_PROVIDER)
        or not embedder.name.startswith(BUNDLED_PROVIDER)
    )
    return Finding(
        "embedder",
        ok,
        f"{embedder.name}, {embedder.dims} dimensions",
        "" if ok else f"{wanted} did not open",
    )


def _git_ignores(repository: Repository) -> Finding:
    try:
        tree = work_tree(repository.layout.project)
        ignored = tree.ignored(
            tree.path(os.path.join(repository.layout.local, "index.db"))
        )
    except GitFailed as failure:
        return Finding("git", True, str(failure))
    return Finding("git", bool(ignored), ".rawko/local is ignored" if ignored else ".rawko/local is not ignored",
                   "" if ignored else "run 'rawkomem init'")  # fmt: skip


def _merges(repository: Repository) -> Finding:
    """Check that this clone has the merge driver that the committed git attributes name."""
    memory = os.path.join(repository.layout.root, "memories", "any.md")
    try:
        tree = work_tree(repository.layout.project)
        named = tree.ask("check-attr", "merge", "--", tree.path(memory)).endswith(
            ": rawkomem"
        )
        driver = tree.ask("config", "--get", f"{DRIVER_SECTION}.driver")
    except GitFailed:
        return Finding("merges", True, "not a git work tree")
    if not named:
        return Finding("merges", True, "git merges memories line by line")
    if driver and shutil.which(_first_word(driver)):
        return Finding("merges", True, "git merges memories entry by entry")
    text = (
        "the driver's program is missing: git merges line by line"
        if driver
        else "git merges memories line by line"
    )
    return Finding(
        "merges",
        not driver,
        text,
        "to merge entry by entry, run 'rawkomem connect git'",
    )


def _first_word(driver: str) -> str:
    """Return the program of a merge driver; git's settings write a percent sign as %%."""
    try:
        return shlex.split(driver.replace("%%", "%"))[0]
    except (ValueError, IndexError):
        return ""


# The index and its search stores: status, rebuild, choose a store, copy, migrate tables.

HEAD = "# Written by 'rawkomem index store use'.\n"


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
        return status(self._core.index, self._core.has_deep_vectors)

    def rebuild(self, progress: Progress | None = None) -> SyncReport:
        """Rebuild the index from the files."""
        return self._core.index.sync(progress, rebuild=True)

    def deepen(self, progress: Progress | None = None) -> int:
        """Compute missing contextual vectors (minutes for a thousand memories); return their number."""
        if not is_background():
            return deepen(self._core.index, progress)
        job = worker_lock()
        if not job.acquire():
            return 0  # another worker of this user is running
        try:
            return deepen(self._core.index, progress, waits=steps_aside())
        finally:
            job.release()

    # Search stores

    def use(self, name: str, url_env: str = "") -> None:
        """Set the store of this repository in the user's own settings, after a test that it can be opened."""
        if checked_store(name) == MEMORY:
            raise BadInput(
                "the memory store exists only inside one program",
                "use Repository.open(store='memory')",
            )
        if url_env and (name == SQLITE or not store_plugin(name).takes_url):
            raise BadInput(f"the {name} store takes no url", "leave --url-env out")
        if url_env and not url_env.isidentifier():
            raise BadInput(
                f"--url-env {url_env!r} is not a name",
                "use the name of an environment variable",
            )
        chosen = self._core.settings.store.named(name)
        chosen = replace(chosen, url_env=url_env or chosen.url_env)
        if name != SQLITE:
            open_store(
                self._core.layout, chosen, self._core.index.embedder.dims
            ).close()
        file = user_repository_config(self._core.layout)
        text, given = _own_config(file)
        keys = _store_keys(given, self._core.settings.store, name, url_env)
        changed = _with_store(text, keys)
        if _config_fields(changed) != {**_config_fields(text), "store": keys}:
            raise Refused(
                f"{file} cannot be changed by a program",
                f"set store.name in it to {name} yourself",
            )
        replace_whole(file, changed.encode())

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
        package = "" if name == SQLITE else store_plugin(name).package
        missing = (
            store_plugin(name).how_to_install()
            if package and find_spec(package) is None
            else ""
        )
        known, size = _count_in_catalogue(layout, name), store_size(layout, name)
        return StoreStatus(
            name, used, not missing, known, size, self._where(name), problem, missing
        )

    def _where(self, name: str) -> str:
        settings = self._core.settings.store.named(name)
        if name == SQLITE:
            return catalogue_path(self._core.layout, name)
        if settings.url_env or settings.url:
            return (
                f"${settings.url_env}" if settings.url_env else "the url in your config"
            )
        return (
            StoreHome(self._core.layout, settings).folder
            if store_plugin(name).local
            else ""
        )

    def copy(
        self, source: str, target: str, progress: Progress | None = None
    ) -> Copied:
        """Fill both stores from the files, and check that they contain the same; raise Refused if they differ."""
        if checked_store(source) == checked_store(target) or MEMORY in (source, target):
            raise BadInput(
                f"cannot copy {source} to {target}",
                f"name two of {', '.join((SQLITE, *plugin_names()))}",
            )
        began = time.monotonic()
        digests = []
        for name in (source, target):
            core = Core(self._core.layout, self._core.warn, store=name)
            try:
                core.index.refresh(progress)
                core.index.follow_commits()
                outside = core.index.outside()
                digests.append(
                    outside.held() if outside else core.index.catalogue.digests()
                )
            finally:
                core.close()
        differing = {id for id, _ in digests[0].items() ^ digests[1].items()}
        if differing:
            raise Refused(
                f"{len(differing)} memories differ: files changed meanwhile",
                "run the command again",
            )
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
        return store_plugin(name), StoreHome(
            self._core.layout, self._core.settings.store.named(name)
        )


def _own_config(file: str) -> tuple[str, Mapping[str, Value]]:
    """Return the text of the user's config for this repository, and its settings below `store`."""
    if not os.path.exists(file):
        return HEAD, {}
    text = read_text_file(file)
    said = _config_fields(text).get("store", {})
    return text, said if isinstance(said, dict) else {}


def _config_fields(text: str) -> dict[str, Value]:
    """Return the settings in a file; empty if it cannot be parsed."""
    try:
        return {key: field.value for key, field in read_frontmatter(text)[0].items()}
    except Unreadable:
        return {}


def _store_keys(
    given: Mapping[str, Value], used: StoreSettings, name: str, url_env: str
) -> dict[str, Value]:
    """Return the new settings below `store`. A change of the store removes the url, which belongs to the old store."""
    same = used.name == name
    kept = {key: value for key, value in given.items() if same or key != "url"}
    taken_back: dict[str, Value] = (
        {"url": ""} if not same and (used.url or used.url_env) else {}
    )
    return {
        **kept,
        "name": name,
        **taken_back,
        **({"url": f"env:{url_env}"} if url_env else {}),
    }


def _with_store(text: str, keys: Mapping[str, Value]) -> str:
    """Return a config with these keys below `store`, and everything else unchanged."""
    block = [
        "store:",
        *(f"  {key}: {json.dumps(value)}" for key, value in keys.items()),
    ]
    lines = text.rstrip("\n").split("\n")
    start = next(
        (n for n, line in enumerate(lines) if line.startswith("store:")), len(lines)
    )
    inside = takewhile(lambda line: line[:1] in ("", " ", "\t"), lines[start + 1 :])
    return "\n".join([*lines[:start], *block, *lines[start + 1 + len([*inside]) :], ""])


def _count_in_catalogue(layout: Layout, name: str) -> int:
    path = catalogue_path(layout, name)
    if not os.path.exists(path):
        return 0
    database = open_database(path, readonly=True)
    try:
        return int(
            first(database, "SELECT count(*) FROM memories WHERE digest != ''")[0]
        )
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
        files += [
            os.path.join(folder, file) for folder, _, names in tree for file in names
        ]
    return sum(os.path.getsize(file) for file in files if os.path.exists(file))
