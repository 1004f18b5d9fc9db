"""Factors: the named parts of a score. Each is a value near 0..1 with a sentence that says why.

State holds facts and counts; whatever depends on the clock, the task or the agent is computed here, at read time.
"""

from __future__ import annotations

import math

from ..model.clock import DAY
from ..model.kinds import IMPORTANCE
from ..model.record import record
from ..state.belief.trust import Standing, explain_trust
from ..state.facets import type_of
from ..text.count import count
from .limits import SPECIALTIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.entry import Memory
    from .candidates import Signals

HOUR = DAY // 24

POINTS = {"low": 5, "medium": 15, "high": 25, "critical": 30}  # SPEC-0009
TAXONOMY = {  # Memory Lane: weight of each type
    **dict.fromkeys(("correction", "decision", "commitment"), 1.0),
    **dict.fromkeys(("insight", "learning", "confidence"), 0.7),
    **dict.fromkeys(("pattern_seed", "cross_agent", "workflow_note", "gap"), 0.4),
}
UNTYPED = 0.7  # a memory without a type counts like a learning
INTENTS = {  # Memory Lane: words of a question → types it is after
    ("mistake", "wrong", "error"): ("correction", "gap"),
    ("decided", "chose", "choice"): ("decision",),
    ("pattern", "usually", "habit"): ("pattern_seed", "commitment"),
    ("learned", "realized"): ("learning", "insight"),
}
INTENT_BOOST = 1.15
DECAY = ((7, 1.0), (30, 0.8), (90, 0.6))  # days since last access → factor; older: OLD
OLD = 0.4
CONFIDENCE = 70.0  # Memory Lane: of a memory that does not say
HELPFUL, HARMFUL, LEAST, MOST = 1.1, 0.5, 0.1, 2.0  # feedback: each vote multiplies, within bounds
# What a citation is worth: code that changed may still be as the memory says, code that is gone hardly; what cannot be
# looked at speaks neither for nor against.
CITED = {"fresh": 1.0, "stale": 0.5, "gone": 0.3, "unknown": 1.0}


@record
class Factor:
    """One part of a score."""

    name: str
    value: float
    weight: float
    why: str


@record
class Context:
    """What factors are computed against: the task, who works on it, and when."""

    task: str
    agent: str
    now: int
    specialties: tuple[str, ...] = ()
    accessed: int = 0  # last time this memory was injected or found; 0: never


def factor(name: str, weight: float, memory: Memory, signals: Signals, context: Context) -> Factor:
    """The factor of that name for one memory."""
    value, why = FACTORS[name](memory, signals, context)
    return Factor(name, value, weight, why)


def _fit(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    return signals.score, f"words and meaning together, {signals.words:.2f} by words, cosine {signals.cosine:.2f}"


def _semantic(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    return max(0.0, signals.cosine), f"cosine {signals.cosine:.2f} of the closest passage"


def _ranks(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    return signals.ranks, "reciprocal ranks by words and by meaning"


def _when_to_use(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    if not signals.fired:
        return 0.0, "no condition fired"
    value = 0.0 if signals.fired.startswith("words:") else 1.0  # the words of a sentence count in the fit already
    if signals.faint:
        return 0.0, f"whenToUse fired on what any task holds: {signals.fired}"
    return value, f"whenToUse fired: {signals.fired}"


def _importance(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    return POINTS[memory.importance] / POINTS[IMPORTANCE[-1]], f"importance {memory.importance}"


def _recency(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    days = max(0.0, (context.now - (memory.updated or memory.created)) / DAY)
    return math.exp(-0.01 * days), f"changed {count(round(days), 'day')} ago"


def _recency_steps(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    """SPEC-0009: under 24 hours 10 points, under 72 hours 5; a date in the future earns nothing."""
    age = context.now - memory.created
    if not memory.created or age < 0:
        return 0.0, "found at an unknown or future time"
    value = 1.0 if age < 24 * HOUR else 0.5 if age < 72 * HOUR else 0.0
    return value, f"found {age / HOUR:.0f} hours ago"


def _title_words(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    """SPEC-0009: 5 points for each task word longer than 3 characters that occurs in the title, at most 20."""
    title = memory.title.lower()
    found = [word for word in context.task.lower().split() if len(word) > 3 and word in title]
    return min(20, 5 * len(found)) / 20, f"title words: {', '.join(found) or 'none'}"


def _specialty(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    """SPEC-0009: 5 points for each tag that belongs to the agent's type, at most 15."""
    wanted = context.specialties or SPECIALTIES.get(context.agent, ())
    found = [tag for tag in memory.tags if tag.lower() in wanted]
    return min(15, 5 * len(found)) / 15, f"tags for {context.agent or 'no agent'}: {', '.join(found) or 'none'}"


def _same_discoverer(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    same = bool(context.agent) and memory.by == context.agent
    return float(same), f"found by {memory.by or 'nobody'}"


def _trust(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    trust = signals.trust or explain_trust(memory, Standing(), context.now)
    return trust.value, "; ".join(f"{name} {amount:+.2f} ({why})" for name, amount, why in trust.parts)


def _taxonomy(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    kind = type_of(memory)
    return TAXONOMY.get(kind, UNTYPED), f"type {kind or 'not given'}"


def decay_factor(days: float) -> float:
    """Memory Lane's table: light, moderate and heavy decay with the days since the last access."""
    return next((value for limit, value in DECAY if days < limit), OLD)


def _decay(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    touched = max(context.accessed, memory.created)
    days = max(0.0, (context.now - touched) / DAY) if touched else 0.0
    value, confidence = decay_factor(days), _confidence(memory)
    left = effective_confidence(confidence, value)
    return value, f"last used {count(round(days), 'day')} ago: confidence {left} of {confidence:g}"


def _confidence(memory: Memory) -> float:
    said = str(memory.extra.get("confidence_score", memory.extra.get("confidence", "")))
    return float(said) if said.isdecimal() and float(said) <= 100 else CONFIDENCE


def effective_confidence(confidence: float, decay: float) -> int:
    """Memory Lane: what decay leaves of a memory's confidence, from 0 to 100."""
    return round(confidence * decay)


def feedback_score(helpful: int, harmful: int) -> float:
    """×1.1 for each helpful vote, ×0.5 for each harmful one, within [0.1, 2]."""
    return max(LEAST, min(MOST, HELPFUL**helpful * HARMFUL**harmful))


def _feedback(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    if not memory.helpful and not memory.harmful:
        return 1.0, ""
    return feedback_score(memory.helpful, memory.harmful), f"{memory.helpful} helpful, {memory.harmful} harmful"


def _disputes(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    """Each dispute that nobody answered, by reinforcing or confirming the memory, halves it."""
    if not memory.disputes:
        return 1.0, ""
    answered = memory.reinforcements + memory.corroborations
    open = max(0, memory.disputes - answered)
    return max(LEAST, HARMFUL**open), f"{memory.disputes} disputed, {answered} reinforced or confirmed"


def intent_types(question: str) -> tuple[str, ...]:
    """The types a question is after, by its words."""
    lower = question.lower()
    found = [kind for words, kinds in INTENTS.items() if any(word in lower for word in words) for kind in kinds]
    return tuple(dict.fromkeys(found))


def _intent(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    wanted = intent_types(context.task)
    hit = type_of(memory) in wanted
    return (INTENT_BOOST if hit else 1.0), f"the task asks for {', '.join(wanted) or 'no special type'}"


def _citations(memory: Memory, signals: Signals, context: Context) -> tuple[float, str]:
    """The mean over what is cited: one changed place of many takes little away. Nothing cited: nothing to say."""
    if not signals.cited:
        return 1.0, ""
    value = sum(CITED[cited.state] for cited in signals.cited) / len(signals.cited)
    told = ", ".join(f"{cited.citation.place} {cited.state}" for cited in signals.cited)
    return value, f"multiplies the score; cites {told}"


FACTORS: dict[str, Callable[[Memory, Signals, Context], tuple[float, str]]] = {
    "fit": _fit,
    "semantic": _semantic,
    "ranks": _ranks,
    "when_to_use": _when_to_use,
    "importance": _importance,
    "recency": _recency,
    "recency_steps": _recency_steps,
    "title_words": _title_words,
    "specialty": _specialty,
    "same_discoverer": _same_discoverer,
    "trust": _trust,
    "taxonomy": _taxonomy,
    "decay": _decay,
    "feedback": _feedback,
    "disputes": _disputes,
    "intent": _intent,
    "citations": _citations,
}
