"""Check whether cited code is unchanged: each citation is fresh, stale, gone or unknown.

Blob ids are those of git, computed without git. For a symbol or lines, the id is that of their text
only, so that an edit elsewhere in the file has no effect. Git's index file tells which files moved
or are not checked out.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha1

from ..files.layout import MAX_FILE_BYTES, Layout, read_bytes
from ..format.body import (
    WRITTEN_BLOB_DIGITS,
    Citation,
    citations_in,
    read_citation,
    why_path_refused,
)
from ..model.entries import Value
from ..model.errors import BadInput
from ..model.values import record, replace
from .head import find_git
from .symbols import TooLong, mentions_symbol, symbol_text

# Read git's index file without running git: tracked paths, their blobs, and which of them are not
# checked out.

# about 150,000 files; a larger index would delay a prompt
MAX_INDEX_BYTES = 16 * 1024 * 1024
READ_VERSIONS = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")  # version 4 compresses paths
# before the path: times, device, mode, owner, size (40), blob (20), flags (2)
ENTRY_HEADER_BYTES = 62
EXTENDED, SKIPPED = (
    0x4000,
    0x40,
)  # flags: two more bytes of flags follow; in the first of these: not checked out
FOLDER_MODE, SUBMODULE_MODE = 0o040000, 0o160000  # modes of entries that are not files
TYPE_MASK = 0o170000


@record
class Tracked:
    """One entry of the index; its path is relative to the project."""

    path: str
    blob: str
    mode: int
    skipped: bool


class TrackedFiles:
    """The tracked files of a project, with paths relative to the project. Empty without git."""

    def __init__(self, project: str):
        self.project = project
        self.entries: list[Tracked] = []
        git = find_git(project)
        if git:
            inside = os.path.relpath(
                os.path.realpath(project), os.path.realpath(git.tree)
            ).replace(os.sep, "/")
            prefix = "" if inside == "." else inside + "/"
            self.entries = _read_index(
                os.path.join(git.own, "index"), os.fsencode(prefix)
            )

    def holding(self, blob: str) -> list[str]:
        """Return the paths whose blob id starts with `blob`."""
        return [entry.path for entry in self.entries if entry.blob.startswith(blob)]

    def why_absent(self, path: str) -> str:
        """Return why a tracked file is not checked out; empty if it should be on disk."""
        for entry in self.entries:
            around = path.startswith(entry.path.rstrip("/") + "/")
            if around and entry.mode & TYPE_MASK == SUBMODULE_MODE:
                inner = os.path.join(self.project, *entry.path.split("/"), ".git")
                if not os.path.lexists(inner):
                    return f"the submodule {entry.path} is not checked out"
            if (
                entry.path == path or (around and entry.mode & TYPE_MASK == FOLDER_MODE)
            ) and entry.skipped:
                return "not checked out here (sparse checkout)"
        return ""


def _read_index(file: str, prefix: bytes) -> list[Tracked]:
    """Return the entries below `prefix` of an index of version 2 or 3; empty for any other file."""
    try:
        with open(file, "rb") as stream:
            data = stream.read(MAX_INDEX_BYTES + 1)
        if len(data) > MAX_INDEX_BYTES or data[:8] not in READ_VERSIONS:
            return []
        return list(_index_entries(data, prefix))
    except (
        OSError,
        ValueError,
        IndexError,
    ):  # no index yet, or a repository with other hashes
        return []


def _index_entries(data: bytes, prefix: bytes) -> Iterator[Tracked]:
    at = 12
    for _ in range(int.from_bytes(data[8:12])):
        more = 2 if int.from_bytes(data[at + 60 : at + 62]) & EXTENDED else 0
        start = at + ENTRY_HEADER_BYTES + more
        end = data.index(b"\0", start)
        path = data[start:end]
        if path.startswith(prefix):
            skipped = bool(more and data[at + ENTRY_HEADER_BYTES] & SKIPPED)
            mode, blob = (
                int.from_bytes(data[at + 24 : at + 28]),
                data[at + 40 : at + 60].hex(),
            )
            yield Tracked(os.fsdecode(path[len(prefix) :]), blob, mode, skipped)
        at += (end - at + 8) & ~7


FRESH, STALE, GONE, UNKNOWN = "fresh", "stale", "gone", "unknown"

MAX_CITATIONS = 64  # citations of one memory that are checked
MAX_READ_BYTES = (
    16 * 1024 * 1024
)  # bytes that are read and hashed for one answer; takes a few hundredths of a second
# the search for a part of a symbol takes as long as reading its file this many times
SEARCH_COST = 4
MAX_SLIDING_BYTES = (
    2 * 1024 * 1024
)  # bytes that are hashed to find cited lines that moved inside their file
MAX_CANDIDATES = 12  # files that are searched for a place whose file is gone
# of a moved file that is recognized by its text: shorter files are often equal by chance
MIN_MOVED_BYTES = 32
BOM = b"\xef\xbb\xbf"
BINARY_PROBE_BYTES = 8000  # as git does, look for a NUL in the first bytes


@record
class Cited:
    """One citation of a memory, and its current state."""

    citation: Citation
    state: str
    note: str = ""  # where it moved, why it is not fresh


TOO_MUCH = "not checked: the memories of this answer cite too much code"
TOO_MANY = f"not checked: only the first {MAX_CITATIONS} citations of a memory are"


class _Unknown(Exception):
    """The cited place cannot be read; the message says why."""


class Citations:
    """Checks citations and reads each cited file once; create a new one for each answer."""

    def __init__(self, layout: Layout, budget: int = MAX_READ_BYTES):
        self.project = os.path.realpath(layout.project)
        self.left = budget
        self.seen: dict[str, bytes | None] = {}

    @cached_property
    def tracked(self) -> TrackedFiles:
        """Return git's index; it is read on first use, when a cited file is missing."""
        return TrackedFiles(self.project)

    def of(self, extra: Mapping[str, Value]) -> tuple[Cited, ...]:
        """Return the state of each citation of a memory."""
        texts = citations_in(extra)
        checked = [self.check(read_citation(text)) for text in texts[:MAX_CITATIONS]]
        unchecked = [
            Cited(read_citation(text), UNKNOWN, TOO_MANY)
            for text in texts[MAX_CITATIONS:]
        ]
        return (*checked, *unchecked)

    def check(self, citation: Citation) -> Cited:
        """Return the state of one citation."""
        try:
            return Cited(citation, *self._state(citation))
        except _Unknown as failure:
            return Cited(citation, UNKNOWN, str(failure))

    def now(self, citation: Citation) -> Cited:
        """Return the citation with the current blob id of its place; raise BadInput if the place does not exist."""
        try:
            data = self._read(citation.path)
        except _Unknown as failure:
            raise BadInput(
                f"cannot cite {citation.path}: {failure}", "cite a file of this project"
            ) from None
        if data is None:
            raise BadInput(
                f"no file {citation.path}",
                "write the path relative to the current folder",
            )
        blobs, whole = _identify(citation, data)
        if not blobs:
            raise BadInput(
                f"{citation.path} has no {_part(citation)}",
                "cite the whole file, or a part that exists",
            )
        # as git commits it
        usual = blobs[1 if whole and len(blobs) > 1 and b"\r\n" in data else 0]
        blob = next(
            (blob for blob in blobs if whole and self.tracked.holding(blob)), usual
        )
        note = f"the definition of {citation.symbol} was not found in {citation.path}: the whole file counts"
        written = replace(citation, blob=blob[:WRITTEN_BLOB_DIGITS])
        return Cited(written, FRESH, note if whole and citation.symbol else "")

    def _state(self, citation: Citation) -> tuple[str, str]:
        if (
            citation.place == citation.path
            and not citation.blob
            and os.path.isdir(self._file(citation.path))
        ):
            return FRESH, ""
        ids = self._ids(citation, citation.path)
        if ids is None:
            return self._elsewhere(citation)
        if not ids:
            return GONE, f"{citation.path} has no {_part(citation)}"
        if not citation.blob or _is_among(citation.blob, ids):
            return FRESH, ""
        moved = (
            _moved_lines(citation, self._read(citation.path) or b"")
            if citation.lines
            else ""
        )
        changed = f"changed since: now {ids[0][:WRITTEN_BLOB_DIGITS]}"
        return (FRESH, f"now lines {moved}") if moved else (STALE, changed)

    def _ids(self, citation: Citation, path: str) -> list[str] | None:
        """Return the possible blob ids of the cited place in a file, none if it is gone; None if there is no file."""
        data = self._read(path)
        if data is None:
            return None
        if citation.symbol:
            if self.left <= 0:
                raise _Unknown(TOO_MUCH)
            self.left -= len(data) * SEARCH_COST * (1 + citation.symbol.count("."))
        return _identify(citation, data)[0]

    def _elsewhere(self, citation: Citation) -> tuple[str, str]:
        """Return the state of a missing file: it may not be checked out, or it moved, which the hash proves."""
        absent = self.tracked.why_absent(citation.path)
        if absent:
            return UNKNOWN, absent
        paths = [
            path for path in self._candidates(citation) if self._is_at(citation, path)
        ]
        if len(paths) == 1 or (paths and citation.place != citation.path):
            return FRESH, f"moved to {paths[0]}"
        same = f"; {', '.join(paths)} hold the same text" if paths else ""
        return GONE, f"no file {citation.path}{same}"

    def _is_at(self, citation: Citation, path: str) -> bool:
        try:
            ids = self._ids(citation, path)
            is_whole = citation.place == citation.path
            if is_whole and os.path.getsize(self._file(path)) < MIN_MOVED_BYTES:
                return False
        except (_Unknown, OSError):
            return False
        return _is_among(citation.blob, ids or [])

    def _candidates(self, citation: Citation) -> Sequence[str]:
        """Return tracked files to which a cited file may have moved: with its blob, its name, or its suffix."""
        if not citation.blob:
            return ()
        same = self.tracked.holding(citation.blob)
        if citation.place == citation.path:
            return same[:MAX_CANDIDATES]
        name, suffix = (
            citation.path.rpartition("/")[2],
            os.path.splitext(citation.path)[1],
        )
        paths = [entry.path for entry in self.tracked.entries]
        namesakes = [path for path in paths if path.rpartition("/")[2] == name]
        alike = [path for path in paths if suffix and path.endswith(suffix)]
        # files with more equal folders come first
        folders = citation.path.split("/")[:-1]
        alike.sort(
            key=lambda path: -sum(map(operator.eq, path.split("/")[:-1], folders))
        )
        return list(dict.fromkeys([*same, *namesakes, *alike]))[:MAX_CANDIDATES]

    def _read(self, path: str) -> bytes | None:
        """Return the bytes of a file below the project; None if it does not exist. Raise _Unknown on other errors."""
        if path not in self.seen:
            self.seen[path] = self._read_once(path)
        return self.seen[path]

    def _read_once(self, path: str) -> bytes | None:
        file = self._file(path)
        if self.left <= 0:
            raise _Unknown(TOO_MUCH)
        try:
            data = read_bytes(file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as failure:
            raise _Unknown(f"cannot be read: {failure.strerror}") from None
        self.left -= len(data)
        if len(data) > MAX_FILE_BYTES:
            raise _Unknown(f"larger than {MAX_FILE_BYTES >> 20} MiB: not checked")
        return data

    def _file(self, path: str) -> str:
        """Return the file of a cited path; raise _Unknown if the path leads out of the project or through a link."""
        refused = why_path_refused(path)
        if refused:
            raise _Unknown(f"refused: the path {refused}")
        file = os.path.normpath(os.path.join(self.project, *path.split("/")))
        if os.path.realpath(file) != file:
            raise _Unknown(
                "refused: the path leads through a link; cite the file itself"
            )
        return file


def place_from(layout: Layout, text: str, base: str) -> str:
    """Return a citation's place with its path relative to the project; `base` is the folder of the given path.

    Links are resolved. Raise BadInput if the file is outside the project.
    """
    citation = read_citation(text)
    project = os.path.realpath(layout.project)
    file = os.path.realpath(os.path.join(base, citation.path))
    if not file.startswith(project.rstrip(os.sep) + os.sep):
        raise BadInput(
            f"{citation.path} is outside {project}", "cite a file of this project"
        )
    return replace(
        citation, path=os.path.relpath(file, project).replace(os.sep, "/"), blob=""
    ).text


def _identify(citation: Citation, data: bytes) -> tuple[list[str], bool]:
    """Return the possible blob ids of the cited place, its own first, none if it is gone; whether it is the whole file."""
    whole = blob_ids(data)
    text = _text(data) if citation.symbol or citation.lines else ""
    if citation.lines:
        first, last = citation.lines
        lines = text.split("\n")[first - 1 : last]
        if len(lines) <= last - first or lines == [""]:
            return [], False
        return [_text_id("\n".join(lines)), *whole], False
    if citation.symbol:
        try:
            own = symbol_text(text, citation.symbol, citation.path)
            if own:
                return [_text_id(own), *whole], False
            if not mentions_symbol(text, citation.symbol, citation.path):
                return [], True
        except TooLong:
            pass
    return whole, True


def _moved_lines(citation: Citation, data: bytes) -> str:
    """Return the new line numbers of cited lines in their file; empty if not found or too long to search."""
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
    r"""Return the blob ids of a file: of its bytes, and of its text with \n line ends, as autocrlf commits it.

    Texts with and without a byte order mark count as equal.
    """
    if b"\0" in data[:BINARY_PROBE_BYTES]:
        return [blob_id(data)]
    bare = data.removeprefix(BOM)
    forms = [
        data,
        data.replace(b"\r\n", b"\n"),
        bare,
        bare.replace(b"\r\n", b"\n"),
        BOM + bare,
    ]
    return list(map(blob_id, dict.fromkeys(forms)))


def blob_id(data: bytes) -> str:
    """Return git's blob id of these bytes."""

    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _text(data: bytes) -> str:
    return (
        data.removeprefix(BOM).decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    )


def _text_id(text: str) -> str:
    return blob_id((text.rstrip("\n") + "\n").encode("utf-8", "surrogateescape"))


def _is_among(blob: str, ids: list[str]) -> bool:
    return any(id.startswith(blob) for id in ids)


def _part(citation: Citation) -> str:
    if citation.lines:
        return f"lines {citation.lines[0]}-{citation.lines[1]}"
    return f"symbol {citation.symbol}"
