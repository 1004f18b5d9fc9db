"""Replace and remove files together: write and sync temporary files, rename them, then sync each folder.

After a kill each file is either old or new. A failure before the first rename leaves all files old. If a later rename
fails, the earlier renames are undone.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

from ..model.errors import Refused, Unwritable
from .contents import read_bytes
from .layout import Layout
from .local.private import local_path, open_private, write_all

Stamp = tuple[int, int, int, int]

TEMPORARY_FOLDER = "tmp"  # below .rawko/local
TEMPORARY_SUFFIX = ".writing"  # of our temporary files; cleanup removes no other file


class Replacing:
    """Files that a caller with the write lock is about to replace or remove.

    `warn` is called if a folder cannot be synced: the files have their new bytes by then, so this is no failure.
    Without `warn`, `finish` raises Unwritable.
    """

    def __init__(self, layout: Layout, warn: Callable[[str], None] | None = None):
        self._layout = layout
        self._warn = warn
        self._before: dict[str, tuple[Stamp, bytes] | None] = {}
        self._new: dict[str, bytes | None] = {}

    def read(self, file: str) -> bytes | None:
        """Return the new bytes of a file if they are set, else its current bytes; None if it does not exist."""
        if file in self._new:
            return self._new[file]
        self._before[file] = None
        try:
            stamp = _stamp(file)
            if stamp is None:
                return None
            data = read_bytes(file)
        except FileNotFoundError:
            return None
        except OSError as failure:
            message = f"cannot read {self._layout.relative(file)}: {failure.strerror}"
            raise Unwritable(message, "check its permissions and the disk") from None
        self._before[file] = (stamp, data)
        return data

    def put(self, file: str, data: bytes) -> None:
        """Set the new bytes of a file; call `read` first."""
        self._new[file] = data

    def remove(self, file: str) -> None:
        """Mark a file for removal; call `read` first."""
        self._new[file] = None

    def finish(self) -> set[str]:
        """Replace and remove all files, and return an empty set; raise Unwritable on an I/O error.

        If another program saved some of the files since they were read, change nothing and return those files.
        """
        temporaries: dict[str, str] = {}  # file → its temporary file, with new bytes or, for a removal, old ones
        done: list[str] = []
        where = ""
        try:
            for number, (where, data) in enumerate(self._new.items()):
                temporaries[where] = self._temporary(number) if data is None else self._write(where, data, number)
            meddled = {where for where in self._new if not self._is_unchanged(where)}
            if meddled:
                return meddled
            for where, temporary in temporaries.items():
                os.replace(*((where, temporary) if self._new[where] is None else (temporary, where)))
                done.append(where)
        except OSError as failure:
            name = self._layout.relative(where)
            left = [self._layout.relative(file) for file in done if not self._take_back(file, temporaries[file])]
            also = f"; these files were changed already: {', '.join(left)}" if left else ""
            raise Unwritable(
                f"cannot write {name}: {failure.strerror}{also}", "check permissions and free space"
            ) from None
        finally:
            remove_leftovers(self._layout)
        self._sync_folders()
        return set()

    def _take_back(self, file: str, temporary: str) -> bool:
        """Restore a file's old bytes; return whether that worked."""
        before = self._before[file]
        try:
            if before is None:
                os.unlink(file)
            else:
                if self._new[file] is not None:
                    _write_durably(temporary, before[1], mode_of(file))
                os.replace(temporary, file)
        except OSError:
            return False
        return True

    def _is_unchanged(self, file: str) -> bool:
        """Compare stamp and bytes: the stamp alone misses a save of the same length within one tick of the clock."""
        before, stamp = self._before[file], _stamp(file)
        if before is None or stamp is None:
            return before is None and stamp is None
        return before[0] == stamp and read_bytes(file) == before[1]

    def _sync_folders(self) -> None:
        for folder in {os.path.dirname(file) for file in self._new}:
            try:
                sync_folder(folder)
            except OSError as failure:
                name = self._layout.relative(folder)
                message = f"a crash of the machine may still undo the change in {name}: {failure.strerror}"
                if self._warn is None:
                    raise Unwritable(message, "check the disk") from None
                self._warn(message)

    def _write(self, file: str, data: bytes, number: int) -> str:
        folder = os.path.dirname(file)
        make_folder(folder)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))  # before the first rename, not after it
        temporary = self._temporary(number)
        _write_durably(temporary, data, mode_of(file))
        return temporary

    def _temporary(self, number: int) -> str:
        path = local_path(self._layout, f"{TEMPORARY_FOLDER}/{os.getpid()}-{number}{TEMPORARY_SUFFIX}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path


def refuse_links(layout: Layout, folder: str) -> None:
    """Raise Refused if a folder is a link out of the repository, or if its path is not a folder."""
    root = os.path.realpath(layout.root)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise Refused(f"{layout.relative(folder)} is a link or a file, not a folder", "put a folder in its place")
    if not os.path.realpath(folder).startswith(root + os.sep):
        raise Refused(f"{layout.relative(folder)} is a link out of the repository", "put a folder in its place")


def remove_leftovers(layout: Layout) -> None:
    """Remove all temporary files; ignore errors. None is in use, because the caller holds the write lock."""
    try:
        remove_temporary(temporary_folder(layout))
    except (OSError, Refused):
        pass  # the next writer tries again


def temporary_folder(layout: Layout) -> str:
    """Return the folder of writers' temporary files; raise Refused if it is a link."""
    return os.path.dirname(local_path(layout, f"{TEMPORARY_FOLDER}/{TEMPORARY_SUFFIX}"))


def remove_temporary(folder: str) -> None:
    """Remove our temporary files from a folder; the caller holds the lock of their writers.

    If some cannot be removed, raise the last OSError after the others are removed.
    """
    failed: OSError | None = None
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        try:
            if name.endswith(TEMPORARY_SUFFIX):
                os.unlink(os.path.join(folder, name))
        except FileNotFoundError:
            pass
        except OSError as failure:
            failed = failure
    if failed:
        raise failed


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


def _write_durably(temporary: str, data: bytes, mode: int) -> None:
    with open_private(temporary, "w") as stream:
        write_all(stream, data, durable=True)
        os.chmod(stream.fileno() if os.chmod in os.supports_fd else temporary, mode)


def mode_of(file: str) -> int:
    """Return the permissions of a file; if it does not exist, those of a new file."""
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
    return (stat.st_size, stat.st_mtime_ns, stat.st_ino, stat.st_ctime_ns)
