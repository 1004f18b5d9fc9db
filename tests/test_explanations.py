"""Rules of the house that no linter knows."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from rawkomem.files.check import NOT_IDEAL
from rawkomem.files.reading import CUT_OFF
from rawkomem.format.entries import NO_TITLE
from rawkomem.git.commit_checks import NO_EFFECT
from rawkomem.index.authors import GIT_UNREADABLE
from rawkomem.index.status import UNCOMMITTED
from rawkomem.recall.scoring import WHY_NOT

from tests.conftest import ROOT
from tests.sources import nodes, parsed

PACKAGE = ROOT / "rawkomem"
EXPLANATIONS = {"message", "why", "hint", "reason", "sentence", "note"}  # attributes that hold sentences
TESTS_OF_TEXT = {"startswith", "endswith", "find", "index", "count", "partition", "rpartition", "split", "removeprefix"}
MAKERS = {"error", "warning", "style", "Note", "_add", "_warn", "_refuse", "_error"}  # calls that name a code
CODE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def modules() -> Iterator[tuple[Path, list[ast.AST]]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        yield file, nodes(file)


def is_explanation(node: ast.AST) -> bool:
    """Whether an expression is an explanation, perhaps in lower case: `failure.message`, `problem.hint.lower()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        node = node.func.value
    return isinstance(node, ast.Attribute) and node.attr in EXPLANATIONS


def is_text(node: ast.AST) -> bool:
    """Whether an expression is a literal text that is not empty, or holds one."""
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value for part in ast.walk(node))


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def decided_by_sentences(every: Iterable[ast.AST]) -> Iterator[int]:
    """Return the lines that compare an explanation with a literal text, or look for a text in it."""
    for node in every:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(is_explanation, sides)) and any(map(is_text, sides)):
                yield node.lineno
        elif isinstance(node, ast.Call) and name_of(node) in TESTS_OF_TEXT and any(map(is_text, node.args)):
            yield from [node.lineno] * is_explanation(getattr(node.func, "value", node))


def test_no_sentence_decides():
    """Put a code or a record beside the text instead: Problem.code, Fired.how, Reason.code."""
    found = [f"{file.relative_to(ROOT)}:{line}" for file, every in modules() for line in decided_by_sentences(every)]
    assert found == []


def codes(makers: set[str], imported: set[str]) -> set[str]:
    """Return the literal codes that calls name in the modules that import or define one of these names."""
    found = set()
    for file, every in modules():
        bound = {alias.name for node in every if isinstance(node, ast.ImportFrom) for alias in node.names}
        bound |= {node.name for node in parsed(file).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        for call in every if bound & imported else ():
            if isinstance(call, ast.Call) and name_of(call) in makers:
                texts = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                found |= set(texts[:1])  # the code is the first literal, unless it is a constant
    return {text for text in found if CODE.fullmatch(text)}


def test_the_format_page_lists_every_code_of_a_problem():
    used = codes(MAKERS, {"Problem", "error", "warning", "style", "Note"}) | {
        NO_TITLE,
        CUT_OFF,
        NOT_IDEAL,
        NO_EFFECT,
        "too-many-tags",
        *UNCOMMITTED,
        GIT_UNREADABLE,
    }  # constants, because code decides by them, and a code that is put together
    page = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    section = page.partition("## Problem codes")[2].partition("\n## ")[0]
    listed = re.findall(r"`([a-z0-9-]+)`", re.sub(r"\((?:[^()]|\([^()]*\))*\)", "", section))  # without explanations
    assert sorted(listed) == sorted(used - {"rule", "title"})  # signs of our own, never shown
    assert all(CODE.fullmatch(code) for code in used)


def test_every_reason_has_a_sentence_and_a_row_in_the_docs():
    assert codes({"Reason"}, {"Reason"}) == set(WHY_NOT)
    table = (ROOT / "docs" / "recall.md").read_text(encoding="utf-8").partition("| code | the memory is")[2]
    cells = re.findall(r"^\| (`.*?) \|", table.partition("\n\n")[0], re.MULTILINE)
    assert sorted(re.findall(r"`([a-z-]+)`", " ".join(cells))) == sorted(WHY_NOT)
