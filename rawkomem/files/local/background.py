"""Start rawkomem as a detached process. A lock allows one process per job; its errors go to a log next to the lock."""

from __future__ import annotations

import os
import sys

from ...model.clock import iso, now
from .private import LineFile, open_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..layout import Layout
    from ..lock import Lock

MAX_LOG_BYTES = 256 * 1024
VARIABLE = "RAWKOMEM_BACKGROUND"  # a user sets it to EAGER to run jobs at once, even on a busy machine
MARK, EAGER = "started ", "eager"  # MARK is the prefix of the variable's value in a process that `start` started
# One core at the lowest priority, for every library that does arithmetic.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# Python gets -P, so that it imports no module from the current folder, which is an untrusted project.
WORK = (
    "import os, sys; getattr(os, 'nice', int)(19); os.chdir(os.sep); "
    f"os.environ.update(dict.fromkeys({THREADS!r}, '1')); "
    f"os.environ[{VARIABLE!r}] = {MARK!r} + os.environ.get({VARIABLE!r}, ''); "
    "from rawkomem.faces.cli import run; sys.exit(run(sys.argv[1:]))"
)
WINDOWS_FLAGS = 0x00000008 | 0x00000200 | 0x00000040  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP, IDLE_PRIORITY_CLASS
IOPRIO_SET = {"x86_64": 251, "aarch64": 30}  # the number of the system call
IOPRIO_WHO_PROCESS, IOPRIO_CLASS_IDLE = 1, 3 << 13
_children: list[int] = []  # started processes: a long-running parent must reap those that ended


def is_background() -> bool:
    """Return whether `start` started this process, so that nobody waits for it."""
    return os.environ.get(VARIABLE, "").startswith(MARK)


def steps_aside() -> bool:
    """Return whether this process should wait while others need the machine."""
    return is_background() and not os.environ[VARIABLE].endswith(EAGER)


def yield_disk() -> None:
    """Give this process the idle I/O priority, on Linux."""
    number = IOPRIO_SET.get(os.uname().machine) if sys.platform == "linux" else None
    if number is None:
        return
    from ctypes import CDLL  # slow to import; only background processes need it

    CDLL(None).syscall(number, IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_IDLE)


def unwaited(work: Callable[[], None]) -> None:
    """Do short work in a forked process, so that no host waits for it; without fork, or with threads, do it here."""
    if not hasattr(os, "fork") or "threading" in sys.modules:  # a fork copies one thread but all locks
        work()
    elif not os.fork():
        try:
            os.setsid()  # a host may kill its child together with the child's process group
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)  # a host reads until the last writer closes the pipe
            work()
        finally:
            os._exit(0)


def start(layout: Layout, job: Lock, *arguments: str, stdin: int = -1, queue: bool = False) -> bool:
    """Start rawkomem in the background; return False if the job is already running. Raises OSError or RawkoError.

    With `queue`, always start the process; it waits for the job's lock itself.
    """
    if not queue:
        if not job.acquire(0.0):
            return False
        job.release()
    if not sys.executable:
        raise OSError(0, "the path of the Python interpreter is unknown")
    log = f"{job.path.removesuffix('.lock')}.log"
    LineFile(log, MAX_LOG_BYTES).append(f"{iso(now())} start: {' '.join(arguments)}")
    command = [sys.executable, "-P", "-c", WORK, "-C", layout.root, *arguments]
    with open_private(log, "a") as errors:
        (_spawn if hasattr(os, "posix_spawn") else _popen)(command, stdin, errors.fileno())
    return True


def _spawn(command: list[str], stdin: int, stderr: int) -> None:
    """Start a process without `subprocess`, because its import takes longer than answering a prompt."""
    _children[:] = [child for child in _children if not _has_ended(child)]
    given = (os.POSIX_SPAWN_DUP2, stdin, 0) if stdin >= 0 else (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    actions = [(os.POSIX_SPAWN_DUP2, stderr, 2), given, (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    try:
        child = os.posix_spawn(sys.executable, command, os.environ, file_actions=actions, setsid=True)
    except NotImplementedError:  # the system's posix_spawn cannot start a session
        _popen(command, stdin, stderr)
    else:
        _children.append(child)


def _has_ended(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        return True


def _popen(command: list[str], stdin: int, stderr: int) -> None:
    import subprocess

    windows = os.name == "nt"
    subprocess.Popen(
        command,
        stdin=stdin if stdin >= 0 else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        creationflags=WINDOWS_FLAGS if windows else 0,
        start_new_session=not windows,
    ).returncode = 0  # so that Popen does not warn about a process that still runs
