"""The snippets of docs/library.md: they run as written, one after the other, and are typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE = ROOT / "docs" / "library.md"
OTHER_PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md", *(ROOT / "templates").rglob("*.md")])


@pytest.fixture
def snippets(tmp_path):
    """A folder with each block as a script of its own; its project is empty."""
    folder = tmp_path / "snippets"
    folder.mkdir()
    for number, block in enumerate(BLOCK.findall(PAGE.read_text(encoding="utf-8"))):
        (folder / f"snippet_{number:02}.py").write_text(block, encoding="utf-8")
    return folder


def run_all(python: str, snippets, project, **env: str) -> None:
    project.mkdir()
    for script in sorted(snippets.iterdir()):
        ran = subprocess.run(
            [python, str(script)], cwd=project, capture_output=True, text=True, check=False, env={**os.environ, **env}
        )
        assert ran.returncode == 0, f"{script.name}\n{ran.stdout}\n{ran.stderr}"


def test_there_are_ten_and_more(snippets):
    assert len([*snippets.iterdir()]) >= 11
    assert len(re.findall(r"^### \d+\. ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) == 10


def test_snippets_run_in_a_fresh_project(snippets, tmp_path):
    """All in one process: a start for each is left to the test of the wheel."""
    code = "import runpy, sys\nfor path in sys.argv[1:]:\n    runpy.run_path(path, run_name='__main__')"
    project = tmp_path / "project"
    project.mkdir()
    command = [sys.executable, "-c", code, *map(str, sorted(snippets.iterdir()))]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, env=env)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    stored = sorted(path.name for path in (tmp_path / "project" / ".rawko" / "memories").glob("*.md"))
    assert {"why-apsw.md", "deploys.md"} <= {*stored}


def test_snippets_are_typed_and_a_wrong_name_is_found(snippets):
    """mypy reads the package as a user's checker does: as a typed package, from outside. One file is wrong."""
    (snippets / "wrong.py").write_text(
        "from rawkomem import Repository\n\n"
        "repo = Repository.open()\n"
        'repo.add("text", titel="x")\n'
        "repo.skills.serch('x')\n"
        "repo.skils\n"
    )
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"),
         "--config-file", str(ROOT / "pyproject.toml"), *map(str, sorted(snippets.iterdir()))],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = [line for line in ran.stdout.splitlines() if " error: " in line]
    assert errors and all("wrong.py:" in line for line in errors), ran.stdout + ran.stderr
    assert all(name in ran.stdout for name in ("titel", "serch", "skils")), ran.stdout


@pytest.mark.slow
def test_snippets_run_from_the_wheel_in_a_fresh_environment(snippets, tmp_path):
    pytest.importorskip("hatchling", reason="for want of the build backend: pip install hatchling")
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path / "dist"), versions=["standard"])
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    bin = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([str(bin / "python"), "-m", "pip", "install", "--quiet", wheel, "mypy"], check=True)
    run_all(str(bin / "python"), snippets, tmp_path / "project", PYTHONPATH="")
    typed = subprocess.run(
        [str(bin / "python"), "-m", "mypy", "--strict", *map(str, sorted(snippets.iterdir()))],
        cwd=snippets, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert typed.returncode == 0, typed.stdout + typed.stderr


def test_no_page_sends_readers_into_inner_modules():
    for page in OTHER_PAGES:
        assert not re.findall(r"(?:from|import) rawkomem\.[\w.]+", page.read_text(encoding="utf-8")), page
