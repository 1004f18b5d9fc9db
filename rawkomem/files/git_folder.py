"""Find a project's git folder by reading a few small files instead of running git, and the place in it for this
machine's records; detect a change of HEAD.
"""

from __future__ import annotations

import os

from ..model.values import record
from .layout import FOLDER, LOCAL, Layout, own_place, read_bytes

FETCH_ALL = "fetch the whole history: git fetch --unshallow origin (GitHub: fetch-depth: 0; GitLab: GIT_DEPTH: 0)"
FETCH_FILES = "fetch the missing files: git fetch --refetch --no-filter origin"
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
                os.path.join(own, read_small(os.path.join(own, "commondir")))
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
    link = read_small(path)
    if not link.startswith("gitdir:"):
        return ""
    return os.path.normpath(
        os.path.join(os.path.dirname(path), link.removeprefix("gitdir:").strip())
    )


def read_small(path: str) -> str:
    """Return the text of HEAD, a branch or another small file of git; empty if it cannot be read."""
    try:
        return read_bytes(path)[:MAX_REF_BYTES].decode("utf-8", "replace").strip()
    except OSError:
        return ""


# Name the folder of this machine's records. Records in git's own folder are shared by all work
# trees, and outlive `git worktree remove`, `git stash --all` and `git clean -x`.

PLACE = "rawkomem"  # below git's common folder; below it, paths are as in the work tree
# .rawko folder, inode and mode of `.git` beside it → folder of records
_bases: dict[tuple[str, int, int], str] = {}


def kept_folder(layout: Layout) -> str:
    """Return this user's folder of records: in git's common folder or, without git, the local folder."""
    if layout.elsewhere:
        return layout.elsewhere
    try:
        seen = os.lstat(os.path.join(layout.project, ".git"))
        key = (layout.root, seen.st_ino, seen.st_mode)
    except OSError:
        key = (layout.root, 0, 0)
    if key not in _bases:
        _bases[key] = _kept_base(layout)
    folder = os.path.dirname(_bases[key])
    if os.path.realpath(folder) != folder:  # somebody put a link there meanwhile
        return own_place(os.path.join(layout.root, LOCAL))
    return own_place(_bases[key])


def _kept_base(layout: Layout) -> str:
    git = find_git(layout.project)
    if git and _leads_back(git):
        common = os.path.realpath(git.common)
        inside = os.path.relpath(os.path.realpath(layout.project), git.tree)
        folder = os.path.normpath(os.path.join(common, PLACE, inside, FOLDER))
        if os.path.realpath(folder) == folder:
            return os.path.join(folder, LOCAL)
    return os.path.join(layout.root, LOCAL)


def other_checkouts(layout: Layout) -> list[Layout]:
    """Return the repositories at the same place in the other work trees of git."""
    git = find_git(layout.project)
    if git is None or not _leads_back(git):
        return []
    inside = os.path.relpath(os.path.realpath(layout.project), git.tree)
    linked = os.path.join(git.common, "worktrees")
    links = [git.common]  # of the main work tree; a bare repository has none
    for name in sorted(os.listdir(linked)) if os.path.isdir(linked) else ():
        own = os.path.join(linked, name)
        links.append(os.path.join(own, read_small(os.path.join(own, "gitdir"))))
    trees = [os.path.dirname(os.path.normpath(link)) for link in links]
    return [
        Layout(os.path.normpath(os.path.join(tree, inside, FOLDER)))
        for tree in map(os.path.realpath, trees)
        if tree != git.tree
        and (other := find_git(tree))
        and (other.tree, os.path.realpath(other.common))
        == (tree, os.path.realpath(git.common))
        and os.path.isdir(os.path.join(tree, inside, FOLDER))
    ]


def _leads_back(git: GitDir) -> bool:
    """Return whether a git folder belongs to its work tree: the `.git` file of a stranger can name any git folder."""
    link = os.path.join(git.tree, ".git")
    own = os.path.realpath(git.own)
    common = os.path.realpath(git.common)
    if own == link:
        return common == own
    if os.path.dirname(own) == os.path.join(common, "worktrees"):
        back = read_small(os.path.join(own, "gitdir"))
        wanted = link
    else:  # a submodule: its settings name its work tree
        settings = read_small(os.path.join(own, "config")).partition("worktree =")[2]
        back = settings.partition("\n")[0].strip()
        wanted = git.tree
        if common != own:
            return False
    return bool(back) and os.path.realpath(os.path.join(own, back)) == wanted


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
