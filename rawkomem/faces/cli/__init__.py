"""Run the command line: parse, make one library call, print.

`options`: Declare the options of commands as data, and parse the frequent commands without click
`terminal`: Print text, JSON and one-line errors, with colors only on a terminal
`answers`: Declare the fields of an answer once: they give its JSON, its text and docs/json.md
`searching`: `rawkomem search`: print the memories that fit a question
`injecting`: `rawkomem inject`: print the memories that belong in the prompt of a task
`syncing`: `rawkomem index sync`, and the progress bar of commands that index
`merging`: `merge-driver`, which git runs for each file of a merge
`opening`: Open the repository of a command, find out who runs it, and report decisions
`commands`: List every command with its module and its help, load a command when it runs, and complete its parameters on Tab
`declarations`: Declare click commands: a line for each argument and option, the fields of the answer, groups, and examples
`adding`: `rawkomem add`, `amend`, `delete`, `purge` and `undo`, and let a person write a text in $EDITOR
`showing`: Show memories: `rawkomem list`, `show`, `why`, `context` and `history`
`links`: `rawkomem link`: connect memories with each other and with code, and show how they are connected
`work`: `rawkomem trace`: recorded tasks, what they teach, and periods of work
`reviewing`: `rawkomem review`, `drafts`, `restore` and `supersede`: list what waits for a person's decision, and decide: one item a screen at a terminal, or by options
`past_sessions`: `rawkomem learn` and `replay`: find drafts in past sessions, and show what the sessions would get now
`lessons_and_skills`: `rawkomem lesson` and `skill`
`importing`: `rawkomem import` and `export`: exchange memories with files and other tools
`status`: `rawkomem status`: the state of the repository and its search index
`upkeep`: `rawkomem index` and `doctor`: look after the index, its database, the ledger and sinks
`checks`: `rawkomem check` and `diff`: report problems in memory files, staged changes and branches
`tidy`: `rawkomem tidy`: each command prints a plan for housekeeping; `--apply` carries it out
`start`: `rawkomem init`, and `rawkomem` without a command: look at a project, show a plan, ask before each step, and suggest what to try next
`connecting`: `rawkomem connect` and `uninstall`: connect coding agents and git, and remove what rawkomem wrote
`servers`: Run the servers: `rawkomem browse`, `mcp` and `lsp`
`measure`: Measure and try out rawkomem on this machine: `rawkomem bench` and `try`
`manual`: Explain rawkomem: `rawkomem help`, `docs`, `completion` and `demo`
"""

from __future__ import annotations

import gc
import os
import sys

from ...model.errors import RawkoError, WrittenUnseen
from ...model.values import TYPE_CHECKING
from .options import expanded, parse_plain, run_of
from .terminal import complain, say_written

if TYPE_CHECKING:
    from typing import NoReturn


# new objects before garbage collection; a hot command creates fewer
OBJECTS_PER_COLLECTION = 100_000
USUAL_THRESHOLDS = gc.get_threshold()
UTF8_MODE = "PYTHONUTF8"
AT_EXIT = ("atexit", "threading")  # modules that may have registered exit handlers


def main() -> None:
    """Run `rawkomem` or `rawko` and exit."""
    start_in_utf8()
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    leave(run(sys.argv[1:]))


def start_in_utf8() -> None:
    """Start this program again in Python's UTF-8 mode if the locale has only ASCII and the mode was switched off.

    Otherwise names of folders and texts of the command line are no Unicode.
    """
    ascii_only = sys.getfilesystemencoding() in ("ascii", "us-ascii")
    if ascii_only and os.environ.get(UTF8_MODE) != "1":
        os.environ[UTF8_MODE] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def leave(code: int) -> NoReturn:
    """Exit with a code. Skip the interpreter's teardown, which takes half a bare start, if no exit handler needs it."""
    if any(name in sys.modules for name in AT_EXIT):
        sys.exit(code)
    # None if the stream was closed before Python started
    for stream in filter(None, (sys.stdout, sys.stderr)):
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
    argv = expanded(argv)
    try:
        plain = None if "_RAWKOMEM_COMPLETE" in os.environ else parse_plain(argv)
        if plain:
            folder, command, values, arguments = plain
            code = run_of(command)(folder, arguments, **values) or 0
        else:
            from .commands import (
                run_click,  # importing click takes as long as three bare Python starts
            )

            # because some of these commands are servers
            gc.set_threshold(*USUAL_THRESHOLDS)
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
        from_system = isinstance(failure, OSError) or type(failure).__module__ == "apsw"
        if "RAWKOMEM_DEBUG" in os.environ or not from_system:
            raise
        return complain(_system_error(failure))


def _system_error(failure: Exception) -> RawkoError:
    """Return an error with the path and the reason of a system failure."""
    where = getattr(failure, "filename", None)
    why = getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
    place = f"{os.fsdecode(where)}: " if isinstance(where, (str, bytes)) else ""
    hint = (
        "check permissions, free space and the disk; RAWKOMEM_DEBUG=1 shows a traceback"
    )
    return RawkoError(f"{place}{why}", hint)
