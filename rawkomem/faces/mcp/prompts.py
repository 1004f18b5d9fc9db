"""Define the prompts that a person picks in the host: memories for a task, a brief, the end of a session."""

from __future__ import annotations

from collections.abc import Callable

from ...model.record import record
from ...recall.brief import NOTHING
from ...repository import Repository
from .verbs import Caller, recall

CLOSING = """\
Look back over this session. For each decision, correction, convention, limit or cause of a fault that a later session
would need, call `remember` once: a title that says it, the reason, and the tasks it is for. `search` first: what is
there already is amended, not stored again. An amendment replaces title and text, so `get` them and send them whole,
with the change in them. Leave out what the code or the history of the repository already tells, and every secret. Then
call `feedback` for the recalled memories that helped or misled. If nothing is worth keeping, say so."""


@record
class Prompt:
    """One prompt: its description, its argument and the text that it writes."""

    title: str
    says: str
    takes: str
    writes: Callable[[Repository, Caller, str], str]


def _brief(repository: Repository, caller: Caller, goal: str) -> str:
    return f"{repository.traces.brief(goal).text or NOTHING}\nThe goal: {goal}"


def _task(repository: Repository, caller: Caller, task: str) -> str:
    return f"{recall(repository, caller, task)}\nThe task: {task}"


PROMPTS = {
    "recall": Prompt("Recall", "Start a task with what the project remembers about it", "task", _task),
    "brief": Prompt("Brief", "Start with what earlier runs teach for a goal", "goal", _brief),
    "keep": Prompt("Keep", "Store what this session found out", "", lambda repository, caller, _: CLOSING),
}
