"""Recognize a hook call that was already answered: hosts read each other's settings, so a hook may run twice at once.

`.rawko/local/hooks.seen` has a line for each call. It is read and extended under a lock, so that exactly one of several
processes is the first. If it cannot be written, every call counts as the first: twice the context is better than none.
"""

from __future__ import annotations

import time
from binascii import crc32  # hashlib takes longer to load than all of this

from ...files.local.private import LineFile, local_path
from ...files.lock import lock
from ...model.errors import RawkoError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout

CALLS_FILE = "hooks.seen"
WINDOW_S = 30.0  # copies of a hook start together; a person who says the same again takes longer
MAX_FILE_BYTES = 16 * 1024  # about 350 calls


def is_first(layout: Layout, *what: str) -> bool:
    """Tell whether no call said the same within the last half minute, and remember this one."""
    key = _key("\0".join(what).encode("utf-8", "replace"))
    try:
        with lock(layout, "hook-calls"):
            return _remember(LineFile(local_path(layout, CALLS_FILE), MAX_FILE_BYTES), key, time.time())
    except RawkoError:
        return True


def _remember(file: LineFile, key: str, at: float) -> bool:
    """Append a call unless it is among those of the last half minute. A time that lies further ahead is ignored."""
    calls, _ = file.read(_call)
    if any(key == known and -1 < at - when < WINDOW_S for when, known in calls):
        return False
    file.append(f"{at:.3f} {key}")
    return True


def _call(line: str) -> tuple[float, str] | None:
    when, _, key = line.partition(" ")
    try:
        return float(when), key
    except ValueError:
        return None


def _key(data: bytes) -> str:
    """Return two checksums and the length; a collision within half a minute costs one block of context."""
    return f"{crc32(data):08x}{crc32(data[::-1]):08x}-{len(data):x}"
