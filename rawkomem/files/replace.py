"""Replace and remove files atomically: memory files together, files of other programs, generated
pages.

After a kill each file is either old or new. A failure before the first rename leaves all files old.
If a later rename fails, the earlier renames are undone.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from itertools import groupby

from ..model.errors import BadInput, Refused, Unwritable
from ..model.values import record
from .layout import MAX_FILE_BYTES, Layout, explained, read_bytes
from .private import local_path, make_private_folder, open_private, write_all

TEMPORARY_FOLDER = "tmp"  # below .rawko/local
TEMPORARY_SUFFIX = ".writing"  # of our temporary files; cleanup removes no other file


class ChangedMeanwhile(Refused):
    """Another program saved a file between our read and our rename; nothing was changed."""


class Replacing:
    """Files of a repository, by their paths below .rawko, that a caller with the write lock replaces or removes.

    `warn` is called if a folder cannot be synced: the files have their new bytes by then, so this is no failure.
    Without `warn`, `finish` raises Unwritable.
    """

    def __init__(self, layout: Layout, warn: Callable[[str], None] | None = None):
        self.layout = layout
        self._warn = warn
        self._before: dict[str, bytes | None] = {}
        self._new: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """Return the new bytes of a file if they are set, else its current bytes; None if it does not exist."""
        if path in self._new:
            return self._new[path]
        with explained(f"cannot read {path}", "check its permissions and the disk"):
            self._before[path] = _bytes_or_none(self.layout.path(path))
        return self._before[path]

    def put(self, path: str, data: bytes | None) -> None:
        """Set the new bytes of a file, or None to remove it. Raise Refused if a link leads out of the repository."""
        refuse_links(self.layout, os.path.dirname(self.layout.path(path)))
        if path not in self._before:
            self.read(path)
        self._new[path] = data

    def finish(self) -> None:
        """Replace all files in the order of `put`, then remove files; raise Unwritable on an I/O error.

        Each folder is synced before files of the next one follow, so that a text is in its new place before it leaves
        the old one. If another program saved a file since it was read, change nothing and raise ChangedMeanwhile.
        """
        # with new bytes or, for a removal, old ones
        temporaries: dict[str, str] = {}
        done: list[str] = []
        path = ""
        try:
            for number, (path, data) in enumerate(self._new.items()):
                temporaries[path] = self._temporary(number)
                if data is not None:
                    self._write(self.layout.path(path), data, temporaries[path])
            for path in self._new:
                if _bytes_or_none(self.layout.path(path)) != self._before[path]:
                    raise ChangedMeanwhile(
                        f"{path} changed while we rewrote it",
                        "close the program that saves it, then try again",
                    )
            for (removing, folder), paths in groupby(
                sorted(self._new, key=self._removes),
                lambda path: (self._removes(path), os.path.dirname(path)),
            ):
                for path in paths:
                    ends = (self.layout.path(path), temporaries[path])
                    os.replace(*(ends if removing else ends[::-1]))
                    done.append(path)
                self._sync(folder)
        except OSError as failure:
            left = [one for one in done if not self._take_back(one, temporaries[one])]
            if left:
                also = f"; these files were changed already: {', '.join(left)}"
            else:
                also = ""
            raise Unwritable(
                f"cannot write {path}: {failure.strerror}{also}",
                "check permissions and free space",
            ) from None
        finally:
            remove_leftovers(self.layout)

    def _removes(self, path: str) -> bool:
        return self._new[path] is None

    def _take_back(self, path: str, temporary: str) -> bool:
        """Restore a file's old bytes; return whether that worked."""
        before = self._before[path]
        file = self.layout.path(path)
        try:
            if before is None:
                os.unlink(file)
            else:
                if not self._removes(path):
                    _write_durably(temporary, before, file)
                os.replace(temporary, file)
        except OSError:
            return False
        return True

    def _sync(self, folder: str) -> None:
        try:
            sync_folder(self.layout.path(folder))
        except OSError as failure:
            message = f"a crash of the machine may still undo the change in {folder}: {failure.strerror}"
            if self._warn is None:
                raise Unwritable(message, "check the disk") from None
            self._warn(message)

    def _write(self, file: str, data: bytes, temporary: str) -> None:
        folder = os.path.dirname(file)
        make_folder(folder)
        if not os.access(folder, os.W_OK):
            # before the first rename, not after it
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        _write_durably(temporary, data, file)

    def _temporary(self, number: int) -> str:
        path = local_path(
            self.layout, f"{TEMPORARY_FOLDER}/{os.getpid()}-{number}{TEMPORARY_SUFFIX}"
        )
        make_private_folder(os.path.dirname(path))
        return path


def refuse_links(layout: Layout, folder: str) -> None:
    """Raise Refused if a folder is a link out of the repository, or if its path is not a folder."""
    root = os.path.realpath(layout.root) + os.sep
    is_folder = os.path.isdir(folder) or not os.path.lexists(folder)
    if not is_folder or not os.path.realpath(folder).startswith(root):
        raise Refused(
            f"{layout.relative(folder)} is a file, or a link out of the repository",
            "put a folder in its place",
        )


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


def _write_durably(temporary: str, data: bytes, file: str) -> None:
    """Write a temporary file with the permissions of the file that it replaces."""
    with open_private(temporary, "w") as stream:
        write_all(stream, data, durable=True)
        place = stream.fileno() if os.chmod in os.supports_fd else temporary
        os.chmod(place, mode_of(file))


def mode_of(file: str) -> int:
    """Return the permissions of a file; if it does not exist, those of a new file."""
    try:
        return os.stat(file).st_mode & 0o777
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def _bytes_or_none(file: str) -> bytes | None:
    try:
        return read_bytes(file)
    except (FileNotFoundError, NotADirectoryError):
        return None


# Read and replace whole files of other programs; after a kill or on a full disk the old file is
# intact.

GIT_FOLDER = ".git"
# environment variable: 1 allows links out of a project
FOLLOW_LINKS = "RAWKOMEM_FOLLOW_LINKS"
UNFINISHED_PREFIX = ".rawkomem-"  # of our temporary files
NAME_BYTES = 8  # random bytes in the name of a temporary file


def remove_unfinished(folder: str) -> None:
    """Remove the temporary files that killed processes left in a folder. Raises OSError."""
    for name in os.listdir(folder):
        if name.startswith(UNFINISHED_PREFIX):
            os.unlink(os.path.join(folder, name))


def refuse_exit(path: str, folder: str) -> None:
    """Raise Refused if a path below a folder leads out of it, or to git's own files, through a link.

    A path that does not begin with the folder was named by the user, so it may lead anywhere.
    """
    if leads_out(path, folder):
        hint = f"remove the link; or, if you made it, run the command again with {FOLLOW_LINKS}=1 in the environment"
        raise Refused(
            f"{path} leads out of {folder} through a link, to {os.path.realpath(path)}",
            hint,
        )


def is_inside(path: str, folder: str) -> bool:
    """Return whether a path, with its links followed, is a folder or below it."""
    return is_below(os.path.realpath(path), os.path.realpath(folder))


def leads_out(path: str, folder: str) -> bool:
    """Return whether a path below a folder leads out of it, or to git's own files, through a link."""
    named = os.path.abspath(path)
    real = os.path.realpath(path)
    top = os.path.realpath(folder)
    if os.environ.get(FOLLOW_LINKS) == "1":
        return False
    if not is_below(named, os.path.abspath(folder)) and not is_below(named, top):
        return False
    inner = real[len(top.rstrip(os.sep)) :].split(os.sep)
    return not is_below(real, top) or (
        GIT_FOLDER in inner and GIT_FOLDER not in named.split(os.sep)
    )


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or a path below it, as both are written."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def read_whole(path: str, within: str = "") -> bytes | None:
    """Return a file's bytes; None if it does not exist. `within` is a folder that no link may lead out of."""
    if within:
        refuse_exit(path, within)
    hint = "nothing was changed; check permissions"
    with explained(f"cannot read {path}", hint, BadInput):
        data = _bytes_or_none(path)
    if data and len(data) > MAX_FILE_BYTES:
        raise BadInput(
            f"{path} is larger than {MAX_FILE_BYTES >> 20} MiB",
            "nothing was changed; shorten it",
        )
    return data


def replace_whole(
    path: str, data: bytes, executable: bool = False, within: str = "", beside: str = ""
) -> None:
    """Write a file atomically; follow a link and keep its permissions. Raises OSError.

    `within` is a folder that no link may lead out of. `beside` is a folder for the temporary file, on the same disk; a
    file that is written so is read at once and need not survive a crash of the machine.
    """
    if within:
        refuse_exit(path, within)
    file = os.path.realpath(path)
    folder = os.path.dirname(file)
    os.makedirs(folder, exist_ok=True)
    name = f"{UNFINISHED_PREFIX}{os.urandom(NAME_BYTES).hex()}"
    temporary = os.path.join(beside or folder, name)
    try:
        with open(temporary, "xb", opener=_open_for_owner) as stream:
            stream.write(data)
            stream.flush()
            if not beside:
                os.fsync(stream.fileno())
        os.chmod(temporary, mode_of(file) | (0o111 if executable else 0))
        os.replace(temporary, file)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@record
class FileChange:
    """A planned change of another program's file: its content before and after; None: the file does not exist."""

    path: str
    before: bytes | None
    after: bytes | None
    why: str = ""  # for the person: why it changes, or why it does not
    executable: bool = False

    @property
    def is_none(self) -> bool:
        """Return whether the file does not change."""
        return self.before == self.after


def write_change(change: FileChange, within: str) -> None:
    """Write or remove a file, following links that stay in `within`. Raise Refused if it changed since the plan."""
    if read_whole(change.path, within) != change.before:
        raise Refused(
            f"{change.path} was changed meanwhile by another program",
            "run the command again",
        )
    with explained(f"cannot write {change.path}"):
        if change.after is None:
            os.unlink(os.path.realpath(change.path))
        else:
            replace_whole(change.path, change.after, change.executable, within)
