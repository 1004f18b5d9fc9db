"""Replay a session: recall memories at each prompt, and find which of the person's corrections a memory covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.told import Told
from ...learn.drafts.choose import choose, drafts_of
from ...learn.drafts.cover import covering
from ...learn.drafts.exchange import exchanges
from ...learn.drafts.requests import ASKED_KINDS
from ...learn.session.run import Run
from ...model.filters import Filter
from ...model.kinds import ACTIVE
from ...model.record import record
from ...recall.told import key_of, spent
from ...redaction.find import redact
from ..hooks.prompt import rehearsed
from ..records import HOSTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...model.draft import Draft
    from ...model.entry import Memory
    from ...repository import Repository
    from ..host import Host
    from .past import Past

COVERED = "covered"  # a memory states the correction and is injected before the person says it
SILENT = "not injected"  # a memory states the correction but is not injected before the person says it
MISSING = "not covered"  # no memory states the correction
MAX_PROMPT_CHARS = 2_000  # of a prompt in an answer
MAX_NEAR = 20  # memories that are compared with a correction, in addition to the injected ones


@record
class Answer:
    """A prompt, and the memories that it would get now."""

    number: int  # of the prompt, from 1
    turn: int
    prompt: str  # its beginning, redacted
    memories: tuple[Memory, ...]
    tokens: int


@record
class Correction:
    """A correction by the person, and the memory that covers it now."""

    draft: Draft
    prompt: int  # number of the prompt that holds the correction
    verdict: str  # COVERED, SILENT or MISSING
    memory: Memory | None = None
    since: int = 0  # number of the first prompt that gets the memory; 0: none


@record
class Replayed:
    """The result of replaying a session."""

    past: Past
    answers: tuple[Answer, ...]
    corrections: tuple[Correction, ...]


def replay(repository: Repository, past: Past) -> Replayed:
    """Replay a session with the present memories. Nothing is counted, recorded or logged."""
    answers = tuple(_answers(repository, past))
    return Replayed(past, answers, tuple(_corrections(repository, past, answers)))


def _answers(repository: Repository, past: Past) -> Iterator[Answer]:
    host, told = _host(past.host), Told()
    for number, moment in enumerate(past.moments, 1):
        told = Told() if moment.is_fresh or not host.keeps_context else told
        injection = rehearsed(repository, moment.prompt, past.before(moment), told, host.max_context_bytes)
        told = Told(told.keys | {*map(key_of, injection.items)}, told.tokens + spent(injection))
        memories = tuple(item.memory for item in injection.items)
        yield Answer(number, moment.turn, redact(moment.prompt[:MAX_PROMPT_CHARS]), memories, injection.tokens)


def _host(reader: str) -> Host:
    """Return the host whose transcripts a reader reads; Claude Code for all other formats."""
    return next((host for host in HOSTS.values() if reader and host.transcript == reader), HOSTS["claude"])


def _corrections(repository: Repository, past: Past, answers: Iterable[Answer]) -> Iterator[Correction]:
    run = Run(past.host)
    turns = _turns(past, run)
    for draft in sorted(choose(past.turns, run), key=lambda draft: turns.get(draft.id, 0)):
        if draft.kind in ASKED_KINDS and draft.id in turns:
            yield _judged(repository, draft, [answer for answer in answers if answer.turn <= turns[draft.id]])


def _turns(past: Past, run: Run) -> dict[str, int]:
    """Return the turn of each exchange, by the id of its draft."""
    spoken = exchanges(past.turns)
    session = next((turn.session for turn in past.turns if turn.session), "")
    return {draft.id: one.number for one, draft in zip(spoken, drafts_of(spoken, session, run), strict=True)}


def _judged(repository: Repository, draft: Draft, before: list[Answer]) -> Correction:
    """Return the verdict on a correction; `before` are the answers up to its prompt."""
    since = {memory.id: answer.number for answer in reversed(before) for memory in answer.memories}
    injected = {memory.id: memory for answer in before for memory in answer.memories}
    near = (memory for memory in _near(repository, draft) if memory.id not in injected)
    found = covering(draft, [*injected.values(), *near])
    prompt = before[-1].number if before else 0
    memory = next((one for one in found if one.id in injected), found[0] if found else None)
    if memory is None:
        return Correction(draft, prompt, MISSING)
    return Correction(draft, prompt, COVERED if memory.id in since else SILENT, memory, since.get(memory.id, 0))


def _near(repository: Repository, draft: Draft) -> list[Memory]:
    """Return the memories in use that are closest to a draft."""
    in_use = Filter(statuses=(ACTIVE,), current=True)
    found = repository.core.look([draft.text], MAX_NEAR, in_use)[0].found
    return [*repository.get_many([item.row.id for item in found])]
