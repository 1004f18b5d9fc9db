"""Search memories for questions, best results first, with the parts of each score."""

from __future__ import annotations

from ..index.catalogue import Row
from ..index.index import View
from ..index.stores.sqlite import WHEN
from ..model.values import TYPE_CHECKING, record, replace
from ..text.clean import one_line
from ..text.language import identity
from .excerpt import excerpt, stems_of
from .scoring import Factor, profile_of, score_candidates
from .signals import Question, Signals, Spaces, find_signals, question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..index.stores.protocol import SearchStore


MAX_SCORED = 100  # results that a profile sorts again
# of a result that fits: 97 % of the right answers have more
MIN_FITTING_RELEVANCE = 0.18
# … if no memory contains a word of the question: made-up words are close to anything
MIN_UNKNOWN_RELEVANCE = 0.4
# a result with this share of the question's words fits, whatever its relevance
MIN_FITTING_SHARE = 0.5
PART_SENTENCES = {  # part of a score → its sentence
    "words": "words that its best {0} shares with the question, relative to the best result",
    "meaning": "how close that {0} is in meaning, relative to the closest result (cosine {1:.2f})",
    "surroundings": "words of the question in the passages around it, relative to the best result",
    "title": "its title is the question",
}


@record
class Found:
    """A search result: the memory's index row, its score, its absolute relevance and the passage that matched."""

    row: Row
    score: float
    relevance: float
    text: str
    signals: Signals
    # False: it is the nearest result but does not answer the question
    fits: bool = True
    layer: str = ""  # its source; empty for the project


@record
class Answer:
    """A question and its search results."""

    question: str
    found: tuple[Found, ...]


def search(
    view: View,
    store: SearchStore,
    spaces: Spaces,
    questions: Sequence[str],
    limit: int,
    profile: str = "",
    least: float = 0.0,
) -> tuple[Answer, ...]:
    """Return the search results of each question with a relevance of at least `least`, best first.

    All questions are embedded in one call.
    Vouched memories are searched separately, so that others neither change their ranks nor displace them.
    """
    asked = [*map(question_of, questions)]
    groups = view.groups()
    gathered = iter(find_signals(store, spaces, asked, *groups.values(), by_first=True))
    answers = []
    for text, question in zip(questions, asked, strict=True):
        found: list[Found] = []
        for vouched in groups:
            signals = next(gathered)
            if least:
                signals = [one for one in signals if one.relevance >= least]
            if profile:
                signals = _by_profile(view, question, signals, profile)
            else:
                signals = _titled_first(view, question, signals)
            found += _results(view, store, spaces, question, signals, limit, vouched)
        answers.append(Answer(text, best_results(found, limit)))
    return tuple(answers)


def best_results(
    found: Iterable[Found],
    limit: int,
    score: Callable[[Found], float] = lambda item: (
        item.signals.confidence or item.score
    ),
) -> tuple[Found, ...]:
    """Return the best results: the first `limit`, plus further vouched ones until there are `limit` vouched ones.

    Only results of several layers have a confidence: their scores are relative to the best of each layer.
    """
    kept: list[Found] = []
    vouched = 0
    for place, item in enumerate(
        sorted(found, key=lambda item: (-score(item), not item.row.vouched))
    ):
        if place < limit or (item.row.vouched and vouched < limit):
            kept.append(item)
            vouched += item.row.vouched
    return tuple(kept)


def _by_profile(
    view: View, question: Question, found: list[Signals], profile: str
) -> list[Signals]:
    """Return the best results in the order of a profile, with its scores."""

    chosen = profile_of(profile)
    best = [
        (memory, signals)
        for signals in found[:MAX_SCORED]
        if signals.cosine >= chosen.min_similarity
        and (memory := view.memory(signals.id))
    ]
    scored = score_candidates(
        best, chosen, replace(question, task=question.text, at=view.at)
    )
    ordered = []
    for item in scored[: chosen.max_results or None]:
        parts = tuple(
            (factor.name, factor.value, factor.weight) for factor in item.factors
        )
        ordered.append(replace(item.signals, score=item.score, parts=parts))
    return ordered


def _titled_first(
    view: View, question: Question, found: list[Signals]
) -> list[Signals]:
    """Return the results; those whose title is the question are first and have the best score."""
    asked = identity(question.text).strip("?.! ")
    titled = []
    others = []
    for place, signals in enumerate(found):
        row = view.row(signals.id) if place < MAX_SCORED else None
        if row and identity(row.title).strip("?.! ") == asked:
            missing = found[0].score - signals.score
            parts = (*signals.parts, ("title", 1.0, missing))
            titled.append(replace(signals, score=found[0].score, parts=parts))
        else:
            others.append(signals)
    return titled + others


def _results(
    view: View,
    store: SearchStore,
    spaces: Spaces,
    question: Question,
    candidates: Sequence[Signals],
    limit: int,
    vouched: bool | None,
) -> list[Found]:
    """Return the best `limit` results. `vouched` None: both vouched and others."""
    found: list[Found] = []
    is_known = any(signals.words for signals in candidates)
    floor = MIN_FITTING_RELEVANCE if is_known else MIN_UNKNOWN_RELEVANCE
    for signals in candidates:
        if len(found) >= limit:
            break
        row = view.row(signals.id)
        if row and vouched in (None, bool(row.vouched)):
            text = store.passage(signals.id, signals.passage)
            relevance = spaces.as_static(signals.relevance)
            fits = relevance >= floor or _contains_question(
                f"{row.title}\n{text}", question
            )
            found.append(
                Found(row, signals.score, signals.relevance, text, signals, fits)
            )
    return found


def _contains_question(text: str, question: Question) -> bool:
    """Return whether a text contains the whole question, or at least MIN_FITTING_SHARE of its words."""
    plain = identity(text)
    stems = stems_of(question.query_words)
    held = sum(stem in plain for stem in stems)
    return identity(question.text) in plain or held >= max(
        1, MIN_FITTING_SHARE * len(stems)
    )


def snippet(found: Found, words: Sequence[str], most: int) -> str:
    """Return the sentences of a result that contain the words, on one line of at most `most` characters."""
    line = one_line(
        excerpt(found.row.title, found.text, words, most=most - 2) or found.text,
        2 * most,
    )
    if len(line) <= most:
        return line
    return f"{line[: most - 1].rpartition(' ')[0] or line[: most - 1]}…"


def contributions(signals: Signals) -> tuple[Factor, ...]:
    """Return what words, meaning and surroundings add to a result's score; the products value × weight sum up to it."""

    facts = ("condition" if signals.field == WHEN else "passage", signals.cosine)
    return tuple(
        Factor(
            name,
            value,
            weight,
            PART_SENTENCES.get(name, "factor of the profile"),
            facts,
        )
        for name, value, weight in signals.parts
        if weight
    )
