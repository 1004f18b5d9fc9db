"""Read one memory file: bytes → text → entries with ids and places, and a verdict; never raise on bad
content.
"""

from __future__ import annotations

import time
import unicodedata

from ..format.blocks import cut_pieces
from ..format.entries import read_entries
from ..model.entries import Entry
from ..model.ids import placed_id, safe_id
from ..model.values import ERROR, WARNING, Problem, error, record, replace, warning
from .layout import AREAS, MAX_FILE_BYTES, read_bytes

RETRY_AFTER_S = 0.02  # a file that ends inside a character is probably being written
CUT_OFF = "cut-off"  # the Problem code of a file that ends inside a character
BINARY_STARTS = (
    b"\x7fELF",
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"%PDF",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"MZ\x90",
    b"SQLite",
)
LOG_AREA = "log/"  # the area whose files may have a text before their first entry
# the first byte of a multi-byte character
FIRST_LEAD = 0xC2
LAST_LEAD = 0xF4
LFS_START = b"version https://git-lfs"

# from best to worst
ACCEPT = "accept"
ACCEPT_WARN = "accept_warn"
QUARANTINE = "quarantine"


@record
class Reading:
    """The entries and Problems of one file."""

    path: str
    entries: tuple[Entry, ...] = ()
    problems: tuple[Problem, ...] = ()
    # False after a permission or I/O error: the file's content is unknown
    readable: bool = True

    @property
    def verdict(self) -> str:
        """Return `quarantine` if there is an error, else `accept_warn` if there is a warning, else `accept`."""
        levels = {problem.level for problem in self.problems}
        if ERROR in levels:
            return QUARANTINE
        if WARNING in levels:
            return ACCEPT_WARN
        return ACCEPT


def read_file(file: str, path: str) -> Reading:
    """Read a file; `path` is the path that its entries get. An I/O error is returned as a Problem."""
    try:
        reading = read_data(read_bytes(file), path)
        if reading.problems and reading.problems[0].code == CUT_OFF:
            time.sleep(RETRY_AFTER_S)
            reading = read_data(read_bytes(file), path)
    except OSError as failure:
        problem = error(
            "unreadable",
            f"cannot be read: {failure.strerror}",
            "check its name and permissions",
            path=path,
        )
        return Reading(path, problems=(problem,), readable=False)
    return reading


def read_data(
    data: bytes, path: str, advice: bool = True, secrets: bool = True
) -> Reading:
    """Return entries and Problems of a file's bytes; without `advice`, only Problems that matter to an index.

    Without `secrets`, none are looked for.
    """
    text, refused, odd = decode_file(data)
    if refused:
        return Reading(path, (), (replace(refused, path=path),))
    stem = implicit_id(path)
    entries, problems = read_entries(
        text, advice, path.startswith(LOG_AREA), stem, secrets
    )
    if not entries:
        problems = [
            error("empty-file", "the file is empty", "add a memory or remove the file")
        ]
    placed: list[Entry] = []
    latest = 0
    for number, entry in enumerate(entries, 1):
        at = entry.at or (latest if entry.changes else 0)
        latest = at or latest
        name = entry.id or placed_id(stem, number)
        placed.append(replace(entry, id=name, at=at, path=path))
    return Reading(
        path,
        tuple(placed),
        tuple(replace(p, path=path) for p in [*odd, *problems]),
    )


def read_texts(data: bytes, path: str) -> list[tuple[Entry, str]]:
    """Return each entry of a file's bytes with its exact text, which ends with a newline."""
    entries = read_data(data, path, advice=False).entries
    _, pieces = cut_pieces(decode_file(data)[0], [entry.line for entry in entries])
    return [
        (entry, piece.text + "\n") for entry, piece in zip(entries, pieces, strict=True)
    ]


def decode_file(data: bytes) -> tuple[str, Problem | None, list[Problem]]:
    r"""Return the text with \n line ends, a Problem if the bytes are not text, and warnings about unusual bytes."""
    refused = _why_refused(data)
    if refused:
        return "", refused, []
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        return "", _not_utf8(data, failure), []
    odd = []
    if text.startswith("\ufeff"):
        text = text.lstrip("\ufeff")
        odd.append(
            warning(
                "byte-order-marks",
                "more than one byte order mark",
                "save the file as UTF-8 without any",
            )
        )
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            text = text.replace("\r", "\n")
            message = "lone carriage returns read as line ends"
            odd.append(warning("carriage-returns", message, "save with \\n line ends"))
    return text, None, odd


def _why_refused(data: bytes) -> Problem | None:
    if len(data) > MAX_FILE_BYTES:
        return error(
            "large-file",
            "larger than 5 MiB: skipped",
            "split it, or keep it outside the repository",
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return error("utf-16", "UTF-16, not UTF-8", "save the file as UTF-8")
    if data.startswith(BINARY_STARTS):
        return error("binary-file", "a binary file", "keep only Markdown here")
    nul = data.find(b"\0")
    if nul >= 0:
        return error(
            "nul",
            f"NUL byte at offset {nul}: binary or wrong encoding",
            "save the file as UTF-8 text",
        )
    if data.startswith(LFS_START):
        hint = "run 'git lfs pull', or keep memories out of LFS"
        return error("lfs-pointer", "a Git LFS pointer, not the file itself", hint)
    return None


def _not_utf8(data: bytes, failure: UnicodeDecodeError) -> Problem:
    line = data.count(b"\n", 0, failure.start) + 1
    # more bytes could complete it
    if failure.end >= len(data) and FIRST_LEAD <= data[failure.start] <= LAST_LEAD:
        message = "the file ends inside a character: being written, or cut off"
        return error(CUT_OFF, message, "save it again as UTF-8", line)
    return error(
        "not-utf-8",
        f"not UTF-8 at byte {failure.start}",
        "save the file as UTF-8",
        line,
    )


def is_implicit(id: str, path: str) -> bool:
    """Return whether an id is made from the path of its file, because the file states none."""
    return id.partition("#")[0] == implicit_id(path)


def implicit_id(path: str) -> str:
    """Return the id of a file's first entry if it has none: its path below its area, without `.md`.

    Use Unicode normal form C, because macOS may list the same name with separate accents.
    """
    area, _, rest = path.partition("/")
    name = rest if area in AREAS and rest else path
    return safe_id(unicodedata.normalize("NFC", name.removesuffix(".md")))
