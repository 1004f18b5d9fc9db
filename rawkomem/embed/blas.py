"""numpy, with one thread in its matrix products: imported so where nobody has before, else held to it while we work.

Starting OpenBLAS's pool takes 35 ms of a cold query. On a busy machine its threads wait for each other, and small
products take twenty times as long; threads of our own, each with its texts, do more. The environment and the number of
threads are left as they were: other code in this process, and programs it starts, are not ours to slow down.
"""

from __future__ import annotations

import os
import sys

from ..files.local.background import is_background

VARIABLE = "OPENBLAS_NUM_THREADS"  # read once, when the library is loaded
ours = "numpy" not in sys.modules and VARIABLE not in os.environ
if ours:
    os.environ[VARIABLE] = "1"
try:
    from .light_numpy import numpy as numpy  # handed on to whoever needs it so
finally:
    if ours:
        del os.environ[VARIABLE]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMES = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_")  # in the wheels of numpy 2 and 1


def thread_setter() -> tuple[Any, int]:
    """Return OpenBLAS's function that sets the number of threads, and the number; None where numpy lacks it."""
    from ctypes import CDLL  # numpy has imported it

    for path in libraries():
        library = CDLL(path)  # loaded already: this only finds it
        for name in NAMES:
            if hasattr(library, name.format("set")) and hasattr(library, name.format("get")):
                return getattr(library, name.format("set")), getattr(library, name.format("get"))()
    return None, 1


def libraries() -> list[str]:
    """Return the OpenBLAS that came in numpy's wheel."""
    home = os.path.dirname(numpy.__file__)
    folders = [folder for folder in (f"{home}.libs", os.path.join(home, ".dylibs")) if os.path.isdir(folder)]
    return [os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if "openblas" in name]


set_threads, usual = (None, 1) if ours else thread_setter()


class OneThread:
    """A context in which a product uses one thread. Where numpy brings no OpenBLAS of its own, it does nothing."""

    def __enter__(self) -> None:
        if set_threads and usual > 1:
            set_threads(1)

    def __exit__(self, *error: object) -> None:
        if set_threads and usual > 1:
            set_threads(usual)


def workers() -> int:
    """Return how many threads to give work to: one for each core, unless the products may have threads of their own.

    A process in the background has one.
    """
    if is_background():
        return 1
    if not (ours or set_threads or os.environ.get(VARIABLE) == "1"):
        return 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
