"""Append operations to the ledger, and start rawkomem in the background."""

from __future__ import annotations

import os
import sys

from ..model.errors import RawkoError
from ..model.values import DAY, TYPE_CHECKING, iso, now
from .blocks import GENESIS, LedgerRow, chained, new_row
from .layout import Layout
from .private import Lock, append_log, open_private
from .records import change, close_records, insert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from apsw import Connection


# Append blocks to the chain of the ledger, in the table `blocks` (ledger.py reads and verifies it). Each
# block is hashed together with the hash of the block before it. The table `chain` states the number of
# blocks and the last hash, so that a lost end is detected.

LEDGER_KEEP_DAYS = 400  # default age at which blocks are removed: more than a year
# blocks are removed when the oldest is so much older: about once a month
TRIM_DAYS = 30


def append_blocks(
    layout: Layout, rows: Iterable[LedgerRow], keep_days: int = 0, durable: bool = False
) -> None:
    """Append rows to the chain; remove blocks that are much older than `keep_days`. Raise Unwritable."""
    with change(layout, durable) as db:
        chain_rows(db, rows)
        if keep_days:
            _trim_blocks(db, keep_days)


def chain_rows(db: Connection, rows: Iterable[LedgerRow]) -> None:
    """Append rows to the chain, in a transaction of the caller."""
    stated: list[Any] = db.execute("SELECT last_hash FROM chain").fetchall()
    last = stated[0][0] if stated else GENESIS
    for row in rows:
        row = chained(row, last)
        last = row.block_hash
        insert(db, "blocks", *row.__dict__.values())
        db.execute("UPDATE chain SET blocks = blocks + 1, last_hash = ?", (last,))


def _trim_blocks(db: Connection, keep_days: int) -> None:
    """Remove blocks older than `keep_days`, if the oldest is TRIM_DAYS older; the chain then starts later."""
    oldest: list[Any] = db.execute(
        "SELECT timestamp FROM blocks ORDER BY number LIMIT 1"
    ).fetchall()
    before = now() - keep_days * DAY
    if not oldest or oldest[0][0] >= before - TRIM_DAYS * DAY:
        return
    db.execute(
        "DELETE FROM blocks WHERE number < (SELECT min(number) FROM blocks WHERE timestamp >= ?)",
        (before,),
    )
    gone = db.changes()
    if not gone:
        return
    db.execute(
        "UPDATE chain SET blocks = blocks - ?,"
        " follows = (SELECT prev_hash FROM blocks ORDER BY number LIMIT 1)",
        (gone,),
    )
    insert(
        db,
        "chain_notes",
        f"{iso(now())}: {gone} blocks older than {iso(before)[:10]} were removed",
    )


# Record a recall in the ledger: the query, without secrets, and the quality of the answer.

MAX_SCANNED_CHARS = 4_000  # of a query, searched for secrets
MAX_KEPT_CHARS = 500  # of a query: the ledger does not store long prompts
MIN_KEY_CHARS = 20  # a shorter word of letters only is not a key
# The block that format/yamo.py builds for a recall; loading that module takes longer than a search.
RECALL_BLOCK = """\
agent: MemoryMesh_{agent};
intent: recall_relevant_memories;
context:
  query;{query};
  limit;{limit};
  filter;{filter};
  timestamp;{timestamp};
output:
  results_found;{found};
  top_score;{score:.4f};
meta:
  rationale;Retrieved most semantically relevant memories for current context;
  confidence;{confidence:.4f};
log: memory_recalled;timestamp;{timestamp};query;{query};results;{found};
handoff: End;
"""
UNNAMED_AGENT = "YAMO_AGENT"  # the RFC's name for an unnamed agent
NOT_IN_VALUES = (
    ("\r\n", " "),
    ("\r", " "),
    ("\n", " "),
    ("%3B", ","),
    ("%3b", ","),
    (";", ","),
)


def recall_row(
    at: int,
    agent: str,
    query: str,
    limit: int,
    filter: str,
    found: int,
    score: float,
    confidence: float,
) -> LedgerRow:
    """Return the block of a query and the quality of its answer."""
    name = (agent or UNNAMED_AGENT).strip()
    text = RECALL_BLOCK.format(
        agent="".join(
            c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name
        ),
        query=_block_value(_without_secrets(query)[:MAX_KEPT_CHARS]),
        limit=limit,
        filter=_block_value(_without_secrets(filter)[:MAX_KEPT_CHARS]) or "none",
        timestamp=iso(at),
        found=found,
        score=score,
        confidence=confidence,
    )
    return new_row("recall", agent or UNNAMED_AGENT, at, text)


def note_recalls(layout: Layout, rows: Iterable[LedgerRow], keep_days: int = 0) -> None:
    """Append recalls, and remove blocks older than `keep_days`. Ignore errors: an answer does not need them."""
    try:
        append_blocks(layout, rows, keep_days)
    except RawkoError:
        pass


def _block_value(text: str) -> str:
    """Return a text that fits into a block, as `yamo_value` does."""
    for sign, other in NOT_IN_VALUES:
        text = text.replace(sign, other)
    return text.strip()


def _without_secrets(text: str) -> str:
    """Redact a text. Plain words contain no key, number or address, so only other texts load the rules."""
    text = text[:MAX_SCANNED_CHARS]
    if all(
        len(word) < MIN_KEY_CHARS and word.strip(".,?!").isalpha()
        for word in text.split()
    ):
        return text
    from ..redaction.find import redact  # takes a quarter of a command's start time

    return redact(text)


# Start rawkomem as a detached process. A lock allows one process per job; its errors go to a log
# next to the lock.

MAX_LOG_BYTES = 256 * 1024
# a user sets it to EAGER to run jobs at once, even on a busy machine
BACKGROUND_VARIABLE = "RAWKOMEM_BACKGROUND"
# MARK is the prefix of the variable's value in a process that `start` started
MARK, EAGER = ("started ", "eager")
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
    # so that Popen does not warn about a process that still runs
    subprocess.Popen(
        command,
        stdin=stdin if stdin >= 0 else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        creationflags=WINDOWS_FLAGS if windows else 0,
        start_new_session=not windows,
    ).returncode = 0
