"""Record how entries arrived on this machine: one line per entry in `.rawko/local/arrivals.tsv`.

An entry can claim any source, but it cannot write this file. A line holds the digest of the entry, so that it stops
counting when somebody edits the entry. The first line holds the file's inode, so that a file from a clone or an archive
does not count.
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
MAX_HEAD_BYTES = 200  # of its first line
PERSON = "person"


def note_arrivals(layout: Layout, arrived: Iterable[tuple[str, str, str]]) -> None:
    """Append a line for each (id, digest, how); a failure is ignored, and entries without a line are trusted less."""
    try:
        if not _own_data(layout, MAX_HEAD_BYTES):
            _start(layout)
        lines = (f"{id}\t{how}\t{digest}" for id, digest, how in arrived if id.isprintable())
        LineFile(local_path(layout, FILE_NAME)).append(*lines)
    except (OSError, RawkoError):
        pass


class Arrivals:
    """Looks entries up by searching the file, without parsing it: callers ask about a few of many."""

    def __init__(self, layout: Layout):
        self._data = _own_data(layout)
        self._lines: frozenset[bytes] = frozenset()

    def knows(self, id: str) -> bool:
        """Return whether anything is noted of an entry: nothing is of most, which came with a commit."""
        return f"\n{id}\t".encode() in self._data

    def of(self, id: str, digest: str) -> str:
        """Return how an entry arrived, by its first note; empty if there is none, or if it said something else then."""
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
        """Return whether a person typed an entry. All lines are taken apart once: a sync asks about many."""
        if not self._lines:
            self._lines = frozenset(self._data.split(b"\n")[:-1])
        return bool(digest) and f"{id}\t{PERSON}\t{digest}".encode() in self._lines


def _own_data(layout: Layout, max_bytes: int = -1) -> bytes:
    """Return the first bytes of the file, or all; none if its first line names another inode."""
    try:
        with open_local(layout, FILE_NAME, "r") as stream:
            data = stream.read(max_bytes)
            return data if data.startswith(_head(layout, stream)) else b""
    except OSError:
        return b""


def _start(layout: Layout) -> None:
    """Create the file with its first line, in place of one that is not ours."""
    path = local_path(layout, FILE_NAME)
    if os.path.lexists(path):
        os.unlink(path)
    with open_local(layout, FILE_NAME, "x") as stream:
        stream.write(_head(layout, stream))


def _head(layout: Layout, stream: FileIO) -> bytes:
    seal = seal_of(local_path(layout, FILE_NAME), os.fstat(stream.fileno()).st_ino)
    return f"arrivals of the file {seal}\n".encode()
