"""Define the prompts that a person picks in the host: memories for a task, a brief, the end of a session."""

from __future__ import annotations

from collections.abc import Callable

from ...model.record import record
from ...recall.brief import NOTHING
from ...repository import Repository
from .verbs import Caller, recall

CLOSING = """\
Look back over this session. For each decision, correction, convention, limit or cause of a fault that a later session
needs, call `remember` once, with a title that states it, the reason, and the tasks it applies to. Call `search` first:
if a memory on the subject exists, amend it instead of storing another. An amendment replaces title and text, so `get`
the memory and send both in full, with your change. Store no secrets, and nothing that the code or the git history
already shows. Then call `feedback` for each recalled memory that helped or misled you. If nothing is worth keeping, say
so."""


@record
class Prompt:
    """A prompt of the server."""

    title: str
    says: str  # the description
    takes: str  # the name of its argument; empty: it has none
    writes: Callable[[Repository, Caller, str], str]  # returns the text for the argument


def _brief(repository: Repository, caller: Caller, goal: str) -> str:
    return f"{repository.traces.brief(goal).text or NOTHING}\nThe goal: {goal}"


def _task(repository: Repository, caller: Caller, task: str) -> str:
    return f"{recall(repository, caller, task)}\nThe task: {task}"


PROMPTS = {
    "recall": Prompt("Recall", "Start a task with the memories about it", "task", _task),
    "brief": Prompt("Brief", "Start a task with what worked and failed in earlier runs", "goal", _brief),
    "keep": Prompt("Keep", "Store what was decided or found out in this session", "", lambda *_: CLOSING),
}
