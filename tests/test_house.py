"""Rules about the structure of the package, checked on its source."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.sources import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = ROOT / "rawkomem"
MAX_MODULE_LINES = 420


@cache
def modules() -> dict[str, Path]:
    """Return the file of each module, by its dotted name."""
    files = PACKAGE.rglob("*.py")
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def imports(name: str) -> set[str]:
    """Return the modules that a module imports, also inside functions, but not for types alone."""
    file = modules()[name]
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in statements(parsed(file)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            whole = (f"{base}.{alias.name}" for alias in node.names)
            found |= {one if one in modules() else base for one in whole}
    return {one for one in found if one in modules()} - {name}


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk over all nodes, except the bodies of `if TYPE_CHECKING:`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for rest in node.orelse:
                yield from statements(rest)
            continue
        yield node
        yield from statements(node)


def test_imports_are_read():
    """The rules below would hold for a reader that sees nothing."""
    ours = imports("rawkomem.files.local.ledger.recalled")
    assert ours == {f"rawkomem.{one}" for one in ("model.errors", "files.local.ledger.spool", "files.local.ledger.trim",
                                                  "redaction.find")}  # fmt: skip
    assert imports("rawkomem.faces.mesh") >= {"rawkomem.faces.mesh.awaitable", "rawkomem.faces.mesh.types"}


def test_no_import_cycles():
    """No module imports itself by way of others, not even inside a function."""
    try:
        TopologicalSorter({name: imports(name) for name in modules()}).prepare()
    except CycleError as failure:
        pytest.fail("import cycle: " + " → ".join(failure.args[1]))


ROOMS = ("belief", "bench", "cli", "exchange", "format", "git", "graph", "hosts", "learning", "lessons", "lifecycle", "lsp", "mcp",
         "mesh", "recall", "redaction", "settings", "sinks", "skills", "traces", "web", "yamo")  # fmt: skip
INNER = ("changes", "connect", "contextual", "cues", "drafts", "embed", "faces", "files", "hooks", "index", "keeping", "lance", "lane",
         "languages", "learn", "ledger", "llm", "llmos", "local", "markdown", "memories", "merge", "model", "neolata", "net", "postgres",
         "relevance",
         "replay", "repository", "scripts", "scrub", "session", "setup", "show", "spoken", "state", "stores", "text", "views", "wings")  # fmt: skip


def folders() -> set[Path]:
    return {file.parent for file in modules().values()} - {PACKAGE}


def test_no_room_is_overcrowded():
    assert len({folder.relative_to(PACKAGE).parts[0] for folder in folders()}) <= 17
    crowded = {folder.name: len([*folder.glob("*.py")]) for folder in folders() if len([*folder.glob("*.py")]) > 25}
    assert crowded == {}


def test_no_module_is_long():
    lines = {name: len(file.read_text("utf-8").splitlines()) for name, file in modules().items()}
    del lines["rawkomem.index.stores.sqlite"]  # every cold search loads it: two modules would cost a millisecond more
    assert {name: count for name, count in lines.items() if count > MAX_MODULE_LINES} == {}


def test_a_folder_has_the_name_of_the_page_about_it():
    """A new folder is either the subject of a page of its name, or an inner one that architecture.md mentions."""
    names = {folder.name for folder in folders()}
    assert names == {*ROOMS, *INNER}
    assert [name for name in ROOMS if not (ROOT / "docs" / f"{name}.md").exists()] == []


def test_the_tests_mirror_the_package():
    tested = {folder.relative_to(ROOT / "tests").parts[0] for folder in (ROOT / "tests").glob("*/**")}
    tops = {folder.relative_to(PACKAGE).parts[0] for folder in folders()}
    assert tops - tested == set()
