"""Learn from a turn in a background process, so that the host neither waits for it nor kills it."""

from __future__ import annotations

import io
import json
import os
import tempfile
import time
from typing import IO, TYPE_CHECKING

from ...files.local.background import start
from ...files.local.transcripts import keep_talk, note_transcript, open_transcript, transcript_of
from ...files.lock import lock
from ...learn.session.run import Run
from ...model.record import replace
from ...redaction.find import redact
from ..host import END, LEARN
from .notice import note_learned
from .work import record_work

if TYPE_CHECKING:
    from ...files.layout import Layout
    from ...repository import Repository
    from ..host import Call

SETTLE_S = 1.0  # hosts finish writing the transcript a little after the call
MAX_MESSAGES = 40  # the latest of a session; a turn has fewer
MAX_TEXT_CHARS = 100_000  # of one text in a stored message


def leave_learner(layout: Layout, call: Call) -> None:
    """Start the process with the name of the transcript, or else with the messages of the call; do not wait for it."""
    if call.is_subagents:
        return
    transcript = _transcript(layout, call)
    named = os.path.abspath(transcript) if transcript else ""
    with tempfile.TemporaryFile() as talk:
        if not transcript:
            _write_messages(call, talk)
        words = ("hook", call.host, LEARN, named, call.session, END if call.event == END else "")
        start(layout, lock(layout, "learner"), *words, stdin=talk.fileno(), queue=True)


def _transcript(layout: Layout, call: Call) -> str:
    """Return the transcript of a session: the one that the call names or, at the end, the one an earlier call named.

    Empty if there is no such file.
    """
    said = call.transcript
    if said:
        note_transcript(layout, call.session, said)
    elif call.event == END:
        said = transcript_of(layout, call.session)
    return said if said and os.path.isfile(said) else ""


def _write_messages(call: Call, talk: IO[bytes]) -> None:
    """Write the messages of a call into a temporary file, as a transcript for `learn`; nothing if there are none."""
    messages = call.fields.get("messages")
    if not isinstance(messages, list):
        said = [("user", call.prompt), ("assistant", call.reply)]
        messages = [{"role": role, "content": text} for role, text in said if text]
    if messages:
        talk.write(json.dumps({"sessionId": call.session, "messages": messages[-MAX_MESSAGES:]}).encode())
        talk.seek(0)


def keep_messages(layout: Layout, call: Call) -> None:
    """Store the messages of a session, redacted, so that quotes of an agent can be checked against them."""
    messages = call.fields.get("messages")
    if call.session and isinstance(messages, list):
        heard = [one for one in messages[-MAX_MESSAGES:] if not (call.is_subagents and _is_prompt(one))]
        told = {"sessionId": call.session, "messages": _redacted(heard)}
        keep_talk(layout, call.session, json.dumps(told).encode())


def _is_prompt(message: object) -> bool:
    """Tell whether a message has the role `user`. In a sub-agent's session, an agent wrote these messages."""
    info = message.get("info", message) if isinstance(message, dict) else None
    return isinstance(info, dict) and info.get("role") == "user"


def _redacted(value: object) -> object:
    if isinstance(value, str):
        return redact(value[:MAX_TEXT_CHARS])
    if isinstance(value, list):
        return [_redacted(one) for one in value]
    return {key: _redacted(one) for key, one in value.items()} if isinstance(value, dict) else value


def learn_behind(repository: Repository, call: Call, talk: IO[bytes], ended: bool = False) -> None:
    """Run the background process: find drafts, record work, update the index, and wake the sinks."""
    transcript, run = call.transcript, Run(agent=call.host, session=call.session)
    if transcript:
        time.sleep(SETTLE_S)
    else:
        talk = io.BytesIO(talk.read())
    with lock(repository.layout, "learner"):
        if transcript:
            with open_transcript(transcript) as stream:
                learned = repository.learning.learn(stream, replace(run, agent=""), by_host=True)
        else:
            learned = repository.learning.learn(talk, run, by_host=True)
            talk.seek(0)
        note_learned(repository.layout, learned)
        record_work(repository, call.host, transcript, talk, ended)
    repository.core.follow()
    repository.core.wake_sinks()
