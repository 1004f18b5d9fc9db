"""Print figures of the package: lines, syntax nodes, modules per folder, imports inside functions, import cycles.

Nodes leave out annotations, imports and docstrings, so they measure how much logic there is, however lines are broken.

Run `python tools/house_figures.py [CHECKOUT]`; without an argument it measures this checkout.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def modules(root: Path) -> dict[str, Path]:
    """Return module name → file, for every module of the package."""
    files = sorted((root / "rawkomem").rglob("*.py"))
    return {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(
            ".__init__"
        ): file
        for file in files
    }


def is_type_checking(node: ast.AST) -> bool:
    """Tell whether a statement is `if TYPE_CHECKING:`."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


class Imports(ast.NodeVisitor):
    """Collect the modules that one module imports at run time, and how often it does so inside a function."""

    def __init__(self, name: str, is_package: bool, known: dict[str, Path]):
        self.package = name if is_package else name.rpartition(".")[0]
        self.known = known
        self.found: set[str] = set()
        self.hidden = 0
        self._depth = 0

    def visit_If(self, node: ast.If) -> None:
        """Skip imports for type checkers."""
        for child in (
            node.orelse if is_type_checking(node) else ast.iter_child_nodes(node)
        ):
            self.visit(child)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Count imports below a function as hidden."""
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Resolve a relative or absolute import to modules of the package."""
        base = node.module or ""
        if node.level:
            parts = self.package.split(".")
            base = ".".join(
                [
                    *parts[: len(parts) - node.level + 1],
                    *([node.module] if node.module else []),
                ]
            )
        names = {f"{base}.{alias.name}" for alias in node.names}
        targets = {
            name if name in self.known else base for name in names
        } & self.known.keys()
        self.found |= targets
        self.hidden += bool(targets and self._depth)


def imports(root: Path) -> tuple[dict[str, set[str]], int]:
    """Return module → modules it imports at run time, and the number of imports inside functions."""
    known = modules(root)
    graph: dict[str, set[str]] = {}
    hidden = 0
    for name, file in known.items():
        visitor = Imports(name, file.name == "__init__.py", known)
        visitor.visit(ast.parse(file.read_text(encoding="utf-8")))
        graph[name] = visitor.found - {name}
        hidden += visitor.hidden
    return graph, hidden


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = [stack.pop()]
            while group[-1] != name:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    sys.setrecursionlimit(10_000)
    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def folders(root: Path) -> Counter[str]:
    """Return how many modules each folder holds."""
    return Counter(
        file.parent.relative_to(root).as_posix() for file in modules(root).values()
    )


LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
UNCOUNTED = (ast.Load, ast.Store, ast.Del, ast.Pass)


class Bare(ast.NodeTransformer):
    """Removes annotations and imports."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Remove the annotations of a function."""
        node.returns = None
        arguments = node.args
        for argument in (
            *arguments.args,
            *arguments.kwonlyargs,
            *arguments.posonlyargs,
        ):
            argument.annotation = None
        for argument in filter(None, (arguments.vararg, arguments.kwarg)):
            argument.annotation = None
        return self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Replace the annotation of a name by one node."""
        self.generic_visit(node)
        node.annotation = ast.Constant(0)
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        """Drop an import."""
        return ast.Pass()

    visit_ImportFrom = visit_Import  # type: ignore[assignment]


def weigh(source: str) -> tuple[int, int]:
    """Return the syntax nodes and the code lines of a module."""
    tree = ast.parse(source)
    documentation: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, DOCUMENTED)
            and ast.get_docstring(node, clean=False) is not None
        ):
            first = node.body[0]
            documentation |= set(
                range(first.lineno, (first.end_lineno or first.lineno) + 1)
            )
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    nodes = sum(
        not isinstance(node, UNCOUNTED) for node in ast.walk(Bare().visit(tree))
    )
    return nodes, len(lines - documentation)


def main() -> None:
    """Print the figures of a checkout."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    files = modules(root).values()
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    weights = [weigh(file.read_text(encoding="utf-8")) for file in files]
    nodes, code = (
        sum(weight[0] for weight in weights),
        sum(weight[1] for weight in weights),
    )
    small = sum(
        len(file.read_text(encoding="utf-8").splitlines()) < 60 for file in files
    )
    top = {name.split("/")[1] for name in folders(root) if "/" in name}
    graph, hidden = imports(root)
    print(f"{lines:,} lines in {len(files)} modules; {len(top)} folders at the top")
    print(f"{nodes:,} syntax nodes in {code:,} code lines: {nodes / code:.1f} a line")
    print(f"modules below 60 lines: {small}")
    print(
        "largest folders:",
        ", ".join(f"{name} {number}" for name, number in folders(root).most_common(5)),
    )
    print(f"imports of the package inside functions: {hidden}")
    found = cycles(graph)
    print(
        f"import cycles: {len(found)}",
        *(" ".join(group) for group in found),
        sep="\n  ",
    )


if __name__ == "__main__":
    main()
