"""A text as the protocol counts it: lines end at \\n, \\r\\n or \\r, and columns count units of an agreed encoding.

Python's splitlines ends lines at more characters than that (U+2028, form feeds), and editors count UTF-16 by default.
"""

from __future__ import annotations

UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"
BEYOND = 0xFFFF  # characters above take two units of UTF-16


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def units(text: str, encoding: str) -> int:
    """How many units a text is long."""
    if encoding == UTF32 or text.isascii():
        return len(text)
    if encoding == UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(ord(char) > BEYOND for char in text)


def index_at(line: str, column: int, encoding: str) -> int:
    """The index of the character at a column; beyond the end, the end; inside a character, its start."""
    if encoding == UTF32 or line.isascii():
        return min(column, len(line))
    at = 0
    for index, char in enumerate(line):
        at += units(char, encoding)
        if at > column:
            return index
    return len(line)
