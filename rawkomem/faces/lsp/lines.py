r"""Split text into lines and columns as the protocol counts them: lines end at \n, \r\n or \r.

Python's splitlines also ends lines at U+2028 and form feeds, and editors count columns in UTF-16 units by default.
"""

from __future__ import annotations

UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"
LAST_ONE_UNIT_CODEPOINT = 0xFFFF  # characters above it take two units of UTF-16


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their line endings."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def units(text: str, encoding: str) -> int:
    """Return the length of a text in units of an encoding."""
    if encoding == UTF32 or text.isascii():
        return len(text)
    if encoding == UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(ord(char) > LAST_ONE_UNIT_CODEPOINT for char in text)


def index_at(line: str, column: int, encoding: str) -> int:
    """Return the index of the character at a column.

    A column inside a character gives that character's index; a column beyond the end gives the length of the line.
    """
    if encoding == UTF32 or line.isascii():
        return min(column, len(line))
    at = 0
    for index, char in enumerate(line):
        at += units(char, encoding)
        if at > column:
            return index
    return len(line)
