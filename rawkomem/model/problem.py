"""A Problem reports something wrong in a file, with a code of docs/format.md and a hint. It does not stop a command."""

from __future__ import annotations

from .record import record

ERROR = "error"  # the entry or file cannot be used as a memory
WARNING = "warning"  # used, but not exactly as written
STYLE = "style"  # a content rule: does not change the result of a check

LEVELS = (ERROR, WARNING, STYLE)


@record
class Problem:
    """One thing that is wrong with a file. Programs decide by `code`; `message` and `hint` are for people."""

    level: str
    code: str
    message: str
    hint: str = ""
    line: int = 1
    path: str = ""
    quote: str = ""  # the name, id or condition in the file that an editor highlights


def error(code: str, message: str, hint: str = "", line: int = 1, path: str = "", quote: str = "") -> Problem:
    """Return a Problem of level ERROR: the entry or file cannot be used as a memory."""
    return Problem(ERROR, code, message, hint, line, path, quote)


def warning(code: str, message: str, hint: str = "", line: int = 1, path: str = "", quote: str = "") -> Problem:
    """Return a Problem of level WARNING: the entry is used, but should be fixed."""
    return Problem(WARNING, code, message, hint, line, path, quote)


def style(code: str, message: str, hint: str = "", line: int = 1, path: str = "", quote: str = "") -> Problem:
    """Return a Problem of level STYLE: the entry breaks a content rule."""
    return Problem(STYLE, code, message, hint, line, path, quote)
