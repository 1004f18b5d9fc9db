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
    from ...repository import Repository
    from ..host import Call

FORM = "xml"  # the one that says where it ends: what a person says below it is theirs


def recalled(repository: Repository, call: Call, room: int) -> Injection:
    """Return what is injected for a prompt, without the last memories if they do not fit."""
    hear(repository.layout, call)
    injection = repository.inject(_task(repository, call), form=FORM)
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
