"""How far each transcript was listened to, so that the end of a turn reads what is new in it and no more."""

from __future__ import annotations

import io
import os
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...files.layout import Layout

LINES = ".jsonl"  # a transcript that grows by lines; others are read whole
MOST = 32 * 2**20  # bytes of news: of more than that, the last
FIRST = 2**20  # bytes of the first line, which names the session
KEPT = 100  # transcripts remembered


def news_of(layout: Layout, transcript: str) -> tuple[IO[bytes], int]:
    """What a transcript says since it was last heard, below its first line, and how far that goes.

    The last line may still be in the making: it is heard the next time.
    """
    size = os.stat(transcript).st_size
    if not transcript.endswith(LINES):
        return open(transcript, "rb"), size
    begun = _offsets(layout).get(transcript, 0)
    begun = begun if begun <= size else 0  # another file by now
    with open(transcript, "rb") as stream:
        first = stream.readline(FIRST) if begun else b""
        stream.seek(max(begun, size - MOST))
        news = stream.read(MOST)
    whole = news[: news.rfind(b"\n") + 1]
    end = max(begun, size - MOST) + len(whole)
    return io.BytesIO(first + whole if whole else b""), end


def note_heard(layout: Layout, transcript: str, end: int) -> None:
    """Remember how far a transcript was heard; for one that holds the lock of those who listen."""
    offsets = {**_offsets(layout)}
    offsets.pop(transcript, None)
    offsets[transcript] = end
    _write(_file(layout), [f"{end}\t{path}\n" for path, end in offsets.items()])


def note_transcript(layout: Layout, session: str, transcript: str) -> None:
    """Remember where a session is written down: some hosts tell it at the end of a turn, and not at the end of all.

    Best effort: where it cannot be written, the end of the session has nothing to add.
    """
    known = {**_transcripts(layout)}
    if not session or known.pop(session, "") == transcript:
        return
    known[session] = transcript
    try:
        _write(_sessions(layout), [f"{one}\t{path}\n" for one, path in known.items()])
    except OSError:
        pass


def transcript_of(layout: Layout, session: str) -> str:
    """Where a session was last said to be written down; empty where nobody said so."""
    return _transcripts(layout).get(session, "") if session else ""


def _transcripts(layout: Layout) -> dict[str, str]:
    return {session: path for session, path in _pairs(_sessions(layout)) if path}


def _offsets(layout: Layout) -> dict[str, int]:
    return {path: int(end) for end, path in _pairs(_file(layout)) if path and end.isdecimal()}


def _pairs(file: str) -> list[tuple[str, str]]:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            parts = [line.rstrip("\n").partition("\t") for line in stream]
    except OSError:
        return []
    return [(first, second) for first, _, second in parts]


def _write(file: str, lines: Sequence[str]) -> None:
    temporary = f"{file}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8", errors="replace") as stream:
        stream.writelines(lines[-KEPT:])
    os.replace(temporary, file)


def _file(layout: Layout) -> str:
    return os.path.join(layout.local, "heard.tsv")


def _sessions(layout: Layout) -> str:
    return os.path.join(layout.local, "transcripts.tsv")
