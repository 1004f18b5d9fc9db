"""Inserts our lines into a file between two comment lines, and removes them again without any other
change.
"""

from __future__ import annotations

import re

from ..model.values import record

WHOLE_FILE, OUR_LINES, OUR_LINES_AND_BREAK = (
    "this file",
    "these lines",
    "these lines and the line end above them",
)
EMPTY_FILE = re.compile(rb"\A(?:#![^\n]*\n)?\s*\Z")  # empty except for a `#!` line


@record
class MarkedBlock:
    """A file with our block, split at the marks. `what` says what to remove together with our lines."""

    before: bytes
    what: str
    after: bytes


def put_block(
    data: bytes | None,
    name: str,
    text: str,
    head: str = "",
    below_first_line: bool = False,
) -> bytes:
    """Return the file with our lines at its end or below its first line. A new file starts with `head`.

    A block of the same name is replaced. The first mark says what to remove together with the lines later.
    """
    if data is None:
        return head.encode() + _marked_block(name, WHOLE_FILE, text, b"\n")
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    known = find_block(data, name)
    if known:
        return (
            known.before + _marked_block(name, known.what, text, newline) + known.after
        )
    at = data.find(b"\n") + 1 if below_first_line else len(data)
    if not data or data[:at].endswith(b"\n"):
        return data[:at] + _marked_block(name, OUR_LINES, text, newline) + data[at:]
    return data + newline + _marked_block(name, OUR_LINES_AND_BREAK, text, newline)


def cut_block(data: bytes, name: str) -> bytes | None:
    """Return the file without our block, None if nothing else is in it, or the file unchanged if it has no block."""
    block = find_block(data, name)
    if not block:
        return data
    others = block.before + block.after
    if block.what == WHOLE_FILE and EMPTY_FILE.match(others):
        return None
    if block.what == OUR_LINES_AND_BREAK and not block.after:
        return others.removesuffix(b"\n").removesuffix(b"\r")
    return others


def find_block(data: bytes, name: str) -> MarkedBlock | None:
    """Return the block of a name; None if there is none."""
    quoted = re.escape(name.encode())
    marks = rb"^# >>> %s: ([a-z ]+) >>>\r?\n.*?^# <<< %s <<<(?:\r?\n|\Z)" % (
        quoted,
        quoted,
    )
    found = re.search(marks, data, re.MULTILINE | re.DOTALL)
    if not found:
        return None
    return MarkedBlock(data[: found.start()], found[1].decode(), data[found.end() :])


def _marked_block(name: str, what: str, text: str, newline: bytes) -> bytes:
    return f"# >>> {name}: {what} >>>\n{text}# <<< {name} <<<\n".encode().replace(
        b"\n", newline
    )
