"""Note recalls on this machine, and start rawkomem in the background."""

from __future__ import annotations

import os
import sys

from ..model.errors import RawkoError
from ..model.values import TYPE_CHECKING, iso, now
from .layout import Layout
from .private import (
    LineFile,
    Lock,
    append_to_spool,
    open_private,
    spool_line,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


# Keep the ledger: operations on memories as a chain of YAMO blocks in local append-only files.
# The chain itself is in ledger.py.

LEDGER_KEEP_DAYS = 400  # default age at which blocks are removed: more than a year


# Record a recall in the ledger: the query, without secrets, and the quality of the answer.

MAX_SPOOL_BYTES = (
    256 * 1024
)  # about a thousand recalls; the process that exceeds it seals the spool
MAX_SCANNED_CHARS = 4_000  # of a query, searched for secrets
MAX_KEPT_CHARS = 500  # of a query: the ledger does not store long prompts
MIN_KEY_CHARS = 20  # a shorter word of letters only is not a key


def recall_line(
    at: int,
    agent: str,
    query: str,
    limit: int,
    filter: str,
    found: int,
    score: float,
    confidence: float,
) -> str:
    """Return a spool line with a query and the quality of its answer."""
    values = {
        "query": _without_secrets(query)[:MAX_KEPT_CHARS],
        "limit": str(limit),
        "filter": _without_secrets(filter)[:MAX_KEPT_CHARS],
        "found": str(found),
        "score": f"{score:.4f}",
        "confidence": f"{confidence:.4f}",
    }
    return spool_line("recall", at, agent, values)


def note_recalls(layout: Layout, lines: Iterable[str], keep_days: int = 0) -> None:
    """Append recalls; if many are waiting, seal them and remove blocks older than `keep_days`."""
    if append_to_spool(layout, lines) > MAX_SPOOL_BYTES:
        from .ledger import seal_and_trim  # imports hashlib, and runs once in a thousand recalls

        try:
            seal_and_trim(layout, keep_days)
        except RawkoError:
            pass  # a later recall seals them


def _without_secrets(text: str) -> str:
    """Redact a text. Plain words contain no key, number or address, so only other texts load the rules."""
    text = text[:MAX_SCANNED_CHARS]
    if all(len(word) < MIN_KEY_CHARS and word.strip(".,?!").isalpha() for word in text.split()):
        return text
    from ..redaction.find import redact  # takes a quarter of a command's start time

    return redact(text)


# Start rawkomem as a detached process. A lock allows one process per job; its errors go to a log
# next to the lock.

MAX_LOG_BYTES = 256 * 1024
BACKGROUND_VARIABLE = (
    "RAWKOMEM_BACKGROUND"  # a user sets it to EAGER to run jobs at once, even on a busy machine
)
MARK, EAGER = (
    "started ",
    "eager",
)  # MARK is the prefix of the variable's value in a process that `start` started
# One core at the lowest priority, for every library that does arithmetic.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# Python gets -P, so that it imports no module from the current folder, which is an untrusted project.
WORK = (
    "import os, sys; getattr(os, 'nice', int)(19); os.chdir(os.sep); "
    f"os.environ.update(dict.fromkeys({THREADS!r}, '1')); "
    f"os.environ[{BACKGROUND_VARIABLE!r}] = {MARK!r} + os.environ.get({BACKGROUND_VARIABLE!r}, ''); "
    "from rawkomem.faces.cli import run; sys.exit(run(sys.argv[1:]))"
)
WINDOWS_FLAGS = (
    0x00000008 | 0x00000200 | 0x00000040
)  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP, IDLE_PRIORITY_CLASS
IOPRIO_SET = {"x86_64": 251, "aarch64": 30}  # the number of the system call
IOPRIO_WHO_PROCESS, IOPRIO_CLASS_IDLE = 1, 3 << 13
_children: list[int] = []  # started processes: a long-running parent must reap those that ended


def is_background() -> bool:
    """Return whether `start` started this process, so that nobody waits for it."""
    return os.environ.get(BACKGROUND_VARIABLE, "").startswith(MARK)


def steps_aside() -> bool:
    """Return whether this process should wait while others need the machine."""
    return is_background() and not os.environ[BACKGROUND_VARIABLE].endswith(EAGER)


def yield_disk() -> None:
    """Give this process the idle I/O priority, on Linux."""
    number = IOPRIO_SET.get(os.uname().machine) if sys.platform == "linux" else None
    if number is None:
        return
    from ctypes import CDLL  # slow to import; only background processes need it

    CDLL(None).syscall(number, IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_IDLE)


def can_fork() -> bool:
    """Return whether this process may fork: a fork copies one thread but all locks."""
    return hasattr(os, "fork") and "threading" not in sys.modules


def do_unwaited(work: Callable[[], None]) -> None:
    """Do short work in a forked process, so that no host waits for it; without fork, or with threads, do it here."""
    if not can_fork():
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
    LineFile(log, MAX_LOG_BYTES).append(f"{iso(now())} start: {one_line(' '.join(arguments), 300)}")
    command = [sys.executable, "-P", "-c", WORK, "-C", layout.root, *arguments]
    with open_private(log, "a") as errors:
        (_spawn if hasattr(os, "posix_spawn") else _popen)(command, stdin, errors.fileno())
    return True


def _spawn(command: list[str], stdin: int, stderr: int) -> None:
    """Start a process without `subprocess`, because its import takes longer than answering a prompt."""
    _children[:] = [child for child in _children if not _has_ended(child)]
    given = (
        (os.POSIX_SPAWN_DUP2, stdin, 0)
        if stdin >= 0
        else (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    )
    actions = [
        (os.POSIX_SPAWN_DUP2, stderr, 2),
        given,
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
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
    subprocess.Popen(
        command,
        stdin=stdin if stdin >= 0 else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        creationflags=WINDOWS_FLAGS if windows else 0,
        start_new_session=not windows,
    ).returncode = 0  # so that Popen does not warn about a process that still runs
