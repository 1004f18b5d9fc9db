"""Learn from a session's transcript. Statements that a person made or agreed to become drafts; requests of a person
to remember something become memories.
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

AGENT = "agent"  # origin of a memory that an agent writes
NEAR_MEMORIES = 5  # existing memories that a new one is compared with


@record
class Learned:
    """The result of learning from a session."""

    heard: Heard
    drafts: tuple[Draft, ...] = ()  # new drafts
    waiting: tuple[Draft, ...] = ()  # drafts that were already waiting or decided
    known: tuple[tuple[Draft, str], ...] = ()  # drafts that a memory already says, with its id
    requests: tuple[Draft, ...] = ()  # drafts that a person asked to remember
    stored: tuple[Stored, ...] = ()  # the result for each request; empty for a dry run
    again: tuple[tuple[Draft, Stored], ...] = ()  # drafts stored because a person said them in another session, too


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
        """Learn from a session's transcript, a text or a stream; `dry_run` writes nothing.

        Without a `run`, `agent` and `task` describe the session. `least` is the minimum score of a draft. If an agent
        passes the transcript, requests in it count as written by the agent, unless the host wrote it (`by_host`).
        """
        stream = io.BytesIO(said.encode("utf-8", "replace")) if isinstance(said, str) else said
        heard = listen(stream, run or Run(agent, task))
        found = choose(heard.turns, heard.run, least)
        return self.take(heard, found, dry_run, by_host)

    def take(self, heard: Heard, found: Sequence[Draft], dry_run: bool = False, by_host: bool = False) -> Learned:
        """Store the drafts found in a session: requests as memories, the others as drafts."""
        if dry_run:
            return self._compare(heard, found, dry_run, False)
        via = SAID if by_host or self._core.via != AGENT else AGENT
        with lock(self._core.layout, "learn"):
            learned = self._compare(heard, found, dry_run, via == SAID)
            stored = self._repo.add_many([requested(draft) for draft in learned.requests], via=via)
        return replace(learned, stored=tuple(stored))

    def _compare(self, heard: Heard, found: Sequence[Draft], dry_run: bool, is_said: bool) -> Learned:
        """Split the findings into known memories, requests and drafts; store the drafts unless `dry_run`."""
        found = [self._tied(draft) for draft in found]
        known = Known(self._core.reading.all(), self._near)
        compared = [(draft, known(requested(draft) if draft.kind == REQUEST else entry_of(draft))) for draft in found]
        news = [draft for draft, same in compared if not same]
        taken = self._repo.drafts.take([draft for draft in news if draft.kind != REQUEST], dry_run, is_said)
        asked = tuple(draft for draft in news if draft.kind == REQUEST)
        known_already = tuple(pair for pair in compared if pair[1])
        return Learned(heard, taken.new, taken.known, known_already, asked, again=taken.stored)

    def _tied(self, draft: Draft) -> Draft:
        """Return a draft with the ids of memories that it contradicts: shown to the session, or similar."""
        near = self._repo.remembering.candidates(draft.session, f"{draft.title}\n{draft.text}")
        return tied(draft, entry_of(draft), near)

    def _near(self, text: str) -> Sequence[tuple[Memory, float]]:
        found = self._core.look([text], NEAR_MEMORIES, Filter())[0].found
        return [(self._repo.get(item.row.id), item.relevance) for item in found]
