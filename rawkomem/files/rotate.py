"""Number the entries of the experience log, and move older entries to the archive.

A number is only shown to people: two branches may use the same one. An entry that is already in the archive is
recognized by its text. Both functions read the files, not the index, because they run under the write lock.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ..model.clock import iso
from ..model.entry import Entry
from ..model.errors import Refused
from ..model.record import record
from .append import FULL_FILE_BYTES, append_text
from .contents import is_memory_name, is_plain_file, read_bytes
from .layout import Layout
from .read import decode, read_data
from .replace import Replacing

LOG, ARCHIVED_LOG = "log", "archive/log"
FILE_NAME = "memory_log.md"  # of the log, and of each month's log in the archive
MAX_LOG_ENTRIES = 1_000  # entries of the log (LLMos); older ones are archived, never deleted
UNDATED = "undated"  # the folder for entries without a time
EXPERIENCE = "experience"
NUMBER = re.compile(
    rb"experience_id\W{1,6}exp_(\d{1,12})\b|^id:[ \t]*\"?exp_(\d{1,12})\"?[ \t]*$"
    rb"|^experience_number:[ \t]*(\d{1,12})[ \t]*\r?$",
    re.MULTILINE,
)
OWN_ID = re.compile(rb"^(?:experience_id|id):[ \t]*\"?exp_\w+\"?[ \t]*\r?$", re.MULTILINE)
SEPARATOR = re.compile(r"\n---[ \t]*\n\s*\Z")


@record
class Logged:
    """An entry of the log, and its text without the separator after it."""

    entry: Entry
    text: str


def next_number(layout: Layout) -> int:
    """Return one more than the highest number in the log or its archive."""
    numbers = (
        int(next(group for group in match.groups() if group))
        for _, data in _files(layout, LOG, ARCHIVED_LOG)
        for match in NUMBER.finditer(data)
    )
    return max(numbers, default=0) + 1


def rotate_log(layout: Layout, keep: int = MAX_LOG_ENTRIES) -> list[str]:
    """Move the oldest experiences above `keep` to the archive and return their ids; the caller holds the lock.

    Each entry is on disk in the archive before it is removed from the log. After a kill in between it is in both, and
    the next rotation removes it from the log. Logs in an older format are not changed.
    """
    ours = [(path, data) for path, data in _files(layout, LOG) if _is_ours(data)]
    if sum(len(OWN_ID.findall(data)) for _, data in ours) <= keep:
        return []
    known = [(path, logged) for path, data in ours for logged in _logged(data, path) if logged.entry.kind == EXPERIENCE]
    known.sort(key=lambda pair: (pair[1].entry.at, *_as_number(pair[1].entry.id)))
    leaving, staying = known[: max(0, len(known) - keep)], known[max(0, len(known) - keep) :]
    ids = {logged.entry.id for _, logged in leaving} - {logged.entry.id for _, logged in staying}
    for path in dict.fromkeys(path for path, _ in leaving):
        _take_out(layout, path, {logged.text for place, logged in leaving if place == path}, ids)
    return [logged.entry.id for _, logged in leaving]


def _as_number(id: str) -> tuple[int, str]:
    """Return a sort key for an id; ids of older logs, such as `exp_12`, sort by number."""
    digits = id.removeprefix("exp_")
    return (int(digits), id) if digits.isdecimal() else (0, id)


def _take_out(layout: Layout, path: str, texts: set[str], ids: set[str]) -> None:
    """Move experiences with these texts, and changes about these ids, from a log file to the archive."""
    file = layout.path(path)
    files = Replacing(layout)
    leaving: list[Logged] = []
    left: list[str] = []
    for piece in _logged(files.read(file) or b"", path):
        if piece.text in texts or piece.entry.about in ids:
            leaving.append(piece)
        else:
            left.append(piece.text)
    for month, some in _by_month(leaving).items():
        files_there = _files(layout, f"{ARCHIVED_LOG}/{month}")
        archived = {known.text for name, data in files_there for known in _logged(data, name)}
        for text in _packed(text for text in some if text not in archived):
            append_text(layout, f"{ARCHIVED_LOG}/{month}/{FILE_NAME}", text)
    if left:
        files.put(file, _joined(left).encode())
    else:
        files.remove(file)
    if files.finish():
        raise Refused(f"{path} changed while it was rotated", "try again")


def _by_month(leaving: Sequence[Logged]) -> dict[str, list[str]]:
    """Return month → texts to archive; a change goes to the month of its experience."""
    months: dict[str, str] = {}
    texts: dict[str, list[str]] = {}
    for piece in leaving:
        month = iso(piece.entry.at)[:7] or UNDATED
        month = month if piece.entry.creates else months.get(piece.entry.target, month)
        months.setdefault(piece.entry.target, month)
        texts.setdefault(month, []).append(piece.text)
    return texts


def _packed(texts: Iterable[str]) -> list[str]:
    """Join short texts, up to half the size of a full file each."""
    packed: list[str] = []
    for text in texts:
        if packed and len(packed[-1].encode()) + len(text.encode()) < FULL_FILE_BYTES // 2:
            packed[-1] = _joined([packed[-1], text])
        else:
            packed.append(text)
    return packed


def _logged(data: bytes, path: str) -> Iterator[Logged]:
    entries = read_data(data, path, advice=False).entries
    text, _, _ = decode(data)
    lines = [f"{line}\n" for line in text.split("\n")]  # splitlines() would also cut at a form feed in a body
    starts = [*(entry.line - 1 for entry in entries), len(lines)]
    for entry, (start, end) in zip(entries, pairwise(starts), strict=True):
        piece = "".join(lines[start:end])
        yield Logged(entry, (SEPARATOR.sub("\n", piece) if end < len(lines) else piece).rstrip("\n") + "\n")


def _joined(pieces: list[str]) -> str:
    return "\n---\n\n".join(pieces)


def _is_ours(data: bytes) -> bool:
    return data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"---")


def _files(layout: Layout, *folders: str) -> Iterator[tuple[str, bytes]]:
    """Yield (path, bytes) of every log file in some folders."""
    for folder in folders:
        for place, _, names in os.walk(layout.path(folder)):
            for name in sorted(names):
                file = os.path.join(place, name)
                if is_memory_name(name) and is_plain_file(file):
                    yield layout.relative(file), read_bytes(file)
