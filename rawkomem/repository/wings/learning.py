"""Learning from a session's transcript, offline; what it learns arrives as an agent's word."""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING

from ...files.lock import lock
from ...learn.session.known import Known
from ...learn.session.listen import Finding, listen
from ...learn.session.remember import Run
from ...model.filters import Filter
from ...model.record import record, replace
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...learn.session.listen import Heard
    from ...model.entry import Memory
    from ..writing import Stored

MAX_LEARNED = 20  # memories of one session: more clutter prompts than help them
NEAR_MEMORIES = 5  # existing memories that a new one is compared with
VIA = "agent"
TOO_MANY = "weaker than the best"


@record
class Judged:
    """What is worth remembering."""

    findings: tuple[Finding, ...]


@record
class Learned:
    """What a session brought: what is news and what became of it, what was known already, and what was passed over."""

    heard: Heard
    judged: Judged
    news: tuple[Finding, ...]
    known: tuple[tuple[Finding, str], ...]  # with the memory that says the same
    skipped: dict[str, int]
    stored: tuple[Stored, ...] = ()  # of each news; empty for a dry run


class Learning(Wing):
    """Learns memories from the transcripts of sessions."""

    def learn(
        self,
        said: str | IO[bytes],
        run: Run | None = None,
        dry_run: bool = False,
        agent: str = "",
        task: str = "",
    ) -> Learned:
        """Learn from a session, given as a text or as a stream; `dry_run` writes nothing.

        Without a `run`, `agent` and `task` say whose session it was.
        """
        stream = io.BytesIO(said.encode("utf-8", "replace")) if isinstance(said, str) else said
        heard = listen(stream, run or Run(agent, task))
        judged = Judged(heard.findings)
        if dry_run:
            return self._compare(heard, judged)
        with lock(self._core.layout, "learn"):
            learned = self._compare(heard, judged)
            if not learned.news:
                return learned
            stored = self._repo.add_many([finding.entry for finding in learned.news], via=VIA)
        return replace(learned, stored=tuple(stored))

    def _compare(self, heard: Heard, judged: Judged) -> Learned:
        """Split the findings into news, at most MAX_LEARNED, and what is known."""
        known = Known(self._core.reading.all(), self._near)
        compared = [(finding, known(finding.entry)) for finding in judged.findings]
        news = [finding for finding, same in compared if not same]
        left = len(news) - MAX_LEARNED
        skipped = {**heard.skipped, TOO_MANY: left} if left > 0 else heard.skipped
        return Learned(heard, judged, tuple(news[:MAX_LEARNED]), tuple(pair for pair in compared if pair[1]), skipped)

    def _near(self, text: str) -> Sequence[tuple[Memory, float]]:
        found = self._core.look([text], NEAR_MEMORIES, Filter())[0].found
        return [(self._repo.get(item.row.id), item.relevance) for item in found]
