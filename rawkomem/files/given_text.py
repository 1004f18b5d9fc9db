"""Read a user's text from a file or standard input; raise BadInput unless it is UTF-8 and not too large."""

from __future__ import annotations

import sys

from ..model.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

STDIN = "standard input"
MAX_TEXT_BYTES = 16 << 20  # a memory is a page: a larger text is a mistake


def read_text_file(file: str) -> str:
    """Return a file's text; raise BadInput if it cannot be read or is not UTF-8."""
    try:
        with open(file, "rb") as stream:
            return read_stream(stream, file)
    except OSError as failure:
        raise BadInput(f"cannot read {file}: {failure.strerror or failure}", "check its name and permissions") from None


def read_stdin(strict: bool = True) -> str:
    """Return the text on standard input; without `strict`, replace bytes that are not UTF-8."""
    stream = getattr(sys.stdin, "buffer", None)
    return read_stream(stream, STDIN, strict) if stream else sys.stdin.read(MAX_TEXT_BYTES)


def read_stream(stream: IO[bytes], name: str, strict: bool = True) -> str:
    """Return the text of an open file; raise BadInput if it is too large. Without `strict`, return its beginning."""
    data = stream.read(MAX_TEXT_BYTES + 1)
    if strict and len(data) > MAX_TEXT_BYTES:
        raise BadInput(f"{name} is larger than {MAX_TEXT_BYTES >> 20} MiB", "split it")
    return decode_text(data[:MAX_TEXT_BYTES], name, strict)


def decode_text(data: bytes, name: str, strict: bool = True) -> str:
    r"""Decode bytes to text with \n line ends and no byte order mark; raise BadInput, naming their source."""
    try:
        text = data.decode("utf-8-sig", "strict" if strict else "replace")
    except UnicodeDecodeError as failure:
        line = data.count(b"\n", 0, failure.start) + 1
        hint = "save it as UTF-8, for example with 'iconv -f latin1 -t utf-8'"
        raise BadInput(f"{name} is not UTF-8 text (line {line}, byte {failure.start})", hint) from None
    return text.replace("\r\n", "\n")
