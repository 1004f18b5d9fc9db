"""Log each call of a hook in `.rawko/local/hook.calls`: time, host, event, and how long it took.

A call writes one line when it begins and one when it ends. If the second line is missing, the host stopped the call
because it took too long. Failures are ignored: a hook must not fail because it cannot write the log. A prompt waits for
this module, so it only appends and reads the last lines; slow.py reads the whole file.
"""

from __future__ import annotations

import os
import time

from ...files.local.private import LineFile, local_path, open_local
from ...model.clock import now
from ...model.errors import RawkoError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout

CALLS_FILE = "hook.calls"
MAX_FILE_BYTES = 32 * 1024  # about 300 calls; the older half is dropped
TAIL_BYTES = 1024  # about ten calls
MAX_SHORT_MS = b"2999"  # every host waits longer
BEGAN, ENDED, TOLD = "began", "ended", "told"


def begin(layout: Layout, host: str, event: str) -> float:
    """Log that a call begins; return the time to pass to `end`."""
    note(layout, BEGAN, host, event)
    return time.perf_counter()


def end(layout: Layout, host: str, event: str, began: float) -> None:
    """Log that a call ended, and how long it took."""
    note(layout, ENDED, host, event, str(round(1000 * (time.perf_counter() - began))))


def may_be_slow(layout: Layout) -> bool:
    """Tell whether one of the last calls was stopped, still runs, or took long, and the person does not know yet."""
    try:
        with open_local(layout, CALLS_FILE, "r") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL_BYTES))
            tail = stream.read()
    except OSError:
        return False
    since = tail.rpartition(b"\ttold\t")[2]
    since = since[max(0, since.find(b"\tbegan\t")) :]  # skip the end of a call whose beginning was cut off
    if since.count(b"\tbegan\t") > since.count(b"\tended\t") + 1:  # one of them is this call
        return True
    took = [line.rpartition(b"\t")[2] for line in since.split(b"\n") if b"\tended\t" in line]
    return any(len(ms) > len(MAX_SHORT_MS) or (len(ms) == len(MAX_SHORT_MS) and ms > MAX_SHORT_MS) for ms in took)


def note(layout: Layout, what: str, host: str, event: str, *more: str) -> None:
    """Append a line."""
    try:
        line = "\t".join((str(now()), what, host, event, str(os.getpid()), *more))
        LineFile(local_path(layout, CALLS_FILE), MAX_FILE_BYTES).append(line)
    except RawkoError:
        pass
