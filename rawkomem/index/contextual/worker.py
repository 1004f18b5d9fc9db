"""Leaves a worker behind that fills in the second tier, after a recall has been answered: nobody waits for it."""

from __future__ import annotations

import os
import sys
import time

from ..index import BROKEN, Index

PAUSE = 60.0  # seconds since somebody was at work; also keeps a worker that fails from being started all the time
WORK = "import os, sys; os.nice(15); from rawkomem.faces.cli import run; sys.exit(run(sys.argv[1:]))"


def fill_behind(index: Index) -> bool:
    """Start a worker where vectors are missing and nobody is at work; whether it was started."""
    if not hasattr(os, "posix_spawn") or not sys.executable:
        return False
    try:
        held, count = index.store.depth()
    except BROKEN:
        return False  # somebody removed the index a moment ago
    lock = os.path.join(os.path.dirname(index.path), "deep.lock")
    if held == count or _is_recent(lock):
        return False
    # -P: no module is taken from the current folder, which is a project that nobody vouches for.
    command = [sys.executable, "-P", "-c", WORK, "-C", index.layout.root, "sync", "--deep"]
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        os.posix_spawn(sys.executable, command, os.environ, file_actions=quiet, setsid=True)
    except OSError:
        return False  # no room for a process: the next recall tries again
    return True


def _is_recent(path: str) -> bool:
    try:
        return time.time() - os.stat(path).st_mtime < PAUSE
    except OSError:
        return False
