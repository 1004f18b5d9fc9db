"""Loads numpy without its types for annotations and its help texts, which makes short processes start faster.

A long-running process loads all of numpy. It is recognized by `threading`, which every server, notebook and test loads.
"""

from __future__ import annotations

import sys

UNUSED = ("numpy._typing", "numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
STANDING_IN = () if "numpy" in sys.modules or "threading" in sys.modules else UNUSED


class _Empty(type(sys)):  # type: ignore[misc]
    """A module in which every name is a type that takes parameters."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return list


sys.modules.update({name: _Empty(name) for name in STANDING_IN})
try:
    import numpy as numpy
finally:
    for name in STANDING_IN:
        del sys.modules[name]  # a later import loads the real module
