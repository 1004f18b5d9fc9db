"""Judge whether a memory is relevant to a task: evidence, confidence and gate.

Search scores and the number of memories that contain a word come only from vouched memories. So
nobody can change the result for these by adding other memories.
"""

from __future__ import annotations

import math

from ..embed.static import Rarity
from ..index.stores.sqlite import DEEP, FIRST, Holders
from ..model.entries import Memory
from ..model.values import DAY, IMPORTANCE, TYPE_CHECKING, replace
from ..state.trust import imported_from
from ..text.conditions import PASTED, WORDS, Fired, is_sentence
from ..text.language import language
from .scoring import FIRED, Profile, Reason, Scored, why_fired
from .signals import THIN_WORDS, Limits, Question, Signals, embedded_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .candidates import Candidate, Sources


# Compute how much a memory is about a task, from three values.
#
# It is a logistic regression (tools/fit_gate.py), fitted on real prompts of two projects and on the
# imported rules of two others. Conditions are no part of it: whether a pattern that a person wrote
# fires is a rule of its own, see `is_called_for`.

BIAS = "bias"
WEIGHTS = {"meaning": 4.56, "search": 1.59, "shared_words": 1.33, BIAS: -3.96}
EVIDENCE_TEXTS = {  # evidence → its description in `rawkomem why`
    "meaning": "cosine of the passage or condition that is closest to a sentence of the task",
    "search": "its score in a search for the task: the best one has nearly 1; nearer to 0.4 among fewer than 40 memories",
    "shared_words": "words shared with the task, weighed by how rare they are",
    BIAS: "the start value of every memory",
}


def weighed_evidence(values: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """Return (name, value, what it adds) for each piece of evidence. The sum of the added parts is the log odds."""
    terms = {**values, BIAS: 1.0}
    return [
        (name, terms.get(name, 0.0), terms.get(name, 0.0) * weight)
        for name, weight in WEIGHTS.items()
    ]


def confidence_of(values: Mapping[str, float]) -> float:
    """Return the probability that a memory with this evidence is relevant."""
    total = sum(added for _, _, added in weighed_evidence(values))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


MAX_WORDS = 12  # of a request that are looked up, the rarest first
# memories with a word that are counted; with more, the word is common
MAX_HOLDING = 100
NOBODY: Holders = (0, frozenset())  # no memory contains the word
MAX_COMPARED = 2_000  # passages of the candidates that a sentence is compared with
USUAL_MEMORIES = 40  # in a smaller repository, the best search score says less …
USUAL_SEARCH = 0.4  # … and this score counts instead
# a term with one of these is a name, a path or a number
NAME_SIGNS = "_-./:~0123456789"
SUMMED_WORDS = 4  # rarest shared words whose weights are added


def with_evidence(
    sources: Sources, question: Question, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return the candidates, each with its evidence and the probability that it is relevant."""
    if not candidates:
        return []
    near = _closeness(sources, question, candidates)
    words = _Words(sources, question, [memory.id for memory, _ in candidates])
    # the best of a few memories may be far from the task
    known = min(1.0, sources.count() / USUAL_MEMORIES)
    judged = []
    for memory, signals in candidates:
        values = {
            "meaning": near.get(memory.id, 0.0),
            "search": signals.score * known + USUAL_SEARCH * (1 - known),
            "shared_words": words.shared(memory),
        }
        evidence = tuple(values.items())
        confidence = confidence_of(values)
        judged.append(
            (memory, replace(signals, evidence=evidence, confidence=confidence))
        )
    return judged


def _closeness(
    sources: Sources, question: Question, candidates: Sequence[Candidate]
) -> dict[str, float]:
    """Return for each memory the cosine of its passage or condition that is closest to a sentence of the prompt.

    Memories that the second tier of vectors does not hold yet are compared in the first.
    """
    # Two groups, because only MAX_COMPARED passages are compared: unvouched memories must not displace vouched ones.
    vouched = sorted(
        memory.id for memory, signals in candidates if not signals.unverified
    )
    doubted = sorted(memory.id for memory, signals in candidates if signals.unverified)
    found: dict[str, float] = {}
    for embedder, tier in ((sources.spaces.deep, DEEP), (sources.spaces.first, FIRST)):
        if embedder is None or len(found) == len(candidates) or not question.sentences:
            continue
        closest: dict[str, float] = {}
        vectors = embedded_texts(sources.spaces, embedder, question.sentences)
        for group in filter(None, (vouched, doubted)):
            for hits in sources.store.compared(vectors, group, tier, MAX_COMPARED):
                for id, _, _, cosine in hits:
                    if tier == FIRST:
                        cosine = sources.spaces.as_static(cosine)
                    closest[id] = max(cosine, closest.get(id, 0.0))
        found = {**closest, **found}
    return found


class _Words:
    """The content words of a request: how rare each is, in general and here, and which memories contain it."""

    def __init__(self, sources: Sources, question: Question, ids: Sequence[str]):
        self.rarity = Rarity()
        self._count = sources.count()
        asked = sorted(question.content, key=lambda word: (-self.rarity(word), word))[
            :MAX_WORDS
        ]
        self._holding: dict[bool, dict[str, Holders]] = {}  # vouched → word → memories
        for vouched, only in sources.filters().items():
            held = sources.store.holders(asked, MAX_HOLDING, only, ids)
            self._holding |= dict.fromkeys(
                (True, False) if vouched is None else (vouched,), held
            )
        self._usual = self._holding.get(True) or self._holding.get(False, {})

    def shared(self, memory: Memory) -> float:
        """Return the sum of the weights of the rarest words that a memory shares with the request.

        The weight of a word is high if it is rare in general and few memories contain it.
        """
        weights = []
        for word, (_, ids) in (
            self._holding.get(memory.vouched) or self._usual
        ).items():
            if memory.id in ids:
                holding = self._usual.get(word, NOBODY)[0] or 1
                here = math.log(1 + self._count / holding) / math.log(
                    1 + max(2, self._count)
                )
                weights.append(self.rarity(word) * here)
        return sum(sorted(weights, reverse=True)[:SUMMED_WORDS])


def fired_in_paste(
    sources: Sources, question: Question, fired: Mapping[str, Fired]
) -> dict[str, Fired]:
    """Return the memories whose patterns fire in pasted text only.

    If the request says almost nothing else, a name in the pasted text, such as `E4711`, counts like one in the request.
    """
    found = sources.fired(question.pasted) if question.pasted else {}
    is_thin = len(question.content) < THIN_WORDS
    return {
        id: part if is_thin and _is_name(part) else Fired(PASTED, part.text)
        for id, part in found.items()
        if id not in fired and part.how != WORDS
    }


def _is_name(part: Fired) -> bool:
    return any(sign in NAME_SIGNS for sign in part.text)


# Decide which scored memories are relevant enough to be injected, and give the reason for each of
# the others.

CRITICAL = IMPORTANCE[-1]  # always included if its condition fires (SPEC-0009)
# if a task contains all words of such a title, it means that memory, whatever its score
MIN_TITLE_WORDS = 3
# harmful minus helpful votes from which a memory is never injected
MAX_VOTES_AGAINST = 2
# content words of a task; in a longer one, any word may stand by chance
SHORT_WORDS = 10


def gate(
    scored: list[Scored], profile: Profile, limits: Limits, question: Question
) -> list[Scored]:
    """Mark the items that must not be injected with the reason. Each item is judged independently of the others."""
    gated = []
    asked = {*language().stems(" ".join(question.content))}
    for item in scored:
        title = item.memory.title
        item = replace(
            item,
            is_named=is_named(title, question.title_stems),
            shares_title=not asked.isdisjoint(language().stems(title)),
        )
        gated.append(replace(item, out=_why_out(item, profile, limits, question)))
    return gated


def is_named(title: str, asked: frozenset[str]) -> bool:
    """Return whether a task's stems contain all words of a title of three or more words, or equal the title's."""
    found = frozenset(language().stems(title))
    return (
        bool(found)
        and found <= asked
        and (len(found) >= MIN_TITLE_WORDS or found == asked)
    )


def votes_against(memory: Memory) -> int:
    """Return the number of harmful votes minus the number of helpful ones."""
    return memory.harmful - memory.helpful


def is_withdrawn(memory: Memory) -> bool:
    """Return whether a memory has so many harmful votes that it is never injected."""
    return votes_against(memory) >= MAX_VOTES_AGAINST


def has_fired(signals: Signals) -> bool:
    """Return whether a condition fired in the request itself, on more than words that any task contains."""
    fired = signals.fired
    return fired is not None and fired.how != PASTED and not signals.is_faint


def is_pattern(signals: Signals) -> bool:
    """Return whether a pattern fired, in the request or in pasted text."""
    fired = signals.fired
    return fired is not None and not fired.by_words and not signals.is_faint


def is_sure(signals: Signals) -> bool:
    """Return whether a condition fired as a pattern, not by some words of a sentence."""
    return has_fired(signals) and is_pattern(signals)


def stands_alone(item: Scored) -> bool:
    """Return whether an item passes whatever its confidence: the task names it, or it is critical and its pattern fired."""
    signals = item.signals
    return (
        item.is_named
        or (signals.shares_phrase and not signals.is_faint)
        or (item.memory.importance == CRITICAL and is_sure(signals))
    )


def has_promise(memory: Memory) -> bool:
    """Return whether a person wrote a pattern that says when to use a memory; an import writes only hints."""
    return not imported_from(memory) and not all(map(is_sentence, memory.when))


def _is_in_doubt(item: Scored) -> bool:
    """Return whether somebody disputes a memory, or no person vouches for it or said it."""
    standing = item.signals.unverified
    is_disputed = any(one.name == "disputes" and one.value < 1 for one in item.factors)
    return is_disputed or (standing is not None and not standing.said)


def _why_not_called_for(
    item: Scored, limits: Limits, question: Question
) -> Reason | None:
    """Return why the text of a memory is not handed over; None if it is.

    A pattern that a person wrote is a promise: the text goes in if it fires, and not otherwise. In a long task, and
    for all other memories, what they say must be about the task, and clearly so if they are in doubt.
    """
    confidence = item.signals.confidence
    least = limits.min_confidence
    if stands_alone(item):
        return None
    if has_promise(item.memory):
        if not is_sure(item.signals):
            return Reason("nothing-fired")
        if len(question.content) <= SHORT_WORDS:
            return None
        least = max(least, limits.min_beside)
    elif _is_in_doubt(item):
        least = max(least, limits.min_beside)
    is_about = confidence >= least
    return None if is_about else Reason("not-confident", (confidence, least))


def _why_out(
    item: Scored, profile: Profile, limits: Limits, question: Question
) -> Reason | None:
    signals = item.signals
    memory = item.memory
    counts_votes = "feedback" in profile.demotions
    source = next((source for source in signals.weak if source.holds_back), None)
    if counts_votes and is_withdrawn(memory):
        return Reason("withdrawn", (memory.harmful, memory.helpful))
    if profile.gate == FIRED:
        if not has_fired(signals):
            return Reason("nothing-fired")
    elif profile.min_similarity and signals.cosine < profile.min_similarity:
        return Reason("not-similar", (signals.cosine, profile.min_similarity))
    elif (
        counts_votes
        and votes_against(memory) > 0
        and not (has_fired(signals) or stands_alone(item))
    ):
        return Reason("voted-harmful")
    elif reason := _why_not_called_for(item, limits, question):
        return reason
    if source:
        return Reason("weak-source", (source.id, source.why))
    return lesson_held_back(memory, limits, question.at)


def lesson_held_back(memory: Memory, limits: Limits, now: int) -> Reason | None:
    """Return why a lesson is not injected; None if it may be injected, and for other kinds of memories."""
    if memory.kind != "lesson":
        return None
    stated = str(memory.extra.get("ruleConfidence", ""))
    try:
        if float(stated) < limits.min_lesson_confidence:
            return Reason("unsure-lesson", (stated, limits.min_lesson_confidence))
    except ValueError:
        pass  # a lesson may state none
    seen = max(memory.created, memory.last_observed)
    age = (now - seen) // DAY
    is_old = seen and age >= limits.lesson_days
    return Reason("old-lesson", (age, limits.lesson_days)) if is_old else None


# Explain recall to people: turn its codes and values into sentences.

MIN_SHOWN_EVIDENCE = 0.005  # evidence that adds less is not shown


def explain_score(item: Scored) -> list[str]:
    """Return a line per factor and per piece of evidence. A linked memory has no factors: return the link instead."""
    if not item.factors:
        return [why_fired(item)] if item.signals.fired else []
    factors = (*item.factors, *item.order)
    lines = [f"{f.name:16} {f.value:7.3f} × {f.weight:g}   {f.why}" for f in factors]
    if item.is_named:
        lines.append("the task contains the words of its title: no minimum applies")
    evidence = weighed_evidence(dict(item.signals.evidence))
    for name, value, added in sorted(evidence, key=lambda part: -abs(part[2])):
        if abs(added) >= MIN_SHOWN_EVIDENCE:
            lines.append(
                f"{name:17} {value:7.3f} → {added:+.2f}   {EVIDENCE_TEXTS[name]}"
            )
    confidence = f"{'confidence':17} {item.signals.confidence:7.3f}"
    return [*lines, f"{confidence}   the probability that it is relevant"]
