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
from .scoring import FIRED, Profile, Reason, Scored, why_fired
from .signals import THIN_WORDS, Limits, Question, Signals, embedded_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
# memories with a word that are counted; with more, the word is common
MAX_HOLDING = 100
NOBODY: Holders = (0, frozenset())  # no memory contains the word
MAX_COMPARED = 2_000  # passages of the candidates that a sentence is compared with
USUAL_MEMORIES = 40  # in a smaller repository, the best search score says less
SUMMED_WORDS = 4  # rarest shared words whose weights are added
# above this cosine, a task says nearly the same as a condition that is a sentence
SAME_COSINE = 0.6
CLOSE_COSINE = 0.35  # below this cosine, a fired condition counts less
LONE_COSINE = 0.4  # … and below this one, a fired single ordinary word counts less
FULL_TERM_WEIGHT = 0.5  # from this weight on, a term that fires counts fully
FREE_MEMORIES = 4  # if more memories share a condition's term, it counts less
FEW_WORDS, LONG_WORDS = 10, 25  # content words of a request
# a term with one of these is a name, a path or a number
NAME_SIGNS = "_-./:~0123456789"
PROJECT_WORD_WEIGHT = 0.35  # of a short word that is not in the vocabulary
# of a word that is not in the vocabulary; shorter ones (git, npm) are in every project
NAME_CHARS = 6


def with_evidence(
    sources: Sources, question: Question, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return the candidates, each with its evidence and the probability that it is relevant."""
    if not candidates:
        return []
    sentences = {
        memory.id: [
            at for at, condition in enumerate(memory.when) if is_sentence(condition)
        ]
        for memory, _ in candidates
    }
    near = _closeness(sources, question, candidates, sentences)
    words = _Words(sources, question, [memory.id for memory, _ in candidates])
    fired = _fired_terms(sources, question, candidates, words)
    count = len(question.content)
    thin, beyond = float(count < THIN_WORDS), math.log1p(max(0, count - LONG_WORDS))
    known = min(1.0, sources.count() / USUAL_MEMORIES)
    judged = []
    for memory, signals in candidates:
        values = {**near.get(memory.id, {}), **fired.get(memory.id, {})}
        if values.pop("lone", 0.0) and "meaning" in values:
            values["fired_few"] *= (
                min(1.0, max(0.0, values["meaning"]) / LONE_COSINE) ** 2
            )
        meaning, shared = values.get("meaning", 0.0), words.shared(memory)
        spoken = float(2 * len(sentences[memory.id]) > len(memory.when))
        said_close = values.get("condition_meaning", 0.0)
        values |= {
            # the best of a few memories may be far from the task
            "search": signals.score * known,
            "shared_words": shared,
            "shared_in_long": shared * beyond,
            "thin": thin,
            "spoken": spoken,
            "spoken_meaning": spoken * said_close,
            "spoken_close": spoken * max(0.0, said_close - SAME_COSINE),
            "no_condition": float(not memory.when),
            "fired_far": values.get("fired", 0.0) * max(0.0, CLOSE_COSINE - meaning),
            # for sentences, the cosine is enough
            "few_memories": -math.log(known) * (1 - spoken),
            "pasted_thin": values.get("pasted_name", 0.0) * thin,
        }
        evidence, confidence = tuple(values.items()), confidence_of(values)
        judged.append(
            (memory, replace(signals, evidence=evidence, confidence=confidence))
        )
    return judged


def _closeness(
    sources: Sources,
    question: Question,
    candidates: Sequence[Candidate],
    sentences: Mapping[str, Sequence[int]],
) -> dict[str, Values]:
    """Return for each memory the cosines of its passages and conditions with the closest sentence of the prompt.

    `sentences`: memory → the indexes of its conditions that are sentences. Memories that the second tier of vectors does not hold yet are compared in the first.
    """
    # Two groups, because only MAX_COMPARED passages are compared: unvouched memories must not displace vouched ones.
    vouched = sorted(
        memory.id for memory, signals in candidates if not signals.unverified
    )
    doubted = sorted(memory.id for memory, signals in candidates if signals.unverified)
    found: dict[str, Values] = {}
    for embedder, tier in ((sources.spaces.deep, DEEP), (sources.spaces.first, FIRST)):
        if embedder is None or len(found) == len(candidates) or not question.sentences:
            continue
        passages: dict[str, dict[int, float]] = {}  # memory → passage → closest cosine
        # memory → cosine of its closest condition that is a sentence
        spoken: dict[str, float] = {}
        vectors = embedded_texts(sources.spaces, embedder, question.sentences)
        for group in filter(None, (vouched, doubted)):
            for hits in sources.store.compared(vectors, group, tier, MAX_COMPARED):
                first = _first_conditions(hits)
                for id, number, field, cosine in hits:
                    own = passages.setdefault(id, {})
                    own[number] = max(cosine, own.get(number, -1.0))
                    if field == WHEN and number - first[id] in sentences[id]:
                        spoken[id] = max(cosine, spoken.get(id, 0.0))
        for id in passages.keys() - found.keys():
            best = sorted(passages[id].values())
            found[id] = {
                "meaning": best[-1],
                "agreement": best[-2:][0],  # of the second closest, if there is one
                "condition_meaning": spoken.get(id, 0.0),
            }
    return found


def _first_conditions(hits: Sequence[Compared]) -> dict[str, int]:
    """Return memory → number of the passage that is its first condition."""
    first: dict[str, int] = {}
    for id, number, field, _ in hits:
        if field == WHEN:
            first[id] = min(number, first.get(id, number))
    return first


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

    def is_name(self, term: str) -> bool:
        """Return whether a term is a name, a path or a number, not ordinary words."""
        if any(sign in NAME_SIGNS for sign in term):
            return True
        words = language().words(term)
        return any(
            len(word) >= NAME_CHARS and self.rarity.is_name(word) for word in words
        )

    def telling(self, term: str) -> float:
        """Return the weight of a term by itself. Words of every project (git, npm, login) weigh less than a name."""
        words = [
            word for word in language().words(term) if not language().is_stop(word)
        ]
        if self.is_name(term) or not words:
            return 1.0
        return max(
            PROJECT_WORD_WEIGHT if self.rarity.is_name(word) else self.rarity(word)
            for word in words
        )


def _fired_terms(
    sources: Sources, question: Question, candidates: Sequence[Candidate], words: _Words
) -> dict[str, Values]:
    """Return for each memory the evidence from its conditions that fired.

    A term that fires for many vouched memories says little about each, and in a long request any term may occur by
    chance. `lone`: only single ordinary words fired, like "git" in "show me the git log".
    """
    fired = [(memory, signals) for memory, signals in candidates if signals.fired]
    expect_conditions(sources.view.catalogue.db, [memory.id for memory, _ in fired])
    terms = {memory.id: _terms_of(memory, question) for memory, _ in fired}
    # term → number of vouched memories whose conditions it fires
    times: dict[str, int] = {}
    for memory, signals in fired:
        for term in (
            () if signals.unverified else {term for term, _ in terms[memory.id]}
        ):
            times[term] = times.get(term, 0) + 1
    count = len(question.content)
    found: dict[str, Values] = {}
    for memory, signals in fired:
        part = signals.fired
        said = [term for term, is_said in terms[memory.id] if is_said]
        if not terms[memory.id]:
            if part and part.how in (PASTED, RECENT):
                found[memory.id] = {f"{part.how}_name": float(words.is_name(part.text))}
        elif signals.is_faint:
            continue
        elif not said:
            found[memory.id] = {"fired_path": 1.0}
        else:
            crowds = [max(1.0, times.get(term, 1) / FREE_MEMORIES) for term in said]
            weights = map(words.telling, said)
            best = max(
                own / math.sqrt(crowd)
                for own, crowd in zip(weights, crowds, strict=True)
            )
            telling = min(1.0, best / FULL_TERM_WEIGHT)
            if count > FEW_WORDS:
                found[memory.id] = {
                    "fired": telling / max(1.0, count / LONG_WORDS) ** 2
                }
            else:
                single = all(len(language().words(term)) == 1 for term in said)
                lone = single and not any(map(words.is_name, said))
                found[memory.id] = {"fired_few": telling, "lone": float(lone)}
    return found


def _terms_of(memory: Memory, question: Question) -> list[tuple[str, bool]]:
    """Return the terms of patterns that fire in the request, and whether they fire outside of paths."""
    situation, said = question.situation, question.said
    found: list[tuple[str, bool]] = []
    if situation is None or said is None:
        return found
    for condition in read_conditions(memory.when, situation.engine):
        is_split = condition.form == ALTERNATIVES
        for parts in (
            ([part] for part in condition.parts) if is_split else [condition.parts]
        ):
            one = replace(condition, parts=tuple(parts))
            fired = fires(one, situation)
            if fired and fired.how != WORDS:
                found.append((fired.text, fired.how == PATH or bool(fires(one, said))))
    return found


def fired_beside(
    sources: Sources, question: Question, fired: Mapping[str, Fired]
) -> dict[str, Fired]:
    """Return the memories whose patterns fire in pasted text or, for a short request, in the last exchange."""
    found: dict[str, Fired] = {}
    for how, situation in ((RECENT, question.recent), (PASTED, question.pasted)):
        for id, part in sources.fired(situation).items() if situation else ():
            if id not in fired and part.how != WORDS:
                found[id] = Fired(how, part.text)
    return found


# Decide which scored memories are relevant enough to be injected, and give the reason for each of
# the others.

CRITICAL = IMPORTANCE[-1]  # always included if its condition fires (SPEC-0009)
# if a task contains all words of such a title, it means that memory, whatever its score
MIN_TITLE_WORDS = 3
# harmful minus helpful votes from which a memory is never injected
MAX_VOTES_AGAINST = 2


def gate(
    scored: list[Scored], profile: Profile, limits: Limits, question: Question
) -> list[Scored]:
    """Mark the items that must not be injected with the reason. Each item is judged independently of the others."""
    gated = []
    for item in scored:
        item = replace(item, is_named=is_named(item.memory.title, question.title_stems))
        gated.append(replace(item, out=_why_out(item, profile, limits, question.at)))
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
    return (
        fired is not None and fired.how not in (PASTED, RECENT) and not signals.is_faint
    )


def is_sure(signals: Signals) -> bool:
    """Return whether a condition fired as a pattern, not by some words of a sentence."""
    return (
        has_fired(signals) and signals.fired is not None and signals.fired.how != WORDS
    )


def stands_alone(item: Scored) -> bool:
    """Return whether an item passes whatever its confidence: the task names it, or it is critical and its pattern fired."""
    signals = item.signals
    return (
        item.is_named
        or (signals.shares_phrase and not signals.is_faint)
        or (item.memory.importance == CRITICAL and is_sure(signals))
    )


def _why_out(item: Scored, profile: Profile, limits: Limits, at: int) -> Reason | None:
    signals, memory = item.signals, item.memory
    counts_votes = "feedback" in profile.demotions
    source = next((source for source in signals.weak if source.holds_back), None)
    is_sure_enough = stands_alone(item) or signals.confidence >= limits.min_confidence
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
    elif not is_sure_enough:
        return Reason("not-confident", (signals.confidence, limits.min_confidence))
    if source:
        return Reason("weak-source", (source.id, source.why))
    return lesson_held_back(memory, limits, at)


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
