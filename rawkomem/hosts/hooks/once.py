"""Whether a call is the first of its kind: hosts read each other's settings, so the same hook may run twice at once.

A local file remembers for half a minute what was answered. It is written under a lock, so of any number of processes
exactly one is the first; where it cannot be written, everybody is: twice the same context is better than none.
"""

from __future__ import annotations

import os
import time
from binascii import crc32  # hashlib takes longer to load than all of this

from ...files.lock import Lock
from ...model.errors import RawkoError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout

SHORT = 30.0  # seconds: copies of a hook start together, a person who says the same again takes longer
WAIT = 1.0  # seconds for the lock, which is held for less than a millisecond
MOST = 200  # calls remembered


def is_first(layout: Layout, *what: str) -> bool:
    """Whether nobody said the same within the last half minute; saying so is remembered."""
    key = _key("\0".join(what).encode("utf-8", "replace"))
    try:
        with Lock(os.path.join(layout.local, "hooks.lock"), WAIT):
            return _remember(os.path.join(layout.local, "hooks.seen"), key, time.time())
    except (RawkoError, OSError):
        return True


def _remember(file: str, key: str, at: float) -> bool:
    seen = _seen(file, at)
    if key in seen:
        return False
    lines = [*(f"{when:.3f} {one}\n" for one, when in seen.items()), f"{at:.3f} {key}\n"]
    with open(file, "w", encoding="utf-8") as stream:
        stream.writelines(lines[-MOST:])
    return True


def _seen(file: str, at: float) -> dict[str, float]:
    """What was said lately. A time that lies ahead is no time: somebody set the clock back."""
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            pairs = [line.split() for line in stream.read(MOST * 100).splitlines()]
    except OSError:
        return {}
    times = {pair[1]: _number(pair[0]) for pair in pairs if len(pair) == 2}
    return {key: when for key, when in times.items() if 0 <= at - when < SHORT}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _key(data: bytes) -> str:
    """Two checksums and the length: a chance meeting within half a minute costs one block of context."""
    return f"{crc32(data):08x}{crc32(data[::-1]):08x}-{len(data):x}"
