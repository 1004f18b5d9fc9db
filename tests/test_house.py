"""Rules about the structure of the package, checked on its source."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.sources import nodes, parsed

PACKAGE = ROOT / "rawkomem"
FILE_NAME = re.compile(r"(?<![\w/*.<>-])((?:[a-z_]+/)*[a-z_]+\.py)\b")


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
    for node in statements(file):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            whole = (f"{base}.{alias.name}" for alias in node.names)
            found |= {one if one in modules() else base for one in whole}
    return {one for one in found if one in modules()} - {name}


def statements(file: Path) -> Iterator[ast.AST]:
    """Walk over all nodes, except the bodies of `if TYPE_CHECKING:`."""
    hidden = {
        inner
        for node in nodes(file)
        if isinstance(node, ast.If)
        and "TYPE_CHECKING" in (getattr(node.test, "id", ""), getattr(node.test, "attr", ""))
        for one in node.body
        for inner in ast.walk(one)
    }
    return (node for node in nodes(file) if node not in hidden)


def test_imports_are_read():
    """The rules below would hold for a reader that sees nothing."""
    assert imports("rawkomem.files.git_folder") >= {"rawkomem.files.layout"}
    assert imports("rawkomem.faces.mesh") >= {"rawkomem.faces.mesh.api", "rawkomem.faces.mesh.records"}


def test_no_import_cycles():
    """No module imports itself by way of others, not even inside a function."""
    try:
        TopologicalSorter({name: imports(name) for name in modules()}).prepare()
    except CycleError as failure:
        pytest.fail("import cycle: " + " → ".join(failure.args[1]))


@pytest.mark.parametrize("name", sorted(name for name in modules() if modules()[name].name == "__init__.py"))
def test_every_folder_has_a_table_of_contents(name):
    """The docstring of a folder names each of its files and folders."""
    file = modules()[name]
    contents = ast.get_docstring(parsed(file)) or ""
    here = {one.stem for one in file.parent.glob("*.py")} | {
        one.parent.name for one in file.parent.glob("*/__init__.py")
    }
    assert {one for one in here - {"__init__", "__main__"} if f"`{one}`" not in contents} == set()


PACKAGE_MODULES = {
    "pyyaml": "yaml",
    "google-re2": "re2",
    "python-frontmatter": "frontmatter",
    "markdown-it-py": "markdown_it",
}


def test_types_are_checked_without_the_extras():
    """A new machine checks the types before any extra is installed: mypy is told about what only extras bring."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = [*project["project"]["dependencies"], *project["dependency-groups"]["lint"]]
    packages = [re.split(r"[\[<>=;]", one)[0] for one in declared]
    installed = {PACKAGE_MODULES.get(one, one.replace("-", "_")) for one in packages}
    told = {name.removesuffix(".*") for row in project["tool"]["mypy"]["overrides"] for name in row["module"]}
    imported = {"rawkomem"}
    for file in PACKAGE.rglob("*.py"):
        for node in nodes(file):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.split(".")[0])
    assert imported - {"rawkomem"} - sys.stdlib_module_names - installed - told == set()


EXAMPLE_FILES = ("src/app.py", "app.py", "a.py")  # that comments name as examples of a user's files


def test_comments_and_pages_name_files_that_exist():
    """A comment that names a file of the package, and the map of the package, stay true when files are joined."""
    folders = (PACKAGE, ROOT / "tools", ROOT / "tests")
    known = {file.relative_to(ROOT).as_posix() for folder in folders for file in folder.rglob("*.py")}
    texts = [*PACKAGE.rglob("*.py"), ROOT / "docs" / "architecture.md"]
    named = {(file.name, name) for file in texts for name in FILE_NAME.findall(file.read_text(encoding="utf-8"))}
    missing = {(file, name) for file, name in named if not any(f"/{one}".endswith(f"/{name}") for one in known)}
    assert {(file, name) for file, name in missing if name not in EXAMPLE_FILES} == set()


def test_architecture_names_every_folder():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {file.parent.relative_to(PACKAGE).as_posix() for file in PACKAGE.rglob("__init__.py")} - {"."}
    assert {folder for folder in folders if f"{folder}/" not in page} == set()


CLOCKS = {"cpu_seconds", "start_seconds", "process_time", "thread_time", "perf_counter"}
LANES = {"time", "slow", "attacks", "stores", "servers", "page", "models", "hosts", "editors"}


def names_in(node: ast.AST) -> set[str]:
    named = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return named | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def test_no_test_of_the_default_lane_measures_time():
    """A busy machine would make such a test fail; mark it with `time`, or count calls instead."""
    files = [*(ROOT / "tests").rglob("test_*.py")]
    assert {file.name: found for file in files if (found := measuring_in(file.read_text(encoding="utf-8")))} == {}


def measuring_in(source: str) -> set[str]:
    """Return the tests of a module that measure time outside the lanes that may."""
    if not any(name in source for name in CLOCKS):
        return set()
    tree = ast.parse(source)
    lanes = {name for node in tree.body if isinstance(node, ast.Assign) and "pytestmark" in names_in(node)
             for name in names_in(node) & LANES}  # fmt: skip
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    clocks = CLOCKS | {name for name, node in functions.items() if names_in(node) & CLOCKS}
    return {
        name
        for name, node in functions.items()
        if name.startswith("test_") and names_in(node) & clocks and not lanes
        and not any(names_in(decorator) & LANES for decorator in node.decorator_list)
    }  # fmt: skip
