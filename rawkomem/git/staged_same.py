"""Find the memories that a commit adds, and exact duplicates among the memories of the commit.

It reads only git's index: it needs no search index and ignores unstaged changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..files.read import read_data
from ..model.entry import Entry, Memory
from ..model.kinds import ACTIVE
from ..model.problem import Problem, error
from ..model.record import record
from ..state.fold import fold
from ..state.lifecycle.dedupe import is_comparable
from ..text.same import identity
from .staged import Staged, is_memory

DUPLICATES = "duplicates"  # the name of this check


@record
class Twins:
    """A memory that a commit adds, and another memory of the commit with exactly the same text."""

    memory: Memory
    other: Memory


class Brought:
    """The memories that a commit adds or rewords; in a merge, those that no parent has."""

    def __init__(self, staged: Staged):
        self.staged = staged
        self._entries: dict[str, tuple[Entry, ...]] = {}
        self._texts: dict[str, bytes] | None = None
        new = [path for path in filter(is_memory, staged.now) if self._is_new(path)]
        known = self._known() if new else []
        digests, ids_before = {entry.digest for entry in known}, {entry.id for entry in known}
        entries = [entry for path in new for entry in self._read(path) if entry.digest not in digests]
        ids = {entry.target: entry.path for entry in entries if entry.creates or entry.kind == "amend"}
        self.created = {entry.id for entry in entries if entry.creates and entry.id not in ids_before}
        self.memories = {memory.id: memory for memory in self._folded(ids) if memory.status == ACTIVE}

    def holds(self, path: str) -> bool:
        """Tell whether the commit contains a file; `path` is below `.rawko`."""
        return path in self.staged.now

    def twins(self) -> list[Twins]:
        """Return each pair of memories with exactly the same text once, sorted by path."""
        found: dict[frozenset[str], Twins] = {}
        for memory in self.memories.values():
            for other in self._candidates(memory):
                if is_same(memory, other):
                    older, newer = sorted(
                        (memory, other), key=lambda one: (one.id in self.created, one.created, one.id)
                    )
                    found.setdefault(frozenset((memory.id, other.id)), Twins(newer, older))
        return sorted(found.values(), key=lambda one: (one.memory.path, one.memory.line))

    def _candidates(self, memory: Memory) -> list[Memory]:
        """Return the other memories in files that contain the longest word of a memory's title and of its text."""
        words = [max(text.split(), key=len, default="").encode().lower() for text in (memory.title, memory.body)]
        paths = [path for path, data in self._lower().items() if all(word in data for word in words)]
        ids = {entry.id: path for path in paths for entry in self._read(path) if entry.creates}
        return [other for other in self._folded(ids) if other.id != memory.id]

    def _folded(self, ids: Mapping[str, str]) -> Iterator[Memory]:
        """Yield the commit's memories with these ids (id → one of its files), folded from all files that name them."""
        for id, own in ids.items():
            name = id.encode().lower()
            paths = {own, *(path for path, data in self._lower().items() if name in data)}
            memory = fold([entry for path in sorted(paths) for entry in self._read(path) if entry.target == id])
            if memory:
                yield memory

    def _lower(self) -> Mapping[str, bytes]:
        """Return path → lower-case bytes of all memory files of the commit."""
        if self._texts is None:
            blobs = {path: self.staged.now[path] for path in filter(is_memory, self.staged.now)}
            contents = self.staged.read(blobs.values())
            self._texts = {path: contents[blob].lower() for path, blob in blobs.items() if blob in contents}
        return self._texts

    def _is_new(self, path: str) -> bool:
        blob = self.staged.now[path]
        return all(parent.get(path) != blob for parent in self.staged.parents)

    def _known(self) -> list[Entry]:
        """Return the entries in the parents' files that this commit changes or moves."""
        left = [(path, parent[path]) for parent in self.staged.parents for path in self.staged.left(parent)]
        blobs = {blob: path for path, blob in left if is_memory(path)}
        contents = self.staged.read(blobs)
        return [e for blob, path in blobs.items() if blob in contents for e in _entries(contents[blob], path)]

    def _read(self, path: str) -> tuple[Entry, ...]:
        if path not in self._entries:
            blob = self.staged.now[path]
            self._entries[path] = _entries(self.staged.read([blob]).get(blob, b""), path)
        return self._entries[path]


def is_same(one: Memory, other: Memory) -> bool:
    """Tell whether two active memories have the same title and text, apart from case and white space."""
    return is_comparable(one, other) and identity(f"{one.title}\n{one.body}") == identity(
        f"{other.title}\n{other.body}"
    )


def problems_of(brought: Brought) -> list[Problem]:
    """Return a Problem for each exact duplicate, with paths from the top of the work tree."""
    return [
        error(
            "duplicate",
            f"{twins.memory.id} says exactly what {twins.other.id} says, in {brought.staged.name(twins.other.path)}",
            f"run 'rawkomem delete {twins.memory.id}', or add what is different about it; then git add",
            twins.memory.line,
            path=brought.staged.name(twins.memory.path),
        )
        for twins in brought.twins()
    ]


def _entries(data: bytes, path: str) -> tuple[Entry, ...]:
    return tuple(read_data(data, path, advice=False).entries)
