"""Seal a file that is ours, to tell whether a person has changed it since we wrote it.

The line that names us ends in a checksum of all the rest. Line endings do not count: git may change them.
"""

from __future__ import annotations

import re
from hashlib import sha256

CHECKSUM_CHARS = 16  # hexadecimal digits: against edits, not against forgers
SEAL = rb"(?P<seal> \(checksum (?P<sum>[0-9a-f]{%d})\))?" % CHECKSUM_CHARS
SEALED_LINE = re.compile(rb"^[^\n]*rawkomem connect[^\n]*?%s$" % SEAL, re.M)


def sealed(text: bytes) -> bytes:
    """Return a text with a seal on its first line that names us."""
    line = SEALED_LINE.search(text)
    if line is None:
        raise ValueError("no line names 'rawkomem connect'")
    return text[: line.end()] + b" (checksum %s)" % _sum(text) + text[line.end() :]


def is_as_written(data: bytes, shipped: bytes) -> bool:
    """Tell whether a file holds what we wrote: its seal fits, or it is what we ship, from before there were seals."""
    plain = data.replace(b"\r\n", b"\n")
    line = SEALED_LINE.search(plain)
    if line is None or line["seal"] is None:
        return plain == shipped
    return line["sum"] == _sum(plain[: line.start("seal")] + plain[line.end("seal") :])


def _sum(text: bytes) -> bytes:
    return sha256(text).hexdigest()[:CHECKSUM_CHARS].encode()
