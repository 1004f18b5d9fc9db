"""Score candidates by the factors of a profile. To add a factor, add a row to FACTORS and give it a
weight in a profile.

Also the reasons why a memory is not injected: a code for programs, and a sentence for people.
"""

from __future__ import annotations

import math

from ..model.entries import Memory
from ..model.errors import BadInput, check_known
from ..model.values import (
    DAY,
    TYPE_CHECKING,
    days_since,
    extra_value,
    record,
    replace,
    time_of,
)
from ..state.trust import Standing, explain_trust, type_of
from ..text.chunks import counted
from .signals import (
    MAX_FULL,
    MAX_INJECTED,
    MAX_SIMILAR,
    MIN_SIMILARITY,
    SPECIALTIES,
    Question,
    Signals,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Facts = tuple[object, ...]
    Value = tuple[float, Facts] | None
    Compute = Callable[[Memory, Signals, Question], Value]


WHY_NOT = {  # code of a Reason → its sentence
    "withdrawn": "voted harmful: {} harmful votes, {} helpful",
    "voted-harmful": "voted harmful: similarity alone is not enough",
    "nothing-fired": "no whenToUse condition fired",
    "not-similar": "similarity {:.2f} is below the profile's {:g}",
    "not-confident": "not relevant enough: confidence {:.2f}, {:g} is needed",
    "unsure-lesson": "the lesson has confidence {}: {:g} is needed",
    "old-lesson": "the lesson was stored or confirmed {} days ago: lessons are injected for {} days",
    "weak-source": "it was made from {}, which is {}",
    "crowded-out": "too many memories share something with the task: only the best of them are scored",
    "outdated": "superseded by a newer memory? {} contradicts it: 'rawkomem review' shows both",
    "full": "only {} are injected",
    "unimportant": "importance {} is below {}",
    "twin": "says the same as {}",
    "vouched-twin": "says the same as {}, for which a person vouches",
    "unverified": "unverified ({}): commit it or run 'rawkomem review {} --activate'",
    "told": "the session received it before, and its context was not compacted since",
    "over-budget": "needs {} tokens, {} are left",
    "not-in-use": "{}",
    "record": "the record of a run is injected only with --kind {}",
}
POINTED_TO = "only named as a pointer (title and file); "  # before the reason


@record
class Reason:
    """Why a memory is not injected: a code, and the values of its sentence."""

    code: str
    values: tuple[object, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the reason as a sentence for people."""
        return WHY_NOT[self.code].format(*self.values)


# Compute the named factors of a score. To add one, add a row to FACTORS and give it a weight in a
# profile.

HOUR_MS = DAY // 24

POINTS = {"low": 5, "medium": 15, "high": 25, "critical": 30}  # SPEC-0009
TAXONOMY = {  # weight of each type, as in Memory Lane
    **dict.fromkeys(("correction", "decision", "commitment"), 1.0),
    **dict.fromkeys(("insight", "learning", "confidence"), 0.7),
    **dict.fromkeys(("pattern_seed", "cross_agent", "workflow_note", "gap"), 0.4),
}
UNTYPED_WEIGHT = 0.7  # a memory without a type counts like a learning
INTENTS = {  # words of a question → types that it asks for, as in Memory Lane
    ("mistake", "wrong", "error"): ("correction", "gap"),
    ("decided", "chose", "choice"): ("decision",),
    ("pattern", "usually", "habit"): ("pattern_seed", "commitment"),
    ("learned", "realized"): ("learning", "insight"),
}
INTENT_BOOST = 1.15
DECAY_STEPS = ((7, 1.0), (30, 0.8), (90, 0.6))  # days since last access → factor
MIN_DECAY = 0.4  # … for more days
DEFAULT_CONFIDENCE = 70.0  # of a memory that states none, as in Memory Lane
# each vote multiplies by this …
HELPFUL_VOTE = 1.1
HARMFUL_VOTE = 0.5
# … within bounds
MIN_FEEDBACK = 0.1
MAX_FEEDBACK = 2.0
# The value of a citation. What a memory says may still hold for changed code, but hardly for removed code. Code that
# cannot be read does not change the score.
CITATION_VALUES = {"fresh": 1.0, "stale": 0.5, "gone": 0.3, "unknown": 1.0}


@record
class Factor:
    """One part of a score. `sentence` is a format string for the facts."""

    name: str
    value: float
    weight: float
    sentence: str = ""
    facts: Facts = ()

    @property
    def why(self) -> str:
        """Return the sentence with the facts filled in."""
        return self.sentence.format(*self.facts)


def compute_factor(
    name: str, weight: float, memory: Memory, signals: Signals, question: Question
) -> Factor | None:
    """Return the factor of that name for one memory; None if the memory has no data for it."""
    compute, sentence = FACTORS[name]
    computed = compute(memory, signals, question)
    if computed:
        return Factor(name, computed[0], weight, sentence, computed[1])
    return None


def _when_to_use(memory: Memory, signals: Signals, question: Question) -> Value:
    """Return 1 if a condition fired; 0 if it is a sentence of which words matched, or if any task has these words."""
    if not signals.fired:
        return 0.0, ("no condition fired", "")
    if signals.is_faint:
        return 0.0, (
            "whenToUse fired only on words that any task contains: ",
            signals.fired.sentence,
        )
    return float(not signals.fired.by_words), (
        "whenToUse fired: ",
        signals.fired.sentence,
    )


def _recency(memory: Memory, signals: Signals, question: Question) -> Value:
    days = max(0.0, (question.at - (memory.updated or memory.created)) / DAY)
    return math.exp(-0.01 * days), (counted(round(days), "day"),)


def _recency_steps(memory: Memory, signals: Signals, question: Question) -> Value:
    """Return the recency of SPEC-0009: 10 points under 24 hours, 5 under 72 hours, none for a future date."""
    age = question.at - memory.created
    if not memory.created or age < 0:
        return 0.0, ("at an unknown or future time",)
    value = 1.0 if age < 24 * HOUR_MS else 0.5 if age < 72 * HOUR_MS else 0.0
    return value, (f"{age / HOUR_MS:.0f} hours ago",)


def _title_words(memory: Memory, signals: Signals, question: Question) -> Value:
    """Return the title match of SPEC-0009: 5 points for each task word over 3 characters in the title, at most 20."""
    title = memory.title.lower()
    found = [
        word
        for word in question.task.lower().split()
        if len(word) > 3 and word in title
    ]
    return min(20, 5 * len(found)) / 20, (", ".join(found) or "none",)


def _specialty(memory: Memory, signals: Signals, question: Question) -> Value:
    """Return the specialty of SPEC-0009: 5 points for each tag that belongs to the agent's type, at most 15."""
    found = [
        tag for tag in memory.tags if tag.lower() in SPECIALTIES.get(question.agent, ())
    ]
    return min(15, 5 * len(found)) / 15, (
        question.agent or "no agent",
        ", ".join(found) or "none",
    )


def _trust(memory: Memory, signals: Signals, question: Question) -> Value:
    trust = signals.trust or explain_trust(memory, Standing(), question.at)
    return trust.value, (
        "; ".join(f"{name} {amount:+.2f} ({why})" for name, amount, why in trust.parts),
    )


def decay_factor(days: float) -> float:
    """Return the decay factor for the days since the last access (table of Memory Lane)."""
    return next((value for limit, value in DECAY_STEPS if days < limit), MIN_DECAY)


def _decay(memory: Memory, signals: Signals, question: Question) -> Value:
    touched = max(signals.accessed, memory.created, _last_access_said(memory))
    days = days_since(touched, question.at)
    given = str(extra_value(memory.extra, "confidence"))
    if given.isdecimal() and float(given) <= 100:
        confidence = float(given)
    else:
        confidence = DEFAULT_CONFIDENCE
    value = decay_factor(days)
    return value, (
        counted(round(days), "day"),
        effective_confidence(confidence, value),
        confidence,
    )


def effective_confidence(confidence: float, decay: float) -> int:
    """Return a memory's confidence after decay, from 0 to 100 (Memory Lane)."""
    return round(confidence * decay)


def feedback_score(helpful: int, harmful: int) -> float:
    """Return 1.1 to the power of helpful votes times 0.5 to the power of harmful votes, within [0.1, 2]."""
    return max(
        MIN_FEEDBACK, min(MAX_FEEDBACK, HELPFUL_VOTE**helpful * HARMFUL_VOTE**harmful)
    )


def _feedback(memory: Memory, signals: Signals, question: Question) -> Value:
    votes = (memory.helpful, memory.harmful)
    before = score_before(memory)
    if not any(votes) and before == 1.0:
        return None
    value = max(MIN_FEEDBACK, min(MAX_FEEDBACK, before * feedback_score(*votes)))
    return value, (*votes, f", {before:g} from before" if before != 1.0 else "")


def score_before(memory: Memory) -> float:
    """Return `feedbackScore` from the frontmatter, which another system computed; 1 if it is missing or invalid."""
    try:
        value = float(str(extra_value(memory.extra, "feedbackScore")) or 1.0)
    except ValueError:
        return 1.0
    return max(MIN_FEEDBACK, min(MAX_FEEDBACK, value)) if math.isfinite(value) else 1.0


def _last_access_said(memory: Memory) -> int:
    return time_of(extra_value(memory.extra, "lastAccessedAt"))


def _disputes(memory: Memory, signals: Signals, question: Question) -> Value:
    """Return 0.5 for each dispute that nobody answered by reinforcing or confirming the memory, multiplied."""
    answered = memory.reinforcements + memory.corroborations
    value = max(MIN_FEEDBACK, HARMFUL_VOTE ** max(0, memory.disputes - answered))
    return (value, (memory.disputes, answered)) if memory.disputes else None


def intent_types(question: str) -> tuple[str, ...]:
    """Return the types of memories that the words of a question ask for."""
    lower = question.lower()
    found = [
        kind
        for words, kinds in INTENTS.items()
        if any(word in lower for word in words)
        for kind in kinds
    ]
    return tuple(dict.fromkeys(found))


def _intent(memory: Memory, signals: Signals, question: Question) -> Value:
    wanted = intent_types(question.task)
    return INTENT_BOOST if type_of(memory) in wanted else 1.0, (
        ", ".join(wanted) or "no special type",
    )


def _citations(memory: Memory, signals: Signals, question: Question) -> Value:
    """Return the mean over the cited places, so that one changed place among many lowers the score only a little."""
    values = [CITATION_VALUES[cited.state] for cited in signals.cited]
    places = ", ".join(
        f"{cited.citation.place} {cited.state}" for cited in signals.cited
    )
    return (sum(values) / len(values), (places,)) if values else None


# name → function that computes it, and its sentence
FACTORS: dict[str, tuple[Compute, str]] = {
    "fit": (
        lambda m, s, q: (s.score, (s.words, s.cosine)),
        "words and meaning together, {:.2f} by words, cosine {:.2f}",
    ),
    "semantic": (
        lambda m, s, q: (max(0.0, s.cosine), (s.cosine,)),
        "cosine {:.2f} of the closest passage",
    ),
    "ranks": (
        lambda m, s, q: (s.ranks, ()),
        "reciprocal ranks by words and by meaning",
    ),
    "when_to_use": (_when_to_use, "{}{}"),
    "importance": (
        lambda m, s, q: (POINTS[m.importance] / POINTS["critical"], (m.importance,)),
        "importance {}",
    ),
    "recency": (_recency, "changed {} ago"),
    "recency_steps": (_recency_steps, "found {}"),
    "title_words": (_title_words, "title words: {}"),
    "specialty": (_specialty, "tags for {}: {}"),
    "same_discoverer": (
        lambda m, s, q: (float(m.by == q.agent != ""), (m.by or "nobody",)),
        "found by {}",
    ),
    "trust": (_trust, "{}"),
    "taxonomy": (
        lambda m, s, q: (
            TAXONOMY.get(type_of(m), UNTYPED_WEIGHT),
            (type_of(m) or "not given",),
        ),
        "type {}",
    ),
    "decay": (_decay, "last used {} ago: confidence {} of {:g}"),
    "feedback": (_feedback, "{} helpful, {} harmful{}"),
    "disputes": (_disputes, "{} disputed, {} reinforced or confirmed"),
    "intent": (_intent, "the task asks for {}"),
    "citations": (_citations, "multiplies the score; cites {}"),
}


# Define profiles: which factors count, with which weights, as a sum or as a product. A new profile
# needs no code.

SUM = "sum"
PRODUCT = "product"
# gates: relevant enough, or its condition fired; only if its condition fired
RELEVANT = "relevant"
FIRED = "fired"
# demotions that also lower the relevance and confidence that the gate checks
DOUBTS = (
    "feedback",
    "disputes",
)


@record
class Profile:
    """A formula over factors. `gate` is what a memory needs to pass."""

    name: str
    about: str
    combine: str
    weights: tuple[tuple[str, float], ...]
    gate: str = RELEVANT
    min_similarity: float = 0.0  # cosine; 0: no minimum
    min_similarity_with_entities: float = 0.0  # … for a search by entities
    max_score: float = 0.0  # 0: no cap
    # factors that multiply the sum, if a memory has data for them
    demotions: tuple[str, ...] = ()
    max_injected: int = MAX_INJECTED  # if the caller names no limit
    max_results: int = 0  # also if the caller names a higher limit; 0: no such limit
    # factors that order the memories that pass the gate
    order: tuple[tuple[str, float], ...] = ()
    by_density: bool = False  # pack by score for each token (neolata), not by score

    def uses(self, factor: str) -> bool:
        """Return whether a factor has a weight."""
        return any(name == factor for name, _ in self.weights)


PROFILES = {profile.name: profile for profile in (
    Profile(
        "fit",
        "default: words and meaning of the passage, its surroundings and the conditions; measured best on all sets",
        SUM, (("fit", 1.0), ("when_to_use", 0.05)), demotions=("citations", *DOUBTS), max_injected=MAX_FULL,
        order=(("importance", 0.3), ("recency", 0.1)),
    ),
    Profile(
        "rawko",
        "SPEC-0009: points for importance, recency, title words, the agent's specialty and who found it",
        SUM, (("importance", 30.0), ("recency_steps", 10.0), ("title_words", 20.0), ("specialty", 15.0),
              ("same_discoverer", 10.0)),
        gate=FIRED, max_score=100.0,
    ),
    Profile("mesh", "RFC-0011: reciprocal ranks of words and meaning, k = 60", SUM, (("ranks", 1.0),)),
    Profile(
        "composite",
        "neolata: similarity, trust, recency and importance as a weighted sum",
        SUM, (("semantic", 0.40), ("trust", 0.25), ("recency", 0.20), ("importance", 0.15)),
        by_density=True,
    ),
    Profile(
        "lane",
        "Memory Lane: similarity times type, decay, feedback and intent",
        PRODUCT, (("semantic", 1.0), ("taxonomy", 1.0), ("decay", 1.0), ("feedback", 1.0), ("intent", 1.0)),
        min_similarity=0.2, min_similarity_with_entities=0.15,
    ),
    Profile(
        "llmos",
        "LLMos: similarity alone, three results of at least 0.3",
        SUM, (("semantic", 1.0),), min_similarity=MIN_SIMILARITY, max_results=MAX_SIMILAR,
    ),
)}  # fmt: skip
DEFAULT_PROFILE = "fit"


def profile_of(text: str) -> Profile:
    """Return a profile by name, optionally with other weights: `composite`, `composite:trust=0.4`, `:ranks=1`."""
    name, _, changes = text.partition(":")
    name = name or DEFAULT_PROFILE
    check_known("profile", name, PROFILES)
    profile = PROFILES[name]
    return _with_weights(profile, changes) if changes else profile


def _with_weights(profile: Profile, changes: str) -> Profile:
    weights = dict(profile.weights)
    for change in changes.split(","):
        factor, _, text = (part.strip() for part in change.partition("="))
        check_known("factor", factor, FACTORS)
        try:
            weights[factor] = float(text)
        except ValueError:
            weights[factor] = -1.0
        if not 0 <= weights[factor] < math.inf:
            message = f"the weight of {factor} must be a number from 0, not {text!r}"
            raise BadInput(message, "use a weight like trust=0.4")
    kept = tuple((factor, weight) for factor, weight in weights.items() if weight)
    return replace(profile, name=f"{profile.name}:{changes}", weights=kept)


@record
class Scored:
    """A memory with its score and factors. `out` is the reason why it is not injected, or None if it may be."""

    memory: Memory
    signals: Signals
    score: float
    factors: tuple[Factor, ...]
    order: tuple[Factor, ...] = ()  # importance and age, if the profile orders by them
    out: Reason | None = None
    is_named: bool = False  # the task contains the words of its title
    shares_title: bool = False  # the task has a content word of its title
    text: str | None = None  # the part of its body that is shown; None: not chosen yet
    is_pointed: bool = False  # left out, but the prompt points to it

    @property
    def why_not(self) -> str:
        """Return a sentence why it is not injected, or only as a pointer; empty if it may be."""
        said = POINTED_TO if self.is_pointed else ""
        return said + self.out.sentence if self.out else ""


def why_fired(item: Scored) -> str:
    """Return a sentence about the part of a condition that fired; empty if none did."""
    return item.signals.fired.sentence if item.signals.fired else ""


def score_candidates(
    candidates: Iterable[tuple[Memory, Signals]], profile: Profile, question: Question
) -> list[Scored]:
    """Return every candidate with its score, best first. On equal scores, the project's own memories come first."""
    scored = [
        _score_one(memory, signals, profile, question) for memory, signals in candidates
    ]
    return sorted(
        scored, key=lambda item: (-item.score, bool(item.memory.layer), item.memory.id)
    )


def _score_one(
    memory: Memory, signals: Signals, profile: Profile, question: Question
) -> Scored:
    def computed(named: Iterable[tuple[str, float]]) -> tuple[Factor, ...]:
        found = (
            compute_factor(name, weight, memory, signals, question)
            for name, weight in named
        )
        return tuple(factor for factor in found if factor)

    factors = computed((*profile.weights, *((name, 1.0) for name in profile.demotions)))
    doubted = _lowered_by_doubts(signals, factors, profile)
    score = combine_factors(factors, profile)
    return Scored(memory, doubted, score, factors, computed(profile.order))


def _lowered_by_doubts(
    signals: Signals, factors: Iterable[Factor], profile: Profile
) -> Signals:
    """Return signals with relevance and confidence lowered by votes and disputes, if the profile uses these."""
    doubts = [
        min(1.0, item.value)
        for item in factors
        if item.name in DOUBTS and item.name in profile.demotions
    ]
    if not doubts:
        return signals
    share = math.prod(doubts)
    # a pattern that fired keeps its confidence
    sure = signals.fired is not None and not signals.fired.by_words
    return replace(
        signals,
        relevance=signals.relevance * share,
        confidence=signals.confidence * (1.0 if sure else share),
    )


def combine_factors(factors: Iterable[Factor], profile: Profile) -> float:
    """Return the score: the profile's formula applied to the factors."""
    factors = tuple(factors)
    if profile.combine == PRODUCT:
        return float(math.prod(item.value**item.weight for item in factors))
    total = sum(
        item.value * item.weight
        for item in factors
        if item.name not in profile.demotions
    )
    total *= math.prod(item.value for item in factors if item.name in profile.demotions)
    return min(total, profile.max_score) if profile.max_score else total
