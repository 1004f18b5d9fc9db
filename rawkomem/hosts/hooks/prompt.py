"""Find the memories that belong in a prompt, within the limit of the host."""

from __future__ import annotations

from ...model.record import replace
from ...model.task import Task
from ...recall.inject import Injection
from ...recall.show.render import render
from ...text.tokens import count_tokens
from .session import hear

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.local.told import Told
    from ...repository import Repository
    from ..host import Call

FORM = "xml"  # the one that says where it ends: what a person says below it is theirs


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
