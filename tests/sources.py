"""The package's modules, each parsed once for all tests that read them."""

import ast
from functools import cache
from pathlib import Path


@cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a module; do not change it."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def nodes(file: Path) -> list[ast.AST]:
    """Return the nodes of a module's syntax tree, in the order of `ast.walk`."""
    return [*ast.walk(parsed(file))]
