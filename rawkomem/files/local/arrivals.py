"""Record how entries arrived on this machine: one line per entry in `.rawko/local/arrivals.tsv`.

An entry can claim any source, but it cannot write this file. The first line holds the file's inode, so that a file
from a clone or an archive does not count.
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


def note_arrivals(layout: Layout, ids: Iterable[str], how: str) -> None:
    """Append a line for each entry; a failure is ignored, and entries without a line are trusted less."""
    try:
        if not _own_data(layout, MAX_HEAD_BYTES):
            _start(layout)
        LineFile(local_path(layout, FILE_NAME)).append(*(f"{id}\t{how}" for id in ids if id.isprintable()))
    except (OSError, RawkoError):
        pass


class Arrivals:
    """Looks entries up by searching the file, without parsing it: callers ask about a few of many."""

    def __init__(self, layout: Layout):
        self._data = _own_data(layout)

    def of(self, id: str) -> str:
        """Return how an entry arrived, by its first note; empty if there is none."""
        begin = f"\n{id}\t".encode()
        at = self._data.find(begin)
        end = self._data.find(b"\n", at + len(begin))
        return self._data[at + len(begin) : end].decode("utf-8", "replace") if 0 <= at < end else ""


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
