"""Read the staged files from git's index, and the files of the parent commits; ignore the work tree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..files.layout import AREAS, FOLDER, Layout
from .authorship import read_blobs
from .run import GitFailed
from .worktree import work_tree

LITERAL_PATHS = "--literal-pathspecs"  # so that a folder named `[x]` is not a pattern
MERGED_PREFIX = "GITHEAD_"  # of the environment variables in which git names merged commits for hooks
FILE_MODE = "100"  # prefix of the modes of regular files


class Staged:
    """The index and the parent commits, as blobs by path below `.rawko`; raises GitFailed if there is no work tree."""

    def __init__(self, layout: Layout):
        self.tree = work_tree(layout.project)
        self._root = self.tree.path(layout.root) + "/"
        self._project = self.tree.path(layout.project)
        self.now, self.unmerged = self._index()
        self._names = [name for name in ("HEAD", self._other_side()) if name and self._is_there(name)]
        self.parents = [self._commit(name) for name in self._names]
        self.base = self._merge_base() if len(self.parents) > 1 else {}
        self.code = self._code_in("diff", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "-z")
        self._known: dict[str, bytes] = {}

    @property
    def head(self) -> Mapping[str, str]:
        """Return path → blob of the first parent; empty for the first commit."""
        return self.parents[0] if self.parents else {}

    def changed(self, since: Mapping[str, str] | None = None) -> list[str]:
        """Return the staged paths that are missing or different in another version, by default HEAD."""
        return _differing(self.now, self.head if since is None else since)

    def left(self, version: Mapping[str, str]) -> list[str]:
        """Return the paths of a version whose staged file is different or missing."""
        return _differing(version, self.now)

    def name(self, path: str) -> str:
        """Return a path below `.rawko` as a path from the top of the work tree."""
        return self._root + path

    def read(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Return blob → bytes, also of blobs that were read before; blobs that git lacks are missing."""
        wanted = [blob for blob in dict.fromkeys(blobs) if blob not in self._known]
        self._known |= dict(read_blobs(self.tree.git, wanted)) if wanted else {}
        return self._known

    def code_file(self, path: str) -> bytes | None:
        """Return the bytes of a staged project file; None if it is not staged. `path` is below the project."""
        name = path if self._project == "." else f"{self._project}/{path}"
        listed = self._lines(LITERAL_PATHS, "ls-files", "-s", "-z", "--", name)
        exact = [line.split(" ")[1] for line in listed if line.endswith(f"\t{name}") and line.startswith(FILE_MODE)]
        return self.read(exact[:1]).get(exact[0]) if exact else None

    def _index(self) -> tuple[dict[str, str], list[str]]:
        found: dict[str, str] = {}
        unmerged: dict[str, None] = {}
        for facts, path in self._listed(LITERAL_PATHS, "ls-files", "-s", "-z", "--", self._root):
            mode, blob, stage = facts.split(" ")
            if stage != "0":
                unmerged[path] = None
            elif mode.startswith(FILE_MODE):
                found[path] = blob
        return found, list(unmerged)

    def _commit(self, name: str) -> dict[str, str]:
        listed = self._listed("ls-tree", "-r", "-z", "--full-tree", name, "--", self._root)
        return {path: facts.split(" ")[2] for facts, path in listed if facts.startswith(FILE_MODE)}

    def _other_side(self) -> str:
        """Return the merged commit; during `pre-merge-commit`, only a variable GITHEAD_<commit> names it."""
        named = [name.removeprefix(MERGED_PREFIX) for name in os.environ if name.startswith(MERGED_PREFIX)]
        return "MERGE_HEAD" if self._is_there("MERGE_HEAD") else named[0] if len(named) == 1 else ""

    def _merge_base(self) -> dict[str, str]:
        commit = self.tree.ask("merge-base", *self._names)
        return self._commit(commit) if commit else {}

    def _listed(self, *words: str) -> list[tuple[str, str]]:
        """Return (facts, path below .rawko) of each line that git lists."""
        pairs = (line.split("\t", 1) for line in self._lines(*words) if line)
        return [(facts, path.removeprefix(self._root)) for facts, path in pairs]

    def _lines(self, *words: str) -> list[str]:
        return self.tree.git.run(*words).decode("utf-8", "surrogateescape").split("\0")

    def _is_there(self, name: str) -> bool:
        return bool(self.tree.git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", fine=(0, 1)))

    def _code_in(self, *words: str) -> set[str]:
        """Return the project's paths outside `.rawko` that a git command lists, relative to the project."""
        names = self._lines(*words)
        below = "" if self._project == "." else f"{self._project}/"
        return {name[len(below) :] for name in names if name.startswith(below) and not name.startswith(self._root)}


def staged_layouts(folder: str) -> list[Layout]:
    """Return the repositories with tracked files in the work tree around a folder, because a hook runs at its top."""
    try:
        tree = work_tree(os.path.abspath(folder))
        names = tree.git.run("ls-files", "-z", "--", f":(glob)**/{FOLDER}/**").decode("utf-8", "surrogateescape")
    except GitFailed:
        return []
    paths = [name.split("/") for name in names.split("\0") if name]
    roots = {os.path.join(tree.top, *parts[: parts.index(FOLDER) + 1]) for parts in paths}
    return [Layout(root) for root in sorted(roots) if os.path.isdir(root)]


def _differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return [path for path, blob in one.items() if other.get(path) != blob]


def is_memory(path: str) -> bool:
    """Tell whether a path below `.rawko` is a memory file."""
    name = path.rpartition("/")[2]
    return path.partition("/")[0] in AREAS and name.endswith(".md") and not name.startswith(".")
