"""Parses only the new end of a file that has grown: appended text never changes the blocks before the last one.

The catalogue keeps where the last block of each file starts. If the bytes that were read before are unchanged, the file
is parsed from that block on, so that a vote on a memory with thousands of entries parses two of them.
"""

from __future__ import annotations

from hashlib import sha256

from ..files.contents import MAX_FILE_BYTES, read_bytes
from ..files.layout import Layout
from ..files.read import VERDICTS, Reading, read_data
from ..format.split import MAX_ENTRIES
from ..model.record import as_dict, record, replace

START = b"---"  # starts a block; a file that starts differently (byte order mark, older log) is parsed as a whole
BLANKS = b" \t\n"


@record
class Tail:
    """The last block of a file: where it starts, and what is known of the blocks before it."""

    size: int  # bytes of the whole file
    start: int  # bytes before the block
    line: int
    number: int  # entries before it
    verdict: str  # on the blocks before it


def pack_tail(tail: Tail | None) -> str:
    """Return a tail as the catalogue keeps it."""
    return " ".join(map(str, as_dict(tail).values())) if tail else ""


def unpack_tail(text: str) -> Tail:
    """Return a tail from the text of `pack_tail`."""
    size, start, line, number, verdict = text.split(" ")
    return Tail(int(size), int(start), int(line), int(number), verdict)


@record
class Seen:
    """The reading of a file: all entries, or those after the first `above`, and the hash of all its bytes."""

    reading: Reading
    hash: str
    verdict: str  # on the whole file
    tail: Tail | None = None
    above: int = 0
    grown: bool = False  # whether the file starts with the bytes that were read before


def read_for_index(layout: Layout, path: str) -> Seen:
    """Read a whole file; return its entries and the hash of its bytes. May raise OSError."""
    return _seen(read_bytes(layout.path(path)), path)


def read_grown(layout: Layout, path: str, tail: Tail, hash: str) -> Seen:
    """Read the new end of a file that had this tail and hash, or all of it if more has changed. May raise OSError."""
    data = read_bytes(layout.path(path))
    return _appended(data, path, tail, hash) or _seen(data, path)


def _seen(data: bytes, path: str) -> Seen:
    reading = read_data(data, path, advice=False)
    return Seen(reading, sha256(data).hexdigest(), reading.verdict, _tail_of(data, reading))


def _tail_of(data: bytes, reading: Reading) -> Tail | None:
    """Return the last block of a file; None if the file must be parsed as a whole when it grows."""
    count = len(reading.entries)
    if not data.lstrip(BLANKS).startswith(START) or b"\r" in data or not 0 < count < MAX_ENTRIES:
        return None
    line = reading.entries[-1].line
    start = _start_of(data, line)
    before = Reading(reading.path, problems=tuple(problem for problem in reading.problems if problem.line < line))
    return Tail(len(data), start, line, count - 1, before.verdict) if data.startswith(START, start) else None


def _appended(data: bytes, path: str, tail: Tail, hash: str) -> Seen | None:
    """Return the entries of the last known block and those after it; None if the whole file must be parsed."""
    if not tail.size < len(data) <= MAX_FILE_BYTES or sha256(memoryview(data)[: tail.size]).hexdigest() != hash:
        return None
    new = data[tail.start :]
    reading = read_data(new, path, advice=False, above=tail.number)
    own = _tail_of(new, reading)
    if own is None or tail.number + own.number + 1 >= MAX_ENTRIES:
        return None
    if tail.number and any(entry.changes and not entry.at for entry in reading.entries):
        return None  # it has the time of an entry before it
    lines = tail.line - 1
    entries = tuple(replace(entry, line=entry.line + lines) for entry in reading.entries)
    before = _worse(tail.verdict, own.verdict)
    grown = Tail(len(data), tail.start + own.start, own.line + lines, tail.number + own.number, before)
    verdict = _worse(tail.verdict, reading.verdict)
    return Seen(replace(reading, entries=entries), sha256(data).hexdigest(), verdict, grown, tail.number, grown=True)


def _worse(verdict: str, other: str) -> str:
    return max(verdict, other, key=VERDICTS.index)


def _start_of(data: bytes, line: int) -> int:
    """Return the offset of a line; search from the end, because the last block is short."""
    at = len(data)
    for _ in range(data.count(b"\n") - line + 2):
        at = data.rfind(b"\n", 0, at)
    return at + 1
