"""Lock files exclusively on every platform; a package for this would slow down every command."""

from __future__ import annotations

import os
import time

from ..model.errors import Busy, Refused, Unwritable
from .local.descriptor import drop_lock, try_lock
from .local.private import local_path, open_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import FileIO

    from .layout import Layout

PAUSE_S = 0.003  # between attempts; growing pauses would let newcomers overtake processes that wait
FILE_PURPOSES = ("write", "purge", "import", "learn", "lessons", "skills", "lifecycle", "mesh")  # these change files
PURPOSES = {  # purpose → (file, seconds to wait, what the lock protects)
    "write": ("write.lock", 30.0, "every change of Markdown files; a write takes milliseconds"),
    "purge": ("purge.lock", 120.0, "one purge at a time, from noting its intent to its last step"),
    "import": ("import.lock", 30.0, "one import at a time, from reading known sources to writing"),
    "learn": ("learn.lock", 120.0, "one run of learning at a time, from looking for known memories to writing"),
    "lessons": ("lessons.lock", 60.0, "looking up a lesson, then counting or storing it"),
    "skills": ("skills.lock", 30.0, "looking up a skill, then counting or storing it"),
    "lifecycle": ("life.lock", 120.0, "one consolidation at a time; 10,000 memories take less than this"),
    "mesh": ("mesh.lock", 60.0, "looking up a memory of the mesh API, then storing it"),
    "ledger-spool": ("ledger/spool.lock", 2.0, "appending a line to the spool, or renaming it; held for microseconds"),
    "ledger-seal": ("ledger/seal.lock", 30.0, "blocks and head of the ledger"),
    "hook-calls": ("hooks.lock", 1.0, "finding the first of several calls of a hook; held for less than a millisecond"),
    "learner": ("heard.lock", 300.0, "one background learner at a time"),
    "sender": ("sinks/sender.lock", 30.0, "one sender of the webhook at a time"),
    "sink-queue": ("sinks/queue.lock", 2.0, "the webhook's queue; held for milliseconds"),
    "index": ("index.lock", 600.0, "every change of the index; a first sync of many files takes minutes"),
    "authors": ("index.lock", 5.0, "authorship in the index; on a timeout, the older authorship is used"),
    "contextual": ("deep.lock", 0.0, "one process computes contextual vectors; the others do not wait"),
    "contextual-purge": ("deep.lock", 60.0, "removing cached vectors while no process computes them"),
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
            raise Busy(f"another process holds {self.path}", "try again, or end the process that hangs")
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
        if stream is None:
            return
        try:
            drop_lock(stream.fileno())
        except OSError:
            pass
        try:
            stream.close()
        except OSError:
            pass
