"""Tell which memory files git tracks or holds in HEAD, with one call of git."""

from __future__ import annotations

from collections.abc import Collection

from ..files.layout import Layout
from .head import find_git

MAX_NAMED = 100  # files that git is asked for by name; beyond, it lists their areas


def tracked_files(layout: Layout, paths: Collection[str]) -> set[str]:
    """Return those of some paths below .rawko that are in git's index; none where git has no answer."""
    if not paths or find_git(layout.root) is None:
        return set()
    from .run import Git, GitFailed  # here: a repository without git starts no process

    asked = sorted(paths) if len(paths) <= MAX_NAMED else sorted({path.partition("/")[0] for path in paths})
    try:
        listed = Git(layout.root).run("--literal-pathspecs", "ls-files", "-z", "--", *asked)
    except GitFailed:
        return set()
    return {*listed.decode("utf-8", "surrogateescape").split("\0")} & {*paths}


def committed_files(layout: Layout, area: str) -> set[str] | None:
    """Return the paths of an area in HEAD; None where there is no git."""
    if find_git(layout.root) is None:
        return None
    from .run import Git, GitFailed

    try:
        listed = Git(layout.root).run("ls-tree", "-r", "-z", "--name-only", "HEAD", "--", f"{area}/")
    except GitFailed:
        return set()
    return {*listed.decode("utf-8", "surrogateescape").split("\0")}
