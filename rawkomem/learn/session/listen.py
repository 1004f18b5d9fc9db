"""Listens to a session: the findings of its sentences, judged offline, and what of its end a model may be shown."""

from __future__ import annotations

from collections import Counter, deque
from typing import IO, TYPE_CHECKING

from ...model.record import record, replace
from ...redaction.find import redact
from ...text.clean import one_line
from .extraction import WINDOW_LENGTH
from .moments import moments_in
from .propose import separating
from .remember import Run, entry_of
from .transcript import MARKDOWN, Transcript
from .turns import NOBODY, PEOPLE, USER

if TYPE_CHECKING:
    from ...model.entry import Entry
    from .turns import Turn

TASK_LENGTH = 120  # characters of a task
MAX_FINDINGS = 200  # findings of one session that are looked at: the best of them are stored
UNHEARD = "said by tools and hosts"


@record
class Finding:
    """Something that is worth remembering, and why."""

    entry: Entry
    why: str
    score: float = 1.0
    turn: int = 0  # which turn of the session says it


@record
class Heard:
    """A session, once it was listened to."""

    run: Run
    findings: tuple[Finding, ...]
    end: tuple[tuple[int, Turn], ...]  # its last turns, numbered
    turns: int
    skipped: dict[str, int]  # sentences by reason
    host: str
    session: str
    counts: dict[str, int]  # of records: broken, unknown, too long, injected, sub-agent
    warnings: tuple[str, ...] = ()  # about the file


def listen(stream: IO[bytes], run: Run) -> Heard:
    """Return the findings in what people say in a session, without secrets; what tools say is skipped."""
    transcript = Transcript(stream)
    skipped: Counter[str] = Counter()
    end = End()
    found = []
    number, asked = 0, ""
    for number, turn in enumerate(transcript.turns(), 1):
        if turn.role not in PEOPLE:
            skipped[UNHEARD] += 1
            continue
        turn = replace(turn, text=redact(turn.text))
        asked = asked or (one_line(turn.text, TASK_LENGTH) if turn.role == USER else "")
        end.add(number, turn)
        found += [(number, moment) for moment in moments_in(turn, skipped)]
    run = _completed(run, asked, transcript)
    entries = separating([entry_of(moment, run) for _, moment in found])
    findings = [
        Finding(entry, moment.why, moment.score, at) for (at, moment), entry in zip(found, entries, strict=True)
    ]
    best = sorted(findings, key=lambda finding: -finding.score)[:MAX_FINDINGS]
    counts = {name: count for name, count in transcript.counts.items() if count}
    told = transcript.host, transcript.session, counts, tuple(transcript.warnings)
    return Heard(run, tuple(best), tuple(end.turns), number, dict(skipped), *told)


def _completed(run: Run, asked: str, transcript: Transcript) -> Run:
    """Return what the caller says about a run, and what the transcript tells besides."""
    host = "" if transcript.host == MARKDOWN else transcript.host
    source = f"{host} session {transcript.session}" if transcript.session else host and f"{host} session"
    return replace(run, agent=run.agent or host, task=redact(run.task) or asked, error=redact(run.error), source=source)


class End:
    """The last turns of a session, a few more than a model is shown; a plain output is kept from its start."""

    def __init__(self) -> None:
        self.turns: deque[tuple[int, Turn]] = deque()  # numbered
        self._length = 0

    def add(self, number: int, turn: Turn) -> None:
        """Add a turn and drop the oldest ones."""
        kept = replace(turn, text=turn.text[:WINDOW_LENGTH] if turn.role == NOBODY else turn.text[-WINDOW_LENGTH:])
        self.turns.append((number, kept))
        self._length += len(kept.text)
        while self._length > 2 * WINDOW_LENGTH and len(self.turns) > 1:
            self._length -= len(self.turns.popleft()[1].text)
