"""Find a project's git folder and detect a change of HEAD, by reading a few small files instead of
running git.
"""

from __future__ import annotations

import os

from ..files.layout import read_bytes
from ..model.values import record

MAX_LINKS = 5  # symbolic refs that are followed; git itself stops at five
MAX_REF_BYTES = 4096  # of HEAD, a branch or a `.git` file


@record
class GitDir:
    """The folders of a work tree and its git data."""

    tree: str  # the work tree's top folder
    own: str  # HEAD and index of this work tree
    common: str  # branches, shared by all work trees of a repository


def find_git(start: str) -> GitDir | None:
    """Return the git folders of the innermost work tree around a folder; None if there is none.

    Only a `.git` counts, which no clone can bring along. A folder that is itself a bare repository does not.
    """
    folder = os.path.realpath(start)
    while True:
        own = _git_folder(os.path.join(folder, ".git"))
        if own and os.path.lexists(os.path.join(own, "HEAD")):
            common = os.path.normpath(
                os.path.join(own, _small(os.path.join(own, "commondir")))
            )
            if all(
                os.path.isdir(os.path.join(common, name))
                for name in ("objects", "refs")
            ):
                return GitDir(folder, own, common)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _git_folder(path: str) -> str:
    """Return a `.git` folder, or the folder that a `.git` file names; empty if there is neither."""
    if os.path.isdir(path):
        return path
    named = _small(path)
    if not named.startswith("gitdir:"):
        return ""
    return os.path.normpath(
        os.path.join(os.path.dirname(path), named.removeprefix("gitdir:").strip())
    )


def git_stamp(start: str) -> str:
    """Return a text that changes whenever HEAD is another commit; empty without git.

    It contains HEAD, the commit of its branch, and stamps of other files in which git may store that commit.
    """
    git = find_git(start)
    if git is None:
        return ""
    name = _small(os.path.join(git.own, "HEAD"))
    seen = [name]
    while name.startswith("ref:") and len(seen) <= MAX_LINKS:
        name = _small(
            os.path.join(git.common, *name.removeprefix("ref:").strip().split("/"))
        )
        seen.append(name)
    if not name:  # no file of its own: packed, in a reftable, or no commit yet
        seen += [_stamp(os.path.join(git.common, "packed-refs"))]
        seen += [
            _stamp(os.path.join(folder, "reftable", "tables.list"))
            for folder in (git.own, git.common)
        ]
    return " ".join([git.own, *seen, _stamp(os.path.join(git.common, "shallow"))])


def cut_off_at(git: GitDir) -> set[str]:
    """Return the commits at which a shallow clone ends; empty for a full clone."""
    try:
        return set(
            read_bytes(os.path.join(git.common, "shallow"))
            .decode("ascii", "replace")
            .split()
        )
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
