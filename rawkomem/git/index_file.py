"""Read git's index file without running git: tracked paths, their blobs, and which of them are not checked out."""

from __future__ import annotations

import os

from ..model.record import record
from .head import find_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_INDEX_BYTES = 16 * 1024 * 1024  # about 150,000 files; a larger index would delay a prompt
ENTRY_HEADER_BYTES = 62  # before the path: times, device, mode, owner, size (40), blob (20), flags (2)
EXTENDED, SKIPPED = 0x4000, 0x40  # flags: two more bytes of flags follow; in the first of these: not checked out
FOLDER, SUBMODULE = 0o040000, 0o160000  # modes of entries that are not files
TYPE_MASK = 0o170000


@record
class Tracked:
    """One entry of the index; its path is relative to the project."""

    path: str
    blob: str
    mode: int
    skipped: bool
    changed: int  # when the file on disk was last written or moved, as git saw it, in seconds


class TrackedFiles:
    """The tracked files of a project, with paths relative to the project. Empty without git."""

    def __init__(self, project: str):
        self.project = project
        self.entries: list[Tracked] = []
        git = find_git(project)
        if git:
            inside = os.path.relpath(os.path.realpath(project), os.path.realpath(git.tree)).replace(os.sep, "/")
            prefix = "" if inside == "." else inside + "/"
            self.entries = _read(os.path.join(git.own, "index"), os.fsencode(prefix))

    def holding(self, blob: str) -> list[str]:
        """Return the paths whose blob id starts with `blob`."""
        return [entry.path for entry in self.entries if entry.blob.startswith(blob)]

    def why_absent(self, path: str) -> str:
        """Return why a tracked file is not checked out; empty if it should be on disk."""
        for entry in self.entries:
            around = path.startswith(entry.path.rstrip("/") + "/")
            if around and entry.mode & TYPE_MASK == SUBMODULE and not self._is_checked_out(entry.path):
                return f"the submodule {entry.path} is not checked out"
            if (entry.path == path or (around and entry.mode & TYPE_MASK == FOLDER)) and entry.skipped:
                return "not checked out here (sparse checkout)"
        return ""

    def _is_checked_out(self, submodule: str) -> bool:
        return os.path.lexists(os.path.join(self.project, *submodule.split("/"), ".git"))


def _read(file: str, prefix: bytes) -> list[Tracked]:
    try:
        with open(file, "rb") as stream:
            data = stream.read(MAX_INDEX_BYTES + 1)
        return list(_entries(data, prefix)) if len(data) <= MAX_INDEX_BYTES and data[:4] == b"DIRC" else []
    except (OSError, ValueError, IndexError):  # no index yet, or a repository with other hashes
        return []


def _entries(data: bytes, prefix: bytes) -> Iterator[Tracked]:
    """Yield the entries below `prefix` of an index of version 2, 3 or 4 (which compresses paths)."""
    version, count = int.from_bytes(data[4:8]), int.from_bytes(data[8:12])
    at, path = 12, b""
    for _ in range(count):
        more = 2 if int.from_bytes(data[at + 60 : at + 62]) & EXTENDED else 0
        start = at + ENTRY_HEADER_BYTES + more
        kept = b""
        if version == 4:
            strip, start = _number(data, start)
            kept = path[: len(path) - strip]
        end = data.index(b"\0", start)
        path = kept + data[start:end]
        skipped = bool(more and data[at + ENTRY_HEADER_BYTES] & SKIPPED)
        mode = int.from_bytes(data[at + 24 : at + 28])
        if path.startswith(prefix):
            changed = int.from_bytes(data[at : at + 4])
            yield Tracked(os.fsdecode(path[len(prefix) :]), data[at + 40 : at + 60].hex(), mode, skipped, changed)
        at = end + 1 if version == 4 else at + ((end - at + 8) & ~7)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number with seven bits per byte, as pack files store offsets, and the position after it."""
    byte = data[at]
    value = byte & 127
    while byte & 128:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 127)
    return value, at + 1
