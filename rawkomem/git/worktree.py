"""Find the work tree, the index and the objects that a hook's environment names.

A hook may run with another index (`git commit FILE`), in a linked work tree, in a submodule, or for a bare repository.
Paths in the environment are relative to the folder where the hook was started, so they are made absolute.
"""

from __future__ import annotations

import os

from ..model.record import record
from .head import find_git
from .run import Git

PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")
ALTERNATES = "GIT_ALTERNATE_OBJECT_DIRECTORIES"  # a list of paths


@record
class WorkTree:
    """A work tree, and the git runner for it."""

    top: str
    git: Git

    def path(self, file: str) -> str:
        """Return the path of a file or folder relative to the top of the work tree, with forward slashes."""
        return os.path.relpath(os.path.realpath(file), os.path.realpath(self.top)).replace(os.sep, "/")

    def ask(self, *words: str) -> str:
        """Return the first line of git's output; empty if git exits with 1 or 128."""
        return self.git.run(*words, fine=(0, 1, 128)).decode("utf-8", "surrogateescape").partition("\n")[0]


def work_tree(folder: str) -> WorkTree:
    """Return the work tree around a folder; raise GitFailed if there is none."""
    given = {name: os.path.abspath(os.environ[name]) for name in PLACES if os.environ.get(name)}
    given |= {ALTERNATES: os.environ[ALTERNATES]} if os.environ.get(ALTERNATES) else {}
    if "GIT_DIR" in given:
        top = _top(Git(os.getcwd(), given=given))
        if _is_of(folder, top):
            return WorkTree(top, Git(top, given={**given, "GIT_WORK_TREE": top}))
        given = {}  # the hook belongs to another repository
    elif given and find_git(os.getcwd()) != find_git(folder):
        given = {}
    top = _top(Git(folder, given=given))
    return WorkTree(top, Git(top, given=given))


def _top(git: Git) -> str:
    return os.fsdecode(git.run("rev-parse", "--show-toplevel")).rstrip("\n")


def _is_of(folder: str, top: str) -> bool:
    """Tell whether a folder is in a work tree, and not in another one inside it, such as a submodule."""
    inside, around = os.path.realpath(folder), os.path.realpath(top)
    innermost = find_git(inside)
    below = around.rstrip(os.sep) + os.sep
    nested = innermost is not None and innermost.tree.startswith(below)
    return (inside == around or inside.startswith(below)) and not nested
