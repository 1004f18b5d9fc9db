"""Read the changes of a branch: the files of its last commit and of the commit where it started.

Only git's objects are read, not the work tree or git's index, so bare repositories and empty checkouts work, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..files.layout import FOLDER
from ..model.errors import BadInput, NotFound
from ..model.record import record
from .run import Git, GitFailed
from .staged import FILE_MODE, LITERAL_PATHS, Staged
from .worktree import WorkTree

FETCH_ALL = "fetch the whole history: git fetch --unshallow origin (GitHub: fetch-depth: 0; GitLab: GIT_DEPTH: 0)"


@record
class Span:
    """Two commits to compare, and the git runner for them."""

    git: Git
    top: str  # top folder of the work tree; for a bare repository, its folder
    base: str
    head: str


class Branch(Staged):
    """The changes of a branch in one `.rawko` folder, as blobs by path below it."""

    def __init__(self, span: Span, root: str):
        self.span, self.tree = span, WorkTree(span.top, span.git)
        self._root = root + "/"
        self._project = os.path.dirname(root) or "."
        self.now, self.unmerged = self._commit(span.head), []
        self._names, self.parents, self.base = [span.base], [self._commit(span.base)], {}
        self._known = {}
        self.code = self._code_in("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", span.base, span.head)

    def read(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of each blob; raise GitFailed if the clone lacks one."""
        wanted = set(blobs)
        known = super().read(wanted)
        if not wanted <= known.keys():
            raise GitFailed("this clone lacks the contents of files (a partial clone)", "clone it without --filter")
        return known

    def code_file(self, path: str) -> bytes | None:
        """Return a project file's bytes in the last commit; None if it does not exist. `path` is below the project."""
        name = path if self._project == "." else f"{self._project}/{path}"
        listed = self._lines("ls-tree", "-z", "--full-tree", self.span.head, "--", name)
        blobs = [line.split(" ")[2].partition("\t")[0] for line in listed if line.endswith(f"\t{name}")]
        return self.read(blobs[:1]).get(blobs[0]) if blobs and listed[0].startswith(FILE_MODE) else None

    def base_file(self, path: str) -> bytes:
        """Return the bytes of a file below `.rawko` in BASE; empty if it does not exist."""
        blob = self.parents[0].get(path, "")
        return self.read([blob])[blob] if blob else b""

    def authors(self, paths: Iterable[str]) -> list[str]:
        """Return `author<tab>committer` of each commit of the branch that changes one of these files."""
        span = f"{self.span.base}..{self.span.head}"
        form = "--format=%an <%ae>%x09%cn <%ce>"
        names = [self.name(path) for path in paths]
        said = self.tree.git.run(LITERAL_PATHS, "log", "--full-history", form, span, "--", *names)
        return [line for line in said.decode("utf-8", "replace").split("\n") if line]


def branches(folder: str, text: str) -> list[Branch]:
    """Return the changes of `BASE...HEAD`, one Branch for each `.rawko` folder around, in or below a folder.

    With two dots, BASE itself is compared instead of the merge base. Raise NotFound, with a hint what to fetch.
    """
    try:
        span, inside = _span(folder, text)
        names = (name for commit in (span.base, span.head) for name in _folders(span.git, commit))
        roots = sorted({name for name in names if name.rpartition("/")[2] == FOLDER and _is_near(name, inside)})
        return [Branch(span, root) for root in roots]
    except GitFailed as failure:
        raise NotFound(f"git cannot compare {text}: {failure}", failure.hint) from None


def _span(folder: str, text: str) -> tuple[Span, str]:
    dots = "..." if "..." in text else ".."
    base, _, head = text.partition(dots)
    head = head or "HEAD"
    if not base or base.startswith("-") or head.startswith("-"):
        raise BadInput(f"not two commits: {text!r}", "write BASE...HEAD, for instance origin/main...HEAD")
    git = Git(os.path.abspath(folder or os.curdir))
    bare = git.run("rev-parse", "--is-bare-repository").strip() == b"true"
    top = os.fsdecode(git.run("rev-parse", "--absolute-git-dir" if bare else "--show-toplevel")).rstrip("\n")
    inside = "" if bare else os.fsdecode(git.run("rev-parse", "--show-prefix")).rstrip("\n")
    git = Git(top)
    ends = [_commit_of(git, name) for name in (base, head)]
    left_at = ends[0]
    if dots == "..." or dots not in text:
        left_at = git.run("merge-base", *ends, fine=(0, 1)).decode().strip()
        if not left_at:
            raise GitFailed(f"{base} and {head} have no commit in common here", FETCH_ALL)
    return Span(git, top, left_at, ends[1]), inside


def _commit_of(git: Git, name: str) -> str:
    found = git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", fine=(0, 1, 128)).decode().strip()
    if not found:
        branch = name.removeprefix("refs/remotes/").removeprefix("origin/")
        hint = f"fetch it: git fetch origin {branch}"
        if branch == "HEAD":
            hint = "make the first commit"
        elif not git.run("remote"):
            hint = "run 'git branch' to see the branches"
        raise GitFailed(f"there is no commit {name} in this clone", hint)
    return found


def _folders(git: Git, commit: str) -> list[str]:
    listed = git.run("ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree", commit)
    return listed.decode("utf-8", "surrogateescape").split("\0")


def _is_near(root: str, inside: str) -> bool:
    """Tell whether a `.rawko` folder is below the folder where the command runs, or belongs to a folder above it."""
    project = root.removesuffix(FOLDER)
    return root.startswith(inside) or inside.startswith(project)
