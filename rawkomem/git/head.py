"""Detect a change of HEAD, by reading a few small files instead of running git."""

from __future__ import annotations

import os

from ..files.git_folder import GitDir, find_git, read_small
from ..files.layout import read_bytes

MAX_LINKS = 5  # symbolic refs that are followed; git itself stops at five


def git_stamp(start: str) -> str:
    """Return a text that changes whenever HEAD is another commit; empty without git.

    It contains HEAD, the commit of its branch, and stamps of other files in which git may store that commit.
    """
    git = find_git(start)
    if git is None:
        return ""
    name = read_small(os.path.join(git.own, "HEAD"))
    seen = [name]
    while name.startswith("ref:") and len(seen) <= MAX_LINKS:
        name = read_small(
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


def _stamp(path: str) -> str:
    try:
        stat = os.stat(path)
    except OSError:
        return "-"
    return f"{stat.st_size}.{stat.st_mtime_ns}.{stat.st_ino}"
