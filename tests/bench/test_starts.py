"""What a prompt waits for, in processor time of whole processes, in starts of Python on the same machine."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest
from rawkomem.bench.corpus import make_repository
from rawkomem.bench.speed import _fill_second_tier, command
from rawkomem.git.citations import MIN_AGE_NS

from tests.commands import ROOT
from tests.cpu import cpu_seconds, start_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

MEMORIES, LAYER_MEMORIES = 2_000, 200
MAX_INJECT_STARTS, MAX_CONTEXTUAL_STARTS, MAX_HOOK_STARTS, MAX_LAYER_STARTS = 6.5, 16, 7.5, 2
MAX_CITATIONS_STARTS = 1
RUNS = 11
TRANSCRIPT_BYTES = 1_000_000
TASK = "how do we rotate the signing keys of the payment service before the release? the old ones expire on friday"


class User:
    """Somebody with a home and a project of 2,000 memories of their own: `.rawko/local` belongs to one user."""

    def __init__(self, folder: Path):
        self.folder, self.project = folder, folder / "project"
        self.project.mkdir(parents=True)
        self.home = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "CACHE", "DATA")}
        self.shared, self.personal = folder / "shared", folder / "data" / "rawkomem" / "personal"
        make_repository(str(self.project), MEMORIES)
        self.run(["sync"])

    def run(self, words: list[str], input: str = "", folder: Path | None = None, embedder: str = "static") -> str:
        """Return what a command prints. Compiled modules are kept, as in an installation."""
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(self.folder.parent / "compiled")}
        env = {**os.environ, **self.home, **compiled, "PYTHONPATH": str(ROOT), "RAWKOMEM_EMBEDDER": embedder}
        done = subprocess.run(
            command(*words),
            cwd=folder or self.project,
            env=env,
            input=input,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def inject(self, embedder: str = "static") -> str:
        return self.run(["inject", TASK], embedder=embedder)

    def hook(self) -> str:
        """Answer the prompt of a new session whose transcript is long."""
        transcript = self.folder / "transcript.jsonl"
        if not transcript.exists():
            said = {"role": "user", "content": "we looked at the deployment of the orders service and at its retries"}
            line = json.dumps({"type": "user", "message": said}) + "\n"
            transcript.write_text(line * (TRANSCRIPT_BYTES // len(line) + 1))
        call = {"hook_event_name": "UserPromptSubmit", "session_id": os.urandom(4).hex(), "prompt": TASK}
        given = {**call, "transcript_path": str(transcript), "cwd": str(self.project)}
        return self.run(["hook", "claude", "prompt"], json.dumps(given))

    def add_personal_layer(self) -> None:
        self.personal.mkdir(parents=True)
        make_repository(str(self.personal), LAYER_MEMORIES)
        self.run(["sync"], folder=self.personal)

    def add_source(self) -> None:
        self.shared.mkdir()
        make_repository(str(self.shared), LAYER_MEMORIES)
        config = self.folder / "config" / "rawkomem" / "config.yaml"
        config.write_text(f"sources:\n  - {self.shared}\n")


def starts(*runs: Callable[[], str]) -> list[float]:
    """Return the medians of what each takes, by turns with starts of Python: what else the machine does changes."""
    for run in (*runs, *runs):
        assert "memory-" in run()  # without an answer there is nothing to measure
    took = [[start_seconds(1), *map(cpu_seconds, runs)] for _ in range(RUNS)]
    start, *others = map(median, zip(*took, strict=True))
    return [other / start for other in others]


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> User:
    return User(tmp_path_factory.mktemp("alone") / "user")


@pytest.fixture
def other(tmp_path) -> User:
    return User(tmp_path / "user")


def test_a_cold_injection(alone):
    """Measured: 6.0 to 6.3 starts."""
    (took,) = starts(alone.inject)
    assert took <= MAX_INJECT_STARTS


def test_a_prompt_hook_with_a_long_transcript(alone):
    """Measured: 6.8 to 7.2 starts. What a person typed is noted by a copy of the process, for which no host waits."""
    (took,) = starts(alone.hook)
    assert took <= MAX_HOOK_STARTS


def test_a_personal_layer(alone, other):
    """Measured: 1.2 to 1.4 starts more."""
    other.add_personal_layer()
    took, less = starts(other.inject, alone.inject)
    assert took - less <= MAX_LAYER_STARTS


@pytest.mark.xfail(reason="2.0 to 2.2 starts more; the limit is 2 more", strict=False)
def test_a_shared_source(alone, other):
    """Measured: 2.0 to 2.2 starts more, a personal layer takes 1.1 to 1.3."""
    other.add_source()
    took, less = starts(other.inject, alone.inject)
    assert took - less <= MAX_LAYER_STARTS


def test_contextual_vectors(other, monkeypatch):
    """Measured: 14.8 to 15.2 starts on a busy machine, 16.7 on an idle one."""
    for name, folder in other.home.items():
        monkeypatch.setenv(name, folder)
    _fill_second_tier(str(other.project))
    (took,) = starts(lambda: other.inject("auto"))
    assert took <= MAX_CONTEXTUAL_STARTS


CITED_FILES, CITING_MEMORIES, CITATIONS_EACH = 50, 40, 13
FUNCTION = 'def step_{0}(order, *, retries=3):\n    """Do step {0} of the order."""\n    for _ in range(retries):\n        order.go({0})\n\n\n'


def cite_much(user: User) -> None:
    """Let the memories that the task finds cite 520 functions in 50 files."""
    for number in range(CITED_FILES):
        (user.project / f"steps_{number}.py").write_text("".join(FUNCTION.format(n) for n in range(40)))
        os.utime(user.project / f"steps_{number}.py", (1, 1))
    time.sleep(MIN_AGE_NS / 1e9)
    found = json.loads(user.run(["search", TASK, "-n", str(CITING_MEMORIES), "--json"]))
    for number, row in enumerate(found["found"] if isinstance(found, dict) else found):
        places = [f"steps_{(number + n) % CITED_FILES}.py#step_{n}" for n in range(CITATIONS_EACH)]
        user.run(["cite", row["id"], *places])
    user.run(["sync"])


def test_citations(alone, other):
    """Measured: see docs/bench.md. Every candidate cites, so that each injection looks at several hundred places."""
    cite_much(other)
    took, less = starts(other.inject, alone.inject)
    assert took - less <= MAX_CITATIONS_STARTS
