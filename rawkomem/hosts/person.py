"""Return whether a person runs a command: at their own terminal, with no agent host among the parent
processes.

A window of tmux or screen is a person's only while a person's terminal shows that session. Which
program types at that terminal cannot be proven: one that types into a person's own window
(`tmux send-keys`) counts as that person. docs/security.md says what this means.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise

from ..model.values import TYPE_CHECKING, record
from .known_hosts import AGENT_PROGRAMS, AGENT_VARIABLES

if TYPE_CHECKING:
    from ..repository import Repository

PERSON = "person"
AGENT = "agent"
MAX_ANCESTORS = 64
TERMINALS = ("/dev/pts/", "/dev/tty")
MAX_ARGUMENTS_BYTES = 4096
PS = ("ps", "-axo", "pid=,ppid=,pgid=,tpgid=,tty=,command=")
PS_LIMIT_S = 5
# processes that adopt a process whose parent has exited
INIT = 1
KEEPERS = ("systemd", "init", "launchd")
INTERPRETERS = str.split("node bun deno python ruby perl npm npx uv uvx pipx")
SHELLS = str.split("sh bash dash zsh fish ksh ash busybox")
# Programs that a person may use to make another terminal, if they read from a person's terminal and not from a pipe.
RELAYS = ("script", "su", "sudo", "doas", "runuser")
# Programs that can run a command at a terminal that no person sees, after their own parent has exited.
HIDDEN_TERMINALS = str.split("expect unbuffer socat setsid nohup dtach abduco")
DETACHED = (*INTERPRETERS, *SHELLS, *RELAYS, *HIDDEN_TERMINALS)
# Programs whose terminals a person sees only while another terminal is attached.
MULTIPLEXERS = ("tmux", "screen", "zellij")
# programs that serve terminals to people
SERVERS = str.split(
    "vscode-server code-server jupyter ttyd wetty ptyHost theia asciinema"
)


@record
class Process:
    """A process: its parent, its name, and its command line."""

    pid: int
    parent: int
    name: str
    arguments: tuple[str, ...]
    terminal: str = ""  # the controlling terminal; empty if there is none
    attended: bool = False  # in the foreground of its terminal, and reads from it


def arrival() -> str:
    """Return PERSON if a person runs this process at a terminal in the foreground, else AGENT."""
    return PERSON if _at_terminal() and not agent_above() else AGENT


def agent_above() -> str:
    """Return the variable or the program that shows that an agent runs this process; empty if there is none."""
    lineage = _lineage()
    terminal = lineage[0].terminal if lineage else ""
    return _agent_variable() or agent_among(lineage[1:], terminal)


def ask_person(repository: Repository, question: str) -> bool:
    """Let a repository write as a person if one runs this process at a terminal and answers yes; return whether."""
    if arrival() == PERSON and confirmed(question):
        repository.core.via = PERSON
    return repository.core.via == PERSON


def is_piped_by_person() -> bool:
    """Return whether a person at a terminal pipes text into this process. The text still counts as an agent's word."""
    return not os.isatty(0) and os.isatty(1) and not agent_above()


def known_agent() -> str:
    """Return the agent variable, or the known agent program above this process; empty if there is neither.

    Unlike agent_above(), this does not count a detached terminal as an agent: people also commit in other programs.
    """
    return _agent_variable() or _program_among(_lineage()[1:])


def _agent_variable() -> str:
    return next((name for name in AGENT_VARIABLES if os.environ.get(name)), "")


def _program_among(ancestors: list[Process]) -> str:
    return next(
        (
            programs[0]
            for process in ancestors
            if (programs := sorted(_process_names(process) & AGENT_PROGRAMS))
        ),
        "",
    )


def agent_among(ancestors: list[Process], terminal: str = "") -> str:
    """Return the agent or the program without a person among the ancestors of a process (nearest first).

    The first ancestor with another terminal made the terminal of the process. If it is an interpreter, `expect` or the
    like, no person sits there, nor at a window of a multiplexer that no person's terminal shows. A person may use
    `script`, `su` or `sudo` at their own terminal.
    """
    program = _program_among(ancestors)
    for process in ancestors if terminal and not program else ():
        if process.terminal != terminal:
            is_relay = process.name in RELAYS and process.attended
            if _is_detached(process) and not is_relay:
                return process.name
            if _is_multiplexer(process):
                return "" if _is_watched(process) else process.name
            terminal = process.terminal
        if not terminal:
            break
    top = _topmost(ancestors)
    return program or (top.name if top and _is_detached(top) else "")


def _is_detached(process: Process) -> bool:
    """Return whether a process can run commands at a terminal that no person sees."""
    served = any(server in " ".join(process.arguments) for server in SERVERS)
    return _program_name(process.name) in DETACHED and not served


def _is_multiplexer(process: Process) -> bool:
    return _program_name(process.name).rstrip(":") in MULTIPLEXERS


def _is_watched(server: Process) -> bool:
    """Return whether the terminal of a person shows a session of a multiplexer.

    The server holds the terminals of its clients open. Where that cannot be seen (no /proc, another user), nobody watches.
    """
    folder = f"/proc/{server.pid}/fd"
    try:
        names = [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)]
        shown = [_terminal_number(name) for name in names if name.startswith(TERMINALS)]
        pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return False
    for pid in pids if any(shown) else ():
        client = _process(pid)
        if (
            client
            and client.terminal in shown
            and client.attended
            and _is_multiplexer(client)
            and not agent_among(_lineage(pid)[1:], client.terminal)
        ):
            return True
    return False


def _terminal_number(path: str) -> str:
    """Return the number of a terminal as /proc/PID/stat writes it; empty if it does not exist."""
    try:
        device = os.stat(path).st_rdev
    except OSError:
        return ""
    major = os.major(device)
    minor = os.minor(device)
    return str((minor & 0xFF) | (major << 8) | ((minor & ~0xFF) << 12))


def _topmost(ancestors: list[Process]) -> Process | None:
    """Return the topmost ancestor below init; None in a container whose first process is a shell."""
    for process, above in pairwise([*ancestors, None]):
        if process and (
            process.parent == INIT or (above and _program_name(above.name) in KEEPERS)
        ):
            return None if above and _program_name(above.name) in SHELLS else process
    return None


def confirmed(question: str) -> bool:
    """Ask a yes/no question on the controlling terminal, even if stdin is redirected; False without a terminal."""
    try:
        with open("/dev/tty", "r+b", buffering=0) as terminal:
            discard_typed(terminal.fileno())
            terminal.write(f"{question} [y/N] ".encode())
            return terminal.readline().strip().lower() in (b"y", b"yes")
    except OSError:
        return False


def discard_typed(terminal: int = 0) -> None:
    """Discard keys typed before a question is shown, so that they do not answer it. Do nothing without a terminal."""
    if not os.isatty(terminal):
        return
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(terminal, termios.TCIFLUSH)


def _at_terminal() -> bool:
    """Return whether stdin and stdout are the controlling terminal, and this process is in its foreground."""
    try:
        if not (os.isatty(0) and os.isatty(1)):
            return False
        return sys.platform == "win32" or os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # a terminal, but not the controlling one
        return False


def _process_names(process: Process) -> set[str]:
    """Return the names of a process: its own, its program's and, for an interpreter, the script's and its package's."""
    program = process.arguments[0] if process.arguments else ""
    names = {_program_name(process.name), _program_name(program)}
    if names & {*INTERPRETERS}:
        script = next(
            (word for word in process.arguments[1:] if not word.startswith("-")), ""
        )
        names |= {_program_name(script), _package(script)}
    return names


def _program_name(path: str) -> str:
    """Return the normalized name of a program: claude for `/opt/Claude.exe`, python for `python3.12`."""
    name = path.replace("\\", "/").rpartition("/")[2].lower().lstrip("-")
    for ending in (".exe", ".js", ".mjs", ".cjs", ".py", ".cmd"):
        name = name.removesuffix(ending)
    bare = name.split(" ")[0]
    return next(
        (one for one in INTERPRETERS if bare.rstrip("0123456789.") == one), bare
    )


def _package(script: str) -> str:
    """Return the package of a script below node_modules, without its scope."""
    _, folder, rest = script.replace("\\", "/").rpartition("/node_modules/")
    parts = rest.split("/") if folder else []
    return (parts[1:2] if parts and parts[0].startswith("@") else parts[:1] or [""])[0]


def _lineage(pid: int = 0) -> list[Process]:
    """Return a process, by default this one, its parent, and so on, as far as they are visible; nothing on Windows."""
    if sys.platform == "win32":
        return []
    listed = None if os.path.isdir("/proc/self") else _processes()
    processes: list[Process] = []
    pid = pid or os.getpid()
    while len(processes) <= MAX_ANCESTORS:
        process = _process(pid) if listed is None else listed.get(pid)
        if process is None:
            break
        processes.append(process)
        pid = process.parent
    return processes


def _process(pid: int) -> Process | None:
    """Return a process from /proc; None if it does not exist."""
    try:
        with (
            open(f"/proc/{pid}/stat", "rb") as stat,
            open(f"/proc/{pid}/cmdline", "rb") as line,
        ):
            head, _, rest = stat.read().decode("utf-8", "replace").rpartition(")")
            words = (
                line.read(MAX_ARGUMENTS_BYTES)
                .decode("utf-8", "replace")
                .rstrip("\0")
                .split("\0")
            )
    except OSError:
        return None
    _, parent, group, _, terminal, foreground, *_ = rest.split()
    try:
        reads = os.readlink(f"/proc/{pid}/fd/0").startswith(TERMINALS)
    except OSError:  # a process of another user
        reads = False
    is_attended = reads and group == foreground
    name = head.partition("(")[2]
    return Process(
        pid,
        int(parent),
        name,
        tuple(words),
        terminal.strip("0") and terminal,
        is_attended,
    )


def _processes() -> dict[int, Process]:
    """Return all processes from `ps`, for systems without /proc; empty if `ps` fails."""
    import subprocess  # slow to import, and not needed on Linux

    try:
        done = subprocess.run(
            PS, capture_output=True, text=True, timeout=PS_LIMIT_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    rows = (line.split() for line in done.stdout.splitlines())
    processes = (
        Process(
            int(row[0]),
            int(row[1]),
            row[5],
            tuple(row[5:]),
            row[4].strip("?-"),
            row[2] == row[3],
        )
        for row in rows
        if len(row) > 5
    )
    return {process.pid: process for process in processes}
