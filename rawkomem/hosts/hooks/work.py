"""Record the work of sessions as traces: at their end, or later if the host does not report the end.

A session without a reported end is recorded when a turn of another session ends and its own transcript has not grown
for IDLE_S. A host without transcripts passes its messages with each call; new messages are recorded at once.
"""

from __future__ import annotations

import os
import time
from typing import IO, TYPE_CHECKING

from ...files.local.transcripts import note_recorded, unrecorded
from ...learn.session.transcript import Transcript
from ...model.errors import RawkoError

if TYPE_CHECKING:
    from ...repository import Repository

IDLE_S = 30 * 60.0  # a session whose transcript has not grown for this time counts as ended
MAX_AT_ONCE = 3  # sessions that are recorded after one turn
MAX_TRANSCRIPT_BYTES = 64 * 2**20  # longer transcripts are not recorded


def record_work(repository: Repository, host: str, transcript: str, talk: IO[bytes], ended: bool) -> None:
    """Record the sessions that ended, then make learnings from traces if that is due. Call this in the background."""
    recorded = _record(repository, host, Transcript(talk)) if not transcript else False
    for one, session in list(_finished(repository, transcript if ended else "").items())[:MAX_AT_ONCE]:
        recorded |= _record_file(repository, one, session)
    if recorded:
        repository.lifecycle.learn_when_due()


def _finished(repository: Repository, ended: str) -> dict[str, str]:
    """Return transcript → session for unrecorded sessions that ended now or have not grown for IDLE_S."""
    waiting = unrecorded(repository.layout)
    before = time.time() - IDLE_S
    return {one: session for one, session in waiting.items() if _is_over(one, ended, before)}


def _is_over(transcript: str, ended: str, before: float) -> bool:
    return os.path.abspath(transcript) == ended or os.stat(transcript).st_mtime < before


def _record_file(repository: Repository, transcript: str, session: str) -> bool:
    size = os.stat(transcript).st_size
    try:
        with open(transcript, "rb") as stream:
            return size <= MAX_TRANSCRIPT_BYTES and _record(repository, "", Transcript(stream), session)
    except RawkoError as failure:
        repository.core.warn(f"the work of {transcript} was not recorded: {failure}")
        return False
    finally:
        note_recorded(repository.layout, transcript, size)


def _record(repository: Repository, host: str, heard: Transcript, session: str = "") -> bool:
    turns = list(heard.turns())
    return repository.traces.record_session(turns, host or heard.host, session or heard.session) is not None
