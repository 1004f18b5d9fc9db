"""Find git's folder of a project and detect another checked-out commit, from a few small files, without a process."""

from __future__ import annotations

import os

from ..files.contents import read_bytes
from ..model.record import record

MAX_LINKS = 5  # a name of a branch may lead to another; git itself stops at five
MAX_REF_BYTES = 4096  # bytes of HEAD, of a branch, of a `.git` file


@record
class GitDir:
    """Where git keeps what it knows about a work tree."""

    tree: str  # the work tree's top folder
    own: str  # HEAD and index of this work tree
    common: str  # branches, shared by all work trees of a repository


def find_git(start: str) -> GitDir | None:
    """Return the git folder of the innermost work tree around a folder; None if there is none."""
    folder = os.path.abspath(start)
    while True:
        own = _git_folder(os.path.join(folder, ".git"))
        if own and os.path.lexists(os.path.join(own, "HEAD")):
            common = _small(os.path.join(own, "commondir"))
            return GitDir(folder, own, os.path.normpath(os.path.join(own, common)) if common else own)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _git_folder(path: str) -> str:
    """Return a folder, or the folder that a `.git` file of a work tree or a submodule names."""
    if os.path.isdir(path):
        return path
    named = _small(path)
    if not named.startswith("gitdir:"):
        return ""
    return os.path.normpath(os.path.join(os.path.dirname(path), named.removeprefix("gitdir:").strip()))


def git_stamp(start: str) -> str:
    """Return a text that differs whenever another commit is checked out; empty without git.

    It holds HEAD, the commit of its branch, and stamps of other files in which git may keep that commit.
    """
    git = find_git(start)
    if git is None:
        return ""
    name = _small(os.path.join(git.own, "HEAD"))
    seen = [name]
    while name.startswith("ref:") and len(seen) <= MAX_LINKS:
        name = _small(os.path.join(git.common, *name.removeprefix("ref:").strip().split("/")))
        seen.append(name)
    if not name:  # not in a file of its own: packed, in a reftable, or not born yet
        seen += [_stamp(os.path.join(git.common, "packed-refs"))]
        seen += [_stamp(os.path.join(folder, "reftable", "tables.list")) for folder in (git.own, git.common)]
    return " ".join([git.own, *seen, _stamp(os.path.join(git.common, "shallow"))])


def cut_off_at(git: GitDir) -> set[str]:
    """Return the commits at which a shallow clone ends; none in a whole one."""
    try:
        return set(read_bytes(os.path.join(git.common, "shallow")).decode("ascii", "replace").split())
    except OSError:
        return set()


def _small(path: str) -> str:
    try:
        return read_bytes(path)[:MAX_REF_BYTES].decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _stamp(path: str) -> str:
    try:
        stat = os.stat(path)
    except OSError:
        return "-"
    return f"{stat.st_size}.{stat.st_mtime_ns}.{stat.st_ino}"
