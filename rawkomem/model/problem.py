"""A Problem is an error as a value, by the codes of docs/format.md: where, what, and what to do; it stops nothing."""

from __future__ import annotations

from .record import record

ERROR = "error"  # the entry or file cannot be used as a memory
WARNING = "warning"  # used, but not quite as written
STYLE = "style"  # content rules: never changes a verdict

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
    quote: str = ""  # the name, id or condition in the file that it is about; an editor marks it


def error(code: str, message: str, hint: str = "", line: int = 1, path: str = "", quote: str = "") -> Problem:
    """Return a Problem that keeps an entry from being a memory."""
    return Problem(ERROR, code, message, hint, line, path, quote)


def warning(code: str, message: str, hint: str = "", line: int = 1, path: str = "", quote: str = "") -> Problem:
    """Return a Problem that is worth fixing, with the entry still in use."""
    return Problem(WARNING, code, message, hint, line, path, quote)


def style(code: str, message: str, hint: str = "", line: int = 1, path: str = "", quote: str = "") -> Problem:
    """Return a content rule that is not followed."""
    return Problem(STYLE, code, message, hint, line, path, quote)
