"""Open files below `.rawko/local`: only regular files, never through a link, readable by this user only."""

from __future__ import annotations

import os
from io import FileIO
from stat import S_ISREG

from ...model.errors import Refused, Unwritable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from ..layout import Layout

    T = TypeVar("T")

FILE_MODE = 0o600
SAFE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # Windows has neither


def local_path(layout: Layout, name: str) -> str:
    """Return the path of a file below `.rawko/local`; `name` has forward slashes. Refuse a folder that is a link."""
    path = os.path.join(layout.local, *name.split("/"))
    if "/" in name:
        for folder in (layout.local, os.path.dirname(path)):
            if os.path.islink(folder):
                raise Refused(f"{folder} is a link", "put a folder in its place")
    return path


def open_local(layout: Layout, name: str, mode: str) -> FileIO:
    """Open a file below `.rawko/local` as open_private does."""
    return open_private(local_path(layout, name), mode)


def open_private(path: str, mode: str) -> FileIO:
    """Open a file for bytes, unbuffered; a mode that writes also creates its folder. Raises OSError."""
    try:
        return FileIO(path, mode, opener=_open)
    except FileNotFoundError:
        if mode[0] == "r":
            raise
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return FileIO(path, mode, opener=_open)


def _open(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | SAFE_FLAGS, FILE_MODE)
    if S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(0, "it is not a regular file")


def replace_private(path: str, data: bytes, durable: bool = False) -> None:
    """Write a file atomically; `durable` waits until the bytes are on disk. Raises OSError."""
    temporary = f"{path}.{os.getpid()}.writing"
    with open_private(temporary, "w") as stream:
        write_all(stream, data, durable)
    os.replace(temporary, path)


def replace_local(layout: Layout, name: str, data: bytes, durable: bool = False) -> None:
    """Write a file below `.rawko/local` as replace_private does."""
    replace_private(local_path(layout, name), data, durable)


def write_all(stream: FileIO, data: bytes, durable: bool = False) -> None:
    """Write all bytes; `durable` waits until they are on disk."""
    while data:
        data = data[stream.write(data) :]
    if durable:
        os.fsync(stream.fileno())


class LineFile:
    """An append-only file with one record per line. Its methods raise no other errors than RawkoErrors."""

    def __init__(self, path: str, max_bytes: int = 0):
        self.path = path
        self.max_bytes = max_bytes  # a longer file loses its older half; 0: no limit

    def append(self, *lines: str) -> int:
        """Append lines with one write and return the size of the file in bytes."""
        return self._do(lambda: self._append(_bytes(lines)))

    def replace(self, *lines: str) -> None:
        """Write these lines in place of all others, atomically; remove the file if there are none."""
        self._do(lambda: self._replace(_bytes(lines)))

    def lines(self) -> list[str]:
        """Return all lines that are not empty; none if there is no file."""
        text = self._do(self._read).decode("utf-8", "replace")
        return [line for line in text.split("\n") if line]

    def read(self, parse: Callable[[str], T | None]) -> tuple[list[T], int]:
        """Return what `parse` returns for each line, and how many lines were skipped because it returned None."""
        found = [parse(line) for line in self.lines()]
        records = [record for record in found if record is not None]
        return records, len(found) - len(records)

    def size(self) -> int:
        """Return the size of the file in bytes; 0 if there is none."""
        return os.stat(self.path).st_size if os.path.exists(self.path) else 0

    def _append(self, data: bytes) -> int:
        with open_private(self.path, "a+") as stream:
            size = stream.seek(0, os.SEEK_END)
            if size and stream.seek(size - 1) >= 0 and stream.read(1) != b"\n":
                data = b"\n" + data  # ends a line that a crash has torn
            write_all(stream, data)
        size += len(data)
        if self.max_bytes and size > self.max_bytes:
            self._replace(self._read()[-self.max_bytes // 2 :].partition(b"\n")[2])
        return size

    def _replace(self, data: bytes) -> None:
        if data:
            replace_private(self.path, data)
        elif os.path.lexists(self.path):
            os.unlink(self.path)

    def _read(self) -> bytes:
        try:
            with open_private(self.path, "r") as stream:
                return stream.read()
        except FileNotFoundError:
            return b""

    def _do(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except OSError as failure:
            hint = "check that it is a plain file, its permissions, and free space"
            raise Unwritable(f"cannot use {self.path}: {failure.strerror}", hint) from None


def _bytes(lines: tuple[str, ...]) -> bytes:
    """Encode lines, each with its line end and with no other."""
    return "".join(line.replace("\n", " ") + "\n" for line in lines).encode("utf-8", "replace")
