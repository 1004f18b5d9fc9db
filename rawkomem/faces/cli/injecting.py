"""Implement `rawkomem inject`: print the memories that belong in the prompt of a task. Does not import click."""

from __future__ import annotations

import sys

from ...files.layout import read_stdin
from ...model.entries import Task
from ...model.values import TYPE_CHECKING
from ...recall.excerpt import in_brackets, layer_label
from ...recall.inject import Injection, injection_json, waiting_note
from ...recall.relevance import explain_score
from ...recall.scoring import Scored
from ...recall.signals import filter_of
from ...repository import Repository
from ...text.clean import one_line
from .answers import Fields
from .terminal import note, tell_nothing

if TYPE_CHECKING:
    from typing import Any


INJECT_ANSWER = Fields(
    "items pointers left_out tokens budget profile text", "{text:text}"
)
MAX_OMITTED_SHOWN = 20  # omitted memories that --explain lists


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
    lines = [
        f"profile {injection.profile}: {len(injection.items)} injected, {injection.tokens} tokens"
    ]
    for item in injection.items:
        lines += ["", f"{_scored_line('in', item, 200)}  {item.memory.id}"]
        lines += [f"       {line}" for line in explain_score(item)]
    for item in injection.pointers:
        lines.append(f"{_scored_line('see', item)}  {item.memory.id}")
    for item in injection.left_out[:MAX_OMITTED_SHOWN]:
        lines.append(f"{_scored_line('out', item)}: {item.why_not}")
    if more := injection.left_out[MAX_OMITTED_SHOWN:]:
        lines.append(f"out  {len(more)} more: --json lists them all")
    sys.stderr.writelines(f"{line}\n" for line in lines)


def _scored_line(word: str, item: Scored, chars: int = 60) -> str:
    layer = in_brackets(layer_label(item.memory.layer))
    return f"{word:4} {item.score:.3f}  {layer}{one_line(item.memory.title, chars)}"
