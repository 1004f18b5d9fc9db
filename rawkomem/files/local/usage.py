"""Record each injection's time, tokens and memories: one line per injection in `.rawko/local/usage.tsv`.

The file is never shortened. A second file caches the counts, so that each line is counted once:
usage-counts.tsv   the number of counted bytes and the last counted line; then `id, count, last time` for each memory
"""

from __future__ import annotations

import os

from ...model.errors import RawkoError
from ...model.record import record
from .private import LineFile, local_path, open_local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import FileIO

    from ..layout import Layout

    Counts = dict[str, tuple[int, int]]  # id → number of injections, time of the last one

FILE_NAME = "usage.tsv"
COUNTS_NAME = "usage-counts.tsv"
MAX_SESSION_CHARS = 100
MAX_UNCOUNTED_BYTES = 256 * 1024  # some two thousand injections, quick to count; more are cached
MAX_LINE_BYTES = 64 * 1024  # of one line, for the binary search


@record
class Use:
    """One injection: time, session, tokens, memories. It has no memories if the session had received all before."""

    at: int
    session: str
    tokens: int
    ids: tuple[str, ...]
    saved: int = 0  # tokens of memories that were not repeated


@record
class Access:
    """How often a memory was injected, and the time of the last injection."""

    count: int = 0
    last: int = 0


def note_use(layout: Layout, at: int, session: str, tokens: int, ids: Sequence[str], saved: int = 0) -> None:
    """Append one injection. Ignore errors: a prompt gets its memories even if the disk is full."""
    name = "".join(c if c.isprintable() and c != "\t" else " " for c in session)[:MAX_SESSION_CHARS]
    line = f"{at}\t{name}\t{tokens}\t{' '.join(ids)}" + (f"\t{saved}" if saved else "")
    try:
        size = LineFile(local_path(layout, FILE_NAME)).append(line)
        if size // MAX_UNCOUNTED_BYTES > (size - len(line) - 1) // MAX_UNCOUNTED_BYTES:
            _counts(layout)
    except (RawkoError, OSError):
        pass


def uses(layout: Layout, since: int = 0) -> list[Use]:
    """Return every injection since a time, oldest first; skip lines that cannot be parsed."""
    try:
        with open_local(layout, FILE_NAME, "r") as stream:
            stream.seek(_offset(stream, since) if since else 0)
            lines = stream.read().split(b"\n")
    except (OSError, RawkoError):
        return []
    return [use for use in _parsed(lines) if use.at >= since]


def accesses(layout: Layout) -> dict[str, Access]:
    """Return id → Access of each injected memory; empty if the file cannot be read."""
    try:
        return {id: Access(*counted) for id, counted in _counts(layout).items()}
    except (OSError, RawkoError):
        return {}


def last_access(layout: Layout) -> dict[str, int]:
    """Return id → time of the last injection of each injected memory; empty if the file cannot be read."""
    try:
        return {id: last for id, (_, last) in _counts(layout).items()}
    except (OSError, RawkoError):
        return {}


def _parsed(lines: Sequence[bytes]) -> Iterator[Use]:
    for line in lines:
        parts = line.split(b"\t")
        if _is_use(parts):
            session, ids = parts[1].decode("utf-8", "replace"), parts[3].decode("utf-8", "replace")
            yield Use(int(parts[0]), session, int(parts[2]), (*ids.split(),), int(parts[4]) if parts[4:] else 0)


def _is_use(parts: list[bytes]) -> bool:
    return (
        len(parts) in (4, 5) and parts[0].isdigit() and parts[2].isdigit() and (len(parts) == 4 or parts[4].isdigit())
    )


def _offset(stream: FileIO, since: int) -> int:
    """Return an offset at or before the first line since a time, by binary search: lines are ordered by time."""
    low, high = 0, stream.seek(0, os.SEEK_END)
    while high - low > MAX_LINE_BYTES:
        middle = (low + high) // 2
        stream.seek(middle)
        head, _, rest = stream.read(MAX_LINE_BYTES).partition(b"\n")
        at = rest.partition(b"\t")[0]
        if at.isdigit() and int(at) < since:
            low = middle + len(head) + 1
        else:
            high = middle
    return low


def _counts(layout: Layout) -> Counts:
    """Return the counts of all lines; cache them if many lines were not cached yet. Raises OSError and RawkoError."""
    try:
        with open_local(layout, FILE_NAME, "r") as stream:
            start, counts = _cached(layout, stream)
            stream.seek(start)
            data = stream.read()
    except FileNotFoundError:
        return {}
    _count(data, counts)
    if len(data) > MAX_UNCOUNTED_BYTES and data.endswith(b"\n"):
        last_line = data[-MAX_LINE_BYTES:].rstrip(b"\n").rpartition(b"\n")[2].decode("utf-8", "replace")
        rows = (f"{id}\t{times}\t{last}" for id, (times, last) in counts.items())
        LineFile(local_path(layout, COUNTS_NAME)).replace(f"{start + len(data)}\t{last_line}", *rows)
    return counts


def _count(data: bytes, counts: Counts) -> None:
    """Add the injections in `data` to counts, without an object per line: a year has some 70,000 lines."""
    found: dict[bytes, list[int]] = {}
    for line in data.split(b"\n"):
        parts = line.split(b"\t")
        if _is_use(parts):
            at = int(parts[0])
            for id in parts[3].split():
                if id in found:
                    found[id].append(at)
                else:
                    found[id] = [at]
    for id, times in found.items():
        name = id.decode("utf-8", "replace")
        before, last = counts.get(name, (0, 0))
        counts[name] = before + len(times), max(last, *times)


def _cached(layout: Layout, stream: FileIO) -> tuple[int, Counts]:
    """Return the number of cached bytes and their counts; 0 and no counts if the file is another one."""
    try:
        head, *lines = LineFile(local_path(layout, COUNTS_NAME)).lines() or [""]
    except RawkoError:
        return 0, {}
    counted, _, last_line = head.partition("\t")
    ending = f"{last_line}\n".encode("utf-8", "replace")
    if not counted.isdecimal() or int(counted) < len(ending):
        return 0, {}
    stream.seek(int(counted) - len(ending))
    if stream.read(len(ending)) != ending:
        return 0, {}
    rows = (line.split("\t") for line in lines)
    return int(counted), {row[0]: (int(row[1]), int(row[2])) for row in rows if _is_row(row)}


def _is_row(row: list[str]) -> bool:
    return len(row) == 3 and row[1].isdecimal() and row[2].isdecimal()
