"""One exclusive lock file, on every platform. By hand because a core command may not load a locking package for it."""

from __future__ import annotations

import os
import time

from ..model.errors import Busy, Unwritable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

WAIT = 30.0  # seconds; a write takes milliseconds, so longer means that somebody hangs
PAUSE = 0.003  # seconds between tries, however long it takes: with growing pauses, newcomers starve those who wait


class Lock:
    """Held between `with` lines. The kernel drops it when its process dies, so it never goes stale."""

    def __init__(self, path: str, wait: float = WAIT):
        self.path = path
        self.wait = wait
        self.descriptor = -1

    def __enter__(self) -> Lock:
        if not self.acquire(self.wait):
            raise Busy(f"another process holds {self.path}", "try again, or end the process that hangs")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self, wait: float) -> bool:
        """Take the lock within `wait` seconds; False when it stays taken."""
        self._open()
        deadline = time.monotonic() + wait
        while not self._try_current():
            if time.monotonic() >= deadline:
                os.close(self.descriptor)
                self.descriptor = -1
                return False
            time.sleep(PAUSE)
        return True

    def _open(self) -> None:
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as failure:
            raise Unwritable(
                f"cannot write {self.path}: {failure.strerror}", "check permissions and free space"
            ) from None

    def _try_current(self) -> bool:
        """Whether the lock is ours, on the file that has this name now: `local/` may be deleted at any time."""
        if not _try(self.descriptor):
            return False
        try:
            if os.path.samestat(os.fstat(self.descriptor), os.stat(self.path)):
                return True
        except FileNotFoundError:
            pass
        os.close(self.descriptor)
        self._open()
        return False

    def release(self) -> None:
        """Give the lock back."""
        if self.descriptor >= 0:
            _drop(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = -1


if os.name == "nt":
    import msvcrt

    def _try(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            return True
        except OSError:
            return False

    def _drop(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]

else:
    import fcntl

    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            return False

    def _drop(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
