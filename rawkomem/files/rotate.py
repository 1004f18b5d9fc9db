"""Number the entries of the experience log, and move older entries to the archive.

Both search the bytes, not the index, because they run under the repository lock.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ..model.clock import iso
from ..model.entry import Entry
from ..model.errors import Refused
from .append import FULL_FILE_BYTES, append_text
from .contents import is_plain_file, read_bytes
from .layout import Layout
from .read import decode, read_data
from .replace import Replacing

LOG, ARCHIVED_LOG = "log", "archive/log"
FILE_NAME = "memory_log.md"  # of the log, and of each month in the archive
MAX_LOG_ENTRIES = 1_000  # entries of the log (LLMos); older ones are archived, never deleted
UNDATED = "undated"  # the month of an entry that tells no time
NUMBER = re.compile(rb"experience_id\W{1,6}exp_(\d{1,12})\b|^id:[ \t]*\"?exp_(\d{1,12})\"?[ \t]*$", re.MULTILINE)
OWN_NUMBER = re.compile(rb"^(?:experience_id|id):[ \t]*\"?exp_(\d{1,12})\"?[ \t]*\r?$", re.MULTILINE)
SEPARATOR = re.compile(r"\n---[ \t]*\n\s*\Z")


def next_number(layout: Layout) -> int:
    """Return one more than the highest number in the log or its archive."""
    return max((number for _, number in _numbers(layout, NUMBER, LOG, ARCHIVED_LOG)), default=0) + 1


def rotate_log(layout: Layout, keep: int = MAX_LOG_ENTRIES) -> list[str]:
    """Move the oldest experiences above `keep` to the archive and return their ids; the caller holds the lock.

    Each is durable in the archive before it leaves the log: a kill in between leaves it in both, and the next rotation
    removes it from the log. Logs in an older form are not changed.
    """
    known = sorted({(number, path) for path, number in _numbers(layout, OWN_NUMBER, LOG) if _is_ours(layout, path)})
    leaving = known[: max(0, len({number for number, _ in known}) - keep)]
    archived = {number for _, number in _numbers(layout, OWN_NUMBER, ARCHIVED_LOG)} if leaving else set()
    for path in dict.fromkeys(path for _, path in leaving):
        _take_out(layout, path, {f"exp_{number}" for number, place in leaving if place == path}, archived)
    return [f"exp_{number}" for number, _ in leaving]


def _take_out(layout: Layout, path: str, ids: set[str], archived: set[int]) -> None:
    file = layout.path(path)
    files = Replacing(layout)
    data = files.read(file) or b""
    entries = read_data(data, path, advice=False).entries
    pieces = list(_pieces(data, entries))
    new = [(entry, piece) for entry, piece in pieces if entry.target in ids and _number(entry) not in archived]
    for month, texts in _by_month(new).items():
        for text in texts:
            append_text(layout, f"{ARCHIVED_LOG}/{month}/{FILE_NAME}", text)
    left = [piece for entry, piece in pieces if entry.target not in ids]
    if not left:
        os.unlink(file)
        return
    files.put(file, _joined(left).encode())
    if files.finish():
        raise Refused(f"{path} changed while it was rotated", "try again")


def _by_month(leaving: Iterable[tuple[Entry, str]]) -> dict[str, list[str]]:
    """Return month → texts that leave, none longer than a file should be; changes follow their experience."""
    months: dict[str, str] = {}
    texts: dict[str, list[str]] = {}
    for entry, piece in leaving:
        month = months.setdefault(entry.target, iso(entry.at)[:7] or UNDATED)
        known = texts.setdefault(month, [])
        if known and len(known[-1].encode()) + len(piece.encode()) < FULL_FILE_BYTES // 2:
            known[-1] = _joined([known[-1], piece])
        else:
            known.append(piece)
    return texts


def _number(entry: Entry) -> int:
    digits = entry.target.removeprefix("exp_")
    return int(digits) if digits.isdecimal() else -1


def _pieces(data: bytes, entries: tuple[Entry, ...]) -> Iterator[tuple[Entry, str]]:
    """Yield each entry with its own lines, without the separator behind them."""
    text, _, _ = decode(data)
    lines = text.splitlines(keepends=True)
    starts = [*(entry.line - 1 for entry in entries), len(lines)]
    for entry, (start, end) in zip(entries, pairwise(starts), strict=True):
        piece = "".join(lines[start:end])
        yield entry, (SEPARATOR.sub("\n", piece) if end < len(lines) else piece).rstrip("\n") + "\n"


def _joined(pieces: list[str]) -> str:
    return "\n---\n\n".join(pieces)


def _is_ours(layout: Layout, path: str) -> bool:
    return read_bytes(layout.path(path)).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"---")


def _numbers(layout: Layout, pattern: re.Pattern[bytes], *folders: str) -> Iterator[tuple[str, int]]:
    """Yield (path, number) of every experience in some folders."""
    for folder in folders:
        for place, _, names in os.walk(layout.path(folder)):
            for name in sorted(names):
                file = os.path.join(place, name)
                if name.endswith(".md") and is_plain_file(file):
                    for match in pattern.finditer(read_bytes(file)):
                        yield layout.relative(file), int(next(group for group in match.groups() if group))
