"""Add a checksum to a file that belongs to us, to find out later whether a person edited it.

The first line that names 'rawkomem connect' ends in a checksum of the rest of the file. Line endings are ignored,
because git may change them.
"""

from __future__ import annotations

import re
from hashlib import sha256

CHECKSUM_CHARS = 16  # hexadecimal digits: detects edits, does not prevent forgery
SEAL = rb"(?P<seal> \(checksum (?P<sum>[0-9a-f]{%d})\))?" % CHECKSUM_CHARS
SEALED_LINE = re.compile(rb"^[^\n]*rawkomem connect[^\n]*?%s$" % SEAL, re.M)


def sealed(text: bytes) -> bytes:
    """Return a text with a checksum at the end of its first line that names 'rawkomem connect'."""
    line = SEALED_LINE.search(text)
    if line is None:
        raise ValueError("no line names 'rawkomem connect'")
    return text[: line.end()] + b" (checksum %s)" % _sum(text) + text[line.end() :]


def is_as_written(data: bytes, shipped: bytes) -> bool:
    """Tell whether a file is unedited: its checksum is right or, without a checksum, it equals the shipped text."""
    plain = data.replace(b"\r\n", b"\n")
    line = SEALED_LINE.search(plain)
    if line is None or line["seal"] is None:
        return plain == shipped
    return line["sum"] == _sum(plain[: line.start("seal")] + plain[line.end("seal") :])


def _sum(text: bytes) -> bytes:
    return sha256(text).hexdigest()[:CHECKSUM_CHARS].encode()
