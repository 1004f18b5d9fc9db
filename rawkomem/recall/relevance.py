"""Judge whether a memory is relevant to a task: evidence, confidence and gate.

Each memory is judged by itself, no matter how well other memories fit. The usual values of the
repository (the cosine of memories with any prompt, the number of memories that contain a word) come
only from vouched memories. So nobody can change the result for these by adding other memories.
"""

from __future__ import annotations

import math

from ..embed.static import Rarity
from ..index.stores.sqlite import DEEP, FIRST, WHEN, Compared, Holders
from ..model.entries import Memory
from ..model.values import DAY, IMPORTANCE, TYPE_CHECKING, record, replace
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
# It is a logistic regression over named values (tools/fit_gate.py). The weights of fired
# conditions and of small repositories were set by hand: somebody who writes a condition expects
# that it causes a recall.

BIAS = "bias"
SET_WEIGHTS = {
    "fired_few": 7.0,
    "fired": 3.5,
    "fired_far": -5.0,
    "fired_path": 2.5,
    "recent_name": 1.5,
    "few_memories": 0.5,
}
FIRST_WEIGHTS = {  # with the vectors of the first tier only, usually the bundled static ones
    "meaning": 1.57, "condition_meaning": 0.02, "agreement": 3.28, "unusual": 0.65, "shared_words": 0.65,
    "rare_word": 1.57, "pasted_name": -1.28, "pasted_short": 4.26, "pasted_thin": 5.07, "thin": 0.25,
    "long": 0.11, "spoken": -0.36, "spoken_meaning": 6.78, "spoken_unusual": -0.64, BIAS: -6.45, **SET_WEIGHTS,
}  # fmt: skip
DEEP_WEIGHTS = {  # with the contextual vectors and those of the first tier
    "meaning": 2.58, "condition_meaning": 0.83, "agreement": 1.00, "unusual": 0.72, "shared_words": 0.13,
    "rare_word": 1.62, "pasted_name": -0.11, "pasted_short": 2.85, "pasted_thin": 5.03, "thin": 0.47,
    "long": 0.07, "first_meaning": -1.54, "first_unusual": 0.33, "spoken": -0.88, "spoken_meaning": 7.71,
    "spoken_agreement": 6.20, "spoken_unusual": -1.19, BIAS: -6.68, **SET_WEIGHTS,
}  # fmt: skip
EVIDENCE_TEXTS = {  # evidence → its description in `rawkomem why`
    "meaning": "cosine of the passage or condition that is closest to a sentence of the task",
    "condition_meaning": "cosine of the closest condition that is a sentence",
    "agreement": "cosine of the second closest passage or condition",
    "unusual": "how far the highest cosine is above the average of this repository, in standard deviations",
    "shared_words": "words shared with the task, weighed by how rare they are",
    "rare_word": "a shared word that few memories contain",
    "fired_few": "a pattern of whenToUse fires in a task of few words",
    "fired": "a pattern of whenToUse fires; less in a task of many words",
    "fired_path": "a pattern of whenToUse fires in a path only",
    "fired_far": "a pattern of whenToUse fires, but the memory is far from the task in meaning",
    "recent_name": "a pattern of whenToUse names something in the exchange before a task of few words",
    "pasted_name": "a pattern of whenToUse names something in the pasted text",
    "pasted_short": "a pattern of whenToUse names something in the pasted text, and the task says little else",
    "pasted_thin": "a pattern of whenToUse names something in the pasted text, and the task says almost nothing else",
    "spoken": "most conditions of the memory are sentences, so only their meaning can match",
    "spoken_meaning": "cosine of the closest condition, if most conditions are sentences",
    "spoken_agreement": "cosine of the second closest passage or condition, if most conditions are sentences",
    "spoken_unusual": "the value of 'unusual', if most conditions are sentences",
    "first_meaning": "the value of 'meaning' with the static vectors",
    "first_unusual": "the value of 'unusual' with the static vectors",
    "thin": "the task has fewer than three content words",
    "long": "the task has many content words",
    "few_memories": "the repository is small: each memory is more likely to be relevant",
    BIAS: "the start value of every memory",
}


def weighed_evidence(values: Mapping[str, float], deep: bool) -> list[tuple[str, float, float]]:
    """Return (name, value, what it adds) for each piece of evidence. The sum of the added parts is the log odds."""
    weights = DEEP_WEIGHTS if deep else FIRST_WEIGHTS
    terms = {**values, **crossed_values(values), BIAS: 1.0}
    return [
        (name, terms.get(name, 0.0), terms.get(name, 0.0) * weight)
        for name, weight in weights.items()
    ]


def crossed_values(values: Mapping[str, float]) -> dict[str, float]:
    """Return products of values that count only together.

    A name in pasted text is the subject if the task says little else. If conditions are sentences, meaning decides.
    """
    pasted, spoken = values.get("pasted_name", 0.0), values.get("spoken", 0.0)
    return {
        "pasted_thin": pasted * values.get("thin", 0.0),
        "pasted_short": pasted * values.get("short", 0.0),
        "spoken_meaning": spoken * values.get("condition_meaning", 0.0),
        "spoken_agreement": spoken * values.get("agreement", 0.0),
        "spoken_unusual": spoken * values.get("unusual", 0.0),
    }


def confidence_of(values: Mapping[str, float], deep: bool) -> float:
    """Return the probability that a memory with this evidence is relevant."""
    total = sum(added for _, _, added in weighed_evidence(values, deep))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


# Compute the evidence for and against the relevance of a memory to a task, as named values.
#
# Each memory is judged by itself, no matter how well other memories fit. The usual values of the
# repository (the cosine of memories with any prompt, the number of memories that contain a word)
# come only from vouched memories. So nobody can change the result for these by adding other
# memories.

MAX_WORDS = 12  # of a request that are looked up, the rarest first
MAX_HOLDING = 100  # memories with a word that are counted; with more, the word is common
NOBODY: Holders = (0, frozenset())  # no memory contains the word
MAX_COMPARED = 2_000  # passages of the candidates and the sample that a sentence is compared with
USUAL_MEMORIES = 40  # in a smaller repository, each memory is more likely to be relevant
SAMPLE_MEMORIES = 40  # whose cosines with a prompt count as usual
USUAL_MEAN, USUAL_SPREAD, USUAL_WEIGHT = (
    0.12,
    0.11,
    12,
)  # prior for small repositories, in cosines and samples
RARE_MEMORIES = 3  # a word that at most this many memories contain is rare
SUMMED_WORDS = 4  # rarest shared words whose weights are added
CLOSE_COSINE = 0.35  # below this cosine, a fired condition counts less
LONE_COSINE = 0.4  # … and below this one, a fired single ordinary word counts less
FULL_TERM_WEIGHT = 0.5  # from this weight on, a term that fires counts fully
FREE_MEMORIES = 4  # if more memories share a condition's term, it counts less
SHORT_WORDS, FEW_WORDS, LONG_WORDS = 6, 10, 25  # content words of a request
NAME_SIGNS = "_-./:~0123456789"  # a term with one of these is a name, a path or a number
PROJECT_WORD_WEIGHT = 0.35  # of a short word that is not in the vocabulary
NAME_CHARS = (
    6  # of a word that is not in the vocabulary; shorter ones (git, npm) are in every project
)


@record
class Usual:
    """Mean and spread of the cosines of one sentence with a sample of the memories."""

    mean: float
    spread: float


def with_evidence(
    sources: Sources, question: Question, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return the candidates, each with its evidence and the probability that it is relevant."""
    if not candidates:
        return []
    sample = sources.sample(SAMPLE_MEMORIES)
    spoken = {memory.id: _sentences_at(memory) for memory, _ in candidates}
    near = _closeness(sources, question, candidates, sample, spoken)
    said = _Words(sources, question, [memory.id for memory, _ in candidates])
    fired = _Terms(question, candidates, said)
    asked = {
        **_length_evidence(question),
        "few_memories": math.log(USUAL_MEMORIES / min(USUAL_MEMORIES, len(sample) or 1)),
    }
    judged = []
    for memory, signals in candidates:
        values = {**asked, **near.get(memory.id, {}), **said.shared(memory), **fired.of(memory)}
        values["spoken"] = float(2 * len(spoken[memory.id]) > len(memory.when))
        values["few_memories"] *= 1 - values["spoken"]  # for sentences, the cosine is enough
        if fired.is_lone(memory) and "meaning" in values:
            values["fired_few"] = (
                values.get("fired_few", 0.0)
                * min(1.0, max(0.0, values["meaning"]) / LONE_COSINE) ** 2
            )
        if signals.is_faint:
            values |= dict.fromkeys(("fired", "fired_few", "fired_path"), 0.0)
        values["fired_far"] = values.get("fired", 0.0) * max(
            0.0, CLOSE_COSINE - values.get("meaning", 0.0)
        )
        deep = sources.spaces.deep is not None
        judged.append(
            (
                memory,
                replace(
                    signals, evidence=tuple(values.items()), confidence=confidence_of(values, deep)
                ),
            )
        )
    return judged


def _length_evidence(question: Question) -> Values:
    """Return the evidence from the prompt's length: a short prompt rarely needs a memory."""
    count = len(question.content)
    return {
        "thin": float(count < THIN_WORDS),
        "short": float(count < SHORT_WORDS),
        "long": math.log1p(max(0, count - LONG_WORDS)),
    }


def _closeness(
    sources: Sources, question: Question, candidates: Sequence[Candidate], sample: Sequence[str],
    spoken: Mapping[str, frozenset[int]],
) -> dict[str, Values]:  # fmt: skip
    """Return for each memory its cosine with the closest sentence of the prompt, and how unusual that is."""
    if not question.sentences:
        return {}
    doubted = {memory.id for memory, signals in candidates if signals.unverified}
    vouched = ({memory.id for memory, _ in candidates} | set(sample)) - doubted
    # Two groups, because only MAX_COMPARED passages are compared: unvouched memories must not displace vouched ones.
    ids = [tuple(sorted(group)) for group in (vouched, doubted) if group]
    first = _closeness_in_tier(sources, sources.spaces.first, FIRST, question, ids, sample, spoken)
    if sources.spaces.deep is None:
        return first
    deep = _closeness_in_tier(sources, sources.spaces.deep, DEEP, question, ids, sample, spoken)
    return {
        id: {
            **deep.get(id, values),
            "first_meaning": values["meaning"],
            "first_unusual": values["unusual"],
        }
        for id, values in first.items()
    }


def _sentences_at(memory: Memory) -> frozenset[int]:
    """Return the indexes of a memory's conditions that are sentences, not patterns."""
    return frozenset(at for at, condition in enumerate(memory.when) if is_sentence(condition))


def _closeness_in_tier(
    sources: Sources, embedder: Embedder, tier: str, question: Question,
    ids: Sequence[tuple[str, ...]], sample: Sequence[str], spoken: Mapping[str, frozenset[int]],
) -> dict[str, Values]:  # fmt: skip
    found: dict[str, Values] = {}
    closest: dict[str, dict[int, float]] = {}  # memory → passage → cosine with the closest sentence
    unusual: dict[str, float] = {}
    condition: dict[str, float] = {}  # memory → cosine of its closest condition that is a sentence
    usual = frozenset(sample)
    for hits in _cosines(
        sources.store, embedded_texts(sources.spaces, embedder, question.sentences), ids, tier
    ):
        common = _usual_cosines([cosine for id, _, _, cosine in hits if id in usual])
        near = [hit for hit in hits if hit[0] in spoken]
        first_condition: dict[str, int] = {}
        for id, number, field, _ in near:
            if field == WHEN and number < first_condition.get(id, MAX_COMPARED):
                first_condition[id] = number
        best: dict[str, float] = {}
        for id, number, field, cosine in near:
            own = closest.setdefault(id, {})
            if cosine > own.get(number, -1.0):
                own[number] = cosine
            if cosine > best.get(id, -1.0):
                best[id] = cosine
            if (
                field == WHEN
                and cosine > condition.get(id, 0.0)
                and number - first_condition[id] in spoken[id]
            ):
                condition[id] = cosine
        for id, cosine in best.items():
            unusual[id] = max(unusual.get(id, -9.0), (cosine - common.mean) / common.spread)
    for id, cosines in closest.items():
        best_two = sorted(cosines.values())[-2:]
        found[id] = {
            "meaning": best_two[-1],
            "unusual": unusual.get(id, -9.0),
            "condition_meaning": condition.get(id, 0.0),
            "agreement": best_two[0],  # of the second closest passage or condition
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


def _usual_cosines(cosines: Sequence[float]) -> Usual:
    """Return mean and spread of the cosines with the sample, mixed with a prior that matters if there are few."""
    count = len(cosines) + USUAL_WEIGHT
    mean = (sum(cosines) + USUAL_WEIGHT * USUAL_MEAN) / count
    square = sum((cosine - mean) ** 2 for cosine in cosines) + USUAL_WEIGHT * USUAL_SPREAD**2
    return Usual(mean, max(0.01, math.sqrt(square / count)))


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

    def shared(self, memory: Memory) -> Values:
        """Return the evidence from the words that a memory shares with the request."""
        held = self._holding.get(memory.vouched) or self._usual
        words = [word for word, (_, ids) in held.items() if memory.id in ids]
        weights = sorted(map(self.weight, words), reverse=True)
        few = max(RARE_MEMORIES, self._count // 50)
        rare = [self.rarity(word) for word in words if self._usual.get(word, NOBODY)[0] <= few]
        return {"shared_words": sum(weights[:SUMMED_WORDS]), "rare_word": max(rare, default=0.0)}


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
        for condition in read_conditions(memory.when):
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


def _why_out(item: Scored, named: bool, profile: Profile, limits: Limits) -> Reason | None:
    signals, memory = item.signals, item.memory
    counts_votes = "feedback" in profile.demotions
    if counts_votes and is_withdrawn(memory):
        return Reason("withdrawn", (memory.harmful, memory.helpful))
    if profile.gate == FIRED:
        return None if has_fired(signals) else Reason("nothing-fired")
    if profile.min_similarity and signals.cosine < profile.min_similarity:
        return Reason("not-similar", (signals.cosine, profile.min_similarity))
    if (
        named
        or (signals.shares_phrase and not signals.is_faint)
        or (memory.importance == CRITICAL and is_sure(signals))
    ):
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
    lines = [f"{f.name:16} {f.value:7.3f} × {f.weight:g}   {f.why}" for f in item.factors]
    if item.is_named:
        lines.append("the task contains the words of its title: no minimum applies")
    return [*lines, *_evidence_lines(item)]


def _evidence_lines(item: Scored) -> list[str]:
    """Return the evidence for and against relevance, the strongest first, and the resulting confidence."""
    values = dict(item.signals.evidence)
    added = sorted(
        weighed_evidence(values, "first_meaning" in values), key=lambda part: -abs(part[2])
    )
    told = [part for part in added if abs(part[2]) >= MIN_SHOWN_EVIDENCE]
    lines = [
        f"{name:17} {value:7.3f} → {more:+.2f}   {EVIDENCE_TEXTS[name]}"
        for name, value, more in told
    ]
    return [
        *lines,
        f"{'confidence':17} {item.signals.confidence:7.3f}   the probability that it is relevant",
    ]
