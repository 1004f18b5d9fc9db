"""Implement `rawkomem check --staged`: report what must not be committed, for a pre-commit hook."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import click

from ....files.check import printable
from ....files.layout import FOLDER
from ....git.staged import staged_layouts
from ....git.staged_check import CHECKS, SKIP, check_staged
from ....model.errors import BadInput, NotFound
from ....model.problem import Problem
from ....repository import Repository
from ....text.count import count
from ..opening import open_repository
from ..terminal import fields_of, note, paint, say, say_json


def staged_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare `--staged` and an option to skip each of its checks."""
    for name in reversed(CHECKS):
        function = click.option(f"--{name}/--no-{name}", default=True, help=f"With --staged: {name}.")(function)
    return click.option("--staged", is_flag=True, help="Instead, fail on what must not be committed.")(function)


def tell_staged(folder: str, looked_at: Mapping[str, bool], as_json: bool) -> int:
    """Check what is staged, print the problems and return the exit code. File names that hooks add are ignored."""
    skip = [*(name for name in CHECKS if not looked_at[name]), *_skipped()]
    found = [
        check_staged(repository.layout, repository.beliefs.predicates(), skip)
        for repository in staged_repositories(folder)
    ]
    problems = [(name, problem) for one in found for name, some in one.items() for problem in some]
    if as_json:
        say_json([_as_json(name, problem) for name, problem in problems])
    else:
        for name, problem in problems:
            place = f"{printable(problem.path)}:{problem.line}"
            say(f"{place}: {paint(name, 'red')}: {problem.message}. {paint(problem.hint, 'dim')}")
        if problems:
            names = " ".join(f"--no-{name}" for name in dict.fromkeys(name for name, _ in problems))
            reasons = count(len(problems), "reason")
            note(f"{reasons} not to commit (without these checks: rawkomem check --staged {names})")
    return 1 if problems else 0


def staged_repositories(folder: str) -> list[Repository]:
    """Return the repository of a folder, or else those that git has in the work tree around it."""
    try:
        return [open_repository(folder)]
    except NotFound:
        found = staged_layouts(folder)
    if not found and not os.path.isdir(os.path.join(folder, FOLDER)):  # silent on a branch without memories
        note("no memories here: nothing to check")
    return [open_repository(layout.root) for layout in found]


def _skipped() -> list[str]:
    """Return the checks that the environment skips."""
    names = os.environ.get(SKIP, "").replace(",", " ").split()
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        raise BadInput(f"{SKIP} names no check: {', '.join(unknown)}", "one of " + ", ".join(CHECKS))
    return names


def _as_json(name: str, problem: Problem) -> dict[str, object]:
    said = fields_of(problem, "line", "code", "message", "hint")
    return {"check": name, "file": printable(problem.path), **said}
