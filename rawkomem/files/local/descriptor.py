"""Lock an open file with the operating system's function."""

from __future__ import annotations

import os


def try_lock(descriptor: int) -> bool:
    """Lock an open file exclusively; return False if another process holds it."""
    try:
        _take(descriptor)
        return True
    except OSError:
        return False


if os.name == "nt":
    import msvcrt

    def _take(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

    def drop_lock(descriptor: int) -> None:
        """Release the lock of an open file."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]

else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def drop_lock(descriptor: int) -> None:
        """Release the lock of an open file."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)
