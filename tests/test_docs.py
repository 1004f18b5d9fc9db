"""Every Python block of the documentation runs, in order, in a fresh repository."""

import re
import shlex
from collections.abc import Iterator

import pytest
from rawkomem.files.installation import plan_start, write_start
from rawkomem.format.entries import read_entries
from rawkomem.format.mesh_fields import LESSON_HEADINGS, rule_confidence

from tests.conftest import ROOT

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = ("recall", "belief", "lessons", "skills", "traces", "mesh")
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


def test_the_library_page_shows_every_public_name():
    import rawkomem

    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    returned = {"Answer", "Found", "Injection", "PatternMatch", "Prompt", "Stats"}  # what calls return
    assert all(f"`{name}`" in text or f"{name}(" in text for name in set(rawkomem.__all__) - returned)
    assert len(BLOCK.findall(text)) >= 6


TEMPLATES = ["templates/agents/AGENTS.md", "templates/agents/skills/rawkomem/SKILL.md"]


@pytest.mark.parametrize("page", TEMPLATES)
def test_what_agents_are_taught_works(page, project, rawkomem):
    """Each command line of a template, in a block or in a sentence, with ids that are there."""
    for name in ("ID", "OLD", "NEW"):
        rawkomem("add", "--title", name, "--body", f"What {name} says.")
    text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for block in SHELL.findall(text) for line in block.splitlines()]
    lines += re.findall(r"`(rawkomem [^`]+)`", text)
    assert len(lines) >= 4
    for line in lines:
        words = [word.lower() if word in ("ID", "OLD", "NEW") else word for word in shlex.split(line, comments=True)]
        result = rawkomem(*words[1:], check=None)
        assert words[0] == "rawkomem" and result.returncode in (0, 1), (line, result.stderr)


def test_the_template_of_a_lesson_is_read_as_one():
    text = (ROOT / "templates" / "lesson.md").read_text(encoding="utf-8")
    (entry,), _ = read_entries(text.replace('title: ""', "title: T"))
    assert rule_confidence(entry.extra) == 0.8
    assert {line for line in entry.body.splitlines() if line.startswith("## ")} == set(LESSON_HEADINGS)


def test_the_wheel_holds_pages_and_templates(tmp_path):
    """--help and errors send readers to pages; an installed rawkomem has no checkout beside it."""
    pytest.importorskip("hatchling", reason="for want of the build backend: pip install hatchling")
    from hatchling.builders.wheel import WheelBuilder

    names = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    pages = {file.name for file in (ROOT / "docs").glob("*.md")}
    assert {f"rawkomem/docs/{page}" for page in pages} <= names
    assert "rawkomem/templates/lesson.md" in names and "rawkomem/__init__.py" in names
    assert not [name for name in names if not name.startswith("rawkomem/") or "/images/" in name]


TESTS = [*(ROOT / "tests").rglob("*.py")]


def named_tests(page: str) -> Iterator[tuple[str, str]]:
    """Yield the file and the function of each test that a page names in backticks; `::test_a` is in the file before it."""
    file = ""
    for quoted in re.findall(r"`([^`\n]+)`", page):
        found = re.fullmatch(r"((?:[\w.-]+/)*(?:test|store)_\w+\.py)?(::)?(\w+)?(\[.*\])?", quoted)
        if found and found[1]:
            file = found[1].removeprefix("tests/")
            yield file, found[3] or ""
        elif found and (found[3] or "").startswith("test_"):
            yield file if found[2] else "", found[3]


def test_every_test_that_a_page_names_exists():
    """A promise of a page counts only while its test is there."""
    tests = {f"/{file.relative_to(ROOT / 'tests').as_posix()}": file.read_text("utf-8") for file in TESTS}
    missing = set()
    for page in ROOT.glob("docs/**/*.md"):
        text = page.read_text(encoding="utf-8")
        for file, name in named_tests(text):
            here = [code for path, code in tests.items() if not file or path.endswith(f"/{file}")]
            if not here or (name and not any(f"def {name}(" in code for code in here)):
                missing.add((page.name, file, name))
        paths = re.findall(r"`(tests/[\w./-]+)", text)
        missing |= {(page.name, path, "") for path in paths if not (ROOT / path).exists()}
    assert missing == set()
    assert len({*named_tests((ROOT / "docs" / "security.md").read_text(encoding="utf-8"))}) > 80


def test_the_table_of_attacks_has_a_row_for_each_class():
    """`make test-attacks` writes it; a new class without a run is missing."""
    _, _, after = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").partition("| class of attack |")
    rows = [line.strip("| ").split(" | ") for line in after.partition("\n\n")[0].splitlines()[2:]]
    classes = sorted(file.stem.removeprefix("test_") for file in (ROOT / "tests" / "attacks").glob("test_*.py"))
    assert [name.replace(" ", "_") for name, _, _ in rows] == [*classes, "all"]
    tries = [int(count.replace(",", "")) for _, count, _ in rows]
    assert sum(tries[:-1]) == tries[-1] >= 300


def test_skipping_a_check_is_described_in_one_place():
    """No message and no other page tells how to switch a check of commits off."""
    pages = {path: path.read_text("utf-8") for path in (*ROOT.glob("docs/**/*.md"), ROOT / "README.md")}
    escapes = ("RAWKOMEM_SKIP=", "--no-verify", "--no-history", "--no-secrets", "--no-duplicates", "--without ")
    describing = {path.name for path, text in pages.items() for escape in escapes if escape in text}
    assert describing <= {"git.md", "cli.md"}, "cli.md is generated and lists every option"
    assert pages[ROOT / "docs" / "git.md"].count("RAWKOMEM_SKIP=") == 1
    code = [
        path for path in ROOT.glob("rawkomem/**/*.py") if any(escape in path.read_text("utf-8") for escape in escapes)
    ]
    assert code == [ROOT / "rawkomem/text/commands.py"], "it compares commands with rules that forbid the option"
