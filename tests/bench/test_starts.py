"""What a prompt waits for, in processor time of whole processes, in starts of Python on the same machine."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from statistics import median

import pytest

from rawkomem.bench.corpus import make_repository
from rawkomem.bench.speed import _fill_second_tier, command
from tests.commands import ROOT
from tests.cpu import cpu_seconds, start_seconds

pytestmark = pytest.mark.slow

MEMORIES, LAYER_MEMORIES = 2_000, 200
MAX_INJECT_STARTS, MAX_CONTEXTUAL_STARTS, MAX_HOOK_STARTS, MAX_LAYER_STARTS = 6.5, 16, 7.5, 2
RUNS = 11
TRANSCRIPT_BYTES = 1_000_000
TASK = "how do we rotate the signing keys of the payment service before the release? the old ones expire on friday"


class Bench:
    """A project of 2,000 memories, and a user who has nothing else yet."""

    def __init__(self, folder: Path):
        self.folder, self.project = folder, folder / "project"
        self.project.mkdir()
        make_repository(str(self.project), MEMORIES)
        self.run(["sync"], self.env("alone"))

    def env(self, user: str, embedder: str = "static") -> dict[str, str]:
        """Return the environment of a user. Compiled modules are kept, as in an installation."""
        home = {f"XDG_{name}_HOME": str(self.folder / user / name.lower()) for name in ("CONFIG", "CACHE", "DATA")}
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(self.folder / "compiled")}
        return {**os.environ, **home, **compiled, "PYTHONPATH": str(ROOT), "RAWKOMEM_EMBEDDER": embedder}

    def run(self, words: list[str], env: dict[str, str], input: str = "", folder: Path | None = None) -> str:
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

    def starts(self, words: list[str], env: dict[str, str], inputs=lambda: "") -> float:
        """Return the median of what a command takes; it answers with memories, else there is nothing to measure."""
        assert "memory-" in self.run(words, env, inputs())
        took = median(cpu_seconds(lambda: self.run(words, env, inputs())) for _ in range(RUNS))
        return took / start_seconds(RUNS)


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


def test_a_cold_injection(bench):
    assert bench.starts(["inject", TASK], bench.env("alone")) <= MAX_INJECT_STARTS


def test_a_prompt_hook_with_a_long_transcript(bench):
    transcript = bench.folder / "transcript.jsonl"
    said = {"role": "user", "content": "we looked at the deployment of the orders service and at its retries"}
    line = json.dumps({"type": "user", "message": said}) + "\n"
    transcript.write_text(line * (TRANSCRIPT_BYTES // len(line) + 1))

    def prompt() -> str:
        call = {"hook_event_name": "UserPromptSubmit", "session_id": os.urandom(4).hex(), "prompt": TASK}
        return json.dumps({**call, "transcript_path": str(transcript), "cwd": str(bench.project)})

    assert bench.starts(["hook", "claude"], bench.env("alone"), prompt) <= MAX_HOOK_STARTS


def test_a_personal_layer(bench):
    env = bench.env("personal")
    personal = Path(env["XDG_DATA_HOME"]) / "rawkomem" / "personal"
    personal.mkdir(parents=True)
    make_repository(str(personal), LAYER_MEMORIES)
    bench.run(["sync"], env, folder=personal)
    more = bench.starts(["inject", TASK], env) - bench.starts(["inject", TASK], bench.env("alone"))
    assert more <= MAX_LAYER_STARTS


def test_a_shared_source(bench):
    env = bench.env("sharing")
    shared, config = bench.folder / "shared", Path(env["XDG_CONFIG_HOME"]) / "rawkomem" / "config.yaml"
    shared.mkdir()
    make_repository(str(shared), LAYER_MEMORIES)
    config.parent.mkdir(parents=True)
    config.write_text(f"sources:\n  - {shared}\n")
    more = bench.starts(["inject", TASK], env) - bench.starts(["inject", TASK], bench.env("alone"))
    assert more <= MAX_LAYER_STARTS


def test_contextual_vectors(bench):
    """The last one: it gives the project its second tier."""
    _fill_second_tier(str(bench.project))
    assert bench.starts(["inject", TASK], bench.env("alone", "auto")) <= MAX_CONTEXTUAL_STARTS
