"""Remember how far each transcript was read, so that the end of a turn reads only what is new in it."""

from __future__ import annotations

import io
import os
from typing import IO

from ...files.layout import Layout
from ...files.local.private import LineFile, local_path
from ...model.errors import RawkoError

OFFSETS, SESSIONS = "heard.tsv", "transcripts.tsv"  # transcript → bytes that were read; session → transcript
RECORDED = "recorded.tsv"  # transcript → its bytes when the session's work was recorded
LINE_ENDING = ".jsonl"  # of a transcript that grows by lines; others are read whole
MAX_NEWS_BYTES = 32 * 2**20  # of more than that, the last
MAX_HEAD_BYTES = 2**20  # of the first line, which names the session
MAX_TRANSCRIPTS = 100  # that are remembered


def news_of(layout: Layout, transcript: str) -> tuple[IO[bytes], int]:
    """Return the first line of a transcript with all unread complete lines, and the offset where they end."""
    size = os.stat(transcript).st_size
    if not transcript.endswith(LINE_ENDING):
        return open(transcript, "rb"), size
    known = _pairs(layout, OFFSETS).get(transcript, "")
    begun = int(known) if known.isdecimal() and int(known) <= size else 0  # a shorter file is another one by now
    with open(transcript, "rb") as stream:
        first = stream.readline(MAX_HEAD_BYTES) if begun else b""
        stream.seek(max(begun, size - MAX_NEWS_BYTES))
        news = stream.read(MAX_NEWS_BYTES)
    whole = news[: news.rfind(b"\n") + 1]
    end = max(begun, size - MAX_NEWS_BYTES) + len(whole)
    return io.BytesIO(first + whole if whole else b""), end


def note_heard(layout: Layout, transcript: str, end: int) -> None:
    """Remember how far a transcript was read; the caller holds the learner's lock."""
    _put(layout, OFFSETS, transcript, str(end))


def note_transcript(layout: Layout, session: str, transcript: str) -> None:
    """Remember the transcript of a session, which some hosts do not name at its end. A failure is ignored."""
    try:
        if session and transcript_of(layout, session) != transcript:
            _put(layout, SESSIONS, session, transcript)
    except RawkoError:
        pass


def transcript_of(layout: Layout, session: str) -> str:
    """Return the transcript that was last named for a session; empty if none was."""
    return _pairs(layout, SESSIONS).get(session, "") if session else ""


def note_recorded(layout: Layout, transcript: str, size: int) -> None:
    """Remember that the work of a session was recorded; the caller holds the learner's lock."""
    _put(layout, RECORDED, transcript, str(size))


def unrecorded(layout: Layout) -> dict[str, str]:
    """Return transcript → session of those that grew since their work was recorded, the latest first."""
    known = _pairs(layout, RECORDED)
    sessions = {transcript: session for session, transcript in _pairs(layout, SESSIONS).items()}
    grown = (one for one in sessions if os.path.isfile(one) and known.get(one) != str(os.stat(one).st_size))
    return {transcript: sessions[transcript] for transcript in reversed([*grown])}


def _put(layout: Layout, name: str, key: str, value: str) -> None:
    known = _pairs(layout, name)
    known.pop(key, None)  # so that it becomes the latest
    known[key] = value
    lines = [f"{value}\t{key}" for key, value in known.items()]
    LineFile(local_path(layout, name)).replace(*lines[-MAX_TRANSCRIPTS:])


def _pairs(layout: Layout, name: str) -> dict[str, str]:
    """Return key → value of the lines of a file; none if it cannot be read. Lines that cannot be parsed are skipped."""
    try:
        return dict(LineFile(local_path(layout, name)).read(_pair)[0])
    except RawkoError:
        return {}


def _pair(line: str) -> tuple[str, str] | None:
    value, _, key = line.partition("\t")
    return (key, value) if key and value else None
