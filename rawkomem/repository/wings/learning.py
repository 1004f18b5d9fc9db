"""Learning from a session's transcript: what a person said or agreed to becomes drafts, and only what a person asked
to remember becomes a memory.
"""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING

from ...files.lock import lock
from ...learn.drafts.choose import MIN_SCORE, choose
from ...learn.drafts.keep import entry_of, requested
from ...learn.drafts.known import Known
from ...learn.drafts.ties import tied
from ...learn.session.listen import listen
from ...learn.session.run import Run
from ...model.draft import REQUEST
from ...model.filters import Filter
from ...model.record import record, replace
from ..lazy import Wing
from .drafts import SAID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...learn.session.listen import Heard
    from ...model.draft import Draft
    from ...model.entry import Memory
    from ..writing import Stored

AGENT = "agent"  # how a memory arrives that an agent writes
NEAR_MEMORIES = 5  # existing memories that a new one is compared with


@record
class Learned:
    """What a session brought."""

    heard: Heard
    drafts: tuple[Draft, ...] = ()  # that are new
    waiting: tuple[Draft, ...] = ()  # that were there before, or were decided
    known: tuple[tuple[Draft, str], ...] = ()  # with the memory that says the same
    requests: tuple[Draft, ...] = ()  # that a person asked to remember
    stored: tuple[Stored, ...] = ()  # … and what became of each; empty for a dry run
    again: tuple[tuple[Draft, Stored], ...] = ()  # that a person said in another session too


class Learning(Wing):
    """Learns from the transcripts of sessions."""

    def learn(
        self,
        said: str | IO[bytes],
        run: Run | None = None,
        dry_run: bool = False,
        agent: str = "",
        task: str = "",
        least: float = MIN_SCORE,
        by_host: bool = False,
    ) -> Learned:
        """Learn from a session, given as a text or as a stream; `dry_run` writes nothing.

        Without a `run`, `agent` and `task` say whose session it was. `least` is the score that a draft needs. Where an
        agent hands over a transcript, what people ask for in it is the agent's word, unless its host wrote it.
        """
        stream = io.BytesIO(said.encode("utf-8", "replace")) if isinstance(said, str) else said
        heard = listen(stream, run or Run(agent, task))
        found = choose(heard.turns, heard.run, least)
        return self.take(heard, found, dry_run, by_host)

    def take(self, heard: Heard, found: Sequence[Draft], dry_run: bool = False, by_host: bool = False) -> Learned:
        """Store what was found in a session: requests as memories, the rest as drafts."""
        if dry_run:
            return self._compare(heard, found, dry_run, False)
        via = SAID if by_host or self._core.via != AGENT else AGENT
        with lock(self._core.layout, "learn"):
            learned = self._compare(heard, found, dry_run, via == SAID)
            stored = self._repo.add_many([requested(draft) for draft in learned.requests], via=via)
        return replace(learned, stored=tuple(stored))

    def _compare(self, heard: Heard, found: Sequence[Draft], dry_run: bool, is_said: bool) -> Learned:
        """Split what was found into what is known, what is asked for, and drafts."""
        found = [self._tied(draft) for draft in found]
        known = Known(self._core.reading.all(), self._near)
        compared = [(draft, known(requested(draft) if draft.kind == REQUEST else entry_of(draft))) for draft in found]
        news = [draft for draft, same in compared if not same]
        taken = self._repo.drafts.take([draft for draft in news if draft.kind != REQUEST], dry_run, is_said)
        asked = tuple(draft for draft in news if draft.kind == REQUEST)
        known_already = tuple(pair for pair in compared if pair[1])
        return Learned(heard, taken.new, taken.known, known_already, asked, again=taken.stored)

    def _tied(self, draft: Draft) -> Draft:
        """Return a draft with what it contradicts, of the memories that the session was shown or that are near."""
        near = self._repo.remembering.candidates(draft.session, f"{draft.title}\n{draft.text}")
        return tied(draft, entry_of(draft), near)

    def _near(self, text: str) -> Sequence[tuple[Memory, float]]:
        found = self._core.look([text], NEAR_MEMORIES, Filter())[0].found
        return [(self._repo.get(item.row.id), item.relevance) for item in found]
