"""A project with one memory, and the real hook as a host starts it."""

import json
import os
import subprocess
import sys
import time

import pytest
from rawkomem.faces.cli import run
from rawkomem.hosts import hook_sessions

from tests.commands import ROOT, run_here
from tests.hosts.hooks.payloads import FOLDER, TRANSCRIPT

MEMORY = """\
---
id: mem_1769164200000_3fa9c1
title: Use pnpm
whenToUse:
  - npm|pnpm
importance: high
discoveredAt: 2026-01-23T10:30:00Z
discoveredBy: alice
---

The lock file is pnpm's; npm breaks CI.
"""
ENVIRONMENT = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_TRANSCRIPT_PATH")


@pytest.fixture(autouse=True)
def no_host(monkeypatch):
    """The tests may themselves run below a host."""
    for name in (*ENVIRONMENT, "RAWKOMEM_LEARNING"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def transcripts(tmp_path_factory, monkeypatch):
    """The folder in which Claude Code keeps its transcripts."""
    home = tmp_path_factory.mktemp("claude")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    (home / "projects" / "here").mkdir(parents=True)
    return home / "projects" / "here"


@pytest.fixture
def remembered(memories, repository):
    """One memory, indexed."""
    (memories / "use-pnpm.md").write_text(MEMORY)
    repository.sync()
    return memories


class Hook:
    """The hook as a host starts it, from some other folder. Whatever happens: exit code 0, nothing on stderr.

    Call it to run the hook in this process; `process` starts a new one, as a host does.
    """

    def __init__(self, project, elsewhere):
        self.project, self.elsewhere = str(project), elsewhere

    def __call__(self, host: str, event: str, told: object, transcript: str = "/nowhere/t.jsonl", **given) -> str:
        given = {"cwd": self.elsewhere, "env": {}, **given}
        done = run_here(run, ("hook", host, event), input=self._data(told, transcript), **given)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def process(self, host: str, event: str, told: object, transcript: str = "/nowhere/t.jsonl", **given) -> str:
        return self.finish(self.start(host, event, **given), self._data(told, transcript))

    def _data(self, told: object, transcript: str) -> bytes:
        return told if isinstance(told, bytes) else filled(told, self.project, transcript)

    def start(self, *words: str, cwd=None, env=None) -> subprocess.Popen:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "rawkomem", "hook", *words]
        return subprocess.Popen(
            command, cwd=cwd or self.elsewhere, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
        )

    def finish(self, process: subprocess.Popen, data: bytes) -> str:
        out, error = process.communicate(data, timeout=600)
        assert (process.returncode, error.decode()) == (0, "")
        return out.decode()


@pytest.fixture
def hook(project, tmp_path_factory) -> Hook:
    """Calls hooks of the project."""
    return Hook(project, tmp_path_factory.mktemp("elsewhere"))


def filled(told: object, folder: str, transcript: str) -> bytes:
    text = json.dumps(told).replace(json.dumps(FOLDER), json.dumps(folder))
    return text.replace(json.dumps(TRANSCRIPT), json.dumps(transcript)).encode()


@pytest.fixture
def at_once(monkeypatch, tmp_path_factory):
    """What hooks leave to a process in the background is done at once, in this process."""
    elsewhere = tmp_path_factory.mktemp("background")

    def work(layout, job, *words: str, stdin: int = -1, queue: bool = False) -> bool:
        done = run_here(run, ("-C", layout.root, *words), input=os.pread(stdin, 1 << 24, 0), cwd=elsewhere, env={})
        return done.returncode == 0

    monkeypatch.setattr(hook_sessions, "SETTLE_S", 0)
    monkeypatch.setattr(hook_sessions, "start_background", work)


@pytest.fixture
def log(project):
    """The lines of the hooks' log."""

    def lines() -> list[str]:
        file = project / ".rawko" / "local" / "hook.log"
        return file.read_text().splitlines() if file.exists() else []

    return lines


def until(holds, seconds: float = 300.0):
    """What `holds` gives, once it is true; a process that was left behind takes its time."""
    end = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.1)
    return found
