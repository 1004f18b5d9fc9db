"""Imports numpy with one thread for matrix products, if nothing has imported it before.

Starting OpenBLAS's thread pool takes 35 ms of a cold query, and our own threads, one per batch of texts, are faster.
The environment is restored, so that programs that this process starts are not slowed down.
"""

from __future__ import annotations

import os
import sys

from ..files.background import is_background

VARIABLE = "OPENBLAS_NUM_THREADS"  # read once, when the library is loaded
if "numpy" in sys.modules or VARIABLE in os.environ:
    import numpy as numpy  # other modules import it from here

    one_thread = os.environ.get(VARIABLE) == "1"
else:
    os.environ[VARIABLE] = "1"
    import numpy as numpy

    del os.environ[VARIABLE]
    one_thread = True


def workers() -> int:
    """Return how many threads to use: one per core, or one if products may use threads of their own.

    A background process uses one.
    """
    if is_background() or not one_thread:
        return 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
