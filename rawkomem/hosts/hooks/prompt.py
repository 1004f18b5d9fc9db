"""Find the memories to inject into a prompt, within the host's size limit."""

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

FORM = "xml"  # has an end tag, which separates memories from the person's text below


def recalled(repository: Repository, call: Call, room: int) -> Injection:
    """Record a prompt and return its injection, without the last memories if they exceed `room` bytes."""
    hear(repository.layout, call)
    return _fitting(repository.inject(_task(repository, call), form=FORM), room)


def rehearsed(repository: Repository, prompt: str, before: bytes, told: Told, room: int) -> Injection:
    """Return the injection for a prompt that follows the end of a transcript. Records nothing."""
    from .lately import lately_in

    then = lately_in(before, repository.layout.project, prompt)
    task = Task(prompt, lately=then.exchange, touched=then.touched)
    return _fitting(repository.rehearse(task, told, FORM), room)


def _fitting(injection: Injection, room: int) -> Injection:
    """Return an injection without the last memories if they exceed `room` bytes."""
    while len(injection.text.encode()) > room:
        items = injection.items[:-1]
        text = render(items, FORM, vouched=injection.vouched)
        injection = replace(injection, items=items, text=text, tokens=count_tokens(text))
    return injection


def _task(repository: Repository, call: Call) -> Task:
    """Return the task of a prompt, with the last exchange and touched files if there is a transcript."""
    if not call.transcript:
        return Task(call.prompt, session=call.session)
    from .lately import lately

    before = lately(call.transcript, repository.layout.project, call.prompt)
    return Task(call.prompt, session=call.session, lately=before.exchange, touched=before.touched)
