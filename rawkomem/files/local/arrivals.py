"""How entries came onto this machine: a local append-only file that our own writer keeps, a line for each entry.

What an entry says about its source is its own word; this file is ours. The first line holds the file's own inode, so
that one that came with a clone or an archive is nobody's and counts for nothing.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..layout import Layout


def arrivals_file(layout: Layout) -> str:
    """Where it lies: local, git-ignored."""
    return os.path.join(layout.local, "arrivals.tsv")


def note_arrivals(layout: Layout, ids: Iterable[str], how: str) -> None:
    """Append a line for each entry; the caller holds the repository lock.

    Best effort: the entries are on disk, and without a note they are believed less.
    """
    lines = "".join(f"{id}\t{how}\n" for id in ids if id.isprintable())
    file = arrivals_file(layout)
    try:
        if not _is_ours(file):
            _start(file)
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, lines.encode())
        finally:
            os.close(descriptor)
    except OSError:
        pass


class Arrivals:
    """Looks entries up in the file as it is now. It is searched, not parsed: a question is about a few of many."""

    def __init__(self, layout: Layout):
        self._data = b""
        try:
            with open(arrivals_file(layout), "rb") as stream:
                data = stream.read()
                if data.startswith(_head(os.fstat(stream.fileno()).st_ino)):
                    self._data = data
        except OSError:
            pass

    def of(self, id: str) -> str:
        """How an entry arrived; empty when nobody noted it. The first note counts: an entry arrives once."""
        begin = f"\n{id}\t".encode()
        at = self._data.find(begin)
        end = self._data.find(b"\n", at + len(begin))
        return self._data[at + len(begin) : end].decode("utf-8", "replace") if 0 <= at < end else ""


def _head(inode: int) -> bytes:
    return f"arrivals of the file {inode}\n".encode()


def _is_ours(file: str) -> bool:
    try:
        with open(file, "rb") as stream:
            return not os.path.islink(file) and stream.readline(100) == _head(os.fstat(stream.fileno()).st_ino)
    except OSError:
        return False


def _start(file: str) -> None:
    """Put an empty file of our own in the place."""
    os.makedirs(os.path.dirname(file), exist_ok=True)
    temporary = f"{file}.{os.getpid()}"
    with open(temporary, "wb") as stream:
        stream.write(_head(os.fstat(stream.fileno()).st_ino))
    os.replace(temporary, file)
