"""Record the path of each session's transcript, and read it: hosts store transcripts outside the repository."""

from __future__ import annotations

import io
import os

from ...model.errors import RawkoError
from .private import LineFile, local_path, replace_local
from .told import checksum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    from ..layout import Layout

SESSIONS = "transcripts.tsv"  # session → transcript
RECORDED = "recorded.tsv"  # transcript → its size in bytes when the session's work was recorded
TALKS = "talks"  # folder of talk files: one per session, for hosts without transcripts
LINE_ENDING = ".jsonl"  # of a transcript that grows line by line; others are read as a whole
MAX_READ_BYTES = 32 * 2**20  # of a longer transcript, only its end is read
MAX_HEAD_BYTES = 2**20  # of the first line, which names the session
MAX_TRANSCRIPTS = 100  # paths that are recorded
MAX_TALKS = 5  # files that are kept, for the current sessions


def open_transcript(transcript: str) -> IO[bytes]:
    """Return a transcript up to its last complete line; for a long one, its first line and its end."""
    if not transcript.endswith(LINE_ENDING):
        return open(transcript, "rb")
    with open(transcript, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        first = stream.readline(MAX_HEAD_BYTES) if size > MAX_READ_BYTES else b""
        stream.seek(max(0, size - MAX_READ_BYTES))
        if first:
            stream.readline()  # skip the rest of an incomplete line
        read = stream.read(MAX_READ_BYTES)
    return io.BytesIO(first + read[: read.rfind(b"\n") + 1])


def note_transcript(layout: Layout, session: str, transcript: str) -> None:
    """Record a session's transcript, because some hosts do not name it when the session ends. Ignore errors."""
    try:
        if session and transcript_of(layout, session) != transcript:
            _put(layout, SESSIONS, session, transcript)
    except RawkoError:
        pass


def transcript_of(layout: Layout, session: str) -> str:
    """Return the last recorded transcript of a session; empty if there is none."""
    return _pairs(layout, SESSIONS).get(session, "") if session else ""


def transcript_of_mark(layout: Layout, mark: str) -> str:
    """Return the transcript or the talk file of a session with this checksum; empty if there is none."""
    named = (file for session, file in _pairs(layout, SESSIONS).items() if checksum(session) == mark)
    return next(named, "") or next((file for file in _talks(layout) if os.path.basename(file) == f"{mark}.json"), "")


def transcripts(layout: Layout) -> list[str]:
    """Return the transcripts of all recorded sessions, latest first, then the talk files."""
    return [*dict.fromkeys(reversed([*_pairs(layout, SESSIONS).values()])), *_talks(layout)]


def keep_talk(layout: Layout, session: str, talk: bytes) -> None:
    """Write the talk file of a session, whose host has no transcripts; replace an earlier one."""
    replace_local(layout, f"{TALKS}/{checksum(session)}.json", talk)
    for file in _talks(layout)[MAX_TALKS:]:
        os.remove(file)


def forget_talks(layout: Layout) -> None:
    """Remove all talk files after a purge, because they may contain the purged text."""
    for file in _talks(layout):
        os.remove(file)


def _talks(layout: Layout) -> list[str]:
    """Return the talk files, latest first; ignore links and folders."""
    try:
        with os.scandir(local_path(layout, TALKS)) as found:
            own = (file for file in found if file.is_file(follow_symlinks=False))
            files = sorted(((file.stat(follow_symlinks=False).st_mtime, file.path) for file in own), reverse=True)
    except (OSError, RawkoError):
        return []
    return [file for _, file in files]


def note_recorded(layout: Layout, transcript: str, size: int) -> None:
    """Record the size of a transcript whose work is in a trace; the caller holds the learner's lock."""
    _put(layout, RECORDED, transcript, str(size))


def unrecorded(layout: Layout) -> dict[str, str]:
    """Return transcript → session for transcripts that changed since their work was recorded, latest first."""
    known = _pairs(layout, RECORDED)
    sessions = {transcript: session for session, transcript in _pairs(layout, SESSIONS).items()}
    grown = (one for one in sessions if os.path.isfile(one) and known.get(one) != str(os.stat(one).st_size))
    return {transcript: sessions[transcript] for transcript in reversed([*grown])}


def _put(layout: Layout, name: str, key: str, value: str) -> None:
    known = _pairs(layout, name)
    known.pop(key, None)  # so that the key becomes the latest
    known[key] = value
    lines = [f"{value}\t{key}" for key, value in known.items()]
    LineFile(local_path(layout, name)).replace(*lines[-MAX_TRANSCRIPTS:])


def _pairs(layout: Layout, name: str) -> dict[str, str]:
    """Return key → value of a file's lines; empty if it cannot be read. Skip lines that cannot be parsed."""
    try:
        return dict(LineFile(local_path(layout, name)).read(_pair)[0])
    except RawkoError:
        return {}


def _pair(line: str) -> tuple[str, str] | None:
    value, _, key = line.partition("\t")
    return (key, value) if key and value else None
