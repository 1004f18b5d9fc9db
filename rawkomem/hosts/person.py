"""Tell whether a person gives a command: at a terminal of their own, with no agent host above the process.

It cannot be proven. A program that hides its name, clears its environment and types into a person's own terminal
(`tmux send-keys`) passes for them; `--strict` and commits exist for that.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise

from ..model.record import record
from .records import AGENT_PROGRAMS, AGENT_VARIABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PERSON, AGENT = "person", "agent"
MAX_ANCESTORS = 64
MAX_ARGUMENTS_BYTES = 4096
PS, PS_LIMIT_S = ("ps", "-axo", "pid=,ppid=,command="), 5
INIT, KEEPERS = 1, ("systemd", "init", "launchd")  # who takes over a process whose parent is gone
INTERPRETERS = ("node", "bun", "deno", "python", "ruby", "perl", "npm", "npx", "uv", "uvx", "pipx")
SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox")
# What lets a command run at a terminal that no person sees, when its own parent is gone.
DETACHED = (*INTERPRETERS, *SHELLS, "script", "expect", "unbuffer", "socat", "setsid", "nohup", "dtach", "abduco")
SERVERS = ("vscode-server", "code-server", "jupyter", "ttyd", "wetty")  # programs that serve terminals to people


@record
class Process:
    """A process: its parent, its name, and its command line."""

    pid: int
    parent: int
    name: str
    arguments: tuple[str, ...]


def arrival() -> str:
    """Return how a command's words arrive: from a person at a terminal in the foreground, else from an agent."""
    return PERSON if _at_terminal() and not agent_above() else AGENT


def agent_above() -> str:
    """Return the variable or the program that shows that an agent runs this process; empty if there is none."""
    return _agent_variable() or agent_among(list(_ancestors()))


def is_piped_by_person() -> bool:
    """Tell whether a person at a terminal pipes a text into this process; it still counts as an agent's word."""
    return not os.isatty(0) and os.isatty(1) and not agent_above()


def known_agent() -> str:
    """Return the variable or the known agent program above this process; empty for any other program, such as an IDE.

    Unlike agent_above(), this does not take a process without a terminal for an agent: people commit in programs, too.
    """
    return _agent_variable() or _program_among(list(_ancestors()))


def _agent_variable() -> str:
    return next((name for name in AGENT_VARIABLES if os.environ.get(name)), "")


def _program_among(ancestors: list[Process]) -> str:
    return next((found[0] for process in ancestors if (found := sorted(_names(process) & AGENT_PROGRAMS))), "")


def agent_among(ancestors: list[Process]) -> str:
    """Return the agent, or the detached pseudo-terminal, among the ancestors of a process, the nearest first."""
    program = _program_among(ancestors)
    if program:
        return program
    top = _top(ancestors)
    if top and _base(top.name) in DETACHED and not any(server in " ".join(top.arguments) for server in SERVERS):
        return top.name
    return ""


def _top(ancestors: list[Process]) -> Process | None:
    """Return the ancestor that the system itself holds; None in a container whose first process is a shell."""
    for process, above in pairwise([*ancestors, None]):
        if process and (process.parent == INIT or (above and _base(above.name) in KEEPERS)):
            return None if above and _base(above.name) in SHELLS else process
    return None


def confirmed(question: str) -> bool:
    """Ask a question on the controlling terminal, past redirections; without one, nobody says yes."""
    try:
        with open("/dev/tty", "r+b", buffering=0) as terminal:
            terminal.write(f"{question} [y/N] ".encode())
            return terminal.readline().strip().lower() in (b"y", b"yes")
    except OSError:
        return False


def _at_terminal() -> bool:
    """Tell whether both ends are the controlling terminal, and this process is in its foreground."""
    try:
        if not (os.isatty(0) and os.isatty(1)):
            return False
        return sys.platform == "win32" or os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # a terminal, but not the controlling one
        return False


def _names(process: Process) -> set[str]:
    """Return the names that tell what a process is: its own, its program's, and the script that an interpreter runs."""
    program = process.arguments[0] if process.arguments else ""
    names = {_base(process.name), _base(program)}
    if names & {*INTERPRETERS}:
        script = next((word for word in process.arguments[1:] if not word.startswith("-")), "")
        names |= {_base(script), _package(script)}
    return names


def _base(path: str) -> str:
    """Return the name of a program: `/opt/Claude.exe` is claude, `python3.12` is python."""
    name = path.replace("\\", "/").rpartition("/")[2].lower().lstrip("-")
    for ending in (".exe", ".js", ".mjs", ".cjs", ".py", ".cmd"):
        name = name.removesuffix(ending)
    bare = name.split(" ")[0]
    return next((one for one in INTERPRETERS if bare.rstrip("0123456789.") == one), bare)


def _package(script: str) -> str:
    """Return the package of a script below node_modules, without its scope."""
    _, found, rest = script.replace("\\", "/").rpartition("/node_modules/")
    parts = rest.split("/") if found else []
    return (parts[1:2] if parts and parts[0].startswith("@") else parts[:1] or [""])[0]


def _ancestors() -> Iterator[Process]:
    """Yield the parent, its parent, and so on, as far as they can be seen; nothing on Windows."""
    if sys.platform == "win32":
        return
    listed = None if os.path.isdir("/proc/self") else _listed()
    pid = os.getppid()
    for _ in range(MAX_ANCESTORS):
        process = _read(pid) if listed is None else listed.get(pid)
        if process is None:
            return
        yield process
        pid = process.parent


def _read(pid: int) -> Process | None:
    """Return a process as /proc shows it; None if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat, open(f"/proc/{pid}/cmdline", "rb") as line:
            head, _, rest = stat.read().decode("utf-8", "replace").rpartition(")")
            words = line.read(MAX_ARGUMENTS_BYTES).decode("utf-8", "replace").rstrip("\0").split("\0")
    except OSError:
        return None
    return Process(pid, int(rest.split()[1]), head.partition("(")[2], tuple(words))


def _listed() -> dict[int, Process]:
    """Return all processes as `ps` lists them, where there is no /proc."""
    import subprocess

    try:
        done = subprocess.run(PS, capture_output=True, text=True, timeout=PS_LIMIT_S, check=False)
    except (OSError, subprocess.SubprocessError):
        return {}
    rows = (line.split(None, 2) for line in done.stdout.splitlines())
    found = (
        Process(int(row[0]), int(row[1]), row[2].split()[0], tuple(row[2].split())) for row in rows if len(row) == 3
    )
    return {process.pid: process for process in found}
