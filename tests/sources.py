"""The package's modules, each parsed once for all tests that read them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a module; do not change it."""
    return ast.parse(file.read_text(encoding="utf-8"))
