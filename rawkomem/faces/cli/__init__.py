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

OBJECTS_PER_COLLECTION = 100_000  # new objects before garbage collection; a hot command creates fewer
USUAL_THRESHOLDS = gc.get_threshold()
PAGED = {"search", "list", "ls", "show", "history", "explain", "docs", "help", "diff", "conflicts", "trace list",
         "lesson list", "skill list", "link list", "ledger show", "trace log"}  # fmt: skip
AT_EXIT = ("atexit", "threading")  # modules that may have registered exit handlers


def main() -> None:
    """Run `rawkomem` or `rawko` and exit."""
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    leave(run(sys.argv[1:]))


def leave(code: int) -> NoReturn:
    """Exit with a code. Skip the interpreter's teardown, which takes half a bare start, if no exit handler needs it."""
    if any(name in sys.modules for name in AT_EXIT):
        sys.exit(code)
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None if the stream was closed before Python started
        try:
            stream.flush()
        except OSError:
            sys.exit(code)  # lets Python report the failed flush
    os._exit(code)


def run(argv: list[str]) -> int:
    """Run one command line and return its exit code.

    A user's mistake or a failing disk prints one line. With RAWKOMEM_DEBUG, a failing disk prints a traceback.
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
            from .commands import run_click  # importing click takes as long as three bare Python starts

            gc.set_threshold(*USUAL_THRESHOLDS)  # because some of these commands are servers
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
        if "RAWKOMEM_DEBUG" in os.environ or not _is_system_failure(failure):
            raise
        return complain(_system_error(failure))


def _pager(command: str) -> AbstractContextManager[None]:
    """Return a context that sends stdout to a pager if the command is in PAGED and stdout is a terminal."""
    if command not in PAGED or sys.stdout is None or not sys.stdout.isatty():
        return _NoPager()
    from .pager import paged

    return paged()


def _command_in(argv: list[str]) -> str:
    """Return the first word of a command line, or the first two if both together are in PAGED."""
    words = argv[2:] if argv[:1] == ["-C"] else argv
    both = " ".join(words[:2])
    return both if both in PAGED else "".join(words[:1])


class _NoPager:
    def __enter__(self) -> None: ...

    def __exit__(self, *failure: object) -> None: ...


def _is_system_failure(failure: Exception) -> bool:
    """Return whether the operating system or SQLite raised the error."""
    return isinstance(failure, OSError) or type(failure).__module__ == "apsw"


def _system_error(failure: Exception) -> RawkoError:
    """Return an error with the path and the reason of a system failure."""
    where = getattr(failure, "filename", None)
    why = getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
    place = f"{os.fsdecode(where)}: " if isinstance(where, (str, bytes)) else ""
    hint = "check permissions, free space and the disk; RAWKOMEM_DEBUG=1 shows a traceback"
    return RawkoError(f"{place}{why}", hint)
