"""Measure work in processor time: a busy machine stretches wall time, but not this."""

import gc
import subprocess
import sys
import time
from collections.abc import Callable
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median


def cpu_seconds(run: Callable[[], object]) -> float:
    """Return the processor time of `run`, including processes that it started and waited for.

    The garbage collector leaves out what exists already: the objects of other tests would make a large run slower.
    """
    gc.freeze()
    try:
        before = _used()
        run()
        return _used() - before
    finally:
        gc.unfreeze()


def start_seconds(runs: int = 9) -> float:
    """Return the processor time in which this machine starts Python: a unit that machines of any speed share."""
    return median(cpu_seconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)) for _ in range(runs))


def _used() -> float:
    children = getrusage(RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
