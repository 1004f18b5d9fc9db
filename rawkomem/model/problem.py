"""A Problem is an error as a value: where, what, and what to do. It never stops the rest."""

from __future__ import annotations

from .record import record

ERROR = "error"  # the entry or file cannot be used as a memory
WARNING = "warning"  # used, but not quite as written
STYLE = "style"  # content rules: never changes a verdict

LEVELS = (ERROR, WARNING, STYLE)


@record
class Problem:
    """One thing that is wrong with a file."""

    level: str
    message: str
    hint: str = ""
    line: int = 1
    path: str = ""


def error(message: str, hint: str = "", line: int = 1) -> Problem:
    """A Problem that keeps an entry from being a memory."""
    return Problem(ERROR, message, hint, line)


def warning(message: str, hint: str = "", line: int = 1) -> Problem:
    """A Problem that is worth mending, with the entry still in use."""
    return Problem(WARNING, message, hint, line)


def style(message: str, hint: str = "", line: int = 1) -> Problem:
    """A content rule that is not followed."""
    return Problem(STYLE, message, hint, line)
