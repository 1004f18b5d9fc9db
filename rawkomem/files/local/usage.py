"""Record what was injected, when, and at what cost: one line per injection in `.rawko/local/usage.tsv`.

The file keeps its history and grows. What was counted in it is cached beside it, so that nobody counts a line twice:
usage-counts.tsv   how many bytes of the file are counted, the line they end with; then `id, count, last time` per line
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

    Counts = dict[str, tuple[int, int]]  # id → how often, and when last

FILE_NAME = "usage.tsv"
COUNTS_NAME = "usage-counts.tsv"
MAX_SESSION_CHARS = 100
MAX_UNCOUNTED_BYTES = 256 * 1024  # some two thousand injections, which are counted in a start; more are cached
MAX_LINE_BYTES = 64 * 1024  # of a line that is looked for in the middle of the file


@record
class Use:
    """One injection: when, in which session, how many tokens, which memories; none if all were told before."""

    at: int
    session: str
    tokens: int
    ids: tuple[str, ...]
    saved: int = 0  # tokens of what was not repeated


@record
class Access:
    """How often a memory was injected, and when last."""

    count: int = 0
    last: int = 0


def note_use(layout: Layout, at: int, session: str, tokens: int, ids: Sequence[str], saved: int = 0) -> None:
    """Append one injection. A failure is ignored: a full disk must not keep a prompt from its memories."""
    name = "".join(c if c.isprintable() and c != "\t" else " " for c in session)[:MAX_SESSION_CHARS]
    line = f"{at}\t{name}\t{tokens}\t{' '.join(ids)}" + (f"\t{saved}" if saved else "")
    try:
        size = LineFile(local_path(layout, FILE_NAME)).append(line)
        if size // MAX_UNCOUNTED_BYTES > (size - len(line) - 1) // MAX_UNCOUNTED_BYTES:
            _counts(layout)
    except (RawkoError, OSError):
        pass


def uses(layout: Layout, since: int = 0) -> list[Use]:
    """Return every injection from a time on, as they were appended; lines that cannot be parsed are skipped."""
    try:
        with open_local(layout, FILE_NAME, "r") as stream:
            stream.seek(_offset(stream, since) if since else 0)
            lines = stream.read().split(b"\n")
    except (OSError, RawkoError):
        return []
    return [use for use in _parsed(lines) if use.at >= since]


def accesses(layout: Layout) -> dict[str, Access]:
    """Return for each injected memory how often and when last that was."""
    try:
        return {id: Access(*counted) for id, counted in _counts(layout).items()}
    except (OSError, RawkoError):
        return {}


def last_access(layout: Layout) -> dict[str, int]:
    """Return for each injected memory when that was last."""
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
    """Return where the lines from a time on start, at the latest; later lines have later times."""
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
    """Return the counts of all lines; cache them if many lines were not counted yet. Raises OSError and RawkoError."""
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
    """Add the uses in some lines to counts, without an object for each line: a year holds some 70,000."""
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
    """Return how many bytes are counted, and their counts; nothing if the file is not the one that was counted."""
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
