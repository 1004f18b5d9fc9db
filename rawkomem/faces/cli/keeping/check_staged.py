"""Implement `rawkomem check --staged`: report problems in staged files, for a pre-commit hook."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from ....files.check import printable
from ....files.layout import FOLDER
from ....git.edits import KEEP_HINT
from ....git.staged import staged_layouts
from ....git.staged_check import CHECKS, SKIP
from ....git.staged_same import DUPLICATES, problems_of
from ....git.user import user_name
from ....hosts.person import known_agent
from ....model.errors import BadInput, NotFound
from ....model.problem import ERROR, Problem
from ....repository import Repository
from ....text.count import count
from ..opening import open_repository
from ..terminal import fields_of, note, paint, say, say_json
from .duplicates import propose

NAMES = (*CHECKS, DUPLICATES)  # of all checks of staged files


def staged_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare `--staged` and an option to skip each of its checks."""
    for name in reversed(NAMES):
        where = "--staged" if name == DUPLICATES else "--staged or --diff"
        function = click.option(f"--{name}/--no-{name}", default=True, help=f"Run the check '{name}', with {where}.")(
            function
        )
    help = "With --staged: restore committed entries that you edited, append your edits as amendments, and stage both."
    function = click.option("--as-amendment", is_flag=True, help=help)(function)
    return click.option("--staged", is_flag=True, help="Only check changes staged in git; exit with 1 on errors.")(
        function
    )


def tell_staged(folder: str, looked_at: Mapping[str, bool], as_json: bool) -> int:
    """Check the staged changes, print the problems, and return 1 if one is an error, else 0. Ignores PATHS."""
    skip = skipped(looked_at)
    agent = bool(known_agent())
    found = [_check(repository, skip, agent) for repository in staged_repositories(folder)]
    problems = [(name, problem) for one in found for name, some in one.items() for problem in some]
    if as_json:
        say_json([as_json_of(name, problem) for name, problem in problems])
    else:
        _print(problems)
    return 1 if any(problem.level == ERROR for _, problem in problems) else 0


def _print(problems: Sequence[tuple[str, Problem]]) -> None:
    for name, problem in problems:
        style, hint = ("red", f" {paint(f'({problem.hint})', 'dim')}") if problem.level == ERROR else ("yellow", "")
        say(f"{printable(problem.path)}:{problem.line}: {paint(name, style)}: {problem.message}{hint}")
    failed = dict.fromkeys(name for name, problem in problems if problem.level == ERROR)
    if any(problem.level != ERROR for _, problem in problems):
        note(KEEP_HINT)
    if failed:
        number = sum(problem.level == ERROR for _, problem in problems)
        note(f"{count(number, 'error')} in staged files: {', '.join(failed)} ('rawkomem docs git' explains the checks)")


def amend_staged(folder: str, as_json: bool) -> int:
    """Turn edits of committed memories into amendments, print the result, and return 0."""
    for repository in staged_repositories(folder):
        done = repository.edits.as_amendments(user_name())
        if as_json:
            entries = [fields_of(item.entry, "id", "kind", "about", "path") for item in done.written]
            say_json({"edits": len(done.edits), "entries": entries, "copies": [*done.copies]})
            continue
        for item in done.written:
            say(f"{paint('appended', 'green')}  {item.entry.kind} {item.entry.about}  {paint(item.entry.path, 'dim')}")
        for copy in done.copies:
            note(f"your edited file is kept in .rawko/{copy}")
        note("the committed text is restored; the result is staged" if done.edits else "no committed memory was edited")
    return 0


def _check(repository: Repository, skip: Sequence[str], agent: bool) -> dict[str, list[Problem]]:
    """Read git once and run all checks; print proposals about near duplicates and contradictions on stderr."""
    if DUPLICATES in skip:
        return repository.edits.check(skip, agent)
    brought = repository.staging.brought()
    found = repository.edits.check(skip, agent, brought.staged)
    if brought.memories:
        found[DUPLICATES] = problems_of(brought)
        propose(repository, brought)
    return found


def staged_repositories(folder: str) -> list[Repository]:
    """Return the repository of a folder; without one, the staged repositories of the git work tree around it."""
    try:
        return [open_repository(folder)]
    except NotFound:
        found = staged_layouts(folder)
    if not found and not os.path.isdir(os.path.join(folder, FOLDER)):  # print nothing on a branch without memories
        note("there is no memory repository here, so nothing was checked")
    return [open_repository(layout.root) for layout in found]


def skipped(looked_at: Mapping[str, bool]) -> list[str]:
    """Return the checks that options or the environment skip; raise BadInput for an unknown name."""
    names = os.environ.get(SKIP, "").replace(",", " ").split()
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise BadInput(f"{SKIP} names unknown checks: {', '.join(unknown)}", f"the checks are {', '.join(NAMES)}")
    return [*(name for name in NAMES if not looked_at[name]), *names]


def as_json_of(name: str, problem: Problem) -> dict[str, object]:
    """Return a problem of a check for JSON."""
    said = fields_of(problem, "line", "level", "code", "message", "hint")
    return {"check": name, "file": printable(problem.path), **said}
