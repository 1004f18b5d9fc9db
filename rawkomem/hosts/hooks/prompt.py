"""Find the memories that belong in a prompt, within the limit of the host."""

from __future__ import annotations

from ...files.local.said import note_said
from ...files.local.transcripts import note_transcript
from ...model.record import replace
from ...model.task import Task
from ...recall.inject import Injection
from ...recall.show.render import render
from ...redaction.find import redact
from ...text.spoken.prompt import read_prompt
from ...text.tokens import count_tokens
from .session import hear

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout
    from ...files.local.told import Told
    from ...repository import Repository
    from ..host import Call

FORM = "xml"  # the one that says where it ends: what a person says below it is theirs


def note_prompt(layout: Layout, call: Call) -> None:
    """Remember what the person typed, and where the host writes it down: an agent may quote it."""
    typed = read_prompt(call.prompt)
    if not typed.is_host and not call.is_subagents:
        note_said(layout, call.session, redact(typed.ask))
    if call.transcript:
        note_transcript(layout, call.session, call.transcript)


def recalled(repository: Repository, call: Call, room: int) -> Injection:
    """Return what is injected for a prompt, without the last memories if they do not fit."""
    hear(repository.layout, call)
    return _fitting(repository.inject(_task(repository, call), form=FORM), room)


def rehearsed(repository: Repository, prompt: str, before: bytes, told: Told, room: int) -> Injection:
    """Return what would be injected for a prompt after the end of a transcript; note nothing."""
    from .lately import lately_in

    then = lately_in(before, repository.layout.project, prompt)
    task = Task(prompt, lately=then.exchange, touched=then.touched)
    return _fitting(repository.rehearse(task, told, FORM), room)


def _fitting(injection: Injection, room: int) -> Injection:
    """Return an injection without the last memories if they do not fit."""
    while len(injection.text.encode()) > room:
        items = injection.items[:-1]
        text = render(items, FORM, vouched=injection.vouched)
        injection = replace(injection, items=items, text=text, tokens=count_tokens(text))
    return injection


def _task(repository: Repository, call: Call) -> Task:
    """Return the task of a prompt, with what happened before it as far as the transcript tells."""
    if not call.transcript:
        return Task(call.prompt, session=call.session)
    from .lately import lately

    before = lately(call.transcript, repository.layout.project, call.prompt)
    return Task(call.prompt, session=call.session, lately=before.exchange, touched=before.touched)
