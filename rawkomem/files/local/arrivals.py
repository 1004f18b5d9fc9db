"""Record how entries arrived on this machine: one line per entry in `.rawko/local/arrivals.tsv`.

An entry can claim any source, but it cannot write this file. A line contains the digest of the entry, so it becomes
invalid when somebody edits the entry. The first line contains the file's inode, so a file that was copied from a clone
or an archive is ignored.
"""

from __future__ import annotations

import os

from ...model.errors import RawkoError
from .private import LineFile, local_path, open_local, seal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from io import FileIO

    from ..layout import Layout

FILE_NAME = "arrivals.tsv"
MAX_HEAD_BYTES = 200  # of the file's first line
PERSON = "person"


def note_arrivals(layout: Layout, arrived: Iterable[tuple[str, str, str]]) -> None:
    """Append a line for each (id, digest, how). Ignore errors: an entry without a line is trusted less."""
    try:
        if not _own_data(layout, MAX_HEAD_BYTES):
            _start(layout)
        lines = (f"{id}\t{how}\t{digest}" for id, digest, how in arrived if id.isprintable())
        LineFile(local_path(layout, FILE_NAME)).append(*lines)
    except (OSError, RawkoError):
        pass


class Arrivals:
    """Looks up entries by searching the file without parsing it: callers ask about few of many entries."""

    def __init__(self, layout: Layout):
        self._data = _own_data(layout)
        self._lines: frozenset[bytes] = frozenset()

    def knows(self, id: str) -> bool:
        """Return whether the file has a line for an entry; it has none for entries that came with a commit."""
        return f"\n{id}\t".encode() in self._data

    def of(self, id: str, digest: str) -> str:
        """Return how an entry with this digest first arrived; empty if there is no line for it."""
        begin = f"\n{id}\t".encode()
        end = f"\t{digest}".encode()
        at = self._data.find(begin)
        while at >= 0:
            stop = self._data.find(b"\n", at + 1)
            line = self._data[at + len(begin) : stop if stop >= 0 else None]
            if digest and stop >= 0 and line.endswith(end):
                return line[: -len(end)].decode("utf-8", "replace")
            at = self._data.find(begin, at + 1)
        return ""

    def by_person(self, id: str, digest: str) -> bool:
        """Return whether a person typed an entry. All lines are split once, because a sync asks about many entries."""
        if not self._lines:
            self._lines = frozenset(self._data.split(b"\n")[:-1])
        return bool(digest) and f"{id}\t{PERSON}\t{digest}".encode() in self._lines


def _own_data(layout: Layout, max_bytes: int = -1) -> bytes:
    """Return the file's first `max_bytes` bytes, or all; empty if its first line names another inode."""
    try:
        with open_local(layout, FILE_NAME, "r") as stream:
            data = stream.read(max_bytes)
            return data if data.startswith(_head(layout, stream)) else b""
    except OSError:
        return b""


def _start(layout: Layout) -> None:
    """Create the file with its first line; remove a file that was not made here."""
    path = local_path(layout, FILE_NAME)
    if os.path.lexists(path):
        os.unlink(path)
    with open_local(layout, FILE_NAME, "x") as stream:
        stream.write(_head(layout, stream))


def _head(layout: Layout, stream: FileIO) -> bytes:
    seal = seal_of(local_path(layout, FILE_NAME), os.fstat(stream.fileno()).st_ino)
    return f"arrivals of the file {seal}\n".encode()
