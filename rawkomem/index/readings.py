"""Reads the entries of files for the index: of a whole file, of its new end if it has grown, or as of
a past time.

The catalogue keeps where the last block of each file starts. If the bytes that were read before are
unchanged, the file is parsed from that block on: appended text never changes the blocks before the
last one.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING

from ..files.layout import MAX_FILE_BYTES, Layout, read_bytes
from ..files.reading import VERDICTS, Reading, read_data
from ..format.blocks import MAX_ENTRIES
from ..model.entries import Entry, Memory
from ..model.values import as_dict, record, replace
from ..redaction.entries import redact_entry
from ..state.fold import Vouches, fold
from ..text.conditions import Fired, Situation, fires, read_condition

if TYPE_CHECKING:
    from .catalogue import Catalogue


# Parses only the new end of a file that has grown: appended text never changes the blocks before
# the last one.
#
# The catalogue keeps where the last block of each file starts. If the bytes that were read before
# are unchanged, the file is parsed from that block on, so that a vote on a memory with thousands
# of entries parses two of them.

BLOCK_START = b"---"  # starts a block; a file that starts differently (byte order mark, older log) is parsed as a whole
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
    return _whole(read_bytes(layout.path(path)), path)


def read_grown(layout: Layout, path: str, tail: Tail, hash: str) -> Seen:
    """Read the new end of a file that had this tail and hash, or all of it if more has changed. May raise OSError."""
    data = read_bytes(layout.path(path))
    return _appended(data, path, tail, hash) or _whole(data, path)


def _whole(data: bytes, path: str) -> Seen:
    reading = read_data(data, path, advice=False)
    return Seen(reading, sha256(data).hexdigest(), reading.verdict, _tail_of(data, reading))


def _tail_of(data: bytes, reading: Reading) -> Tail | None:
    """Return the last block of a file; None if the file must be parsed as a whole when it grows."""
    count = len(reading.entries)
    if (
        not data.lstrip(BLANKS).startswith(BLOCK_START)
        or b"\r" in data
        or not 0 < count < MAX_ENTRIES
    ):
        return None
    line = reading.entries[-1].line
    start = _start_of(data, line)
    before = Reading(
        reading.path, problems=tuple(problem for problem in reading.problems if problem.line < line)
    )
    return (
        Tail(len(data), start, line, count - 1, before.verdict)
        if data.startswith(BLOCK_START, start)
        else None
    )


def _appended(data: bytes, path: str, tail: Tail, hash: str) -> Seen | None:
    """Return the entries of the last known block and those after it; None if the whole file must be parsed."""
    if (
        not tail.size < len(data) <= MAX_FILE_BYTES
        or sha256(memoryview(data)[: tail.size]).hexdigest() != hash
    ):
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
    before = _worse_verdict(tail.verdict, own.verdict)
    grown = Tail(
        len(data), tail.start + own.start, own.line + lines, tail.number + own.number, before
    )
    verdict = _worse_verdict(tail.verdict, reading.verdict)
    return Seen(
        replace(reading, entries=entries),
        sha256(data).hexdigest(),
        verdict,
        grown,
        tail.number,
        grown=True,
    )


def _worse_verdict(verdict: str, other: str) -> str:
    return max(verdict, other, key=VERDICTS.index)


def _start_of(data: bytes, line: int) -> int:
    """Return the offset of a line; search from the end, because the last block is short."""
    at = len(data)
    for _ in range(data.count(b"\n") - line + 2):
        at = data.rfind(b"\n", 0, at)
    return at + 1


# Reads memories as of a past time, by folding the entries in their files up to that time.


class Past:
    """One moment of the past. Each file is read again once, because the index holds only the current state."""

    def __init__(
        self, layout: Layout, catalogue: Catalogue, at: int, vouches: Vouches | None = None
    ):
        self.layout = layout
        self.catalogue = catalogue
        self.at = at
        self.vouches = vouches
        self._read: dict[str, tuple[Entry, ...]] = {}

    def memory(self, id: str) -> Memory | None:
        """Return the memory at that time; None before it was created. An entry without a time counts as oldest."""
        return fold(
            (entry for entry in self.entries_about(id) if entry.at <= self.at), self.vouches
        )

    def entries_about(self, id: str) -> list[Entry]:
        """Return every entry about a memory, of any time, without secrets."""
        paths = sorted(self.catalogue.paths_about(id))
        entries = [entry for path in paths for entry in self._entries(path) if entry.target == id]
        return [redact_entry(entry) if entry.leaks else entry for entry in entries]

    def fired(self, ids: Iterable[str], situation: Situation) -> dict[str, Fired]:
        """Return id → the part that fires of a condition that the memory had then, for memories that fire."""
        return {id: fired for id in ids if (fired := self._fires(id, situation))}

    def _fires(self, id: str, situation: Situation) -> Fired | None:
        memory = self.memory(id)
        fired = (
            fires(read_condition(pattern), situation) for pattern in (memory.when if memory else ())
        )
        return next(filter(None, fired), None)

    def _entries(self, path: str) -> tuple[Entry, ...]:
        if path not in self._read:
            try:
                self._read[path] = read_for_index(self.layout, path).reading.entries
            except OSError:  # gone or unreadable since the last sync
                self._read[path] = ()
        return self._read[path]
