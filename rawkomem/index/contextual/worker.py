"""Starts a background process that fills in contextual vectors, after a recall has been answered."""

from __future__ import annotations

import os
import time

from ...files.lock import Lock, lock_in
from ...model.errors import RawkoError
from ..index import Index
from ..stores.database import BROKEN

MIN_PAUSE_S = 60.0  # since a worker last ran or was started, so that a failing worker is not restarted all the time


def working(index: Index) -> Lock:
    """Return the lock of the worker, which also updates the time of the lock's file."""
    return lock_in(os.path.dirname(index.path), "contextual")


def fill_behind(index: Index) -> bool:
    """Start the worker if vectors are missing and no worker is running; return whether it was started."""
    try:
        held, count = index.store.depth()
    except BROKEN:
        return False  # somebody removed the index a moment ago
    if held == count:
        return False
    job = working(index)
    if _is_recent(job.path):
        return False
    from ...files.local.background import start  # most recalls start no worker

    try:
        shared = ("--source",) if index.layout.elsewhere else ()
        started = start(index.layout, job, "sync", "--deep", *shared)
        os.utime(job.path)
    except (OSError, RawkoError):
        return False  # no process could be started: the next recall tries again
    return started


def _is_recent(path: str) -> bool:
    try:
        return time.time() - os.stat(path).st_mtime < MIN_PAUSE_S
    except OSError:
        return False
