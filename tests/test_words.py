"""Docs, help texts, messages and docstrings use plain words: those that the ecosystem uses, in one spelling."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.commands import ROOT
from tests.sources import parsed

# Riddling or dated words, and British spellings → the word to use.
BANNED = {
    r"mend(s|ed|ing)?": "fix",
    r"anew": "again, rebuild",
    r"gravest": "most severe",
    r"lies? idle": "is not used",
    r"passed over": "skipped",
    r"left behind": "not copied, not removed",
    r"twice is once": "has no further effect",
    r"whatever goes wrong": "on any error",
    r"costs? (only )?itself( only)?": "is skipped",
    r"the word that is meant": "the error names the word",
    r"colours?": "color",
    r"behaviours?": "behavior",
    r"licences?": "license",
    r"\w+(summaris|normalis|recognis|organis|synchronis|anonymis)\w*": "-iz-",
    r"(summaris|normalis|recognis|organis|synchronis|anonymis)\w*": "-iz-",
    r"whilst|amongst|hitherto|whence|thereof|therein": "while, among, …",
}
PATTERN = re.compile(r"\b(" + "|".join(BANNED) + r")\b", re.IGNORECASE)
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "templates").rglob("*.md")),
]
MODULES = sorted((ROOT / "rawkomem").rglob("*.py"))
WORD_LISTS = (
    "text/languages",
    "learn/drafts/cues",
    "redaction",
    "belief/contrary",
)  # data: words that other people write


def found_in(text: str) -> list[str]:
    return [match[0] for match in PATTERN.finditer(text)]


def prose_of(page: str) -> str:
    """A page without code, where the words of other programs and people stand."""
    page = re.sub(r"^(```|~~~).*?^\1", "", page, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", page)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages(path: Path):
    lines = enumerate(prose_of(path.read_text(encoding="utf-8")).split("\n"), 1)
    assert [(number, word) for number, line in lines for word in found_in(line)] == []


def texts_of(path: Path) -> list[tuple[int, str]]:
    """String literals of several words: docstrings, help texts and messages."""
    nodes = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [(node.lineno, node.value) for node in nodes if " " in node.value.strip()]


def test_messages_and_docstrings():
    found = [
        (str(path.relative_to(ROOT)), number, word)
        for path in MODULES
        if not any(part in path.as_posix() for part in WORD_LISTS)
        for number, text in texts_of(path)
        for word in found_in(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    ["It is made anew.", "Mend the file.", "the colour of it", "summarised", "What goes wrong costs itself only"],
)
def test_the_list_finds_such_words(text):
    assert found_in(text)
