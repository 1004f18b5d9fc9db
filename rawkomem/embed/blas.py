"""Imports numpy with one thread for matrix products, or limits a loaded numpy to one thread while we use it.

Starting OpenBLAS's thread pool takes 35 ms of a cold query. On a busy machine its threads wait for each other, and
small products take twenty times as long; our own threads, one per batch of texts, are faster. The environment and the
number of threads are restored, so that other code in this process, and programs that it starts, are not slowed down.
"""

from __future__ import annotations

import os
import sys
from ctypes import CDLL
from typing import Any

from ..files.journal import is_background

VARIABLE = "OPENBLAS_NUM_THREADS"  # read once, when the library is loaded
ours = "numpy" not in sys.modules and VARIABLE not in os.environ
if ours:
    os.environ[VARIABLE] = "1"
try:
    import numpy as numpy  # other modules import it from here
finally:
    if ours:
        del os.environ[VARIABLE]


NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
)  # in the wheels of numpy 2 and 1


def thread_setter() -> tuple[Any, int]:
    """Return OpenBLAS's function that sets the number of threads, and the number; (None, 1) if numpy lacks it."""

    for path in libraries():
        library = CDLL(path)  # it is loaded already: this returns a handle
        for name in NAMES:
            if hasattr(library, name.format("set")) and hasattr(library, name.format("get")):
                return getattr(library, name.format("set")), getattr(library, name.format("get"))()
    return None, 1


def libraries() -> list[str]:
    """Return the paths of the OpenBLAS libraries in numpy's wheel."""
    home = os.path.dirname(numpy.__file__)
    folders = [
        folder
        for folder in (f"{home}.libs", os.path.join(home, ".dylibs"))
        if os.path.isdir(folder)
    ]
    return [
        os.path.join(folder, name)
        for folder in folders
        for name in os.listdir(folder)
        if "openblas" in name
    ]


set_threads, usual = (None, 1) if ours else thread_setter()


class OneThread:
    """A context in which matrix products use one thread. Without an OpenBLAS in numpy's wheel it does nothing."""

    def __enter__(self) -> None:
        if set_threads and usual > 1:
            set_threads(1)

    def __exit__(self, *error: object) -> None:
        if set_threads and usual > 1:
            set_threads(usual)


def workers() -> int:
    """Return how many threads to use: one per core, or one if products may use threads of their own.

    A background process uses one.
    """
    if is_background():
        return 1
    if not (ours or set_threads or os.environ.get(VARIABLE) == "1"):
        return 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
