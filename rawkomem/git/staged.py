"""Read what is staged from git's index, the files of the parent commits, and the lines that a commit adds.

The work tree is ignored.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, cached_property, partial
from unicodedata import normalize

from ..files.check import by_memory
from ..files.layout import AREAS, FOLDER, Layout, is_memory_name
from ..files.reading import Reading, read_data
from ..model.entries import Entry, Memory
from ..model.values import (
    ACTIVE,
    Problem,
    error,
)
from ..state.fold import fold
from ..text.chunks import counted
from ..text.clean import clean
from .authorship import read_blobs
from .runner import FILE_MODE, MAX_NAMED, GitFailed, projects_in, work_tree

# A text without these bytes has no invisible characters.
PLAIN_BYTES = bytes({*range(32, 127), *b"\t\r\n"})
# escapes with which YAML spells a letter, or joins two parts of a word
HIDING = re.compile(
    rb"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[/\r\n])|[\w./@#-]\\[abefv][\w./@#\\-]"
)
# an id with a hash, which stands for another spelling
HASHED_ID = re.compile(r"\b[0-9a-f]{8}(?:#\d+)?$")
PLAIN_WORD = re.compile(r"[\w./@#-]+", re.ASCII)
MAX_WORDS = 500  # for more, all files are parsed, which is quicker
MAX_PARTS = 3  # of a text that is searched: its longest words
Key = tuple[bytes, ...]
# of the environment variables in which git names merged commits for hooks
MERGED_PREFIX = "GITHEAD_"
NOT_CHECKED_OUT = "S"  # mark of a file that a sparse checkout leaves out


class Staged:
    """The index and the parent commits, as blobs by path below `.rawko`; raises GitFailed if there is no work tree."""

    def __init__(self, layout: Layout):
        self.tree = work_tree(layout.project)
        self._root = self.tree.path(layout.root) + "/"
        self._project = self.tree.path(layout.project)
        self._code_in_version = ""  # the index; for a branch, its last commit
        self.now, self.unmerged = self._index()
        names = [
            name
            for name in ("HEAD", self._other_side())
            if name and self._is_there(name)
        ]
        self.parents = [self._commit(name) for name in names]
        common = self.tree.ask("merge-base", *names) if len(names) > 1 else ""
        self.base = self._commit(common) if common else {}
        # before the first commit, the empty tree
        empty = ("hash-object", "-t", "tree", "--stdin")
        against = names[0] if names else self.tree.ask(*empty)
        self._comparing = ["diff-index", "--cached", against]
        self.code = self._code()
        self._known: dict[str, bytes] = {}

    @property
    def head(self) -> Mapping[str, str]:
        """Return path → blob of the first parent; empty for the first commit."""
        return self.parents[0] if self.parents else {}

    def changed(self) -> list[str]:
        """Return the staged paths that are missing or different in HEAD."""
        return _differing(self.now, self.head)

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

    def texts(
        self, paths: Iterable[str], of: Mapping[str, str] | None = None
    ) -> dict[str, bytes]:
        """Return path → bytes of the staged files, or of the version `of`."""
        blobs = {path: (self.now if of is None else of)[path] for path in paths}
        contents = self.read(blobs.values())
        return {
            path: contents[blob] for path, blob in blobs.items() if blob in contents
        }

    @cached_property
    def everything(self) -> dict[str, bytes]:
        """Return path → bytes of all staged memory files."""
        return self.texts(filter(is_memory, self.now))

    @cached_property
    def reading(self) -> Callable[[bytes, str], Reading]:
        """Return a function that parses the bytes of a file, each version of a file once."""
        return cache(partial(read_data, advice=False, secrets=False))

    def entries_in(self, files: Mapping[str, bytes]) -> list[Entry]:
        """Return the entries of some files."""
        read = self.reading
        return [
            entry for path, data in files.items() for entry in read(data, path).entries
        ]

    def entries(
        self, of: Mapping[str, str] | None = None, words: Collection[str] = ()
    ) -> dict[str, list[Entry]]:
        """Return memory id → its entries in the staged memory files, or in those of the version `of`.

        With `words`, skip staged files that cannot hold one of these words or ids.
        """
        if words:
            files = self.holding(words)
        else:
            version = self.now if of is None else of
            files = self.texts(filter(is_memory, version), version)
        return by_memory(self.entries_in(files))

    def holding(self, words: Collection[str]) -> dict[str, bytes]:
        """Return path → bytes of the staged memory files that may hold one of these words, ids or texts."""
        keys = set(map(search_key, words))
        if () in keys or len(keys) > MAX_WORDS:
            return self.everything
        self._search([key for key in keys if key not in self._places])
        found = {path for key in keys for path in self._places[key]}
        return {path: data for path, data in self.everything.items() if path in found}

    def _search(self, keys: Collection[Key]) -> None:
        """Find the files that hold all parts of a key, for each of these keys."""
        self._places.update((key, []) for key in keys)
        for path, text in self._searched if keys else ():
            for key in keys:
                if text is None or all(part in text for part in key):
                    self._places[key].append(path)

    @cached_property
    def _places(self) -> dict[Key, list[str]]:
        """Return key → paths of the staged files that hold it, for the keys that were searched before."""
        return {}

    @cached_property
    def _searched(self) -> list[tuple[str, bytes | None]]:
        """Return (path, text to search) of the staged files."""
        return [(path, searched(data, path)) for path, data in self.everything.items()]

    def memories(self, of: Mapping[str, str] | None = None) -> dict[str, Memory]:
        """Return id → memory of all staged memories, or of those of the version `of`."""
        folded = map(fold, self.entries(of).values())
        return {memory.id: memory for memory in folded if memory}

    def naming(self, words: Collection[str]) -> list[Memory]:
        """Return the active memories of the staged files that may hold one of these words or ids."""
        if not words:
            return []
        folded = map(self.memory, self._fold(self.entries(words=words)))
        return [memory for memory in folded if memory and memory.status == ACTIVE]

    def memory(self, id: str) -> Memory | None:
        """Return a staged memory of any status; None if there is none."""
        self._fold((id,))
        return self._folded[id]

    def _fold(self, ids: Collection[str]) -> Collection[str]:
        """Fold the memories that were not folded before; return their ids."""
        new = [id for id in ids if id not in self._folded]
        about = self.entries(words=new) if new else {}
        for id in new:
            self._folded[id] = fold(about.get(id, ()))
        return ids

    @cached_property
    def _folded(self) -> dict[str, Memory | None]:
        """Return id → memory of the staged memories that were folded before."""
        return {}

    def has_both(self, one: Entry, other: Entry) -> bool:
        """Return whether a parent commit has different memories with the id of these two in both of their files."""
        paths = {one.path, other.path}
        for parent in self.parents:
            there = {
                entry.path: entry.digest
                for entry in self.entries_in(self.texts(paths & parent.keys(), parent))
                if entry.creates and entry.id == one.id
            }
            if paths <= there.keys() and there[one.path] != there[other.path]:
                return True
        return False

    def code_file(self, path: str) -> bytes | None:
        """Return the bytes of a staged project file; None if it is not staged. `path` is below the project."""
        name = self.code_name(path)
        try:
            return self.tree.git.run(
                "cat-file", "blob", f"{self._code_in_version}:{name}"
            )
        except GitFailed:
            return None

    def code_name(self, path: str) -> str:
        """Return a path below the project as a path from the top of the work tree."""
        return path if self._project == "." else f"{self._project}/{path}"

    def code_changes(self, is_wanted: Callable[[str], bool]) -> dict[str, Lines]:
        """Return path → lines of the changed files of the project that are wanted; of a merge, nothing.

        Paths are below the project. Files in `.rawko` folders do not count. A renamed file counts with both names.
        """
        wanted = {
            self.code_name(path): path
            for path in self.code
            if FOLDER not in path.split("/") and is_wanted(path)
        }
        if not wanted or len(self.parents) > 1:
            return {}
        named = ("--", *wanted) if len(wanted) <= MAX_NAMED else ()
        patch = self.tree.git.run(*self._comparing, *PATCH_OPTIONS, *named)
        changes = read_patch(patch.decode("utf-8", "surrogateescape"))
        return {path: changes.get(name, {}) for name, path in wanted.items()}

    def allowed(self) -> list[str]:
        """Return the ids of memories from which commit messages make exceptions; a hook cannot see the message yet."""
        return []

    def _index(self) -> tuple[dict[str, str], list[str]]:
        found: dict[str, str] = {}
        unmerged: dict[str, None] = {}
        for facts, path in self._listed("ls-files", "-s", "-z", "--", self._root):
            mode, blob, stage = facts.split(" ")
            if stage != "0":
                unmerged[path] = None
            elif mode.startswith(FILE_MODE):
                found[path] = blob
        return found, list(unmerged)

    def _commit(self, name: str) -> dict[str, str]:
        listed = self._listed(
            "ls-tree", "-r", "-z", "--full-tree", name, "--", self._root
        )
        return {
            path: facts.split(" ")[2]
            for facts, path in listed
            if facts.startswith(FILE_MODE)
        }

    def _other_side(self) -> str:
        """Return the merged commit; during `pre-merge-commit`, only a variable GITHEAD_<commit> names it."""
        named = [
            name.removeprefix(MERGED_PREFIX)
            for name in os.environ
            if name.startswith(MERGED_PREFIX)
        ]
        if self._is_there("MERGE_HEAD"):
            return "MERGE_HEAD"
        if len(named) == 1:
            return named[0]
        return ""

    def _listed(self, *words: str) -> list[tuple[str, str]]:
        """Return (facts, path below .rawko) of each line that git lists."""
        pairs = (line.split("\t", 1) for line in self.tree.git.names(*words))
        return [(facts, path.removeprefix(self._root)) for facts, path in pairs]

    def _is_there(self, name: str) -> bool:
        return bool(
            self.tree.ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        )

    def _code(self) -> set[str]:
        """Return the changed paths of the project outside `.rawko`, relative to the project."""
        options = ("--name-only", "--no-renames", "-z")
        names = self.tree.git.names(*self._comparing, *options)
        below = "" if self._project == "." else f"{self._project}/"
        return {
            name[len(below) :]
            for name in names
            if name.startswith(below) and not name.startswith(self._root)
        }


# number → text after a `+` (an added line) or a blank (a line next to one)
Lines = dict[int, str]
# one list item for each part of the patch; a repository must not name programs for this
PATCH_OPTIONS = (
    "--patch-with-raw",
    "-z",
    "-U1",
    "-M",
    "-l1000",
    "--diff-filter=AMR",
    "--ignore-submodules",
    "--no-ext-diff",
    "--no-textconv",
)
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def read_patch(text: str) -> dict[str, Lines]:
    """Return path → lines from git's list of changed files and their patch; a binary file has no lines."""
    listed, _, patch = text.partition("\0\0")
    fields = filter(None, listed.split("\0"))
    # a renamed file has two names
    names = [[next(fields) for _ in range(1 + (" R" in one))][-1] for one in fields]
    changes: dict[str, Lines] = {name: {} for name in names}
    following = iter(changes.values())
    lines: Lines = {}
    number = old = new = 0  # of the next line; lines of the hunk that are still to come
    for line in patch.split("\n"):
        sign = line[:1]
        if old + new > 0 and sign != "\\":
            old -= sign != "+"
            new -= sign != "-"
            if sign != "-":
                lines[number] = line
                number += 1
        elif found := HUNK.match(line):
            old, number, new = (int(one or 1) for one in found.groups())
        elif line.startswith("diff --git "):
            lines = next(following)
    return changes


def staged_layouts(folder: str) -> list[Layout] | None:
    """Return the projects in the work tree around a folder that have staged changes; None if it has no project."""
    try:
        tree = work_tree(os.path.abspath(folder))
        projects = projects_in(tree)
        against = tree.ask("rev-parse", "-q", "--verify", "HEAD")
        against = against or tree.ask("hash-object", "-t", "tree", "--stdin")
        words = ("diff-index", "--cached", "--name-only", "--no-renames", "-z")
        changed = tree.git.names(*words, against)
    except GitFailed:
        return None
    touched = []
    for project in projects:
        inside = tree.path(project.project)
        start = "" if inside == "." else f"{inside}/"
        if any(name.startswith(start) for name in changed):
            touched.append(project)
    return touched if projects else None


def missing_files(layout: Layout) -> list[Problem]:
    """Return a Problem for each folder of memories whose tracked files are not checked out; empty without git."""
    try:
        tree = work_tree(layout.project)
        root = tree.path(layout.root) + "/"
        listed = tree.git.names("ls-files", "-t", "-z", "--", root)
    except GitFailed:
        return []
    missing: Counter[str] = Counter()
    is_there = cache(lambda area: os.path.isdir(layout.path(area)))
    for line in listed:
        path = line[2:].removeprefix(root)
        area = path.partition("/")[0]
        if line[0] == NOT_CHECKED_OUT or not is_there(area):
            missing[area] += is_memory(path)
    return [
        error(
            "not-checked-out",
            f"not checked out: {counted(number, 'tracked file')} of {area}/, so entries that no person committed do not count",
            f"run 'git sparse-checkout disable' or 'git restore {root}{area}'",
            path=area,
        )
        for area, number in missing.items()
        if number
    ]


def _differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return [path for path, blob in one.items() if other.get(path) != blob]


def search_key(word: str) -> Key:
    """Return what each file with this word, id or text holds in lower case; empty if the word has no letters."""
    if HASHED_ID.search(word):
        return ()
    key = word.partition("#")[0].lower()
    if PLAIN_WORD.fullmatch(key):
        return (key.encode(),)
    parts = {*re.findall(r"\w+", normalize("NFC", word).lower())}
    longest = sorted(parts, key=lambda part: (-len(part), part))[:MAX_PARTS]
    return tuple(part.encode("utf-8", "replace") for part in longest)


def searched(data: bytes, path: str) -> bytes | None:
    """Return the text of a file for a search: in lower case, without invisible characters, with its path.

    A file without an id has its name as its id. Return None if YAML may spell a word of the file in another way.
    """
    if b"\\" in data and HIDING.search(data):
        return None
    data += b"\n" + os.fsencode(path)
    if data.translate(None, PLAIN_BYTES):
        text = normalize("NFC", clean(data.decode("utf-8", "replace")))
        return text.lower().encode()
    return data.lower()


def is_memory(path: str) -> bool:
    """Return whether a path below `.rawko` is a memory file."""
    return path.partition("/")[0] in AREAS and is_memory_name(path.rpartition("/")[2])
