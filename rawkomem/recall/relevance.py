"""Judge whether a memory is relevant to a task: evidence, confidence and gate.

Search scores and the number of memories that contain a word come only from vouched memories. So
nobody can change the result for these by adding other memories.
"""

from __future__ import annotations

import math

from ..embed.static import Rarity
from ..index.conditions import expect_conditions
from ..index.stores.sqlite import DEEP, FIRST, WHEN, Compared, Holders
from ..model.entries import Memory
from ..model.values import DAY, IMPORTANCE, TYPE_CHECKING, replace
from ..text.conditions import (
    ALTERNATIVES,
    PASTED,
    PATH,
    RECENT,
    WORDS,
    Fired,
    fires,
    is_sentence,
    read_conditions,
)
from ..text.language import language
from .scoring import FIRED, Profile, Reason, Scored
from .signals import THIN_WORDS, Limits, Question, Signals, embedded_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..embed.embedder import Embedder
    from ..index.stores.protocol import SearchStore
    from .candidates import Candidate, Sources

Values = dict[str, float]


# Compute the probability that a memory is relevant, from its evidence and from weights that were
# fitted offline.
#
# It is a logistic regression over named values (tools/fit_gate.py). One table of weights serves both
# tiers of vectors. The weights of conditions that fired, of names in pasted text and of small
# repositories were set by hand: somebody who writes a condition expects that it causes a recall.
# With these weights fitted, too, the figures for projects that were left out were lower.

BIAS = "bias"
SET_WEIGHTS = {
    "fired_few": 6.0,
    "fired": 2.5,
    "fired_far": -5.0,
    "fired_path": 2.5,
    "recent_name": 1.5,
    "pasted_name": 0.7,
    "pasted_thin": 6.5,
    "few_memories": 0.5,
    "spoken_close": 10.0,
}
WEIGHTS = {
    "meaning": 2.97, "agreement": 3.89, "condition_meaning": -3.25, "spoken_meaning": 2.01, "search": 3.24,
    "shared_words": 1.42, "shared_in_long": -0.20, "thin": -1.00, "spoken": 0.01, "no_condition": -0.11,
    BIAS: -5.98, **SET_WEIGHTS,
}  # fmt: skip
EVIDENCE_TEXTS = {  # evidence → its description in `rawkomem why`
    "meaning": "cosine of the passage or condition that is closest to a sentence of the task",
    "agreement": "cosine of the second closest passage or condition",
    "condition_meaning": "cosine of the closest condition that is a sentence",
    "spoken_close": "how far that cosine is above 0.6, if most conditions of the memory are sentences",
    "spoken_meaning": "the same cosine, if most conditions of the memory are sentences",
    "search": "its score in a search for the task: the best one has nearly 1, less among fewer than 40 memories",
    "shared_words": "words shared with the task, weighed by how rare they are",
    "shared_in_long": "the same in a task of many words, where words are shared by chance",
    "fired_few": "a pattern of whenToUse fires in a task of few words",
    "fired": "a pattern of whenToUse fires; less in a task of many words",
    "few_memories": "the repository is small: each memory is more likely to be relevant",
    "fired_path": "a pattern of whenToUse fires in a path only",
    "fired_far": "a pattern of whenToUse fires, but the memory is far from the task in meaning",
    "recent_name": "a pattern of whenToUse names something in the exchange before a task of few words",
    "pasted_name": "a pattern of whenToUse names something in the pasted text",
    "pasted_thin": "a pattern of whenToUse names something in the pasted text, and the task says almost nothing else",
    "spoken": "most conditions of the memory are sentences, so only their meaning can match",
    "no_condition": "the memory has no condition",
    "thin": "the task has fewer than three content words",
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


# Compute the evidence for and against the relevance of a memory to a task, as named values.
#
# Search scores and the number of memories that contain a word come only from vouched memories. So
# nobody can change the result for these by adding other memories.

MAX_WORDS = 12  # of a request that are looked up, the rarest first
MAX_HOLDING = 100  # memories with a word that are counted; with more, the word is common
NOBODY: Holders = (0, frozenset())  # no memory contains the word
MAX_COMPARED = 2_000  # passages of the candidates that a sentence is compared with
USUAL_MEMORIES = 40  # in a smaller repository, the best search score says less
SUMMED_WORDS = 4  # rarest shared words whose weights are added
SAME_COSINE = (
    0.6  # above this cosine, a task says nearly the same as a condition that is a sentence
)
CLOSE_COSINE = 0.35  # below this cosine, a fired condition counts less
LONE_COSINE = 0.4  # … and below this one, a fired single ordinary word counts less
FULL_TERM_WEIGHT = 0.5  # from this weight on, a term that fires counts fully
FREE_MEMORIES = 4  # if more memories share a condition's term, it counts less
FEW_WORDS, LONG_WORDS = 10, 25  # content words of a request
NAME_SIGNS = "_-./:~0123456789"  # a term with one of these is a name, a path or a number
PROJECT_WORD_WEIGHT = 0.35  # of a short word that is not in the vocabulary
NAME_CHARS = (
    6  # of a word that is not in the vocabulary; shorter ones (git, npm) are in every project
)


def with_evidence(
    sources: Sources, question: Question, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return the candidates, each with its evidence and the probability that it is relevant."""
    if not candidates:
        return []
    sentences = {memory.id: _sentences_at(memory) for memory, _ in candidates}
    near = _closeness(sources, question, candidates, sentences)
    said = _Words(sources, question, [memory.id for memory, _ in candidates])
    firing = [memory.id for memory, signals in candidates if signals.fired]
    expect_conditions(sources.view.catalogue.db, firing)
    fired = _Terms(question, candidates, said)
    count = len(question.content)
    thin, beyond = float(count < THIN_WORDS), math.log1p(max(0, count - LONG_WORDS))
    known = min(1.0, sources.count() / USUAL_MEMORIES)
    judged = []
    for memory, signals in candidates:
        values = {**near.get(memory.id, {}), **fired.of(memory)}
        meaning, shared = values.get("meaning", 0.0), said.shared(memory)
        spoken = float(2 * len(sentences[memory.id]) > len(memory.when))
        said_close = values.get("condition_meaning", 0.0)
        if fired.is_lone(memory) and "meaning" in values:
            share = min(1.0, max(0.0, meaning) / LONE_COSINE) ** 2
            values["fired_few"] = values.get("fired_few", 0.0) * share
        if signals.is_faint:
            values |= dict.fromkeys(("fired", "fired_few", "fired_path"), 0.0)
        values |= {
            "search": signals.score * known,  # the best of a few memories may be far from the task
            "shared_words": shared,
            "shared_in_long": shared * beyond,
            "thin": thin,
            "spoken": spoken,
            "spoken_meaning": spoken * said_close,
            "spoken_close": spoken * max(0.0, said_close - SAME_COSINE),
            "no_condition": float(not memory.when),
            "fired_far": values.get("fired", 0.0) * max(0.0, CLOSE_COSINE - meaning),
            "few_memories": -math.log(known) * (1 - spoken),  # for sentences, the cosine is enough
            "pasted_thin": values.get("pasted_name", 0.0) * thin,
        }
        evidence = tuple(values.items())
        judged.append(
            (memory, replace(signals, evidence=evidence, confidence=confidence_of(values)))
        )
    return judged


def _closeness(
    sources: Sources, question: Question, candidates: Sequence[Candidate],
    sentences: Mapping[str, frozenset[int]],
) -> dict[str, Values]:  # fmt: skip
    """Return for each memory the cosines of its passages and conditions with the closest sentence of the prompt."""
    if not question.sentences:
        return {}
    doubted = {memory.id for memory, signals in candidates if signals.unverified}
    vouched = {memory.id for memory, _ in candidates} - doubted
    # Two groups, because only MAX_COMPARED passages are compared: unvouched memories must not displace vouched ones.
    groups = [tuple(sorted(group)) for group in (vouched, doubted) if group]
    spaces, found = sources.spaces, {}
    if spaces.deep is not None:
        found = _closeness_in_tier(sources, spaces.deep, DEEP, question, groups, sentences)
    if len(found) < len(candidates):  # the second tier does not hold all memories yet
        first = _closeness_in_tier(sources, spaces.first, FIRST, question, groups, sentences)
        found = {**first, **found}
    return found


def _sentences_at(memory: Memory) -> frozenset[int]:
    """Return the indexes of a memory's conditions that are sentences, not patterns."""
    return frozenset(at for at, condition in enumerate(memory.when) if is_sentence(condition))


def _closeness_in_tier(
    sources: Sources, embedder: Embedder, tier: str, question: Question,
    groups: Sequence[tuple[str, ...]], sentences: Mapping[str, frozenset[int]],
) -> dict[str, Values]:  # fmt: skip
    closest: dict[str, dict[int, float]] = {}  # memory → passage → cosine with the closest sentence
    condition: dict[str, float] = {}  # memory → cosine of its closest condition that is a sentence
    vectors = embedded_texts(sources.spaces, embedder, question.sentences)
    for hits in _cosines(sources.store, vectors, groups, tier):
        first_condition: dict[str, int] = {}
        for id, number, field, _ in hits:
            if field == WHEN and number < first_condition.get(id, MAX_COMPARED):
                first_condition[id] = number
        for id, number, field, cosine in hits:
            own = closest.setdefault(id, {})
            own[number] = max(cosine, own.get(number, -1.0))
            if field == WHEN and number - first_condition[id] in sentences[id]:
                condition[id] = max(cosine, condition.get(id, 0.0))
    found: dict[str, Values] = {}
    for id, cosines in closest.items():
        best = sorted(cosines.values())
        found[id] = {
            "meaning": best[-1],
            "agreement": best[-2:][0],  # of the second closest, if there is one
            "condition_meaning": condition.get(id, 0.0),
        }
    return found


def _cosines(
    store: SearchStore, vectors: Sequence[bytes], ids: Sequence[tuple[str, ...]], tier: str
) -> Iterable[Sequence[Compared]]:
    """Return for each vector the (memory, passage, field, cosine) of all passages of these groups of memories."""
    found: list[list[Compared]] = [[] for _ in vectors]
    for group in ids:
        near = store.compared(vectors, group, tier, MAX_COMPARED)
        for several, more in zip(found, near, strict=True):
            several += more
    return [several for several in found if several]


class _Words:
    """The content words of a request: how rare each is, in general and here, and which memories contain it."""

    def __init__(self, sources: Sources, question: Question, ids: Sequence[str]):
        self.rarity = Rarity()
        filters = sources.filters()
        self._count = sources.count()
        asked = sorted(question.content, key=lambda word: (-self.rarity(word), word))[:MAX_WORDS]
        self._holding: dict[bool, dict[str, Holders]] = {}  # vouched → word → memories
        for vouched, only in filters.items():
            held = sources.store.holders(asked, MAX_HOLDING, only, ids)
            self._holding |= dict.fromkeys((True, False) if vouched is None else (vouched,), held)
        self._usual = self._holding.get(True) or self._holding.get(False, {})

    def weight(self, word: str) -> float:
        """Return the weight of a word: high if it is rare in general and few memories contain it."""
        holding = self._usual.get(word, NOBODY)[0] or 1
        return (
            self.rarity(word)
            * math.log(1 + self._count / holding)
            / math.log(1 + max(2, self._count))
        )

    def shared(self, memory: Memory) -> float:
        """Return the sum of the weights of the rarest words that a memory shares with the request."""
        held = self._holding.get(memory.vouched) or self._usual
        weights = [self.weight(word) for word, (_, ids) in held.items() if memory.id in ids]
        return sum(sorted(weights, reverse=True)[:SUMMED_WORDS])


class _Terms:
    """The terms of conditions that fired in the request, in pasted text or in the last exchange."""

    def __init__(self, question: Question, candidates: Sequence[Candidate], words: _Words):
        self._question = question
        self._words = words
        self._terms = {
            memory.id: self._explicit(memory) for memory, signals in candidates if signals.fired
        }
        self._beside = {
            memory.id: signals.fired
            for memory, signals in candidates
            if signals.fired and signals.fired.how in (PASTED, RECENT)
        }
        self._times: dict[
            str, int
        ] = {}  # term → number of vouched memories whose conditions it fires
        vouched = [memory for memory, signals in candidates if not signals.unverified]
        for memory in vouched:
            for term in {term for term, _ in self._terms.get(memory.id, ())}:
                self._times[term] = self._times.get(term, 0) + 1

    def _explicit(self, memory: Memory) -> list[tuple[str, bool]]:
        """Return the terms of patterns that fire in the request, and whether they fire outside of paths."""
        situation, said = self._question.situation, self._question.said
        found: list[tuple[str, bool]] = []
        if situation is None or said is None:
            return found
        for condition in read_conditions(memory.when, situation.engine):
            parts = (
                [(part,) for part in condition.parts]
                if condition.form == ALTERNATIVES
                else [condition.parts]
            )
            for each in parts:
                one = replace(condition, parts=each)
                fired = fires(one, situation)
                if fired and fired.how != WORDS:
                    found.append((fired.text, fired.how == PATH or bool(fires(one, said))))
        return found

    def of(self, memory: Memory) -> Values:
        """Return the evidence from a memory's fired conditions."""
        terms = self._terms.get(memory.id, [])
        if not terms:
            beside = self._beside.get(memory.id)
            return {f"{beside.how}_name": float(self._is_name(beside.text))} if beside else {}
        said = [term for term, is_said in terms if is_said]
        if not said:
            return {"fired_path": 1.0}
        telling = min(
            1.0, max(self._telling(term) / self._crowd(term) for term in said) / FULL_TERM_WEIGHT
        )
        count = len(self._question.content)
        if count <= FEW_WORDS:
            return {"fired_few": telling}
        return {
            "fired": telling / max(1.0, count / LONG_WORDS) ** 2
        }  # in a long request, any term may occur by chance

    def is_lone(self, memory: Memory) -> bool:
        """Return whether only single ordinary words fired, like "git" in "show me the git log"."""
        said = [term for term, is_said in self._terms.get(memory.id, ()) if is_said]
        return bool(said) and all(
            len(language().words(term)) == 1 and not self._is_name(term) for term in said
        )

    def _crowd(self, term: str) -> float:
        """Return the divisor of a term's evidence: a term that fires for many memories says little about each."""
        return math.sqrt(max(1.0, self._times.get(term, 1) / FREE_MEMORIES))

    def _telling(self, term: str) -> float:
        """Return the weight of a term by itself. Words of every project (git, npm, login) weigh less than a name."""
        words = [word for word in language().words(term) if not language().is_stop(word)]
        if self._is_name(term) or not words:
            return 1.0
        return max(
            PROJECT_WORD_WEIGHT if self._words.rarity.is_name(word) else self._words.rarity(word)
            for word in words
        )

    def _is_name(self, term: str) -> bool:
        """Return whether a term is a name, a path or a number, not ordinary words."""
        if any(sign in NAME_SIGNS for sign in term):
            return True
        return any(
            len(word) >= NAME_CHARS and self._words.rarity.is_name(word)
            for word in language().words(term)
        )


def fired_beside(
    sources: Sources, question: Question, fired: Mapping[str, Fired]
) -> dict[str, Fired]:
    """Return the memories whose patterns fire in pasted text or, for a short request, in the last exchange."""
    found: dict[str, Fired] = {}
    for how, situation in ((RECENT, question.recent), (PASTED, question.pasted)):
        parts = sources.fired(situation) if situation else {}
        found |= {
            id: Fired(how, part.text)
            for id, part in parts.items()
            if id not in fired and part.how != WORDS
        }
    return found


# Decide which scored memories are relevant enough to be injected, and give the reason for each of
# the others.

CRITICAL = IMPORTANCE[-1]  # always included if its condition fires (SPEC-0009)
MIN_TITLE_WORDS = (
    3  # if a task contains all words of such a title, it means that memory, whatever its score
)
MAX_VOTES_AGAINST = 2  # harmful minus helpful votes from which a memory is never injected


def gate(
    scored: list[Scored], profile: Profile, limits: Limits, question: Question
) -> list[Scored]:
    """Mark the items that must not be injected with the reason. Each item is judged independently of the others."""
    gated = []
    for item in scored:
        named = is_named(item.memory.title, question.title_stems)
        out = _why_out(item, named, profile, limits)
        out = (
            out
            or rests_on_withdrawn(item.signals)
            or lesson_held_back(item.memory, limits, question.at)
        )
        gated.append(replace(item, is_named=named, out=out))
    return gated


def is_named(title: str, asked: frozenset[str]) -> bool:
    """Return whether a task's stems contain all words of a title of three or more words, or equal the title's."""
    found = frozenset(language().stems(title))
    return bool(found) and found <= asked and (len(found) >= MIN_TITLE_WORDS or found == asked)


def votes_against(memory: Memory) -> int:
    """Return the number of harmful votes minus the number of helpful ones."""
    return memory.harmful - memory.helpful


def is_withdrawn(memory: Memory) -> bool:
    """Return whether a memory has so many harmful votes that it is never injected."""
    return votes_against(memory) >= MAX_VOTES_AGAINST


def has_fired(signals: Signals) -> bool:
    """Return whether a condition fired in the request itself, on more than words that any task contains."""
    fired = signals.fired
    return fired is not None and fired.how not in (PASTED, RECENT) and not signals.is_faint


def is_sure(signals: Signals) -> bool:
    """Return whether a condition fired as a pattern, not by some words of a sentence."""
    return has_fired(signals) and signals.fired is not None and signals.fired.how != WORDS


def stands_alone(item: Scored) -> bool:
    """Return whether an item passes whatever its confidence: the task names it, or it is critical and its pattern fired."""
    signals = item.signals
    return (
        item.is_named
        or (signals.shares_phrase and not signals.is_faint)
        or (item.memory.importance == CRITICAL and is_sure(signals))
    )


def _why_out(item: Scored, named: bool, profile: Profile, limits: Limits) -> Reason | None:
    signals, memory = item.signals, item.memory
    counts_votes = "feedback" in profile.demotions
    if counts_votes and is_withdrawn(memory):
        return Reason("withdrawn", (memory.harmful, memory.helpful))
    if profile.gate == FIRED:
        return None if has_fired(signals) else Reason("nothing-fired")
    if profile.min_similarity and signals.cosine < profile.min_similarity:
        return Reason("not-similar", (signals.cosine, profile.min_similarity))
    if stands_alone(replace(item, is_named=named)):
        return None
    if counts_votes and votes_against(memory) > 0 and not has_fired(signals):
        return Reason("voted-harmful")
    if signals.confidence < limits.min_confidence:
        return Reason("not-confident", (signals.confidence, limits.min_confidence))
    return None


def rests_on_withdrawn(signals: Signals) -> Reason | None:
    """Return the reason if a memory was made from a withdrawn one and must not be injected; else None."""
    source = next((source for source in signals.weak if source.holds_back), None)
    return Reason("weak-source", (source.id, source.why)) if source else None


def lesson_held_back(memory: Memory, limits: Limits, now: int) -> Reason | None:
    """Return why a lesson is not injected; None if it may be injected, and for other kinds of memories."""
    if memory.kind != "lesson":
        return None
    said = str(memory.extra.get("ruleConfidence", ""))
    try:
        unsure = float(said) < limits.min_lesson_confidence
    except ValueError:
        unsure = False
    if unsure:
        return Reason("unsure-lesson", (said, limits.min_lesson_confidence))
    seen = max(memory.created, memory.last_observed)
    age = (now - seen) // DAY
    return (
        Reason("old-lesson", (age, limits.lesson_days))
        if seen and age >= limits.lesson_days
        else None
    )


# Explain recall to people: turn its codes and values into sentences.

MIN_SHOWN_EVIDENCE = 0.005  # evidence that adds less is not shown


def why_fired(item: Scored) -> str:
    """Return a sentence about the part of a condition that fired; empty if none did."""
    return item.signals.fired.sentence if item.signals.fired else ""


def explain_score(item: Scored) -> list[str]:
    """Return a line per factor and per piece of evidence. A linked memory has no factors: return the link instead."""
    if not item.factors:
        return [why_fired(item)] if item.signals.fired else []
    factors = (*item.factors, *item.order)
    lines = [f"{f.name:16} {f.value:7.3f} × {f.weight:g}   {f.why}" for f in factors]
    if item.is_named:
        lines.append("the task contains the words of its title: no minimum applies")
    return [*lines, *_evidence_lines(item)]


def _evidence_lines(item: Scored) -> list[str]:
    """Return the evidence for and against relevance, the strongest first, and the resulting confidence."""
    values = dict(item.signals.evidence)
    added = sorted(weighed_evidence(values), key=lambda part: -abs(part[2]))
    told = [part for part in added if abs(part[2]) >= MIN_SHOWN_EVIDENCE]
    lines = [
        f"{name:17} {value:7.3f} → {more:+.2f}   {EVIDENCE_TEXTS[name]}"
        for name, value, more in told
    ]
    return [
        *lines,
        f"{'confidence':17} {item.signals.confidence:7.3f}   the probability that it is relevant",
    ]
