"""List the memory files that git tracks, or that HEAD contains, with one call of git."""

from __future__ import annotations

from collections.abc import Collection

from ..files.layout import Layout
from .head import find_git

MAX_NAMED = 100  # files that are named in the git command; for more files, their areas are listed


def tracked_files(layout: Layout, paths: Collection[str]) -> set[str]:
    """Return the given paths (below .rawko) that are in git's index; empty without git or if git fails."""
    if not paths or find_git(layout.root) is None:
        return set()
    from .run import Git, GitFailed  # not needed in a repository without git

    asked = sorted(paths) if len(paths) <= MAX_NAMED else sorted({path.partition("/")[0] for path in paths})
    try:
        listed = Git(layout.root).run("--literal-pathspecs", "ls-files", "-z", "--", *asked)
    except GitFailed:
        return set()
    return {*listed.decode("utf-8", "surrogateescape").split("\0")} & {*paths}


def committed_files(layout: Layout, area: str) -> set[str] | None:
    """Return the paths of an area in HEAD; None without git, empty if git fails."""
    if find_git(layout.root) is None:
        return None
    from .run import Git, GitFailed

    try:
        listed = Git(layout.root).run("ls-tree", "-r", "-z", "--name-only", "HEAD", "--", f"{area}/")
    except GitFailed:
        return set()
    return {*listed.decode("utf-8", "surrogateescape").split("\0")}
