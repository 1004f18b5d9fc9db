"""Start a background process at the end of a turn that learns from it, so that no host waits for it or kills it."""

from __future__ import annotations

import json
import os
import tempfile
import time
from typing import IO, TYPE_CHECKING

from ...files.local.background import start
from ...files.lock import lock
from ...learn.session.run import Run
from ...model.errors import BadInput
from ..host import END, LEARN
from .heard import news_of, note_heard, note_transcript, transcript_of

if TYPE_CHECKING:
    from ...files.layout import Layout
    from ...repository import Repository
    from ..host import Call

SETTLE_S = 1.0  # hosts write transcripts a little later than they call
MAX_MESSAGES = 40  # of a session, passed with the call: a turn is shorter


def leave_learner(layout: Layout, call: Call) -> None:
    """Start the process, with the transcript's name or with what was said, and do not wait for it."""
    transcript = _transcript(layout, call)
    named = [os.path.abspath(transcript)] if transcript else []
    with tempfile.TemporaryFile() as talk:
        if not transcript:
            _tell(call, talk)
        start(layout, lock(layout, "learner"), "hook", call.host, LEARN, *named, stdin=talk.fileno(), queue=True)


def _transcript(layout: Layout, call: Call) -> str:
    """Return the transcript of a session, as the host names it now or, at the session's end, named it before."""
    said = call.transcript
    if said:
        note_transcript(layout, call.session, said)
    elif call.event == END:
        said = transcript_of(layout, call.session)
    return said if said and os.path.isfile(said) else ""


def _tell(call: Call, talk: IO[bytes]) -> None:
    """Write what was said into an unnamed file, as a transcript for `learn`; nothing if nothing was said."""
    messages = call.fields.get("messages")
    if not isinstance(messages, list):
        said = [("user", call.prompt), ("assistant", call.reply)]
        messages = [{"role": role, "content": text} for role, text in said if text]
    if messages:
        talk.write(json.dumps({"sessionId": call.session, "messages": messages[-MAX_MESSAGES:]}).encode())
        talk.seek(0)


def learn_behind(repository: Repository, host: str, transcript: str, talk: IO[bytes]) -> None:
    """Run the background process: learn what is new, update the index, and wake the sinks."""
    if transcript:
        time.sleep(SETTLE_S)
    with lock(repository.layout, "learner"):
        if transcript:
            _learn_news(repository, transcript)
        else:
            repository.learning.learn(talk, Run(agent=host))
    repository.core.follow()
    repository.core.wake_sinks()


def _learn_news(repository: Repository, transcript: str) -> None:
    """Learn from the new lines. After BadInput they are skipped for good; after other failures they are tried again."""
    news, end = news_of(repository.layout, transcript)
    try:
        with news:
            repository.learning.learn(news, Run())
    except BadInput:
        note_heard(repository.layout, transcript, end)
        raise
    note_heard(repository.layout, transcript, end)
