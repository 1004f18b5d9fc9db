"""Implement `rawkomem inject`: print the memories that belong in the prompt of a task. Does not import click."""

from __future__ import annotations

import sys

from ...files.layout import read_stdin
from ...model.entries import Task
from ...model.values import TYPE_CHECKING
from ...recall.excerpt import in_brackets, layer_label
from ...recall.inject import Injection, injection_json, waiting_note
from ...recall.relevance import explain_score
from ...recall.signals import filter_of
from ...repository import Repository
from .answers import Fields
from .terminal import note, tell_nothing

if TYPE_CHECKING:
    from typing import Any


INJECT_ANSWER = Fields(
    "items pointers left_out tokens budget profile text", "{text:text}"
)
MAX_OMITTED_SHOWN = 20  # omitted memories that --explain lists
SCORED = "{0.score:.3f}  {layer:text}{0.memory.title:60}"
OMITTED = Fields(
    line=f"out  {SCORED}: {{0.why_not}}",
    layer=lambda item: in_brackets(layer_label(item.memory.layer)),
)
POINTER = OMITTED.but(line=f"see  {SCORED}  {{0.memory.id}}")
INJECTED = OMITTED.but(
    line="\nin   {0.score:.3f}  {layer:text}{0.memory.title:200}  {0.memory.id}\n{why:text}",
    why=lambda item: "\n".join(f"       {line}" for line in explain_score(item)),
)
EXPLAINED = Fields(
    line="""\
profile {0.profile}: {0.items:count} injected, {0.tokens} tokens

{items_lines:text}
{pointers_lines:text}
{omitted:text}
{more:?out  % more: --json lists them all}""",
    items=[INJECTED],
    pointers=[POINTER],
    omitted=lambda injection: "\n".join(
        map(OMITTED.text, injection.left_out[:MAX_OMITTED_SHOWN])
    ),
    more=lambda injection: max(0, len(injection.left_out) - MAX_OMITTED_SHOWN),
)


def run_inject(
    folder: str, arguments: list[str], agent: str, plan: str, session: str, limit: int | None, min_importance: str,
    budget: int, profile: str, format: str, strict: bool, explain: bool, as_json: bool, **which: Any,
) -> None:  # fmt: skip
    """Print the memories for a task and record their use."""
    text = " ".join(arguments)
    if arguments == ["-"]:
        text = read_stdin(strict=False)
    repository = Repository.open(folder, layers=True)
    injection = repository.inject(
        Task(text, agent, plan, session),
        profile=profile,
        form=format,
        limit=limit,
        min_importance=min_importance.lower(),
        budget=budget,
        strict=strict,
        only=filter_of(**which),
    )
    if as_json:
        INJECT_ANSWER.say(injection_json(injection), True)
    else:
        sys.stdout.write(injection.text)
    repository.note_use(injection, session)
    repository.core.deepen_in_background()
    codes = [item.out.code for item in injection.left_out if item.out]
    if "over-budget" in codes and not injection.items:
        note(
            f"nothing is injected: no memory fits into {injection.budget} tokens; use a larger --budget"
        )
    for problem in (
        repository.core.hidden_authors() if strict and not injection.items else ()
    ):
        note(problem.in_full)
    if waiting := waiting_note(injection):
        note(f"{waiting}; 'rawkomem inject … --explain' names them")
    if explain:
        tell_injection(injection)
        if not injection.items and not injection.left_out:
            tell_nothing(
                repository, "no memory matches this task by words, meaning or condition"
            )


def tell_injection(injection: Injection) -> None:
    """Print on stderr why each memory was injected or omitted; stdout is for the prompt."""
    sys.stderr.write(EXPLAINED.text(injection) + "\n")
