"""Run the command line: parse, make one library call, print."""

from __future__ import annotations

import gc
import os
import sys

from ...model.errors import RawkoError, WrittenUnseen
from .hot import parse, run_of
from .terminal import complain, say_written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import NoReturn

OBJECTS_PER_COLLECTION = 100_000  # new objects until Python looks for cycles: a hot command makes fewer
USUAL_THRESHOLDS = gc.get_threshold()
PAGED = {"search", "list", "ls", "show", "history", "explain", "docs", "help", "diff", "conflicts", "trace list",
         "lesson list", "skill list", "link list", "ledger show", "trace log"}  # fmt: skip
AT_EXIT = ("atexit", "threading")  # modules that leave work for the end of a process


def main() -> None:
    """Run `rawkomem` or `rawko` and exit."""
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    leave(run(sys.argv[1:]))


def leave(code: int) -> NoReturn:
    """Exit. Where nothing waits for the end, leave out taking all modules apart, which takes half a start."""
    if any(name in sys.modules for name in AT_EXIT):
        sys.exit(code)
    for stream in filter(None, (sys.stdout, sys.stderr)):  # a stream that is closed from the start is None
        try:
            stream.flush()
        except OSError:
            sys.exit(code)  # Python knows what to say of it
    os._exit(code)


def run(argv: list[str]) -> int:
    """Run one command line and return its exit code.

    Neither a user's mistake nor a failing disk prints a traceback, unless RAWKOMEM_DEBUG is set.
    """
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        plain = None if "_RAWKOMEM_COMPLETE" in os.environ else parse(argv)
        if plain:
            folder, command, values, arguments = plain
            with _pager(command):
                run_of(command)(folder, arguments, **values)
            code = 0
        else:
            from .commands import run_click  # click: three starts, so only for commands that can afford it

            gc.set_threshold(*USUAL_THRESHOLDS)  # servers are among them
            with _pager(_command_in(argv)):
                code = run_click(argv)
        sys.stdout.flush()
        return code
    except WrittenUnseen as failure:
        say_written(failure.ids, "--json" in argv)
        return complain(failure)
    except RawkoError as failure:
        return complain(failure)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `rawkomem list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as failure:
        if "RAWKOMEM_DEBUG" in os.environ or not _is_of_the_system(failure):
            raise
        return complain(_told(failure))


def _pager(command: str) -> AbstractContextManager[None]:
    """Return a context in which the output of a command that prints long lists goes to a pager, at a terminal only."""
    if command not in PAGED or sys.stdout is None or not sys.stdout.isatty():
        return _NoPager()
    from .pager import paged

    return paged()


def _command_in(argv: list[str]) -> str:
    """Return the command of a command line, with its group where the output of both is paged."""
    words = argv[2:] if argv[:1] == ["-C"] else argv
    both = " ".join(words[:2])
    return both if both in PAGED else "".join(words[:1])


class _NoPager:
    def __enter__(self) -> None: ...

    def __exit__(self, *failure: object) -> None: ...


def _is_of_the_system(failure: Exception) -> bool:
    """Tell whether the disk or SQLite failed, and not this program."""
    return isinstance(failure, OSError) or type(failure).__module__ == "apsw"


def _told(failure: Exception) -> RawkoError:
    where = getattr(failure, "filename", None)
    why = getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
    place = f"{os.fsdecode(where)}: " if isinstance(where, (str, bytes)) else ""
    return RawkoError(f"{place}{why}", "check permissions, free space and the disk; RAWKOMEM_DEBUG=1 shows where")
