"""Start rawkomem in the background: short work in a fork, jobs as detached processes.

A lock allows one process per job; its errors go to a log next to the lock.
"""

from __future__ import annotations

import os
import sys

from ..model.values import TYPE_CHECKING, iso, now
from .layout import Layout
from .private import Lock, append_log, open_private
from .records import close_records

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LOG_BYTES = 256 * 1024
# a user sets it to EAGER to run jobs at once, even on a busy machine
BACKGROUND_VARIABLE = "RAWKOMEM_BACKGROUND"
# MARK is the prefix of the variable's value in a process that `start` started
MARK = "started "
EAGER = "eager"
# One core at the lowest priority, for every library that does arithmetic.
THREADS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# Python gets -P, so that it imports no module from the current folder, which is an untrusted project.
WORK = (
    "import os, sys; getattr(os, 'nice', int)(19); os.chdir(os.sep); "
    f"os.environ.update(dict.fromkeys({THREADS!r}, '1')); "
    f"os.environ[{BACKGROUND_VARIABLE!r}] = {MARK!r} + os.environ.get({BACKGROUND_VARIABLE!r}, ''); "
    "from rawkomem.faces.cli import run; sys.exit(run(sys.argv[1:]))"
)
# DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP, IDLE_PRIORITY_CLASS
WINDOWS_FLAGS = 0x00000008 | 0x00000200 | 0x00000040
# started processes: a long-running parent must reap those that ended
_children: list[int] = []


def is_background() -> bool:
    """Return whether `start` started this process, so that nobody waits for it."""
    return os.environ.get(BACKGROUND_VARIABLE, "").startswith(MARK)


def steps_aside() -> bool:
    """Return whether this process should wait while others need the machine."""
    return is_background() and not os.environ[BACKGROUND_VARIABLE].endswith(EAGER)


def can_fork() -> bool:
    """Return whether this process may fork: a fork copies one thread but all locks."""
    return hasattr(os, "fork") and "threading" not in sys.modules


def do_unwaited(work: Callable[[], None]) -> None:
    """Do short work in a forked process, so that no host waits for it; without fork, or with threads, do it here."""
    if not can_fork():
        work()
        return
    close_records()
    if not os.fork():
        try:
            # a host may kill its child together with the child's process group
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                # a host reads until the last writer closes the pipe
                os.dup2(nothing, stream)
            work()
        finally:
            os._exit(0)


def start_background(
    layout: Layout, job: Lock, *arguments: str, stdin: int = -1, queue: bool = False
) -> bool:
    """Start rawkomem in the background; return False if the job is already running. Raises OSError or RawkoError.

    With `queue`, always start the process; it waits for the job's lock itself.
    """
    if not queue:
        if not job.acquire(0.0):
            return False
        job.release()
    if not sys.executable:
        raise OSError(0, "the path of the Python interpreter is unknown")
    from ..text.clean import one_line  # not needed to read a journal

    log = f"{job.path.removesuffix('.lock')}.log"
    append_log(
        log, f"{iso(now())} start: {one_line(' '.join(arguments), 300)}", MAX_LOG_BYTES
    )
    command = [sys.executable, "-P", "-c", WORK, "-C", layout.root, *arguments]
    with open_private(log, "a") as errors:
        (_spawn if hasattr(os, "posix_spawn") else _popen)(
            command, stdin, errors.fileno()
        )
    return True


def _spawn(command: list[str], stdin: int, stderr: int) -> None:
    """Start a process without `subprocess`, because its import takes longer than answering a prompt."""
    _children[:] = [child for child in _children if not _has_ended(child)]
    actions: list[tuple[object, ...]] = [(os.POSIX_SPAWN_DUP2, stderr, 2)]
    if stdin >= 0:
        actions.append((os.POSIX_SPAWN_DUP2, stdin, 0))
    else:
        actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
    actions.append((os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0))
    try:
        child = os.posix_spawn(
            sys.executable, command, os.environ, file_actions=actions, setsid=True
        )
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
    # so that Popen does not warn about a process that still runs
    subprocess.Popen(
        command,
        stdin=stdin if stdin >= 0 else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        creationflags=WINDOWS_FLAGS if windows else 0,
        start_new_session=not windows,
    ).returncode = 0
