"""Print text, JSON and one-line errors, with colors only on a terminal."""

from __future__ import annotations

import os
import sys

from ...files.layout import sweep
from ...model.entries import Memory
from ...model.errors import RawkoError
from ...model.filters import Filter
from ...model.values import ACTIVE, TYPE_CHECKING, as_dict, iso
from ...text.chunks import counted
from ...text.clean import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...repository import Repository


# raised when a key of --json is renamed, removed or changes its meaning
JSON_SCHEMA_VERSION = 1
BLOCKS = " ▁▂▃▄▅▆▇█"
# the minimum, and the width of a file or a pipe
MIN_COLUMNS = 40
DEFAULT_COLUMNS = 100
STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}


def paint(text: str, style: str) -> str:
    """Return a text in a style if stdout is a terminal with colors and NO_COLOR is not set."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if not text or plain or not sys.stdout.isatty():
        return text
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m"


def say(text: str = "") -> None:
    """Print a text on stdout, without characters that would control the terminal."""
    sys.stdout.write(shown(text) + "\n")


def say_in_pager(text: str) -> None:
    """Print a text; at a terminal, show it in the pager if it is longer than the screen."""
    import shutil  # frequent commands import neither this nor click

    from click import echo_via_pager

    if text.count("\n") < shutil.get_terminal_size().lines:
        say(text)
    else:
        echo_via_pager(shown(text))


def shown(text: str) -> str:
    """Return a text without control and invisible characters; line breaks, tabs and the styles of `paint` stay."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text

    parts = text.split("\x1b[")
    return clean(parts[0]) + "".join(_styled(part) for part in parts[1:])


def _styled(part: str) -> str:
    """Return the text after an escape sequence; the sequence stays only if it is a style of `paint`."""

    code, end, rest = part.partition("m")
    if end and code in ("0", *STYLES.values()):
        return f"\x1b[{code}m{clean(rest)}"
    return clean(f"\x1b[{part}")


def on_one_line(text: str) -> str:
    """Return a remark or an error as one line without control characters."""
    return " ".join(shown(text).split("\n"))


def say_json(value: object, versioned: bool = True) -> None:
    """Print data as JSON. An object starts with the schema version, unless `versioned` is false; see docs/json.md."""
    import json  # a third of a bare start, with the regexes that it compiles

    if versioned and isinstance(value, dict):
        value = {"schema": JSON_SCHEMA_VERSION, **value}
    text = json.dumps(value, ensure_ascii=False, indent=2, default=as_dict)
    sys.stdout.write(
        "".join(
            c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text
        )
        + "\n"
    )


def name_of(memory: Memory) -> str:
    """Return the title of a memory, its status unless it is active, and its id."""

    return f"{one_line(memory.title or memory.path, 80)}{bracketed(memory.status)}  {paint(memory.id, 'dim')}"


def bracketed(status: str) -> str:
    """Return a status in brackets, or an empty text if it is active."""
    return "" if status == "active" else f" [{status}]"


def say_written(ids: Sequence[str], as_json: bool) -> None:
    """Print the ids of written memories; used when the index failed after the write."""
    if as_json:
        say_json({"written": list(ids)})
    for id in () if as_json else ids:
        say(f"written  {id}")
    sys.stdout.flush()


def complain(failure: RawkoError) -> int:
    """Print an error as one line on stderr and return the exit code."""
    from ...redaction.find import (
        redact,  # slow to load; only errors, which may quote secrets, need it
    )

    hint = f" ({failure.hint})" if failure.hint else ""
    sys.stderr.write(
        f"rawkomem: {on_one_line(redact(failure.message, pii=False) + hint)}\n"
    )
    return failure.exit_code


def note(text: str) -> None:
    """Print a remark for people on stderr, so that stdout stays data."""
    sys.stderr.write(f"rawkomem: {shown(text)}\n")


def tell_nothing(repository: Repository, otherwise: str) -> None:
    """Print a remark about an empty result; if no memory is in use, print why and what to do."""
    statuses = [row.status for row in repository.list(Filter())]
    waiting = statuses.count("quarantined")
    if waiting and ACTIVE not in statuses:
        wait = f"{counted(waiting, 'memory')} {'waits' if waiting == 1 else 'wait'}"
        otherwise = f"no memory is in use yet: {wait} for a review ('rawkomem review')"
    elif not statuses and (closed := sweep(repository.layout).unreadable):
        otherwise = f".rawko/{closed[0]} cannot be read: 'rawkomem check' says why"
    elif not statuses:
        otherwise = "no memories yet: 'rawkomem add' stores the first one, 'rawkomem check' lists files that cannot be used"
    note(otherwise)


def wide() -> int:
    """Return the width of the terminal in columns; the variable COLUMNS takes precedence."""
    columns = os.environ.get("COLUMNS", "")
    try:
        return max(
            MIN_COLUMNS,
            int(columns) if columns.isdecimal() else os.get_terminal_size().columns,
        )
    except OSError:
        return DEFAULT_COLUMNS


def draws() -> bool:
    """Return whether stdout is a terminal that can show block characters."""
    return (
        sys.stdout.isatty()
        and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    )


def sparkline(counts: Sequence[int], step: str) -> str:
    """Return counts by week or day as a row of blocks, with the largest count. A dot means zero."""
    most = max(counts, default=0)
    blocks = "".join(
        BLOCKS[-(-count * 8 // most)] if count else "·" for count in counts
    )
    return f"{blocks}  {most} in the busiest {step}"


def day(at: int) -> str:
    """Return the date of a time, or dashes if it is unknown."""

    return iso(at)[:10] or "-" * 10
