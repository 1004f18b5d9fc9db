r"""Find out whether cited code is unchanged: each citation is fresh, stale, gone, or unknown.

Blob ids are git's (the SHA-1 of `blob <length>\0` and the bytes), computed without git. For a symbol or for lines it is
the id of their text alone, so that an edit elsewhere in the file has no effect.
"""

from __future__ import annotations

import os

from ..files.contents import MAX_FILE_BYTES, read_bytes
from ..format.citation import WRITTEN_BLOB_DIGITS, Citation, cited_in, read_citation, why_refused
from ..model.errors import BadInput
from ..model.record import record, replace
from .index_file import TrackedFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..files.layout import Layout
    from ..model.entry import Value

FRESH, STALE, GONE, UNKNOWN = "fresh", "stale", "gone", "unknown"

MAX_CITATIONS = 16  # citations of one memory that are looked at: a memory that cites more cites a project
MAX_READ_BYTES = 16 * 1024 * 1024  # bytes read and hashed for one answer: a few hundredths of a second
MAX_SLIDING_BYTES = 2 * 1024 * 1024  # bytes hashed to find cited lines that moved inside their file
MAX_NAMESAKES = 8  # files of the same name that are tried for a symbol whose file is gone
BINARY_PROBE_BYTES = 8000  # git looks for a NUL in that many bytes


@record
class Cited:
    """One citation of a memory, and its current state."""

    citation: Citation
    state: str
    note: str = ""  # where it moved, why it is not fresh


class _Unknown(Exception):
    """The cited place cannot be read; the message says why."""


class Citations:
    """Checks citations and reads each cited file once; create a new one for each answer."""

    def __init__(self, layout: Layout, budget: int = MAX_READ_BYTES):
        self.project = os.path.realpath(layout.project)
        self.left = budget
        self.seen: dict[str, bytes | _Unknown | None] = {}
        self._tracked: TrackedFiles | None = None

    @property
    def tracked(self) -> TrackedFiles:
        """Return git's index, which is only read for a file that is missing."""
        if self._tracked is None:
            self._tracked = TrackedFiles(self.project)
        return self._tracked

    def of(self, extra: Mapping[str, Value]) -> tuple[Cited, ...]:
        """Return the state of each citation of a memory."""
        return tuple(self.check(read_citation(text)) for text in cited_in(extra)[:MAX_CITATIONS])

    def check(self, citation: Citation) -> Cited:
        """Return the state of one citation."""
        try:
            return Cited(citation, *self._state(citation))
        except _Unknown as failure:
            return Cited(citation, UNKNOWN, str(failure))

    def now(self, citation: Citation) -> Cited:
        """Return the citation with the current blob of its place; raise BadInput if there is nothing to cite."""
        try:
            data = self._read(citation.path)
        except _Unknown as failure:
            raise BadInput(f"cannot cite {citation.path}: {failure}", "cite a file of this project") from None
        if data is None:
            raise BadInput(f"no file {citation.path}", "paths are relative to where you are")
        found = _identify(citation, data)
        if found is None:
            raise BadInput(f"{citation.path} has no {_part(citation)}", "cite the file, or spell it as the file does")
        blobs, whole = found
        blob = next((blob for blob in blobs if whole and self.tracked.holding(blob)), blobs[-1 if whole else 0])
        note = f"{citation.symbol} cannot be told apart in {citation.path}: the whole file counts"
        written = replace(citation, blob=blob[:WRITTEN_BLOB_DIGITS])
        return Cited(written, FRESH, note if whole and citation.symbol else "")

    def _state(self, citation: Citation) -> tuple[str, str]:
        if os.path.isdir(self._file(citation.path)) and citation.place == citation.path and not citation.blob:
            return FRESH, ""
        data = self._read(citation.path)
        if data is None:
            return self._elsewhere(citation)
        found = _identify(citation, data)
        if found is None:
            return GONE, f"{citation.path} has no {_part(citation)}"
        if not citation.blob or _is_among(citation.blob, found[0]):
            return FRESH, ""
        moved = _moved_lines(citation, data)
        changed = f"changed since: now {found[0][0][:WRITTEN_BLOB_DIGITS]}"
        return (FRESH, f"now lines {moved}") if moved else (STALE, changed)

    def _elsewhere(self, citation: Citation) -> tuple[str, str]:
        """Return the state of a missing file: perhaps not checked out, or renamed, which the hash proves."""
        absent = self.tracked.why_absent(citation.path)
        if absent:
            return UNKNOWN, absent
        for path in self._candidates(citation):
            try:
                data = self._read(path)
            except _Unknown:
                continue
            found = _identify(citation, data) if data is not None else None
            if found and _is_among(citation.blob, found[0]):
                return FRESH, f"moved to {path}"
        return GONE, f"no file {citation.path}"

    def _candidates(self, citation: Citation) -> Sequence[str]:
        if not citation.blob:
            return ()
        namesakes = self.tracked.named(citation.path.rpartition("/")[2])
        return list(dict.fromkeys([*self.tracked.holding(citation.blob), *namesakes]))[:MAX_NAMESAKES]

    def _read(self, path: str) -> bytes | None:
        """Return the bytes of a file below the project; None if there is none."""
        if path not in self.seen:
            try:
                self.seen[path] = self._read_once(path)
            except _Unknown as failure:
                self.seen[path] = failure
        found = self.seen[path]
        if isinstance(found, _Unknown):
            raise found
        return found

    def _read_once(self, path: str) -> bytes | None:
        file = self._file(path)
        if self.left <= 0:
            raise _Unknown("not looked at: too much is cited at once")
        try:
            data = read_bytes(file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as failure:
            raise _Unknown(f"cannot be read: {failure.strerror}") from None
        self.left -= len(data)
        if len(data) > MAX_FILE_BYTES:
            raise _Unknown(f"larger than {MAX_FILE_BYTES >> 20} MiB: not looked at")
        return data

    def _file(self, path: str) -> str:
        """Return the file of a cited path; raise _Unknown if the path leads out of the project or through a link."""
        refused = why_refused(path)
        if refused:
            raise _Unknown(f"refused: the path {refused}")
        file = os.path.normpath(os.path.join(self.project, *path.split("/")))
        if os.path.realpath(file) != file:
            raise _Unknown("refused: the path leads through a link; cite the file itself")
        return file


def place_from(layout: Layout, text: str, base: str) -> str:
    """Return the place below the project that a path, seen from a folder, names; links are resolved."""
    citation = read_citation(text)
    project = os.path.realpath(layout.project)
    file = os.path.realpath(os.path.join(base, citation.path))
    if not file.startswith(project.rstrip(os.sep) + os.sep):
        raise BadInput(f"{citation.path} lies outside {project}", "cite a file of this project")
    return replace(citation, path=os.path.relpath(file, project).replace(os.sep, "/"), blob="").text


def _identify(citation: Citation, data: bytes) -> tuple[list[str], bool] | None:
    """Return possible blob ids of the cited place, its own first, and whether it is the whole file; None if gone."""
    whole = blob_ids(data)
    if not citation.symbol and not citation.lines:
        return whole, True
    text = _text(data)
    if citation.lines:
        lines = text.split("\n")[citation.lines[0] - 1 : citation.lines[1]]
        enough = len(lines) == citation.lines[1] - citation.lines[0] + 1 and lines != [""]
        return ([_text_id("\n".join(lines)), *whole], False) if enough else None
    from .symbol import mentions, symbol_text  # only for citations that name a symbol

    own = symbol_text(text, citation.symbol, citation.path)
    if own:
        return [_text_id(own), *whole], False
    return (whole, True) if mentions(text, citation.symbol) else None


def _moved_lines(citation: Citation, data: bytes) -> str:
    """Return where cited lines are now in their file; empty if nowhere, or if the search would take too long."""
    if not citation.lines:
        return ""
    count = citation.lines[1] - citation.lines[0] + 1
    lines = _text(data).split("\n")
    if len(data) * count > MAX_SLIDING_BYTES:
        return ""
    for start in range(len(lines) - count + 1):
        if _text_id("\n".join(lines[start : start + count])).startswith(citation.blob):
            return f"{start + 1}-{start + count}"
    return ""


def blob_ids(data: bytes) -> list[str]:
    r"""Return the blob ids of a file: of its bytes, and of its text with \n line ends, as autocrlf commits it."""
    if b"\r\n" not in data or b"\0" in data[:BINARY_PROBE_BYTES]:
        return [blob_id(data)]
    return [blob_id(data), blob_id(data.replace(b"\r\n", b"\n"))]


def blob_id(data: bytes) -> str:
    """Return the id that git gives these bytes."""
    from hashlib import sha1  # only where something is cited

    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def _text_id(text: str) -> str:
    return blob_id((text.rstrip("\n") + "\n").encode("utf-8", "surrogateescape"))


def _is_among(blob: str, ids: list[str]) -> bool:
    return any(id.startswith(blob) for id in ids)


def _part(citation: Citation) -> str:
    return f"lines {citation.lines[0]}-{citation.lines[1]}" if citation.lines else f"symbol {citation.symbol}"
