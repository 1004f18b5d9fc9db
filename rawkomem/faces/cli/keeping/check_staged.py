"""Implement `rawkomem check --staged`: report what must not be committed, for a pre-commit hook."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from ....files.check import printable
from ....git.staged import staged_layouts
from ....git.staged_check import CHECKS, SKIP, check_staged
from ....git.staged_same import DUPLICATES, problems_of
from ....model.errors import BadInput, NotFound
from ....model.problem import Problem
from ....repository import Repository
from ....text.count import count
from ..opening import open_repository
from ..terminal import fields_of, note, paint, say, say_json
from .duplicates import propose

NAMES = (*CHECKS, DUPLICATES)  # of all checks of what is staged


def staged_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare `--staged` and an option to skip each of its checks."""
    for name in reversed(NAMES):
        function = click.option(f"--{name}/--no-{name}", default=True, help=f"With --staged: {name}.")(function)
    return click.option("--staged", is_flag=True, help="Instead, fail on what must not be committed.")(function)


def tell_staged(folder: str, looked_at: Mapping[str, bool], as_json: bool) -> int:
    """Check what is staged, print the problems and return the exit code. File names that hooks add are ignored."""
    skip = [*(name for name in NAMES if not looked_at[name]), *_skipped()]
    found = [_check(repository, skip) for repository in staged_repositories(folder)]
    problems = [(name, problem) for one in found for name, some in one.items() for problem in some]
    if as_json:
        say_json([_as_json(name, problem) for name, problem in problems])
    else:
        for name, problem in problems:
            place = f"{printable(problem.path)}:{problem.line}"
            say(f"{place}: {paint(name, 'red')}: {problem.message}. {paint(problem.hint, 'dim')}")
        if problems:
            note(f"{count(len(problems), 'reason')} not to commit")
    return 1 if problems else 0


def _check(repository: Repository, skip: Sequence[str]) -> dict[str, list[Problem]]:
    """Run all checks on one look at git; print proposals about near duplicates and contradictions on stderr."""
    layout, predicates = repository.layout, repository.beliefs.predicates()
    if DUPLICATES in skip:
        return check_staged(layout, predicates, skip)
    brought = repository.staging.brought()
    found = check_staged(layout, predicates, skip, brought.staged)
    if brought.memories:
        found[DUPLICATES] = problems_of(brought)
        propose(repository, brought)
    return found


def staged_repositories(folder: str) -> list[Repository]:
    """Return the repository of a folder, or else those that git has in the work tree around it."""
    try:
        return [open_repository(folder)]
    except NotFound:
        found = staged_layouts(folder)
    if not found:  # a branch without memories: a hook that is there for all branches stops nobody
        note("no memories here: nothing to check")
    return [open_repository(layout.root) for layout in found]


def _skipped() -> list[str]:
    """Return the checks that the environment skips."""
    names = os.environ.get(SKIP, "").replace(",", " ").split()
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise BadInput(f"{SKIP} names no check: {', '.join(unknown)}", "one of " + ", ".join(NAMES))
    return names


def _as_json(name: str, problem: Problem) -> dict[str, object]:
    said = fields_of(problem, "line", "code", "message", "hint")
    return {"check": name, "file": printable(problem.path), **said}
