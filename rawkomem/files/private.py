"""Open, replace and lock files below `.rawko/local`, only in a folder that this user made here, never
by a link.

A repository can ship any file, also below `.rawko/local`. A local folder is accepted if its file
`.made` contains the secret that the user's config folder stores for the folder's inode. Other
folders are set aside (origin.py). The spool of the ledger is here as well, because a search appends
to it without loading the ledger.
"""

from __future__ import annotations

import os
import time
from errno import ENOENT
from io import FileIO
from stat import S_ISDIR

from ..model.errors import Busy, RawkoError, Refused, Unwritable
from ..model.values import TYPE_CHECKING
from .layout import (
    FILE_MODE,
    FOLDER,
    FOLDER_MODE,
    FOR_OTHERS,
    MARKER,
    SAFE_FLAGS,
    Layout,
    check_own_file,
    drop_lock,
    is_made_here,
    read_secret,
    try_lock,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    T = TypeVar("T")


# Open files below `.rawko/local`: only in a folder that this user made on this machine, never
# through a link.
#
# A repository can ship any file, also below `.rawko/local`. A local folder is accepted if its file
# `.made` contains the secret that the user's config folder stores for the folder's inode. Other
# folders are set aside.

OPEN_FLAGS = {
    "r": os.O_RDONLY,
    "r+": os.O_RDWR,
    "w": os.O_WRONLY | os.O_CREAT,
    "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "a+": os.O_RDWR | os.O_CREAT | os.O_APPEND,
}
GUARDED = (
    f"{os.sep}{FOLDER}{os.sep}local{os.sep}"  # paths that contain this are checked on every use
)
# local folder → its stamp, whether other users must not read its files, its secret
_accepted: dict[str, tuple[tuple[int, ...], bool, str]] = {}


def local_path(layout: Layout, name: str) -> str:
    """Return the path of `name`, with forward slashes, below `.rawko/local`; raise Refused if a folder is a link."""
    path = os.path.join(layout.local, *name.split("/"))
    try:
        guard(path)
    except FileNotFoundError:
        pass
    except OSError as failure:
        raise Refused(
            f"cannot use {path}: {failure.strerror}", "put a folder of your own in its place"
        ) from None
    return path


def open_local(layout: Layout, name: str, mode: str) -> FileIO:
    """Open a file below `.rawko/local`, as open_private does. Raises OSError."""
    return open_private(os.path.join(layout.local, *name.split("/")), mode)


def open_private(path: str, mode: str) -> FileIO:
    """Open a file for bytes, unbuffered; a mode that writes also creates its folder. Raises OSError."""
    private = guard(path, make=mode[0] != "r")
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


def guard(path: str, make: bool = False) -> bool:
    """Check the folders of a path below a local folder; return whether other users must not read files there.

    With `make`, create missing folders. For paths outside local folders, return False. Raises OSError.
    """
    head, found, inner = path.rpartition(GUARDED)
    if not found:
        return False
    folder = head + GUARDED.rstrip(os.sep)
    private = _enter(folder, make)
    for name in inner.split(os.sep)[:-1]:
        folder = os.path.join(folder, name)
        if make and not os.path.lexists(folder):
            os.mkdir(folder, FOLDER_MODE)
        if not S_ISDIR(os.lstat(folder).st_mode):
            raise OSError(0, f"{folder} is a link or a file, not a folder")
    return private


def make_private_folder(folder: str) -> None:
    """Create a local folder, a folder below it, or a folder elsewhere that only the user can read. Raises OSError."""
    guard(os.path.join(folder, ""), make=True)
    os.makedirs(folder, FOLDER_MODE, exist_ok=True)


def _enter(local: str, make: bool) -> bool:
    """Accept a local folder, or set it aside and create another; return whether it is private. Raises OSError."""
    known, stamp = _accepted.get(local), _stamp_of_folder(local)
    if known is None or not stamp or known[0] != stamp:
        there = os.path.lexists(local)
        if not there and not make:
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), local)
        if not there or not is_made_here(local):
            from .origin import install_local  # needed once per repository

            install_local(local)
        secret = read_secret(os.path.join(local, MARKER)).hex()
        known = _accepted[local] = (
            _stamp_of_folder(local),
            not os.lstat(local).st_mode & FOR_OTHERS,
            secret,
        )
    return known[1]


def _stamp_of_folder(local: str) -> tuple[int, ...]:
    """Return numbers that change when an accepted folder or its marker is replaced; empty for a link."""
    try:
        seen = os.lstat(local)
        marker = os.lstat(os.path.join(local, MARKER)) if S_ISDIR(seen.st_mode) else None
    except OSError:
        return ()
    return (seen.st_ino, marker.st_ino, marker.st_ctime_ns) if marker else ()


def seal_of(path: str, inode: int) -> str:
    """Return the text that proves that a file was made here: its inode and, in a local folder, the folder's secret."""
    local = path.rpartition(GUARDED)[0] + GUARDED.rstrip(os.sep)
    return f"{inode} {_accepted[local][2]}" if guard(path) or local in _accepted else str(inode)


def check_private(path: str, suffixes: tuple[str, ...]) -> None:
    """Raise OSError unless, for each suffix, `path + suffix` does not exist or is a file that open_private accepts."""
    private = guard(path)
    for suffix in suffixes:
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


def replace_local(layout: Layout, name: str, data: bytes, durable: bool = False) -> None:
    """Write a file below `.rawko/local` atomically. Raises OSError."""
    replace_private(local_path(layout, name), data, durable)


def write_all(stream: FileIO, data: bytes, durable: bool = False) -> None:
    """Write all bytes; `durable` waits until they are on disk."""
    while data:
        data = data[stream.write(data) :]
    if durable:
        os.fsync(stream.fileno())


class LineFile:
    """An append-only file with one record per line. Its methods turn every OSError into a RawkoError."""

    def __init__(self, path: str, max_bytes: int = 0):
        self.path = path
        self.max_bytes = max_bytes  # a longer file loses its older half; 0: no limit

    def append(self, *lines: str) -> int:
        """Append lines with one write and return the size of the file in bytes."""
        data = _line_bytes(lines)
        with self:
            with open_private(self.path, "a+") as stream:
                size = stream.seek(0, os.SEEK_END)
                if size and stream.seek(size - 1) >= 0 and stream.read(1) != b"\n":
                    data = b"\n" + data  # ends an incomplete line that a crash left
                write_all(stream, data)
            size += len(data)
            if self.max_bytes and size > self.max_bytes:
                self._replace(self._read()[-self.max_bytes // 2 :].partition(b"\n")[2])
        return size

    def replace(self, *lines: str) -> None:
        """Replace all lines atomically; without lines, remove the file."""
        with self:
            self._replace(_line_bytes(lines))

    def lines(self) -> list[str]:
        """Return all lines that are not empty; an empty list if there is no file."""
        with self:
            text = self._read().decode("utf-8", "replace")
        return [line for line in text.split("\n") if line]

    def parsed(self, parse: Callable[[str], T | None]) -> list[T]:
        """Return the parsed lines, without those for which `parse` returns None."""
        return [record for line in self.lines() if (record := parse(line)) is not None]

    def size(self) -> int:
        """Return the size of the file in bytes; 0 if there is none."""
        with self:
            return len(self._read())

    def _replace(self, data: bytes) -> None:
        if data:
            replace_private(self.path, data)
        elif os.path.lexists(self.path):
            guard(self.path)
            os.unlink(self.path)

    def _read(self) -> bytes:
        try:
            with open_private(self.path, "r") as stream:
                return stream.read()
        except FileNotFoundError:
            return b""

    def __enter__(self) -> None:
        """Begin work with the file that reports a failure of the system as Unwritable."""

    def __exit__(self, kind: object, failure: object, trace: object) -> None:
        if isinstance(failure, OSError):
            hint = "check that it is a plain file, its permissions, and free space"
            raise Unwritable(f"cannot use {self.path}: {failure.strerror}", hint) from None


def _line_bytes(lines: tuple[str, ...]) -> bytes:
    """Encode lines; line ends inside a line become spaces."""
    return "".join(line.replace("\n", " ") + "\n" for line in lines).encode("utf-8", "replace")


# Lock files exclusively on every platform; a package for this would slow down every command.

PAUSE_S = 0.003  # between attempts; growing pauses would let newcomers overtake processes that wait
FILE_PURPOSES = (
    "write",
    "purge",
    "import",
    "learn",
    "lessons",
    "skills",
    "lifecycle",
    "mesh",
)  # these change files
PURPOSES = {  # purpose → (file, seconds to wait, what the lock protects)
    "write": ("write.lock", 30.0, "every change of Markdown files; a write takes milliseconds"),
    "purge": ("purge.lock", 120.0, "one purge at a time, from noting its intent to its last step"),
    "import": ("import.lock", 30.0, "one import at a time, from reading known sources to writing"),
    "learn": (
        "learn.lock",
        120.0,
        "one run of learning at a time, from looking for known memories to writing",
    ),
    "lessons": ("lessons.lock", 60.0, "looking up a lesson, then counting or storing it"),
    "skills": ("skills.lock", 30.0, "looking up a skill, then counting or storing it"),
    "lifecycle": (
        "life.lock",
        120.0,
        "one consolidation at a time; 10,000 memories take less than this",
    ),
    "mesh": ("mesh.lock", 60.0, "looking up a memory of the mesh API, then storing it"),
    "ledger-spool": (
        "ledger/spool.lock",
        2.0,
        "appending a line to the spool, or renaming it; held for microseconds",
    ),
    "ledger-seal": ("ledger/seal.lock", 30.0, "blocks and head of the ledger"),
    "hook-calls": (
        "hooks.lock",
        1.0,
        "finding the first of several calls of a hook; held for less than a millisecond",
    ),
    "learner": ("heard.lock", 300.0, "one background learner at a time"),
    "sender": ("sinks/sender.lock", 30.0, "one sender of the webhook at a time"),
    "sink-queue": ("sinks/queue.lock", 2.0, "the webhook's queue; held for milliseconds"),
    "index": (
        "index.lock",
        600.0,
        "every change of the index; a first sync of many files takes minutes",
    ),
    "authors": (
        "index.lock",
        5.0,
        "authorship in the index; on a timeout, the older authorship is used",
    ),
    "contextual": (
        "deep.lock",
        0.0,
        "one process computes contextual vectors; the others do not wait",
    ),
    "worker": ("worker.lock", 0.0, "one background process of the user computes vectors"),
    "lance": ("writing.lock", 600.0, "tables of a LanceDB store"),
    "daily-log": (".rawkomem.lock", 2.0, "the Markdown log of today"),
}


def lock(layout: Layout, purpose: str) -> Lock:
    """Return a repository's lock for a purpose, not yet acquired; raise Refused for changes of a read-only source."""
    if layout.elsewhere and purpose in FILE_PURPOSES:
        hint = "change it in its own folder, and commit it there"
        raise Refused(f"{layout.project} is a shared source and read-only from here", hint)
    file, wait_s, _ = PURPOSES[purpose]
    return Lock(local_path(layout, file), wait_s)


def lock_in(folder: str, purpose: str) -> Lock:
    """Return the lock for a purpose in another folder, such as that of an index in the user's cache."""
    file, wait_s, _ = PURPOSES[purpose]
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
                f"another process holds {self.path}", "try again, or end the process that hangs"
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
        try:
            return open_private(self.path, "a+")
        except OSError as failure:
            hint = "check permissions and free space"
            raise Unwritable(f"cannot write {self.path}: {failure.strerror}", hint) from None

    def _is_current(self, stream: FileIO) -> bool:
        """Tell whether the open file is still the one at the path, else close it: users may delete `local/`."""
        try:
            if os.path.samestat(os.fstat(stream.fileno()), os.stat(self.path)):
                return True
        except FileNotFoundError:
            pass
        stream.close()
        return False

    def release(self) -> None:
        """Release the lock. Ignore errors: closing the file, or the end of the process, releases it, too."""
        stream, self.stream = self.stream, None
        if stream is not None:
            try:
                drop_lock(stream.fileno())
            except OSError:
                pass
            try:
                stream.close()
            except OSError:
                pass


# Append operations to the spool, one line each, in microseconds; ledger.py hashes them into blocks
# later.
#
# The lock is held while lines are appended and while the file is renamed for sealing, so that no
# line is lost.

LEDGER_FOLDER = "ledger"
SPOOL = f"{LEDGER_FOLDER}/spool.tsv"
BATCH_PREFIX = "batch-"  # prefix of spool files that were renamed for sealing
BLANKS = {9: " ", 10: " ", 13: " "}


def ledger_path(layout: Layout, name: str = "") -> str:
    """Return the path of the ledger's folder, or of a file in it."""
    folder = os.path.dirname(local_path(layout, SPOOL))
    return os.path.join(folder, name) if name else folder


def spool_line(operation: str, at: int, agent: str, values: Mapping[str, str]) -> str:
    """Return an operation as one line."""
    said = (f"{key}={value}" for key, value in values.items())
    return "\t".join(part.translate(BLANKS) for part in (operation, str(at), agent, *said))


def append_to_spool(layout: Layout, lines: Iterable[str]) -> int:
    """Append lines and return the size of the file in bytes; 0 if it cannot be written."""
    try:
        with lock(layout, "ledger-spool"):
            return LineFile(local_path(layout, SPOOL)).append(*lines)
    except RawkoError:
        return 0


# Intents: the purges that have not finished (machine_records.py).

INTENTS_FOLDER = "purge"  # below .rawko/local


def any_intents(layout: Layout) -> bool:
    """Tell whether there may be an intent; one stat call, because every command asks."""
    return os.path.isdir(os.path.join(layout.local, INTENTS_FOLDER))
