"""Implement `rawkomem self-check`: test every part of rawkomem in a temporary folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping

import click

from .... import __version__
from ....model.installed import how_to_add, how_to_install, how_to_reach, installer
from ....model.record import as_dict, record
from ..options import JSON
from ..terminal import paint, say, say_json
from .demo import apart_environment

TITLE, BODY, TASK = "Use pnpm", "The lock file is pnpm's; npm breaks the build.", "install a package with npm"
STEP_LIMIT_S = 120.0  # the first start on a slow disk takes seconds
REPORT = "run 'rawkomem doctor' and report what it prints"


@record
class Checked:
    """One check: its name, whether it passed, its result, and what to do if it failed."""

    name: str
    ok: bool
    text: str
    hint: str = ""


class Machine:
    """Runs rawkomem in a temporary project, without the user's settings."""

    def __init__(self, home: str):
        self.project = os.path.join(home, "project")
        os.mkdir(self.project)
        self.environment = apart_environment(home)

    def rawkomem(self, *words: str, told: str = "") -> str:
        """Return the output of a command; raise RuntimeError with the last line of stderr if it fails."""
        command = [sys.executable, "-P", "-m", "rawkomem", *words]
        try:
            done = subprocess.run(
                command, cwd=self.project, env=self.environment, input=told, capture_output=True, encoding="utf-8",
                check=False, timeout=STEP_LIMIT_S,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as failure:
            raise RuntimeError(str(failure)) from None
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])
        return done.stdout


@click.command("self-check")
@JSON
def self_check_command(as_json: bool) -> int:
    """Test every part of rawkomem once, in a temporary folder.

    The command creates a repository, adds a memory, searches, injects and runs a hook. It looks for git and for
    rawkomem on the PATH. It prints a line for each part, and what to do if the part fails. The exit code is 1 if a
    part fails.
    """
    passed = True
    shown = []
    with tempfile.TemporaryDirectory(prefix="rawkomem-check-", ignore_cleanup_errors=True) as home:
        for one in check_all(Machine(home)):
            passed = passed and one.ok
            shown.append(as_dict(one))
            if not as_json:
                mark = paint("ok", "green") if one.ok else paint("!!", "red")
                say(f"{mark}  {one.name:12} {one.text}" + (f" ({one.hint})" if one.hint else ""))
    if as_json:
        say_json(shown)
    return 0 if passed else 1


def check_all(machine: Machine) -> Iterator[Checked]:
    """Run the checks and yield each result."""
    yield Checked(
        "version", True, f"rawkomem {__version__}, Python {sys.version.split()[0]}, installed by {installer()}"
    )
    for name, step in STEPS.items():
        try:
            yield Checked(name, True, step(machine))
        except (RuntimeError, ValueError, KeyError) as failure:
            yield Checked(name, False, str(failure), REPORT)
    yield _path()
    yield _git()
    yield _package("browse", "nh3", "the page", how_to_install("markdown-it-py", "nh3"))
    yield _package("lsp", "pygls", "the language server", how_to_install("pygls"))
    yield _package("mcp", "mcp", "the MCP server (optional)", how_to_add("mcp"), needed=False)


def _init(machine: Machine) -> str:
    machine.rawkomem("init")
    return "a repository can be created"


def _add(machine: Machine) -> str:
    machine.rawkomem("add", "--title", TITLE, "--when", "npm", "--body", BODY)
    return "a memory can be stored"


def _search(machine: Machine) -> str:
    return _expect(TITLE, machine.rawkomem("search", "which package manager"), "search finds the memory")


def _inject(machine: Machine) -> str:
    return _expect(BODY, machine.rawkomem("inject", TASK), "inject prints the memory")


def _hook(machine: Machine) -> str:
    told = json.dumps({"session_id": "self-check", "cwd": machine.project, "prompt": TASK})
    answer = machine.rawkomem("hook", "claude", "prompt", told=told)
    context = json.loads(answer or "{}").get("hookSpecificOutput", {}).get("additionalContext", "")
    return _expect(BODY, context, "a hook answers")


def _expect(wanted: str, said: str, text: str) -> str:
    if wanted not in said:
        raise RuntimeError(f"the memory is missing in the answer: {said.strip()[:80]!r}")
    return text


STEPS: Mapping[str, Callable[[Machine], str]] = {
    "init": _init, "add": _add, "search": _search, "inject": _inject, "hook": _hook,
}  # fmt: skip


def _path() -> Checked:
    found = shutil.which("rawkomem")
    return Checked("PATH", bool(found), found or "rawkomem is not on the PATH", "" if found else how_to_reach())


def _git() -> Checked:
    found = shutil.which("git")
    return Checked(
        "git", bool(found), found or "git is missing", "" if found else "install git, with which teams share memories"
    )


def _package(name: str, module: str, what: str, command: str, needed: bool = True) -> Checked:
    from importlib.util import find_spec

    found = find_spec(module) is not None
    return Checked(name, found or not needed, f"{what}: {'ready' if found else 'not installed'}",
                   "" if found else f"run: {command}")  # fmt: skip
