"""`rawkomem inject`: the memories that belong in the prompt of a task."""

from __future__ import annotations

import sys

from ....recall.filters import filter_of
from ....recall.inject import Injection, Task
from ....repository import Repository
from ....text.clean import one_line
from ..terminal import tell_nothing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(
    folder: str,
    arguments: list[str],
    agent: str,
    plan: str,
    session: str,
    max: int,
    min_importance: str,
    budget: int,
    profile: str,
    format: str,
    strict: bool,
    explain: bool,
    **which: Any,
) -> None:
    """Inject and print."""
    text = sys.stdin.read() if arguments == ["-"] else " ".join(arguments)
    repository = Repository.open(folder)
    task = Task(text, agent, plan, session)
    only = filter_of(**which)
    injection = repository.inject(task, profile, format, max, min_importance.lower(), budget, only, strict)
    sys.stdout.write(injection.text)
    repository.note_use(injection, session)
    repository.deepen_behind()
    if explain:
        tell(injection)
        if not injection.items and not injection.left_out:
            tell_nothing(repository, "no memory shares words, meaning or a condition with this task")


def tell(injection: Injection) -> None:
    """Why each memory is in or out, on stderr: stdout is for the prompt."""
    from ....recall.explain import explain  # only where somebody asks for it

    sys.stderr.write(f"profile {injection.profile}: {len(injection.items)} injected, {injection.tokens} tokens\n")
    for item in injection.items:
        sys.stderr.write(f"\nin   {item.score:.3f}  {one_line(item.memory.title)}  {item.memory.id}\n")
        sys.stderr.writelines(f"       {line}\n" for line in explain(item))
    for item in injection.left_out[:20]:
        sys.stderr.write(f"out  {item.score:.3f}  {one_line(item.memory.title, 60)}: {item.why_not}\n")
