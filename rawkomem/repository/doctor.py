"""Check this machine and this repository for `rawkomem doctor`; each finding has a hint."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import apsw

from ..embed.chain import AUTO, BUNDLED
from ..git.connect import DRIVER
from ..git.run import GitFailed
from ..git.worktree import work_tree
from ..index.stores.database import UNSAFE_FILE_SYSTEMS, file_system, first, memory_path, open_database, vec_library
from ..model.errors import RawkoError
from ..model.installed import how_to_install
from ..model.record import record
from ..redaction.find import engine
from ..text.count import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import Repository

PACKAGES = ("rawkomem", "apsw", "sqlite-vec", "google-re2", "numpy", "pyyaml", "python-frontmatter", "watchdog",
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
    findings = [_run(check) for check in checks]
    if repository is None:
        return [*findings, Finding("repository", False, "no repository here", "run 'rawkomem init'")]
    parts = (_folder, _location, _integrity, _freshness, _embedder, _git, _merges)
    findings += [_run(lambda part=part: part(repository)) for part in parts]  # type: ignore[misc]
    return findings + [Finding("layer", not one.problem, one.told) for one in repository.layers.standings()]


def _run(check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except (RawkoError, OSError, apsw.Error) as failure:
        name = getattr(check, "__name__", "check").strip("_<>").replace("lambda", "check")
        return Finding(name, False, str(failure), getattr(failure, "hint", ""))


def _python() -> Finding:
    return Finding("python", sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.system()}")


def _packages() -> Finding:
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    return Finding("packages", not missing, ", ".join(found), f"missing: {', '.join(missing)}" if missing else "")


def _sqlite() -> Finding:
    memory = open_database(memory_path())
    (vec,) = first(memory, "SELECT vec_version()")
    return Finding("sqlite", True, f"{apsw.sqlite_lib_version()}, sqlite-vec {vec} ({os.path.basename(vec_library())})")


def _patterns() -> Finding:
    ok = engine() == "re2"
    return Finding(
        "patterns",
        ok,
        f"engine: {engine()}",
        "" if ok else f"regexes match as plain substrings; run: {how_to_install('google-re2')}",
    )


def _folder(repository: Repository) -> Finding:
    root = repository.layout.root
    ok = os.access(root, os.R_OK | os.W_OK | os.X_OK)
    return Finding("folder", ok, root, "" if ok else "not writable: memories can be read but not stored")


def _location(repository: Repository) -> Finding:
    kind = file_system(repository.layout.root) or "unknown"
    elsewhere = "" if kind not in UNSAFE_FILE_SYSTEMS else "WAL is not safe there: the index is in your cache folder"
    return Finding("index", True, f"{repository.core.index.path} (file system {kind})", elsewhere)


def _integrity(repository: Repository) -> Finding:
    repository.core.index.refresh()
    database = open_database(repository.core.index.path, readonly=True)
    (answer,) = first(database, "PRAGMA quick_check(1)")
    database.close()
    return Finding("integrity", answer == "ok", answer, "" if answer == "ok" else "run 'rawkomem index rebuild'")


def _freshness(repository: Repository) -> Finding:
    status = repository.store.status()
    text = f"{count(status.files, 'file')} {status.files_hash}, index {status.index_hash}"
    return Finding("freshness", status.fresh, text, "" if status.fresh else f"differs: {', '.join(status.behind[:3])}")


def _embedder(repository: Repository) -> Finding:
    embedder = repository.core.index.embedder
    wanted = repository.settings.embedder.provider
    answers = not repository.core.index.is_embedder_absent
    ok = answers and (wanted in (AUTO, BUNDLED) or not embedder.name.startswith(BUNDLED))
    return Finding(
        "embedder", ok, f"{embedder.name}, {embedder.dims} dimensions", "" if ok else f"{wanted} did not open"
    )


def _git(repository: Repository) -> Finding:
    try:
        tree = work_tree(repository.layout.project)
        probe = tree.path(os.path.join(repository.layout.local, "index.db"))
        ignored = tree.git.run("check-ignore", "--", probe, fine=(0, 1)) != b""
    except GitFailed as failure:
        return Finding("git", True, str(failure))
    return Finding("git", ignored, ".rawko/local is ignored" if ignored else ".rawko/local is not ignored",
                   "" if ignored else "run 'rawkomem init'")  # fmt: skip


def _merges(repository: Repository) -> Finding:
    """Check that this clone has the merge driver that the committed git attributes name."""
    memory = os.path.join(repository.layout.root, "memories", "any.md")
    try:
        tree = work_tree(repository.layout.project)
        named = tree.ask("check-attr", "merge", "--", tree.path(memory)).endswith(": rawkomem")
        driver = tree.ask("config", "--get", f"{DRIVER}.driver")
    except GitFailed:
        return Finding("merges", True, "not a git work tree")
    if not named:
        return Finding("merges", True, "git merges memories line by line")
    if driver and shutil.which(_first_word(driver)):
        return Finding("merges", True, "git merges memories entry by entry")
    text = "the driver's program is missing: git merges line by line" if driver else "git merges memories line by line"
    return Finding("merges", not driver, text, "to merge entry by entry, run 'rawkomem connect git'")


def _first_word(driver: str) -> str:
    """Return the program of a merge driver; git's settings write a percent sign as %%."""
    try:
        return shlex.split(driver.replace("%%", "%"))[0]
    except (ValueError, IndexError):
        return ""
