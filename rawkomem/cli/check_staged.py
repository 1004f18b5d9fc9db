"""`rawkomem check --staged`: what must not be committed, for a pre-commit hook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..files.check import printable
from ..files.staged_check import CHECKS, check_staged
from ..model.errors import NotFound
from .commands import open_repository
from .terminal import note, paint, say, say_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..model.problem import Problem


def staged_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--staged`, and an option to leave out each of its checks."""
    for name in reversed(CHECKS):
        function = click.option(f"--{name}/--no-{name}", default=True, help=f"With --staged: {name}.")(function)
    return click.option("--staged", is_flag=True, help="Instead, fail on what must not be committed.")(function)


def tell_staged(folder: str, looked_at: Mapping[str, bool], as_json: bool) -> int:
    """Check what is staged and tell; the exit code of `check --staged`. Names that hooks add do not matter."""
    try:
        repository = open_repository(folder)
    except NotFound:  # a branch without memories: a hook that is there for all branches stops nobody
        note("no memories here: nothing to check")
        return 0
    skip = [name for name in CHECKS if not looked_at[name]]
    found = check_staged(repository.layout, repository.predicates(), skip)
    problems = [(name, problem) for name, some in found.items() for problem in some]
    if as_json:
        say_json([_as_json(name, problem) for name, problem in problems])
    else:
        for name, problem in problems:
            say(f"{_place(problem)}: {paint(name, 'red')}: {problem.message}. {paint(problem.hint, 'dim')}")
        if problems:
            names = " ".join(f"--no-{name}" for name in dict.fromkeys(name for name, _ in problems))
            count = f"{len(problems)} reason{'s' if len(problems) > 1 else ''}"
            note(f"{count} not to commit (without these checks: rawkomem check --staged {names})")
    return 1 if problems else 0


def _place(problem: Problem) -> str:
    return f"{printable(problem.path)}:{problem.line}"


def _as_json(name: str, problem: Problem) -> dict[str, object]:
    where = {"file": printable(problem.path), "line": problem.line}
    return {"check": name, **where, "message": problem.message, "hint": problem.hint}
