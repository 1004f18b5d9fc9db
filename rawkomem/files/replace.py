"""Replace files together: write and sync all of them beside their places, rename them, then sync each folder once.

A kill leaves every file old or new, and a full disk leaves all of them old.
"""

from __future__ import annotations

import errno
import os

from ..model.errors import Refused, Unwritable
from .contents import read_bytes
from .layout import Layout
from .local.private import local_path, open_local, write_all

Stamp = tuple[int, int, int]

TEMPORARY_FOLDER = "tmp"  # below .rawko/local
TEMPORARY_SUFFIX = ".writing"  # what our own temporary files end with; nothing else is ever cleaned away


class Replacing:
    """Files that are about to be replaced, by a caller that holds the repository lock."""

    def __init__(self, layout: Layout):
        self._layout = layout
        self._before: dict[str, Stamp | None] = {}
        self._new: dict[str, bytes] = {}

    def read(self, file: str) -> bytes | None:
        """Return the current or the new bytes of a file; None if there is no file."""
        if file in self._new:
            return self._new[file]
        self._before[file] = _stamp(file)
        return None if self._before[file] is None else read_bytes(file)

    def put(self, file: str, data: bytes) -> None:
        """Set the new bytes of a file that was read."""
        self._new[file] = data

    def finish(self) -> set[str]:
        """Replace the files and return those that another program saved since they were read: they stay unchanged."""
        written: dict[str, str] = {}
        where = ""
        try:
            for number, (where, data) in enumerate(self._new.items()):
                written[where] = self._write(where, data, number)
            meddled = set()
            for where, temporary in written.items():
                if _stamp(where) != self._before[where]:
                    meddled.add(where)
                else:
                    os.replace(temporary, where)
            for folder in {os.path.dirname(where) for where in written if where not in meddled}:
                sync_folder(folder)
        except OSError as failure:
            name = self._layout.relative(where)
            raise Unwritable(f"cannot write {name}: {failure.strerror}", "check permissions and free space") from None
        finally:
            remove_leftovers(self._layout)
        return meddled

    def _write(self, file: str, data: bytes, number: int) -> str:
        folder = os.path.dirname(file)
        make_folder(folder)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))  # now, and not after the first rename
        name = f"{TEMPORARY_FOLDER}/{os.getpid()}-{number}{TEMPORARY_SUFFIX}"
        _write_durably(self._layout, name, data, mode_of(file))
        return local_path(self._layout, name)


def refuse_links(layout: Layout, folder: str) -> None:
    """Raise Refused for a folder link that leads out of the repository, and for a file in the place of a folder."""
    root = os.path.realpath(layout.root)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise Refused(f"{layout.relative(folder)} is a link or a file, not a folder", "put a folder in its place")
    if not os.path.realpath(folder).startswith(root + os.sep):
        raise Refused(f"{layout.relative(folder)} is a link out of the repository", "put a folder in its place")


def remove_leftovers(layout: Layout) -> None:
    """Remove temporary files, also those of killed writers: the caller holds the lock, so none is in use."""
    try:
        folder = os.path.dirname(local_path(layout, f"{TEMPORARY_FOLDER}/{TEMPORARY_SUFFIX}"))
        names = os.listdir(folder)
    except (OSError, Refused):
        return
    for name in names:
        try:
            if name.endswith(TEMPORARY_SUFFIX):
                os.unlink(os.path.join(folder, name))
        except OSError:
            pass


def make_folder(folder: str) -> None:
    """Create the folder if it is missing, durably: sync its parent."""
    if not os.path.isdir(folder):
        make_folder(os.path.dirname(folder))
        os.makedirs(folder, exist_ok=True)
        sync_folder(os.path.dirname(folder))


def sync_folder(folder: str) -> None:
    """Sync the names in a folder to disk."""
    if os.name == "nt":
        return  # Windows has no folder handles to sync; NTFS journals the rename
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_durably(layout: Layout, name: str, data: bytes, mode: int) -> None:
    with open_local(layout, name, "w") as stream:
        write_all(stream, data, durable=True)
        os.chmod(stream.fileno() if os.chmod in os.supports_fd else local_path(layout, name), mode)


def mode_of(file: str) -> int:
    """Return the permissions of a file, or those that a new one gets."""
    try:
        return os.stat(file).st_mode & 0o777
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def _stamp(file: str) -> Stamp | None:
    try:
        stat = os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (stat.st_size, stat.st_mtime_ns, stat.st_ino)
