"""Read past sessions: each prompt, with the end of the transcript at the time of the prompt."""

from __future__ import annotations

import io
import json
import os
from typing import IO, TYPE_CHECKING, Any

from ...learn.session.recorded import COMPACTED, holds_sessions, read_records, with_paths
from ...learn.session.transcript import MARKDOWN, Transcript
from ...learn.session.turns import ASSISTANT, SYSTEM, USER
from ...model.record import record
from ..hooks.lately import MAX_TAIL_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...learn.session.turns import Turn


@record
class Moment:
    """A prompt of a session."""

    turn: int  # number of the turn, from 1
    prompt: str
    end: int  # size of the transcript before the prompt, in bytes
    is_fresh: bool = False  # whether the host compacted the session just before


@record
class Past:
    """A past session."""

    name: str  # the file name, or the id in a file of recorded sessions
    host: str  # empty if the format belongs to no host
    session: str
    turns: tuple[Turn, ...]
    moments: tuple[Moment, ...]  # the prompts
    written: bytes = b""  # the transcript, as lines that hooks can read

    @property
    def at(self) -> int:
        """Return when the session began, in milliseconds since 1970; 0 if the record does not say."""
        return next((turn.at for turn in self.turns if turn.at), 0)

    def before(self, moment: Moment) -> bytes:
        """Return the end of the transcript before a prompt."""
        return self.written[max(0, moment.end - MAX_TAIL_BYTES) : moment.end]


def read_past(file: str) -> Iterator[Past]:
    """Yield the sessions of a file: one of a transcript, several of a file of recorded sessions."""
    if holds_sessions(file):
        for number, one in enumerate(read_records(file), 1):
            lines = (json.dumps(with_paths(line)) + "\n" for line in one["records"] if isinstance(line, dict))
            yield _past(io.BytesIO("".join(lines).encode()), str(one.get("id") or number))
        return
    with open(file, "rb") as stream:
        yield _past(stream, os.path.basename(file))


def _past(stream: IO[bytes], name: str) -> Past:
    transcript = Transcript(stream)
    turns: list[Turn] = []
    moments: list[Moment] = []
    written, line, is_fresh = bytearray(), b"", False
    for turn in transcript.turns():
        turns.append(turn)
        if turn.role in (USER, SYSTEM) and turn.text.startswith(COMPACTED):
            is_fresh = True
        elif turn.role == USER:
            moments.append(Moment(len(turns), turn.text, len(written), is_fresh))
            is_fresh = False
        if not transcript.line:
            written += _line(turn)
        elif transcript.line is not line:
            line = transcript.line
            written += line
    host = "" if transcript.host == MARKDOWN else transcript.host
    return Past(name, host, transcript.session, tuple(turns), tuple(moments), bytes(written))


def _line(turn: Turn) -> bytes:
    """Return a turn as a line that hooks can read, for formats that do not consist of JSON lines."""
    content: list[dict[str, Any]] = []
    if turn.did and turn.did.file:
        content = [{"type": "tool_use", "input": {"file_path": turn.did.file}}]
    elif turn.role in (USER, ASSISTANT):
        content = [{"type": "text", "text": turn.text}]
    role = USER if turn.role == USER else ASSISTANT
    return json.dumps({"role": role, "content": content}).encode() + b"\n" if content else b""
