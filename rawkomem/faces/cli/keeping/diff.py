"""Implement `rawkomem diff` and `check --diff`: show and check how a branch changes memories."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from ....files.check import printable
from ....files.layout import Layout
from ....git.branch import Branch, branches
from ....git.branch_diff import (
    ADDED,
    CHANGED,
    CONTRADICTED,
    COUNTED,
    KINDS,
    REMOVED,
    RESTORED,
    Difference,
    check_branch,
    differences_of,
    has_errors,
)
from ....git.run import GitFailed
from ....git.staged_check import Commit
from ....model.entry import Memory
from ....model.errors import NotFound
from ....model.problem import ERROR, Problem
from ....redaction.find import redact
from ....repository import Repository
from ....repository.settings.read import read_values
from ....state.compare import word_difference
from ....text.count import count
from ..markup import annotation, markdown, plain
from ..options import JSON as AS_JSON
from ..terminal import fields_of, note, paint, say, say_json
from .check_staged import as_json_of, skipped

TEXT, GITHUB, MARKDOWN, JSON = "text", "github", "markdown", "json"
MAX_TITLE_CHARS, MAX_VALUE_CHARS, MAX_BODY_CHARS = 100, 120, 300
HEADINGS = {
    ADDED: "Added",
    CHANGED: "Changed",
    "superseded": "Superseded",
    CONTRADICTED: "Contradicted",
    "archived": "Archived",
    "deleted": "Deleted",
    REMOVED: "Removed with their history",
    "quarantined": "Held for a review",
    "disputed": "Disputed",
    RESTORED: "In use again",
    COUNTED: "Voted on or confirmed",
}


@click.command("diff")
@click.argument("span", metavar="BASE...HEAD")
@click.option("--format", "form", type=click.Choice((TEXT, MARKDOWN, JSON)), default=TEXT, show_default=True,
              help="The output: text for a terminal, Markdown for a pull request, or JSON.")  # fmt: skip
@AS_JSON.but(help="The same as --format json.")
@click.pass_obj
def diff_command(folder: str, /, span: str, form: str, as_json: bool) -> None:
    """Show how a branch changes the memories.

    The command lists memories that were added, changed, superseded, contradicted, archived or deleted on HEAD since
    it branched from BASE. It reads only git objects. BASE alone means BASE...HEAD; BASE..HEAD compares with BASE
    itself.
    """
    found = [item for branch in branches(folder, span) for item in _differences(branch)]
    if as_json or form == JSON:
        say_json([_as_json(item) for item in found])
        return
    if not found and form == TEXT:
        note("no memory changed")
    for line in _markdown(found) if form == MARKDOWN else _text(found):
        say(line)


def tell_branch(folder: str, span: str, form: str, looked_at: Mapping[str, bool]) -> int:
    """Check the changes of a branch, print the problems, and return 1 if there are errors, else 0."""
    skip = skipped(looked_at)
    found = [_checked(branch, skip) for branch in branches(folder, span)]
    problems = [(name, problem) for one in found for name, some in one.items() for problem in some]
    if form == JSON:
        say_json([as_json_of(name, problem) for name, problem in problems])
    for name, problem in problems if form != JSON else ():
        say(annotation(problem, name) if form == GITHUB else _problem_line(name, problem))
    if form == TEXT:
        note(f"{count(len(problems), 'problem')} in what this branch changed")
    return 1 if any(map(has_errors, found)) else 0


def _checked(branch: Branch, skip: Sequence[str]) -> dict[str, list[Problem]]:
    layout = Layout(os.path.join(branch.span.top, *branch.name("").rstrip("/").split("/")))
    repository = Repository(layout)
    commit = Commit(layout, branch, repository.beliefs.predicates())
    try:
        append_only = repository.settings.append_only or _base_is_append_only(branch)
        return check_branch(commit, skip, append_only, repository.settings.identities)
    except GitFailed as failure:
        raise NotFound(f"git cannot read the branch: {failure}", failure.hint) from None


def _base_is_append_only(branch: Branch) -> bool:
    """Return whether BASE is append-only; a branch cannot turn this off for its own review."""
    values, _ = read_values(branch.base_file("config.yaml"), "config.yaml", repository=True)
    return any(key == "appendOnly" and value is True for key, _, value in values)


def _differences(branch: Branch) -> list[Difference]:
    try:
        return differences_of(Commit(Layout(branch.span.top), branch, {}))
    except GitFailed as failure:
        raise NotFound(f"git cannot read the branch: {failure}", failure.hint) from None


def _problem_line(name: str, problem: Problem) -> str:
    style = "red" if problem.level == ERROR else "yellow"
    said = f"{plain(problem.message)} {paint(f'({plain(problem.hint)})', 'dim')}"
    return f"{plain(printable(problem.path))}:{problem.line}: {paint(name, style)}: {said}"


def _grouped(found: Sequence[Difference]) -> Iterator[tuple[str, list[Difference]]]:
    for kind in KINDS:
        items = [item for item in found if item.what == kind]
        if items:
            yield HEADINGS[kind], items


def _text(found: Sequence[Difference]) -> Iterator[str]:
    for heading, items in _grouped(found):
        yield paint(f"{heading} ({len(items)})", "bold")
        for item in items:
            title = plain(item.memory.title or item.memory.id, MAX_TITLE_CHARS)
            yield f"  {title}{_status(item)}  {paint(f'{plain(item.memory.id)}  {plain(item.path)}', 'dim')}"
            yield from (f"      {plain(key)}: {plain(said, MAX_BODY_CHARS * 2)}" for key, said in _details(item))


def _markdown(found: Sequence[Difference]) -> Iterator[str]:
    yield "## Changes of the project's memories on this branch"
    yield ""
    counts = [f"{len(items)} {heading[0].lower()}{heading[1:]}" for heading, items in _grouped(found)]
    yield markdown(", ".join(counts)) if counts else "No memory changed."
    for heading, items in _grouped(found):
        yield from ("", f"### {heading} ({len(items)})", "")
        for item in items:
            title = markdown(item.memory.title or item.memory.id, MAX_TITLE_CHARS)
            yield f"- **{title}**{markdown(_status(item))} {markdown(item.memory.id)}, {markdown(item.path)}"
            yield from (f"  - {markdown(key)}: {markdown(said, MAX_BODY_CHARS * 2)}" for key, said in _details(item))


def _status(item: Difference) -> str:
    return f" [{item.memory.status}]" if item.what == ADDED and item.memory.status != "active" else ""


def _details(item: Difference) -> Iterator[tuple[str, str]]:
    """Yield (key, text) for the lines below a memory."""
    memory = item.memory
    if item.what == ADDED:
        yield "text", plain(memory.body, MAX_BODY_CHARS)
    if item.what in (CHANGED, COUNTED):
        yield from ((key, f"{_value(old)} → {_value(new)}") for key, old, new in item.changes)
    if item.what == CHANGED and item.text_changed:
        yield "text", word_difference(item.before, memory.body)
    if item.what == "superseded":
        yield "by", _name(item.other) if item.other else memory.superseded_by
    if item.what == CONTRADICTED and item.other:
        yield "contradicts", _name(item.other)
    if memory.reason and item.what not in (ADDED, CHANGED, CONTRADICTED, COUNTED):
        yield "reason", plain(memory.reason, MAX_VALUE_CHARS)


def _name(memory: Memory) -> str:
    return f"{plain(memory.title, MAX_TITLE_CHARS)} ({memory.id})" if memory.title else memory.id


def _value(value: object) -> str:
    if isinstance(value, (list, tuple)):
        value = ", ".join(" ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in value)
    return plain(value, MAX_VALUE_CHARS) or "(none)"


def _as_json(item: Difference) -> dict[str, Any]:
    memory = item.memory
    said = {"what": item.what, **fields_of(memory, "id", "title", "status", "reason"), "file": printable(item.path)}
    changes = [{"key": key, "before": old, "after": new} for key, old, new in item.changes]
    text = {"before": item.before, "after": memory.body} if item.text_changed else None
    other = fields_of(item.other, "id", "title") if item.other else None
    whole: dict[str, Any] = _redacted({**said, "changes": changes, "text": text, "other": other})
    return whole


def _redacted(value: Any) -> Any:
    """Return data with the secrets in its texts redacted."""
    if isinstance(value, str):
        return redact(value, pii=False)
    if isinstance(value, (list, tuple)):
        return [_redacted(item) for item in value]
    return {key: _redacted(item) for key, item in value.items()} if isinstance(value, dict) else value
