"""Recognize a hook call that was already answered: hosts read each other's settings, so a hook may run twice at once.

`.rawko/local/hooks.seen` has a line for each call. It is read and extended under a lock, so that exactly one of several
processes is the first. If it cannot be written, every call is answered: duplicate memories are better than none.
"""

from __future__ import annotations

import time

from ...files.local.private import LineFile, local_path
from ...files.local.told import checksum
from ...files.lock import lock
from ...model.errors import RawkoError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout

CALLS_FILE = "hooks.seen"
WINDOW_S = 30.0  # equal calls within this time are one call, if they hold a prompt id or the state of a transcript
COPIES_S = 1.5  # the same for calls with neither: copies start together, and a person needs longer to repeat a prompt
MAX_FILE_BYTES = 16 * 1024  # about 350 calls


def is_first(layout: Layout, *what: str, within_s: float = WINDOW_S) -> bool:
    """Tell whether no equal call came within the last `within_s` seconds, and record this one."""
    key = checksum(*what)
    try:
        with lock(layout, "hook-calls"):
            return _remember(LineFile(local_path(layout, CALLS_FILE), MAX_FILE_BYTES), key, time.time(), within_s)
    except RawkoError:
        return True


def _remember(file: LineFile, key: str, at: float, within_s: float) -> bool:
    """Append a call and return True, or return False if it is among those of the last seconds.

    Calls with a time of more than a second in the future are ignored.
    """
    calls, _ = file.read(_call)
    if any(key == known and -1 < at - when < within_s for when, known in calls):
        return False
    file.append(f"{at:.3f} {key}")
    return True


def _call(line: str) -> tuple[float, str] | None:
    when, _, key = line.partition(" ")
    try:
        return float(when), key
    except ValueError:
        return None
