"""Read a whole session: its turns, its host, and the counts of skipped records."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from ...model.record import record, replace
from ...redaction.find import redact
from .transcript import MARKDOWN, Transcript
from .turns import ASSISTANT, USER

if TYPE_CHECKING:
    from .run import Run
    from .turns import Turn


@record
class Heard:
    """A session that was read."""

    run: Run
    turns: tuple[Turn, ...]
    host: str
    session: str
    counts: dict[str, int]  # reason → records: broken, unknown, too long, injected, sub-agent
    warnings: tuple[str, ...] = ()  # about the file

    @property
    def has_speakers(self) -> bool:
        """Tell whether the transcript names speakers. Without them, no text counts as a person's words."""
        return any(turn.role in (USER, ASSISTANT) for turn in self.turns)


def listen(stream: IO[bytes], run: Run) -> Heard:
    """Return a session. Agent and session id of `run` are filled from the transcript if they are empty."""
    transcript = Transcript(stream)
    turns = tuple(transcript.turns())
    host = "" if transcript.host == MARKDOWN else transcript.host
    source = f"{host} session {transcript.session}" if transcript.session else host and f"{host} session"
    session = run.session or transcript.session
    told = replace(run, agent=run.agent or host, task=redact(run.task), error=redact(run.error), source=source)
    counts = {name: count for name, count in transcript.counts.items() if count}
    told = replace(told, session=session)
    return Heard(told, turns, transcript.host, session, counts, tuple(transcript.warnings))
