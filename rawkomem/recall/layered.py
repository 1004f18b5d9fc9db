"""Search in one of several layers, and merge the results of all layers by confidence.

Each layer has its own index and its own statistics. Scores are relative to the best result of a
layer, so that only the confidence, which is a probability, is comparable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..model.entries import Task
from ..model.values import replace
from ..text.language import is_copy
from .candidates import Sources
from .relevance import with_evidence
from .search import Answer, Found, best_results, search
from .signals import question_of_task

PROJECT = "project"  # prefix of a project id that looks like an id of another layer


def layer_results(
    sources: Sources, texts: Sequence[str], limit: int, profile: str, least: float
) -> list[list[Found]]:
    """Return the results of a layer for each text, with confidence. A profile has its own scores instead."""
    # Ask for twice as many, because copies of one memory in several layers are dropped.
    places = sources.view, sources.store, sources.spaces
    answers = search(*places, texts, 2 * limit, profile, least)
    return [_judged(sources, answer, not profile) for answer in answers]


def _judged(sources: Sources, answer: Answer, with_confidence: bool) -> list[Found]:
    found = {item.row.id: item for item in answer.found}
    memories = [memory for id in found if (memory := sources.view.memory(id))]
    doubted = sources.unverified(memories)
    candidates = [
        (memory, replace(found[memory.id].signals, unverified=doubted.get(memory.id)))
        for memory in memories
    ]
    if with_confidence:
        question = question_of_task(Task(answer.question), sources.view.at)
        candidates = with_evidence(sources, question, candidates)
    judged = []
    for memory, signals in candidates:
        item = found[memory.id]
        if sources.layer:
            row = replace(item.row, vouched=int(not signals.unverified))
        else:
            row = item.row
        judged.append(replace(item, row=row, signals=signals, layer=sources.layer))
    return judged


def merged_results(found: Iterable[Found], limit: int) -> tuple[Found, ...]:
    """Return the best results of all layers, without copies of project memories in other layers."""
    found = [*found]
    own = [item for item in found if not item.layer]
    others = [item for item in found if item.layer]
    new = [
        item for item in others if not any(_is_copy_of(item, other) for other in own)
    ]
    return best_results([*own, *new], limit)


def _is_copy_of(item: Found, other: Found) -> bool:
    """Return whether a project's result is a copy of another layer's. An unvouched one never replaces a vouched one."""
    if item.row.vouched and not other.row.vouched:
        return False
    return (
        bool(item.text)
        and item.row.kind == other.row.kind
        and is_copy(item.text, other.text)
    )
