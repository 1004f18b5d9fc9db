"""Run command lines: in the test's process (some 10 ms), or in a new process (some 300 ms).

In the test's process a command gets real file descriptors 0, 1 and 2, a folder, an environment and `sys.argv`, as a
new process would. It must leave the process as it found it: `run_here` fails when a command changed the environment,
the current folder or a signal handler.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, TextIO

import pytest
from rawkomem.faces.cli import run

Done = subprocess.CompletedProcess[str]

ROOT = Path(__file__).resolve().parent.parent
# Of processes that a test starts; the fixture `own_home` adds the test's own config and cache folders.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "RAWKOMEM_EMBEDDER": "static"}
START = [sys.executable, "-m", "rawkomem"]
PROCESS_TIMEOUT_S = 600  # a busy machine takes its time
FULL = bool(os.environ.get("RAWKOMEM_FULL"))  # whether tests run every case; the slow lane takes hours then


def cases(full: int, usual: int) -> int:
    """Return how many cases a test runs: all of them if RAWKOMEM_FULL is set."""
    return full if FULL else usual


def in_slow_lane(values: Iterable[object]) -> list:
    """Return parameters of a test that run in the slow lane only."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def spread(names: Sequence[str], others: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs for a test: all of them if RAWKOMEM_FULL is set, else every name once and every other by turns."""
    return [*product(names, others)] if FULL else [(name, others[n % len(others)]) for n, name in enumerate(names)]


SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Command:
    """`rawkomem` in a folder. Call it to run a command line in this process; `process` starts a new process."""

    def __init__(self, folder: Path, main: Callable[[list[str]], int] = run, start: list[str] = START):
        self.folder, self.main, self.start = folder, main, start

    def __call__(self, *words: str, check: int | None = 0, **given: object) -> Done:
        """Run a command line in this process and return what it printed; fail on another exit code than `check`."""
        return checked(run_here(self.main, words, **self._given(given)), check)

    def json(self, *words: str, **given: object) -> Any:
        """Run a command line with `--json` in this process and return the JSON that it printed."""
        return json.loads(self(*words, "--json", **given).stdout)

    def process(self, *words: str, check: int | None = 0, **given: object) -> Done:
        """Run a command line in a new process: for start-up, imports, signals, terminals, encodings and kills."""
        return checked(run_process([*self.start, *words], **self._given(given)), check)

    def _given(self, given: dict) -> dict:
        return {"input": "", "cwd": self.folder, "env": {}, **{key: it for key, it in given.items() if it is not None}}


def checked(done: Done, check: int | None) -> Done:
    """Return `done`; fail on a traceback and on another exit code than `check`. None allows any code."""
    assert check is None or done.returncode == check, f"exit {done.returncode}: {done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done


def run_process(command: list[str], *, input: str, cwd: Path, env: dict[str, str]) -> Done:
    """Run a command in a new process, which imports rawkomem from this checkout."""
    return subprocess.run(
        command,
        cwd=cwd,
        input=input,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        timeout=PROCESS_TIMEOUT_S,
        check=False,
    )


def run_here(
    main: Callable[[list[str]], int], words: tuple[str, ...], *, input: str | bytes, cwd: Path, env: dict[str, str]
) -> Done:
    """Run `main` on the words in this process. An exception that `main` raises fails the test."""
    assert not any(name.startswith("PYTHON") for name in env), "Python reads these at its start: use a process"
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(input if isinstance(input, bytes) else input.encode())
        stdin.seek(0)
        with _as_in_a_process((stdin, stdout, stderr), str(cwd), env, words):
            try:
                code = main(list(words)) or 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return subprocess.CompletedProcess(words, code, _text(stdout), _text(stderr))


def _text(stream) -> str:
    stream.seek(0)
    return stream.read().decode()


@contextlib.contextmanager
def _as_in_a_process(files: tuple, cwd: str, env: dict[str, str], words: tuple[str, ...]) -> Iterator[None]:
    """Set up what a new process starts with; afterwards check that the command left it alone, and put it back."""
    with pytest.MonkeyPatch.context() as patch, _descriptors(files):
        for name, value in env.items():
            patch.setenv(name, value)
        patch.chdir(cwd)
        patch.setattr(sys, "argv", [str(ROOT / "rawkomem" / "__main__.py"), *words])
        streams = _streams()
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        before = _state()
        yield
        for stream in (streams["stdout"], streams["stderr"]):
            stream.flush()
        after = _state()
        assert after == before, {name: (before[name], after[name]) for name in before if after[name] != before[name]}


def _streams() -> dict[str, TextIO]:
    """Return the streams that Python makes at its start; the descriptors stay open when the streams are gone."""
    makers = {"stdin": ("r", "strict"), "stdout": ("w", "strict"), "stderr": ("w", "backslashreplace")}
    streams = {}
    for number, (name, (mode, errors)) in enumerate(makers.items()):
        streams[name] = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        streams[name].buffer.raw.name = f"<{name}>"
    return streams


@contextlib.contextmanager
def _descriptors(files: tuple) -> Iterator[None]:
    """Make files the descriptors 0, 1 and 2, also for processes that the command starts."""
    kept = [os.dup(number) for number in range(3)]
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        yield
    finally:
        for number, old in enumerate(kept):
            os.dup2(old, number)
            os.close(old)


def _state() -> dict[str, object]:
    """Return what a command must leave as it is."""
    return {
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "signals": [signal.getsignal(number) for number in SIGNALS],
    }
