"""The index and its search stores on this machine: status, rebuild, choose a store, copy, migrate
tables; and the checks of `rawkomem doctor`.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import apsw

from ..embed.embedder import AUTO_PROVIDER
from ..embed.providers import BUNDLED_PROVIDER
from ..files.background import is_background, steps_aside
from ..files.git_folder import kept_folder
from ..files.installation import only_here
from ..files.layout import Layout, read_text_file, sweep, user_repository_config
from ..files.machine_records import PERSON
from ..files.records import (
    UNSAFE_FILE_SYSTEMS,
    copy_texts,
    file_system,
    records_in,
    records_path,
    take_rows,
    unused_paths,
)
from ..files.replace import replace_whole
from ..format.frontmatter import read_frontmatter
from ..git.connection import DRIVER_SECTION
from ..git.runner import GitFailed, work_tree
from ..index.catalogue import SyncReport
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
    memory_path,
    open_database,
    open_store,
    plugin_names,
    store_plugin,
    vec_library,
)
from ..index.stores.protocol import Migrated, StorePlugin
from ..model.entries import Unreadable, Value
from ..model.errors import BadInput, NotFound, RawkoError, Refused
from ..model.installed import how_to_install
from ..model.values import ERROR, TYPE_CHECKING, record, replace
from ..redaction.find import engine
from ..text.chunks import counted
from . import Repository
from .core import Wing

if TYPE_CHECKING:
    from .mesh_tables import Published

Progress = Callable[[int, int], None]
# of a check: whether all is well, a text, and perhaps a hint
Result = tuple[bool, str] | tuple[bool, str, str]


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
    findings = [_checked(name, check) for name, check in MACHINE_CHECKS.items()]
    if repository is None:
        hint = "run 'rawkomem init'"
        return [*findings, Finding("repository", False, "no repository here", hint)]
    checks = REPOSITORY_CHECKS.items()
    findings += [_checked(name, partial(check, repository)) for name, check in checks]
    return findings + [
        Finding("layer", not one.problem, one.told)
        for one in repository.layers.standings()
    ]


def _checked(name: str, check: Callable[[], Result]) -> Finding:
    try:
        return Finding(name, *check())
    except (RawkoError, OSError, apsw.Error) as failure:
        return Finding(name, False, str(failure), getattr(failure, "hint", ""))


def _if_wrong(ok: bool, text: str, hint: str) -> Result:
    """Return a result that has its hint only if something is wrong."""
    return (ok, text) if ok else (ok, text, hint)


def _python() -> Result:
    about = f"{platform.python_version()} on {platform.system()}"
    return sys.version_info >= (3, 11), about


def _packages() -> Result:
    versions = []
    missing = []
    for name in PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    hint = f"missing: {', '.join(missing)}"
    return _if_wrong(not missing, ", ".join(versions), hint)


def _sqlite() -> Result:
    (vec,) = next(open_database(memory_path()).execute("SELECT vec_version()"))
    library = os.path.basename(vec_library())
    return True, f"{apsw.sqlite_lib_version()}, sqlite-vec {vec} ({library})"


def _patterns() -> Result:
    hint = f"regexes match as plain substrings; run: {how_to_install('google-re2')}"
    return _if_wrong(engine() == "re2", f"engine: {engine()}", hint)


def _folder(repository: Repository) -> Result:
    root = repository.layout.root
    for problem in sweep(repository.layout).problems:
        if problem.level == ERROR:
            return False, f"{problem.path}: {problem.message}", problem.hint
    ok = os.access(root, os.R_OK | os.W_OK | os.X_OK)
    return _if_wrong(ok, root, "not writable: memories can be read but not stored")


def _location(repository: Repository) -> Result:
    kind = file_system(repository.layout.root) or "unknown"
    text = f"{repository.core.index.path} (file system {kind})"
    if kind in UNSAFE_FILE_SYSTEMS:
        return True, text, "WAL is not safe there: the index is in your cache folder"
    return True, text


def _integrity(repository: Repository) -> Result:
    repository.core.index.refresh()
    database = open_database(repository.core.index.path, readonly=True)
    (answer,) = next(database.execute("PRAGMA quick_check(1)"))
    database.close()
    return _if_wrong(answer == "ok", answer, "run 'rawkomem index rebuild'")


def _freshness(repository: Repository) -> Result:
    status = repository.store.status(hash_all=True)
    text = f"{counted(status.files, 'file')} {status.files_hash}, index {status.index_hash}"
    hint = f"differs: {', '.join(status.behind[:3])}"
    return _if_wrong(status.fresh, text, hint)


def _embedder(repository: Repository) -> Result:
    index = repository.core.index
    wanted = repository.settings.embedder.provider
    name = index.embedder.name
    is_wanted = wanted in (AUTO_PROVIDER, BUNDLED_PROVIDER)
    is_wanted = is_wanted or not name.startswith(BUNDLED_PROVIDER)
    ok = not index.is_embedder_absent and is_wanted
    text = f"{name}, {index.embedder.dims} dimensions"
    return _if_wrong(ok, text, f"{wanted} did not open")


def _git_ignores(repository: Repository) -> Result:
    try:
        tree = work_tree(repository.layout.project)
        file = os.path.join(repository.layout.local, "index.db")
        if tree.ignored(tree.path(file)):
            return True, ".rawko/local is ignored"
    except GitFailed as failure:
        return True, str(failure)
    return False, ".rawko/local is not ignored", "run 'rawkomem init'"


def _authors(repository: Repository) -> Result:
    for problem in repository.core.hidden_authors():
        return False, problem.message, problem.hint
    return True, "git tells who committed memories"


def _records(repository: Repository) -> Result:
    """Name what this machine remembers, and the first folder or file of records that is not used."""
    layout = repository.layout
    summary = ", ".join([kept_folder(layout), *only_here(layout)])
    unused = unused_paths(layout)
    for path in filter(records_in, unused):
        command = shlex.join(("rawkomem", "doctor", "--adopt", path))
        hint = f"not used: {path}; if its records are yours, run: {command}"
        return True, summary, hint
    others = (
        f"not used, because you did not make it on this machine: {', '.join(unused)}"
    )
    return (True, summary, others) if unused else (True, summary)


def adopt(repository: Repository, path: str) -> Finding:
    """Copy the records and texts of another local folder, or of a file of records, to those of this repository.

    Raise Refused unless a person asks for it, because records say what a person typed; NotFound if there are none.
    """
    if repository.core.via != PERSON:
        raise Refused(
            "only a person at a terminal may adopt records",
            "run the command yourself, without an agent",
        )
    layout = repository.layout
    path = os.path.abspath(path)
    files = [file for file in records_in(path) if file != records_path(layout)]
    if not files:
        raise NotFound(
            f"{path} holds no records of yours",
            "run 'rawkomem doctor' for the folders that are not used",
        )
    rows = sum(sum(take_rows(layout, file).values()) for file in files)
    texts = copy_texts(path, kept_folder(layout)) if os.path.isdir(path) else 0
    repository.store.rebuild()  # records say whom to trust
    summary = f"{counted(rows, 'record')} and {counted(texts, 'text')} of {path}"
    return Finding("adopted", True, summary, "delete the original if nobody uses it")


def _merges(repository: Repository) -> Result:
    """Check that this clone has the merge driver that the committed git attributes name."""
    memory = os.path.join(repository.layout.root, "memories", "any.md")
    try:
        tree = work_tree(repository.layout.project)
        folder = os.path.dirname(memory)
        while len(folder) >= len(tree.top):
            file = os.path.join(folder, ".gitattributes")
            if os.path.exists(file) and not os.path.isfile(file):
                return False, f"{file} is no file: git may wait for it", "remove it"
            folder = os.path.dirname(folder)
        attribute = tree.ask("check-attr", "merge", "--", tree.path(memory))
        driver = tree.ask("config", "--get", f"{DRIVER_SECTION}.driver")
    except GitFailed:
        return True, "not a git work tree"
    by_lines = "git merges memories line by line"
    if not attribute.endswith(": rawkomem"):
        return True, by_lines
    try:
        # git's settings write a percent sign as %%
        words = shlex.split(driver.replace("%%", "%"))
    except ValueError:
        words = []
    if words and shutil.which(words[0]):
        return True, "git merges memories entry by entry"
    text = "the driver's program is missing: git merges line by line"
    hint = "to merge entry by entry, run 'rawkomem connect git'"
    return not driver, text if driver else by_lines, hint


MACHINE_CHECKS: dict[str, Callable[[], Result]] = {
    "python": _python,
    "packages": _packages,
    "sqlite": _sqlite,
    "patterns": _patterns,
}
REPOSITORY_CHECKS: dict[str, Callable[[Repository], Result]] = {
    "folder": _folder,
    "index": _location,
    "integrity": _integrity,
    "freshness": _freshness,
    "embedder": _embedder,
    "git": _git_ignores,
    "authors": _authors,
    "records": _records,
    "merges": _merges,
}


HEAD = "# Written by 'rawkomem index store use'.\n"
# in a config: the line `store:`, and the blank and indented lines below it
STORE_BLOCK = re.compile(r"^store:.*\n(?:(?:[ \t].*)?\n)*", re.MULTILINE)


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


class Store(Wing):
    """The index and its search stores."""

    # The index in use

    def status(self, hash_all: bool = False) -> Status:
        """Return whether the index matches the files: by their stamps or, with `hash_all`, by reading every file."""
        found = status(self._core.index, self._core.has_deep_vectors, hash_all)
        # without another look at the files
        authors = self._core.authors()
        problems = (*found.problems, *(authors.problems() if authors else ()))
        return replace(found, problems=problems)

    def rebuild(self, progress: Progress | None = None) -> SyncReport:
        """Rebuild the index from the files. Raise StoreAway like `Repository.catch_up`."""
        return self._repo.catch_up(progress, rebuild=True)

    def deepen(self, progress: Progress | None = None) -> int:
        """Compute missing contextual vectors (minutes for a thousand memories); return their number."""
        from ..index.contextual import deepen  # loads numpy

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
            open_store(self._layout, chosen, self._core.index.embedder.dims).close()
        file = user_repository_config(self._layout)
        text = read_text_file(file) if os.path.exists(file) else HEAD
        keys = _store_keys(text, self._core.settings.store, name, url_env)
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
        layout = self._layout
        settings = self._core.settings.store
        used = settings.name == name
        problem = ""
        if used:
            try:
                self._repo.catch_up()
            except RawkoError as failure:
                problem = failure.message
        missing = ""
        where = catalogue_path(layout, name)
        if name != SQLITE:
            plugin = store_plugin(name)
            own = settings.named(name)
            if plugin.package and find_spec(plugin.package) is None:
                missing = plugin.how_to_install()
            where = StoreHome(layout, own).folder if plugin.local else ""
            if own.url_env or own.url:
                where = f"${own.url_env}" if own.url_env else "the url in your config"
        known = _count_in_catalogue(layout, name)
        size = store_size(layout, name)
        return StoreStatus(
            name, used, not missing, known, size, where, problem, missing
        )

    def publish(self) -> Published:
        """Fill the tables of RFC-0011 that other programs read: yamo_blocks, synthesized_skills, memory_entries."""
        from .mesh_tables import has_tables, names_with_tables, publish_all

        if not has_tables(self._core):
            name = self._core.settings.store.name
            other = names_with_tables()[0]
            raise BadInput(
                f"the {name} store does not have the tables of RFC-0011",
                f"run 'rawkomem index store use {other}'",
            )
        return publish_all(self._core)

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
        from .mesh_tables import names_with_tables

        name = names_with_tables()[0]
        return store_plugin(name), StoreHome(
            self._layout, self._core.settings.store.named(name)
        )


def _config_fields(text: str) -> dict[str, Value]:
    """Return the settings in a file; empty if it cannot be parsed."""
    try:
        return {key: field.value for key, field in read_frontmatter(text)[0].items()}
    except Unreadable:
        return {}


def _store_keys(
    text: str, used: StoreSettings, name: str, url_env: str
) -> dict[str, Value]:
    """Return the new settings below `store`. A change of the store removes the url, which belongs to the old store."""
    keys = _config_fields(text).get("store")
    keys = {**keys, "name": name} if isinstance(keys, dict) else {"name": name}
    if used.name != name:
        keys.pop("url", None)
        if used.url or used.url_env:
            keys["url"] = ""
    if url_env:
        keys["url"] = f"env:{url_env}"
    return keys


def _with_store(text: str, keys: Mapping[str, Value]) -> str:
    """Return a config with these keys below `store`, and everything else unchanged."""
    lines = [f"  {key}: {json.dumps(value)}\n" for key, value in keys.items()]
    block = "".join(["store:\n", *lines])
    text = text.rstrip("\n") + "\n"
    changed = STORE_BLOCK.sub(lambda _: block, text, count=1)
    return changed if STORE_BLOCK.search(text) else text + block


def _count_in_catalogue(layout: Layout, name: str) -> int:
    path = catalogue_path(layout, name)
    if not os.path.exists(path):
        return 0
    database = open_database(path, readonly=True)
    try:
        return int(
            next(database.execute("SELECT count(*) FROM memories WHERE digest != ''"))[
                0
            ]
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
