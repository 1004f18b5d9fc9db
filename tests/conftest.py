"""Fixtures: a fresh repository in a temporary project, and the shared corpora where they are at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from rawkomem.files.start import plan_start, write_start
from rawkomem.repository import Repository
from tests.git.gitting import Git

settings.register_profile("busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy machine")

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory, monkeypatch):
    """No test reads or writes the user's real config and cache folders, nor git's settings."""
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home / name))
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "static")  # no worker is left behind, but where a test asks for it
    monkeypatch.delenv("RAWKOMEM_DIR", raising=False)


@pytest.fixture
def project(tmp_path) -> Path:
    """A project folder with an empty repository."""
    write_start(plan_start(str(tmp_path)))
    return tmp_path


@pytest.fixture
def memories(project) -> Path:
    """The folder for memory files."""
    return project / ".rawko" / "memories"


@pytest.fixture
def git(project) -> Git:
    """git in `project`, which is a repository of its own."""
    git = Git(project)
    git("init", "-q")
    return git


@pytest.fixture
def repository(project):
    """The repository of `project`; its warnings are collected in `.warnings`."""
    warnings: list[str] = []
    opened = Repository.open(str(project), warn=warnings.append)
    opened.warnings = warnings  # type: ignore[attr-defined]
    yield opened
    opened.close()


@pytest.fixture
def rawkomem(project):
    """Run the real command in a process of its own, in `project`."""

    def run(
        *words: str, input: str | None = None, cwd: Path | None = None, env: dict | None = None, check: int | None = 0
    ):
        result = subprocess.run(
            [sys.executable, "-m", "rawkomem", *words],
            cwd=cwd or project,
            input=input if input is not None else "",
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
            timeout=120,
            check=False,
        )
        if check is not None:
            assert result.returncode == check, f"exit {result.returncode}: {result.stdout}\n{result.stderr}"
        assert "Traceback" not in result.stderr, result.stderr
        return result

    return run


def shared(path: str) -> Path:
    """A file or folder of the shared corpora; the test is skipped where they are not at hand."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"for want of data: ../shared/{path}")
    return found
