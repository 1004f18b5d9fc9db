"""Searches: questions in, memories out, the best first, with the parts of each score."""

from __future__ import annotations

from ..index.stores.documents import WHEN
from ..model.record import record
from .question import question_of
from .signals import Signals, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..index.catalogue import Row
    from ..index.stores.protocol import SearchStore
    from ..index.views.view import View
    from .factors import Factor
    from .signals import Spaces

DEFAULT_RESULTS = 10  # when nobody says how many
PARTS = {  # of a score → its sentence
    "words": "words that its best {0} shares with the question, against the best such match",
    "meaning": "how close that {0} is in meaning, against the closest (cosine {1:.2f})",
    "surroundings": "words shared with the passages around it, against the best such match",
}


@record
class Found:
    """A search result: the memory's columns, its score, its absolute relevance and the passage that matched."""

    row: Row
    score: float
    relevance: float
    text: str
    signals: Signals
    layer: str = ""  # where it comes from, if not from the project


@record
class Answer:
    """A question and what was found for it."""

    question: str
    found: tuple[Found, ...]


def search(view: View, store: SearchStore, spaces: Spaces, questions: Sequence[str], limit: int) -> tuple[Answer, ...]:
    """Return for each question the memories that fit it, best first; all questions are embedded in one call."""
    gathered = find(store, spaces, [*map(question_of, questions)], view.stored)
    return tuple(
        Answer(question, tuple(_found(view, store, signals, limit)))
        for question, signals in zip(questions, gathered, strict=True)
    )


def _found(view: View, store: SearchStore, candidates: Sequence[Signals], limit: int) -> list[Found]:
    found: list[Found] = []
    for signals in candidates:
        if len(found) >= limit:
            break
        row = view.row(signals.id)
        if row:
            text = _text(view, signals.id, store.passage(signals.id, signals.passage))
            found.append(Found(row, signals.score, signals.relevance, text, signals))
    return found


def _text(view: View, id: str, passage: str) -> str:
    """Return the passage; of a memory that had another text at that time, the beginning of that text."""
    memory = view.memory(id) if view.only.as_of else None
    if memory is None or passage in memory.body:
        return passage
    from ..text.chunk import chunk  # only for the past

    return next((part.text for part in chunk(memory.body)), memory.title)


def contributions(signals: Signals) -> tuple[Factor, ...]:
    """Return what words, meaning and surroundings add to a result's score: values times weights sum up to it."""
    from .factors import Factor  # only where somebody asks for it

    facts = ("condition" if signals.field == WHEN else "passage", signals.cosine)
    return tuple(Factor(name, value, weight, PARTS[name], facts) for name, value, weight in signals.parts if weight)
