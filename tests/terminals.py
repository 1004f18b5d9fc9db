"""Pseudo-terminals below programs of any name, and none of the agent or the terminal that runs the tests."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from rawkomem.hosts.known_hosts import AGENT_VARIABLES

from tests.commands import ROOT

LIMIT_S = 300
STARTER = """\
import subprocess, sys
nothing = subprocess.DEVNULL
subprocess.Popen(sys.argv[1:], start_new_session=True, stdin=nothing, stdout=nothing, stderr=nothing)
"""


def terminal_in(folder: Path) -> str:
    """A program whose name is that of a terminal emulator."""
    if not (shutil.which("script") and Path("/proc/self").exists()):
        pytest.skip("needs script and /proc")
    return shell_named("xterm", folder)


def shell_named(name: str, folder: Path) -> str:
    """A copy of the shell under another name: what a process tree shows of a terminal emulator or an agent."""
    folder.mkdir(exist_ok=True)
    return shutil.copy(os.path.realpath("/bin/sh"), folder / name)


def scrubbed(**more: str) -> dict[str, str]:
    """The environment without the variables of agents."""
    kept = {name: value for name, value in os.environ.items() if name not in AGENT_VARIABLES}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def typed(line: str, shown: str | Path = "/dev/null") -> str:
    """The line of a shell that runs a command at a pseudo-terminal of its own, with what that shows in a file."""
    return f"{emulator()} -qefc '{line}' {shown} </dev/null"


@cache
def emulator() -> str:
    """`script` under the name of a terminal emulator, which makes the terminals of people."""
    link = Path(mkdtemp(prefix="rawkomem-emulator-")) / "konsole"
    link.symlink_to(shutil.which("script") or "/usr/bin/script")
    return str(link)


def start(program: str, line: str, project: Path, env: dict[str, str]) -> Path:
    """Start a program without a living parent, and return the file that it makes when its line ended."""
    ended = project / "ended"
    words = [sys.executable, "-c", STARTER, program, "-c", f"{line}; touch {ended}; :"]
    subprocess.run(words, cwd=project, env=env, check=True)
    return ended


def detached(program: str, line: str, project: Path, env: dict[str, str]) -> None:
    """Run a line with a program that has no living parent."""
    wait_for(start(program, line, project, env).exists)


def wait_for(happened: Callable[[], object]) -> None:
    ends = time.monotonic() + LIMIT_S
    while not happened():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.05)


def converse(program: str, words: list[str], replies: list[tuple[str, str]], folder: Path, env: dict[str, str]) -> str:
    """Run a command at a terminal where a person replies to its questions (patterns), and return what it shows."""
    told, shown = folder / "told.json", folder / "shown"
    told.write_text(json.dumps({"words": words, "replies": replies, "shown": str(shown)}))
    (folder / "ended").unlink(missing_ok=True)
    detached(program, shlex.join([sys.executable, str(ROOT / "tests" / "conversing.py"), str(told)]), folder, env)
    for name in ("told.json", "ended"):
        (folder / name).unlink()
    text = shown.read_text(errors="replace")
    shown.unlink()
    return text
