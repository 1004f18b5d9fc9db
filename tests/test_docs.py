"""Every Python block of the documentation runs, in order, in a fresh repository."""

from __future__ import annotations

import re
import shlex

import pytest

from rawkomem.files.start import plan_start, write_start
from tests.conftest import ROOT

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = ("library", "recall", "belief", "lessons", "skills", "traces", "mesh")
PAGES = ["README.md", *(f"docs/{name}.md" for name in SHOWN)]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    write_start(plan_start(str(tmp_path)))
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], page, "exec"), names)  # a failure names the line of the page


@pytest.mark.parametrize("page", ["docs/recall.md"])
def test_shell_examples_are_right_usage(page, project, rawkomem):
    """Each command line runs; what it finds in an empty repository does not matter."""
    (project / "task.txt").write_text("fix the login page")
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = [line for block in SHELL.findall(text) for line in block.splitlines()]
    assert len(lines) >= 10
    for line in lines:
        words = shlex.split(line, comments=True)
        given = (project / words.pop()).read_text() if "<" in words else ""
        result = rawkomem(*[word for word in words[1:] if word != "<"], input=given, check=None)
        assert words[0] == "rawkomem" and result.returncode in (0, 1), (line, result.stderr)


def test_the_library_page_shows_every_public_name():
    import rawkomem

    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    returned = {"Answer", "Found", "Injection", "PatternMatch", "Prompt", "Stats"}  # what calls return
    assert all(f"`{name}`" in text or f"{name}(" in text for name in set(rawkomem.__all__) - returned)
    assert len(BLOCK.findall(text)) >= 6
