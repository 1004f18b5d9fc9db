"""Learning from a session's transcript, offline or with a language model; what it learns arrives as an agent's word."""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING

from ...files.lock import lock
from ...learn.llm.ask import open_llm
from ...learn.llm.model import LlmFailure
from ...learn.session.extraction import MAX_EXISTING, entry_from, extract, window
from ...learn.session.known import Known
from ...learn.session.listen import Finding, listen
from ...learn.session.remember import Run
from ...model.errors import BadInput
from ...model.filters import Filter
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...learn.llm.model import Llm
    from ...learn.session.listen import Heard
    from ...model.entry import Memory
    from ..writing import Stored

MAX_LEARNED = 20  # memories of one session: more clutter prompts than help them
NEAR_MEMORIES = 5  # existing memories that a new one is compared with
VIA = "agent"
TOO_MANY = "weaker than the best"


@record
class Judged:
    """What is worth remembering, by whose judgement; `failure` says why the model that was asked did not judge."""

    findings: tuple[Finding, ...]
    model: str = ""
    failure: str = ""


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
        ask: bool = False,
        dry_run: bool = False,
        agent: str = "",
        task: str = "",
    ) -> Learned:
        """Learn from a session, given as a text or as a stream; `dry_run` writes nothing.

        `ask` lets the configured language model judge. Without a `run`, `agent` and `task` say whose session it was.
        """
        if ask and not self._core.settings.llm.any:
            hint = "name one in your own config.yaml: llm: {provider: ADDRESS, model: NAME}, or llm: claude -p"
            raise BadInput("no language model is configured", hint)
        stream = io.BytesIO(said.encode("utf-8", "replace")) if isinstance(said, str) else said
        heard = listen(stream, run or Run(agent, task))
        judged = self._judge(heard) if ask else Judged(heard.findings)
        if dry_run:
            return self._compare(heard, judged)
        with lock(self._core.layout, "learn"):
            learned = self._compare(heard, judged)
            if not learned.news:
                return learned
            stored = self._repo.add_many([finding.entry for finding in learned.news], via=VIA)
        return replace(learned, stored=tuple(stored))

    def _judge(self, heard: Heard) -> Judged:
        """Return the model's findings, and offline ones of what it is not shown; offline ones only if it fails."""
        try:
            llm = open_llm(self._core.settings.llm)
            return self._asked(llm, heard) if llm and heard.end else Judged(heard.findings)
        except LlmFailure as failure:
            return Judged(heard.findings, failure=f"{failure.message} ({failure.hint})")

    def _asked(self, llm: Llm, heard: Heard) -> Judged:
        said, first = window([turn for _, turn in heard.end])
        extracted = extract(llm, said, heard.run, self._latest())
        findings = [Finding(entry_from(item, heard.run), item.reasoning) for item in extracted]
        before = [finding for finding in heard.findings if finding.turn < heard.end[first][0]]
        return Judged((*findings, *before), llm.name)

    def _latest(self) -> Sequence[Memory]:
        """Return memories in use, the last changed first."""
        rows = self._core.rows(Filter(statuses=(ACTIVE,)))
        return self._repo.get_many([row.id for row in rows[:MAX_EXISTING]])

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
