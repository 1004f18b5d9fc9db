"""Run the command line: parse, make one library call, print."""

from __future__ import annotations

import os
import sys

from ...model.errors import RawkoError, WrittenUnseen
from .hot import parse, run_of
from .terminal import complain, say_written


def main() -> None:
    """Run `rawkomem` or `rawko` and exit."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Run one command line and return its exit code.

    Neither a user's mistake nor a failing disk prints a traceback, unless RAWKOMEM_DEBUG is set.
    """
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        plain = None if "_RAWKOMEM_COMPLETE" in os.environ else parse(argv)
        if plain:
            folder, command, values, arguments = plain
            run_of(command)(folder, arguments, **values)
            code = 0
        else:
            from .commands import run_click  # click: three starts, so only for commands that can afford it

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


def _is_of_the_system(failure: Exception) -> bool:
    """Tell whether the disk or SQLite failed, and not this program."""
    return isinstance(failure, OSError) or type(failure).__module__ == "apsw"


def _told(failure: Exception) -> RawkoError:
    where = getattr(failure, "filename", None)
    why = getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
    place = f"{os.fsdecode(where)}: " if isinstance(where, (str, bytes)) else ""
    return RawkoError(f"{place}{why}", "check permissions, free space and the disk; RAWKOMEM_DEBUG=1 shows where")
