"""Factors: the named parts of a score. Each is a value near 0..1, with the facts of a sentence that says why.

State holds facts and counts; a value that depends on the clock, the task or the agent is computed here, at read time.
A new factor is one function with `@factor_of`, and a row of a profile that gives it a weight.
"""

from __future__ import annotations

import math

from ..model.clock import DAY
from ..model.kinds import IMPORTANCE
from ..model.record import record
from ..state.belief.trust import Standing, explain_trust
from ..state.facets import type_of
from ..text.condition import WORDS
from ..text.count import count
from .limits import SPECIALTIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.entry import Memory
    from .question import Question
    from .signals import Signals

    Facts = tuple[object, ...]
    Compute = Callable[[Memory, Signals, Question], tuple[float, Facts] | None]

HOUR_MS = DAY // 24

POINTS = {"low": 5, "medium": 15, "high": 25, "critical": 30}  # SPEC-0009
TAXONOMY = {  # Memory Lane: weight of each type
    **dict.fromkeys(("correction", "decision", "commitment"), 1.0),
    **dict.fromkeys(("insight", "learning", "confidence"), 0.7),
    **dict.fromkeys(("pattern_seed", "cross_agent", "workflow_note", "gap"), 0.4),
}
UNTYPED_WEIGHT = 0.7  # a memory without a type counts like a learning
INTENTS = {  # Memory Lane: words of a question → types it is after
    ("mistake", "wrong", "error"): ("correction", "gap"),
    ("decided", "chose", "choice"): ("decision",),
    ("pattern", "usually", "habit"): ("pattern_seed", "commitment"),
    ("learned", "realized"): ("learning", "insight"),
}
INTENT_BOOST = 1.15
DECAY = ((7, 1.0), (30, 0.8), (90, 0.6))  # days since last access → factor
MIN_DECAY = 0.4  # … when it is older
DEFAULT_CONFIDENCE = 70.0  # Memory Lane: of a memory that does not say
HELPFUL_VOTE, HARMFUL_VOTE = 1.1, 0.5  # each vote multiplies …
MIN_FEEDBACK, MAX_FEEDBACK = 0.1, 2.0  # … within bounds
# The value of a citation: code that changed may still be as the memory says, code that is gone hardly; code that cannot
# be read speaks neither for nor against.
CITATION_VALUES = {"fresh": 1.0, "stale": 0.5, "gone": 0.3, "unknown": 1.0}


@record
class Factor:
    """One part of a score. `sentence` has a place for each of the facts."""

    name: str
    value: float
    weight: float
    sentence: str = ""
    facts: Facts = ()

    @property
    def why(self) -> str:
        """What a reader is told."""
        return self.sentence.format(*self.facts)


FACTORS: dict[str, tuple[Compute, str]] = {}  # name → how it is computed, and its sentence


def factor_of(name: str, sentence: str) -> Callable[[Compute], Compute]:
    """Register a function as a factor. It returns a value and the facts of the sentence; None: nothing is recorded."""

    def register(compute: Compute) -> Compute:
        FACTORS[name] = (compute, sentence)
        return compute

    return register


def factor(name: str, weight: float, memory: Memory, signals: Signals, question: Question) -> Factor | None:
    """Return the factor of that name for one memory; None where nothing is recorded for it."""
    compute, sentence = FACTORS[name]
    computed = compute(memory, signals, question)
    return Factor(name, computed[0], weight, sentence, computed[1]) if computed else None


@factor_of("fit", "words and meaning together, {:.2f} by words, cosine {:.2f}")
def _fit(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    return signals.score, (signals.words, signals.cosine)


@factor_of("semantic", "cosine {:.2f} of the closest passage")
def _semantic(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    return max(0.0, signals.cosine), (signals.cosine,)


@factor_of("ranks", "reciprocal ranks by words and by meaning")
def _ranks(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    return signals.ranks, ()


@factor_of("when_to_use", "{}{}")
def _when_to_use(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    """Words of a sentence count in the fit already; what any task holds counts for nothing."""
    if not signals.fired:
        return 0.0, ("no condition fired", "")
    if signals.is_faint:
        return 0.0, ("whenToUse fired on what any task holds: ", signals.fired.sentence)
    return float(signals.fired.how != WORDS), ("whenToUse fired: ", signals.fired.sentence)


@factor_of("importance", "importance {}")
def _importance(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    return POINTS[memory.importance] / POINTS[IMPORTANCE[-1]], (memory.importance,)


@factor_of("recency", "changed {} ago")
def _recency(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    days = max(0.0, (question.at - (memory.updated or memory.created)) / DAY)
    return math.exp(-0.01 * days), (count(round(days), "day"),)


@factor_of("recency_steps", "found {}")
def _recency_steps(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    """SPEC-0009: under 24 hours 10 points, under 72 hours 5; a date in the future earns nothing."""
    age = question.at - memory.created
    if not memory.created or age < 0:
        return 0.0, ("at an unknown or future time",)
    value = 1.0 if age < 24 * HOUR_MS else 0.5 if age < 72 * HOUR_MS else 0.0
    return value, (f"{age / HOUR_MS:.0f} hours ago",)


@factor_of("title_words", "title words: {}")
def _title_words(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    """SPEC-0009: 5 points for each task word longer than 3 characters that occurs in the title, at most 20."""
    title = memory.title.lower()
    found = [word for word in question.task.lower().split() if len(word) > 3 and word in title]
    return min(20, 5 * len(found)) / 20, (", ".join(found) or "none",)


@factor_of("specialty", "tags for {}: {}")
def _specialty(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    """SPEC-0009: 5 points for each tag that belongs to the agent's type, at most 15."""
    wanted = SPECIALTIES.get(question.agent, ())
    found = [tag for tag in memory.tags if tag.lower() in wanted]
    return min(15, 5 * len(found)) / 15, (question.agent or "no agent", ", ".join(found) or "none")


@factor_of("same_discoverer", "found by {}")
def _same_discoverer(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    same = bool(question.agent) and memory.by == question.agent
    return float(same), (memory.by or "nobody",)


@factor_of("trust", "{}")
def _trust(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    trust = signals.trust or explain_trust(memory, Standing(), question.at)
    return trust.value, ("; ".join(f"{name} {amount:+.2f} ({why})" for name, amount, why in trust.parts),)


@factor_of("taxonomy", "type {}")
def _taxonomy(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    kind = type_of(memory)
    return TAXONOMY.get(kind, UNTYPED_WEIGHT), (kind or "not given",)


def decay_factor(days: float) -> float:
    """Return light, moderate or heavy decay by the days since the last access (Memory Lane's table)."""
    return next((value for limit, value in DECAY if days < limit), MIN_DECAY)


@factor_of("decay", "last used {} ago: confidence {} of {:g}")
def _decay(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    touched = max(signals.accessed, memory.created)
    days = max(0.0, (question.at - touched) / DAY) if touched else 0.0
    value, confidence = decay_factor(days), _confidence(memory)
    return value, (count(round(days), "day"), effective_confidence(confidence, value), confidence)


def _confidence(memory: Memory) -> float:
    said = str(memory.extra.get("confidence_score", memory.extra.get("confidence", "")))
    return float(said) if said.isdecimal() and float(said) <= 100 else DEFAULT_CONFIDENCE


def effective_confidence(confidence: float, decay: float) -> int:
    """Return the confidence that decay leaves of a memory's, from 0 to 100 (Memory Lane)."""
    return round(confidence * decay)


def feedback_score(helpful: int, harmful: int) -> float:
    """Return ×1.1 for each helpful vote and ×0.5 for each harmful one, within [0.1, 2]."""
    return max(MIN_FEEDBACK, min(MAX_FEEDBACK, HELPFUL_VOTE**helpful * HARMFUL_VOTE**harmful))


@factor_of("feedback", "{} helpful, {} harmful")
def _feedback(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts] | None:
    votes = (memory.helpful, memory.harmful)
    return (feedback_score(*votes), votes) if any(votes) else None


@factor_of("disputes", "{} disputed, {} reinforced or confirmed")
def _disputes(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts] | None:
    """Each dispute that nobody answered, by reinforcing or confirming the memory, halves it."""
    if not memory.disputes:
        return None
    answered = memory.reinforcements + memory.corroborations
    unanswered = max(0, memory.disputes - answered)
    return max(MIN_FEEDBACK, HARMFUL_VOTE**unanswered), (memory.disputes, answered)


def intent_types(question: str) -> tuple[str, ...]:
    """Return the types that a question is after, by its words."""
    lower = question.lower()
    found = [kind for words, kinds in INTENTS.items() if any(word in lower for word in words) for kind in kinds]
    return tuple(dict.fromkeys(found))


@factor_of("intent", "the task asks for {}")
def _intent(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts]:
    wanted = intent_types(question.task)
    return INTENT_BOOST if type_of(memory) in wanted else 1.0, (", ".join(wanted) or "no special type",)


@factor_of("citations", "multiplies the score; cites {}")
def _citations(memory: Memory, signals: Signals, question: Question) -> tuple[float, Facts] | None:
    """The mean over what is cited: one changed place of many takes little away."""
    if not signals.cited:
        return None
    value = sum(CITATION_VALUES[cited.state] for cited in signals.cited) / len(signals.cited)
    return value, (", ".join(f"{cited.citation.place} {cited.state}" for cited in signals.cited),)
