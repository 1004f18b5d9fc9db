"""Lock files exclusively, on every platform, without a package that would slow down every command."""

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

PAUSE_S = 0.003  # between tries, however long it takes: with growing pauses, newcomers starve those who wait
FILE_PURPOSES = ("write", "purge", "import", "learn", "lessons", "skills", "lifecycle", "mesh")  # they change files
PURPOSES = {  # purpose → (file, seconds to wait, what the lock protects)
    "write": ("write.lock", 30.0, "every change of Markdown files; a write takes milliseconds"),
    "purge": ("purge.lock", 120.0, "one removal of a text at a time, from its intent to its end"),
    "import": ("import.lock", 30.0, "one import at a time, from reading known sources to writing"),
    "learn": ("learn.lock", 120.0, "one run of learning at a time, from looking for known memories to writing"),
    "lessons": ("lessons.lock", 60.0, "a lesson is looked up and counted, or stored, once"),
    "skills": ("skills.lock", 30.0, "a skill is looked up and counted, or stored, once"),
    "lifecycle": ("life.lock", 120.0, "one consolidation at a time; 10,000 memories take less than this"),
    "mesh": ("mesh.lock", 60.0, "a memory of the mesh API is looked up, then stored"),
    "ledger-spool": ("ledger/spool.lock", 2.0, "appending a line, and putting the file aside; held for microseconds"),
    "ledger-seal": ("ledger/seal.lock", 30.0, "blocks and head of the ledger"),
    "hook-calls": ("hooks.lock", 1.0, "which call of a hook is the first; held for less than a millisecond"),
    "learner": ("heard.lock", 300.0, "one background learner at a time"),
    "sender": ("sinks/sender.lock", 30.0, "one sender of the webhook at a time"),
    "sink-queue": ("sinks/queue.lock", 2.0, "the webhook's queue; held for milliseconds"),
    "index": ("index.lock", 600.0, "every change of the index; a first sync of many files takes minutes"),
    "authors": ("index.lock", 5.0, "authorship in the index: yesterday's authors are better than a late answer"),
    "contextual": ("deep.lock", 0.0, "one process fills in contextual vectors; the others leave it to that one"),
    "contextual-purge": ("deep.lock", 60.0, "removal of kept vectors while nobody fills them in"),
    "lance": ("writing.lock", 600.0, "tables of a LanceDB store"),
    "daily-log": (".rawkomem.lock", 2.0, "the Markdown log of today"),
}


def lock(layout: Layout, purpose: str) -> Lock:
    """Return the lock of a repository for a purpose, not yet taken. Refuse a change of one that is only read."""
    if layout.elsewhere and purpose in FILE_PURPOSES:
        hint = "change it in its own folder, and commit it there"
        raise Refused(f"{layout.project} is a shared source, which is only read", hint)
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
        """Take the lock within so many seconds, or those of its purpose; return False if it stays taken."""
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
        """Tell whether this file still has its name, else close it: `local/` may be deleted at any time."""
        try:
            if os.path.samestat(os.fstat(stream.fileno()), os.stat(self.path)):
                return True
        except FileNotFoundError:
            pass
        stream.close()
        return False

    def release(self) -> None:
        """Give the lock back. A failure is no news: closing the file, or the end of the process, gives it back too."""
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
