"""Learning from a session: listens to a transcript or an agent's output, decides what is worth keeping, stores that.

Offline by default. With a language model, the model judges what it is shown and our own rules judge what came before;
when it fails, the offline result stands. Whatever is learned arrives as an agent's word (state/belief/trust.py): it was said
in a session that no person has looked through. `distilled` is for what is made of other memories, and names them.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from ...files.lock import lock
from ...index.lists import memory_of
from ...learn.llm.ask import open_llm
from ...learn.llm.model import LlmFailure
from ...learn.session.extraction import MAX_EXISTING, entry_from, extract, window
from ...learn.session.known import Known
from ...learn.session.listen import Finding, listen
from ...model.errors import BadInput
from ...model.filters import Filter
from ...model.kinds import ACTIVE
from ...model.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...learn.llm.model import Llm
    from ...learn.session.listen import Heard
    from ...learn.session.remember import Run
    from ...model.entry import Memory
    from .. import Repository, Stored

MOST = 20  # memories of one session: more clutter prompts than help them
NEAR = 5  # existing memories that a new one is compared with
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


def learn(repository: Repository, stream: IO[bytes], run: Run, ask: bool = False, dry_run: bool = False) -> Learned:
    """Learn from a session; `ask` lets the configured language model judge, `dry_run` writes nothing."""
    if ask and not repository.settings.llm.any:
        hint = "name one in your own config.yaml: llm: {provider: ADDRESS, model: NAME}, or llm: claude -p"
        raise BadInput("no language model is configured", hint)
    heard = listen(stream, run)
    judged = _judge(repository, heard) if ask else Judged(heard.findings)
    if dry_run:
        return _compare(repository, heard, judged)
    with lock(repository.layout, "learn"):
        learned = _compare(repository, heard, judged)
        if not learned.news:
            return learned
        stored = repository.add_many([finding.entry for finding in learned.news], via=VIA)
    return Learned(heard, judged, learned.news, learned.known, learned.skipped, tuple(stored))


def _judge(repository: Repository, heard: Heard) -> Judged:
    """The model's findings in what it is shown, and the offline ones before that; all offline ones where it fails."""
    try:
        llm = open_llm(repository.settings.llm)
        return _asked(repository, llm, heard) if llm and heard.end else Judged(heard.findings)
    except LlmFailure as failure:
        return Judged(heard.findings, failure=f"{failure.message} ({failure.hint})")


def _asked(repository: Repository, llm: Llm, heard: Heard) -> Judged:
    said, first = window([turn for _, turn in heard.end])
    extracted = extract(llm, said, heard.run, _latest(repository))
    findings = [Finding(entry_from(item, heard.run), item.reasoning) for item in extracted]
    before = [finding for finding in heard.findings if finding.turn < heard.end[first][0]]
    return Judged((*findings, *before), llm.name)


def _latest(repository: Repository) -> Sequence[Memory]:
    """The memories in use, the last changed first."""
    rows = repository.list(Filter(statuses=(ACTIVE,)))
    return repository.get_all([row.id for row in rows[:MAX_EXISTING]])


def _compare(repository: Repository, heard: Heard, judged: Judged) -> Learned:
    """What of the findings is news, at most MOST."""
    index = repository.index
    everything = repository.read(lambda: [memory_of(doc) for doc in index.catalogue.docs()])
    known = Known(everything, lambda text: _near(repository, text))
    compared = [(finding, known(finding.entry)) for finding in judged.findings]
    news = [finding for finding, same in compared if not same]
    left = len(news) - MOST
    skipped = {**heard.skipped, TOO_MANY: left} if left > 0 else heard.skipped
    return Learned(heard, judged, tuple(news[:MOST]), tuple(pair for pair in compared if pair[1]), skipped)


def _near(repository: Repository, text: str) -> Sequence[tuple[Memory, float]]:
    found = repository.look([text], NEAR, Filter())[0].found
    return [(repository.get(item.row.id), item.relevance) for item in found]
