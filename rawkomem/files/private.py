"""Open, replace and lock files below `.rawko/local`, only in a folder that this user made here, never
by a link.

A repository can ship any file, also below `.rawko/local`. A local folder is accepted if the
name of its marker contains the secret that the user's config folder stores for the folder's inode.
Other folders are left alone: this user's files are in a folder beside them.
"""

from __future__ import annotations

import os
import sys
import time
from io import FileIO
from itertools import count
from stat import S_ISDIR

from ..model.errors import Busy, RawkoError, Refused
from .git_folder import kept_folder
from .layout import (
    FILE_MODE,
    FOLDER,
    FOLDER_MODE,
    FOR_OTHERS,
    LOCAL,
    SAFE_FLAGS,
    Layout,
    check_own_file,
    drop_lock,
    explained,
    is_local_name,
    marker_path,
    own_secret,
    read_secret,
    secret_path,
    try_lock,
    user_config,
)

OPEN_FLAGS = {
    "r": os.O_RDONLY,
    "w": os.O_WRONLY | os.O_CREAT,
    "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "a+": os.O_RDWR | os.O_CREAT | os.O_APPEND,
}
RECORDS = "local"  # start of the name of a file of records
SUFFIXES = ("", "-wal", "-shm", "-journal")  # of the files of one SQLite database
ASIDE = ".aside-"  # between the name of a file that was set aside and its number
# to wait for another process that uses the records; a change takes less than a millisecond
BUSY_TIMEOUT_MS = 5_000
NAME_DIGITS = 16  # of the secret, in the name of a database
# folders in the folder of records: texts from an editor, files as they were before a change, talk files
UNSAVED = "unsaved"
SHORTENED = "shortened"
EDITS = "edits"
TALKS = "talks"
KEPT_FOLDERS = (UNSAVED, SHORTENED, EDITS, TALKS)
# paths below a local folder contain this; they are checked on every use
GUARDED = f"{os.sep}{FOLDER}{os.sep}"


def local_path(layout: Layout, name: str) -> str:
    """Return the path of `name`, with forward slashes, below `.rawko/local`; raise Refused if a folder is a link."""
    return _checked_path(layout.local, name)


def kept_path(layout: Layout, name: str) -> str:
    """Return the path of `name`, with forward slashes, in the folder of records; raise Refused if a folder is a link."""
    return _checked_path(kept_folder(layout), name)


def _checked_path(folder: str, name: str) -> str:
    path = os.path.join(folder, *name.split("/"))
    with explained(
        f"cannot use {path}", "put a folder of your own in its place", Refused
    ):
        try:
            guard(path)
        except FileNotFoundError:
            pass
    return path


def open_private(path: str, mode: str) -> FileIO:
    """Open a file for bytes, unbuffered; a mode that writes also creates its folder. Raises OSError."""
    private, _ = guard(path, make=mode[0] != "r")
    try:
        return _open_checked(path, mode, private)
    except FileNotFoundError:
        if mode[0] == "r":
            raise
    os.makedirs(os.path.dirname(path), FOLDER_MODE, exist_ok=True)
    return _open_checked(path, mode, private)


def _open_checked(path: str, mode: str, private: bool) -> FileIO:
    descriptor = os.open(path, OPEN_FLAGS[mode] | SAFE_FLAGS, FILE_MODE)
    try:
        check_own_file(os.fstat(descriptor), private)
        if mode == "w":
            os.ftruncate(descriptor, 0)
        return FileIO(descriptor, mode.replace("x", "w"))
    except OSError:
        os.close(descriptor)
        raise


def guard(path: str, make: bool = False) -> tuple[bool, str]:
    """Check the folders of a path below a local folder; with `make`, create missing ones. Raises OSError.

    Return whether other users must not read files there, and the folder's secret. For paths outside local folders,
    return False and an empty text.
    """
    head, found, inner = path.rpartition(GUARDED)
    name, below, inner = inner.partition(os.sep)
    if not found or not below or not is_local_name(name):
        return False, ""
    local = folder = head + GUARDED + name
    try:
        secret = own_secret(local)
    except FileNotFoundError:
        if not make:
            raise
        secret = b""
    if not secret and make:
        install_local(local)
        secret = own_secret(local)
    if not secret:
        raise FileNotFoundError(0, f"{local} was not made by you on this machine")
    for name in inner.split(os.sep)[:-1]:
        folder = os.path.join(folder, name)
        if make and not os.path.lexists(folder):
            os.mkdir(folder, FOLDER_MODE)
        if not S_ISDIR(os.lstat(folder).st_mode):
            raise OSError(0, f"{folder} is a link or a file, not a folder")
    return not os.lstat(local).st_mode & FOR_OTHERS, secret.hex()


def make_private_folder(folder: str) -> None:
    """Create a local folder, a folder below it, or a folder elsewhere that only the user can read. Raises OSError."""
    guard(os.path.join(folder, ""), make=True)
    os.makedirs(folder, FOLDER_MODE, exist_ok=True)


def seal_of(path: str, inode: int) -> str:
    """Return the text that proves that a file was made here: its inode and, in a local folder, the folder's secret."""
    return f"{inode} {guard(path)[1]}".strip()


def secret_name(folder: str, stem: str, make: bool = False) -> str:
    """Return the path of a database in a local folder; with `make`, create the folder. Raises OSError.

    The name holds a part of the folder's secret: no pull can put a -wal or -journal file beside the database, which
    SQLite would replay.
    """
    start = os.path.join(folder, stem)
    secret = guard(start, make)[1][:NAME_DIGITS]
    return f"{start}-{secret}.db" if secret else f"{start}.db"


def check_private(path: str) -> None:
    """Raise OSError unless a database and the files beside it do not exist or are files that open_private accepts."""
    private, _ = guard(path)
    for suffix in SUFFIXES:
        try:
            check_own_file(os.lstat(path + suffix), private)
        except FileNotFoundError:
            continue


def replace_private(path: str, data: bytes, durable: bool = False) -> None:
    """Write a file atomically; `durable` waits until the bytes are on disk. Raises OSError."""
    temporary = f"{path}.{os.getpid()}.writing"
    with open_private(temporary, "w") as stream:
        write_all(stream, data, durable)
    os.replace(temporary, path)


def replace_kept(layout: Layout, name: str, data: bytes, durable: bool = False) -> None:
    """Write a file in the folder of records atomically. Raises OSError."""
    replace_private(kept_path(layout, name), data, durable)


def write_all(stream: FileIO, data: bytes, durable: bool = False) -> None:
    """Write all bytes; `durable` waits until they are on disk."""
    while data:
        data = data[stream.write(data) :]
    if durable:
        os.fsync(stream.fileno())


def append_log(path: str, line: str, max_bytes: int) -> None:
    """Append a line to a log that a person may read; a longer log loses its older half. Raises OSError."""
    with open_private(path, "a+") as stream:
        size = stream.seek(0, os.SEEK_END)
        write_all(stream, f"{line}\n".encode("utf-8", "replace"))
        if size <= max_bytes:
            return
        stream.seek(size - max_bytes // 2)
        newer = stream.readall().partition(b"\n")[2]
    replace_private(path, newer)


# Lock files exclusively on every platform; a package for this would slow down every command.

# between attempts; growing pauses would let newcomers overtake processes that wait
PAUSE_S = 0.003
# these change files
FILE_PURPOSES = (
    "write",
    "purge",
    "import",
    "learn",
    "lessons",
    "skills",
    "lifecycle",
    "mesh",
)
# purpose → file, seconds to wait
PURPOSES = {
    # every change of Markdown files; a write takes milliseconds
    "write": ("write.lock", 30.0),
    # one purge at a time, from noting its intent to its last step
    "purge": ("purge.lock", 120.0),
    # one import at a time, from reading known sources to writing
    "import": ("import.lock", 30.0),
    # one run of learning at a time, from looking for known memories to writing
    "learn": ("learn.lock", 120.0),
    # looking up a lesson, then counting or storing it
    "lessons": ("lessons.lock", 60.0),
    # looking up a skill, then counting or storing it
    "skills": ("skills.lock", 30.0),
    # one consolidation at a time; 10,000 memories take less than this
    "lifecycle": ("life.lock", 120.0),
    # looking up a memory of the mesh API, then storing it
    "mesh": ("mesh.lock", 60.0),
    # one background learner at a time
    "learner": ("heard.lock", 300.0),
    # one sender of the webhook at a time
    "sender": ("sinks/sender.lock", 30.0),
    # every change of the index; a first sync of many files takes minutes
    "index": ("index.lock", 600.0),
    # authorship in the index; on a timeout, the older authorship is used
    "authors": ("index.lock", 5.0),
    # one process computes contextual vectors; the others do not wait
    "contextual": ("deep.lock", 0.0),
    # one background process of the user computes vectors
    "worker": ("worker.lock", 0.0),
    # tables of a LanceDB store
    "lance": ("writing.lock", 600.0),
    # the Markdown log of today
    "daily-log": (".rawkomem.lock", 2.0),
}


def lock(layout: Layout, purpose: str) -> Lock:
    """Return a repository's lock for a purpose, not yet acquired; raise Refused for changes of a read-only source."""
    if layout.elsewhere and purpose in FILE_PURPOSES:
        hint = "change it in its own folder, and commit it there"
        raise Refused(
            f"{layout.project} is a shared source and read-only from here", hint
        )
    file, wait_s = PURPOSES[purpose]
    return Lock(local_path(layout, file), wait_s)


def lock_in(folder: str, purpose: str) -> Lock:
    """Return the lock for a purpose in another folder, such as that of an index in the user's cache."""
    file, wait_s = PURPOSES[purpose]
    return Lock(os.path.join(folder, file), wait_s)


class Lock:
    """An exclusive lock on a file. The kernel drops it when its process dies, so it never goes stale."""

    def __init__(self, path: str, wait_s: float = 30.0):
        self.path = path
        self.wait_s = wait_s
        self.stream: FileIO | None = None

    def __enter__(self) -> Lock:
        if not self.acquire():
            raise Busy(
                f"another process holds {self.path}",
                "try again, or end the process that hangs",
            )
        return self

    def __exit__(self, *failure: object) -> None:
        self.release()

    def acquire(self, wait_s: float | None = None) -> bool:
        """Acquire the lock; return False if another process still holds it after `wait_s` seconds.

        Without `wait_s`, wait as long as the lock's purpose says.
        """
        stream = self._open()
        deadline = time.monotonic() + (self.wait_s if wait_s is None else wait_s)
        while not try_lock(stream.fileno()) or not self._is_current(stream):
            if stream.closed:
                stream = self._open()
            elif time.monotonic() >= deadline:
                stream.close()
                return False
            else:
                time.sleep(PAUSE_S)
        self.stream = stream
        return True

    def _open(self) -> FileIO:
        with explained(f"cannot write {self.path}"):
            return open_private(self.path, "a+")

    def _is_current(self, stream: FileIO) -> bool:
        """Return whether the open file is still the one at the path, else close it: users may delete `local/`."""
        try:
            if os.path.samestat(os.fstat(stream.fileno()), os.stat(self.path)):
                return True
        except FileNotFoundError:
            pass
        stream.close()
        return False

    def release(self) -> None:
        """Release the lock. Ignore errors: closing the file, or the end of the process, releases it, too."""
        stream = self.stream
        self.stream = None
        if stream is not None:
            try:
                drop_lock(stream.fileno())
            except OSError:
                pass
            try:
                stream.close()
            except OSError:
                pass


SECRET_BYTES = 32
IGNORE_ALL = b"*\n"  # a branch without memories has no .rawko/.gitignore
SECRETS_LOCK = "secret.lock"  # in the user's config folder


def install_local(local: str) -> None:
    """Create a missing local folder; say so if it is beside one of somebody else. Raises OSError.

    A link or another file in its place is renamed.
    """
    with _SecretsLocked():
        if os.path.isdir(local) and not os.path.islink(local):
            return  # made by another process
        if os.path.lexists(local):
            os.rename(local, aside_path(f"{local}.aside-"))
        os.rename(_new_folder(local), local)
    folder, name = os.path.split(local)
    if name != LOCAL:
        other = ascii(os.path.join(folder, LOCAL))[1:-1]
        sys.stderr.write(
            f"rawkomem: {other} was not made by you on this machine and is not used; your own files are in {name}"
            " beside it; for details, run 'rawkomem doctor'\n"
        )


class _SecretsLocked:
    """Allows only one process at a time to make secrets and to replace `.rawko/local`. Raises OSError."""

    def __enter__(self) -> None:
        folder = os.path.dirname(user_config())
        self.lock = Lock(os.path.join(folder, SECRETS_LOCK))
        try:
            self.lock.__enter__()
        except RawkoError as failure:
            advice = "set XDG_CONFIG_HOME to a folder that you can write"
            raise OSError(
                0, f"no secret can be kept in {folder}: {failure.message}; {advice}"
            ) from None

    def __exit__(self, *failure: object) -> None:
        self.lock.release()


def _new_folder(local: str) -> str:
    """Create a folder with a marker next to the path of a local folder; return its path."""
    fresh = f"{local}.{os.urandom(4).hex()}"
    os.makedirs(os.path.dirname(local), exist_ok=True)
    os.mkdir(fresh, FOLDER_MODE)
    kept = secret_path(os.lstat(fresh).st_ino)
    secret = read_secret(kept)
    if not secret:
        secret = os.urandom(SECRET_BYTES)
        replace_private(kept, secret, durable=True)
    replace_private(os.path.join(fresh, ".gitignore"), IGNORE_ALL, durable=True)
    replace_private(marker_path(fresh, secret), b"", durable=True)
    return fresh


def aside_path(start: str) -> str:
    """Return the first free path that consists of `start` and a number."""
    return next(path for n in count(1) if not os.path.lexists(path := f"{start}{n}"))
