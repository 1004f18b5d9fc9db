"""Our block in a TOML file: between two comment lines at the end, so that the rest stays as it is.

A block is taken out with the line break before it, and with the one after it where the file ended in one before. Hosts
put tables of their own in front of the last comment, so what stands between the marks and does not call us is theirs.
"""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

from ...model.record import record
from .ours import calls_us

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BEGIN = "# rawkomem: begin (written by 'rawkomem connect'; add --remove to take it out)"
END = "# rawkomem: end"


@record
class Block:
    """A file with our block: what stands before and after it, and whose lines are in it."""

    before: str
    ours: tuple[str, ...]
    theirs: str
    after: str


def merged(text: str | None, wanted: Mapping[str, Mapping[str, object]]) -> str:
    """The file with our block, `[[hooks.Event]]` with one handler each; a file that was not there is made."""
    lines = [line for event, handler in wanted.items() for line in _hook(event, handler)]
    known = _block(text) if text else None
    if text is not None and known and [line.rstrip("\r") for line in known.ours] == lines:
        return text
    bare = without(text)
    block = "\n".join([BEGIN, *lines, END])
    if bare is None:
        return block + "\n"
    tomllib.loads(bare)
    newline = "\r\n" if "\r\n" in bare else "\n"
    block = block.replace("\n", newline)
    text = f"{bare}{newline}{block}{newline if bare.endswith(newline) else ''}"
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise ValueError("its hooks are written in a form that nothing can be added to") from None
    return text


def without(text: str | None) -> str | None:
    """The file without our block; None where nothing else was ever in it."""
    if text is None:
        return None
    block = _block(text)
    if block is None:
        left: str | None = text
    elif block.theirs.strip():
        left = block.before + block.theirs + _next_line(block.after)
    elif not block.before and not block.after.strip():
        left = None
    else:
        newline = "\r\n" if block.before.endswith("\r\n") else "\n"
        before, after = block.before.removesuffix(newline), block.after.removeprefix(newline)
        gap = newline if after and before and not before.endswith("\n") else ""  # somebody went on below the last line
        left = before + gap + after
    tomllib.loads(left or "")
    return left


def _block(text: str) -> Block | None:
    """What is between the marks; to the end of the file where the second one is gone."""
    before, begin, rest = text.partition(BEGIN)
    if not begin:
        return None
    inside, _, after = rest.partition(END)
    tables = _tables(_next_line(inside).split("\n"))
    ours: list[str] = []
    theirs: list[str] = []
    for at, table in enumerate(tables):
        end = _end(table) if _is_ours(tables, at) else 0
        ours += table[:end]
        theirs += table[end:]
    return Block(before, tuple(ours), "\n".join(theirs), after)


def _next_line(text: str) -> str:
    """What follows the end of a line."""
    return text.removeprefix("\r").removeprefix("\n")


def _tables(lines: Sequence[str]) -> list[list[str]]:
    """Lines, parted before each header."""
    tables: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("["):
            tables.append([])
        tables[-1].append(line)
    return tables


def _end(table: Sequence[str]) -> int:
    """Where a table ends: blank lines and comments below it belong to what follows."""
    return max((at for at, line in enumerate(table, 1) if line.strip() and not line.startswith("#")), default=0)


def _is_ours(tables: Sequence[Sequence[str]], at: int) -> bool:
    """Whether a table is a handler that calls us, or the group of one that holds no other."""
    header, *inner = (_header(tables, at + step) for step in range(3))
    if header.endswith(".hooks]]"):
        return _is_handler(tables[at])
    group = header.replace("]]", ".hooks]]")
    return inner[0] == group != inner[1] and _is_handler(tables[at + 1])


def _header(tables: Sequence[Sequence[str]], at: int) -> str:
    return tables[at][0].strip() if at < len(tables) and tables[at] else ""


def _is_handler(table: Sequence[str]) -> bool:
    try:
        return calls_us(tomllib.loads("\n".join(line.rstrip("\r") for line in table[1:])))
    except tomllib.TOMLDecodeError:
        return False


def _hook(event: str, handler: Mapping[str, object]) -> list[str]:
    lines = [f"{key} = {json.dumps(value)}" for key, value in handler.items()]  # TOML quotes as JSON does
    return [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]", *lines]
