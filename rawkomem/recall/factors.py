"""Compute the named factors of a score. To add one, add a row to FACTORS and give it a weight in a profile."""

from __future__ import annotations

import math

from ..model.aliases import said
from ..model.clock import DAY, read_time
from ..model.record import record
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
    Value = tuple[float, Facts] | None  # None: the memory has no data for this factor
    Compute = Callable[[Memory, Signals, Question], Value]

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
HELPFUL_VOTE, HARMFUL_VOTE = 1.1, 0.5  # each vote multiplies by this …
MIN_FEEDBACK, MAX_FEEDBACK = 0.1, 2.0  # … within bounds
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


def factor(name: str, weight: float, memory: Memory, signals: Signals, question: Question) -> Factor | None:
    """Return the factor of that name for one memory; None if the memory has no data for it."""
    compute, sentence = FACTORS[name]
    computed = compute(memory, signals, question)
    return Factor(name, computed[0], weight, sentence, computed[1]) if computed else None


def _when_to_use(memory: Memory, signals: Signals, question: Question) -> Value:
    """Return 1 if a condition fired; 0 if it is a sentence of which words matched, or if any task has these words."""
    if not signals.fired:
        return 0.0, ("no condition fired", "")
    if signals.is_faint:
        return 0.0, ("whenToUse fired only on words that any task contains: ", signals.fired.sentence)
    return float(signals.fired.how != WORDS), ("whenToUse fired: ", signals.fired.sentence)


def _recency(memory: Memory, signals: Signals, question: Question) -> Value:
    days = max(0.0, (question.at - (memory.updated or memory.created)) / DAY)
    return math.exp(-0.01 * days), (count(round(days), "day"),)


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
    found = [word for word in question.task.lower().split() if len(word) > 3 and word in title]
    return min(20, 5 * len(found)) / 20, (", ".join(found) or "none",)


def _specialty(memory: Memory, signals: Signals, question: Question) -> Value:
    """Return the specialty of SPEC-0009: 5 points for each tag that belongs to the agent's type, at most 15."""
    found = [tag for tag in memory.tags if tag.lower() in SPECIALTIES.get(question.agent, ())]
    return min(15, 5 * len(found)) / 15, (question.agent or "no agent", ", ".join(found) or "none")


def _trust(memory: Memory, signals: Signals, question: Question) -> Value:
    from ..state.belief.trust import Standing, explain_trust  # most profiles do not need it

    trust = signals.trust or explain_trust(memory, Standing(), question.at)
    return trust.value, ("; ".join(f"{name} {amount:+.2f} ({why})" for name, amount, why in trust.parts),)


def decay_factor(days: float) -> float:
    """Return the decay factor for the days since the last access (table of Memory Lane)."""
    return next((value for limit, value in DECAY_STEPS if days < limit), MIN_DECAY)


def _decay(memory: Memory, signals: Signals, question: Question) -> Value:
    touched = max(signals.accessed, memory.created, _time_said(memory, "lastAccessedAt"))
    days = max(0.0, (question.at - touched) / DAY) if touched else 0.0
    given = str(said(memory.extra, "confidence"))
    confidence = float(given) if given.isdecimal() and float(given) <= 100 else DEFAULT_CONFIDENCE
    value = decay_factor(days)
    return value, (count(round(days), "day"), effective_confidence(confidence, value), confidence)


def effective_confidence(confidence: float, decay: float) -> int:
    """Return a memory's confidence after decay, from 0 to 100 (Memory Lane)."""
    return round(confidence * decay)


def feedback_score(helpful: int, harmful: int) -> float:
    """Return 1.1 to the power of helpful votes times 0.5 to the power of harmful votes, within [0.1, 2]."""
    return max(MIN_FEEDBACK, min(MAX_FEEDBACK, HELPFUL_VOTE**helpful * HARMFUL_VOTE**harmful))


def _feedback(memory: Memory, signals: Signals, question: Question) -> Value:
    votes, before = (memory.helpful, memory.harmful), score_before(memory)
    if not any(votes) and before == 1.0:
        return None
    value = max(MIN_FEEDBACK, min(MAX_FEEDBACK, before * feedback_score(*votes)))
    return value, (*votes, f", {before:g} from before" if before != 1.0 else "")


def score_before(memory: Memory) -> float:
    """Return `feedbackScore` from the frontmatter, which another system computed; 1 if it is missing or invalid."""
    try:
        value = float(str(said(memory.extra, "feedbackScore")) or 1.0)
    except ValueError:
        return 1.0
    return max(MIN_FEEDBACK, min(MAX_FEEDBACK, value)) if math.isfinite(value) else 1.0


def _time_said(memory: Memory, key: str) -> int:
    given = said(memory.extra, key)
    return (read_time(given)[0] or 0) if isinstance(given, str) and given else 0


def _disputes(memory: Memory, signals: Signals, question: Question) -> Value:
    """Return 0.5 for each dispute that nobody answered by reinforcing or confirming the memory, multiplied."""
    answered = memory.reinforcements + memory.corroborations
    value = max(MIN_FEEDBACK, HARMFUL_VOTE ** max(0, memory.disputes - answered))
    return (value, (memory.disputes, answered)) if memory.disputes else None


def intent_types(question: str) -> tuple[str, ...]:
    """Return the types of memories that the words of a question ask for."""
    lower = question.lower()
    found = [kind for words, kinds in INTENTS.items() if any(word in lower for word in words) for kind in kinds]
    return tuple(dict.fromkeys(found))


def _intent(memory: Memory, signals: Signals, question: Question) -> Value:
    wanted = intent_types(question.task)
    return INTENT_BOOST if type_of(memory) in wanted else 1.0, (", ".join(wanted) or "no special type",)


def _citations(memory: Memory, signals: Signals, question: Question) -> Value:
    """Return the mean over the cited places, so that one changed place among many lowers the score only a little."""
    values = [CITATION_VALUES[cited.state] for cited in signals.cited]
    places = ", ".join(f"{cited.citation.place} {cited.state}" for cited in signals.cited)
    return (sum(values) / len(values), (places,)) if values else None


FACTORS: dict[str, tuple[Compute, str]] = {  # name → function that computes it, and its sentence
    "fit": (
        lambda m, s, q: (s.score, (s.words, s.cosine)),
        "words and meaning together, {:.2f} by words, cosine {:.2f}",
    ),
    "semantic": (lambda m, s, q: (max(0.0, s.cosine), (s.cosine,)), "cosine {:.2f} of the closest passage"),
    "ranks": (lambda m, s, q: (s.ranks, ()), "reciprocal ranks by words and by meaning"),
    "when_to_use": (_when_to_use, "{}{}"),
    "importance": (lambda m, s, q: (POINTS[m.importance] / POINTS["critical"], (m.importance,)), "importance {}"),
    "recency": (_recency, "changed {} ago"),
    "recency_steps": (_recency_steps, "found {}"),
    "title_words": (_title_words, "title words: {}"),
    "specialty": (_specialty, "tags for {}: {}"),
    "same_discoverer": (lambda m, s, q: (float(m.by == q.agent != ""), (m.by or "nobody",)), "found by {}"),
    "trust": (_trust, "{}"),
    "taxonomy": (lambda m, s, q: (TAXONOMY.get(type_of(m), UNTYPED_WEIGHT), (type_of(m) or "not given",)), "type {}"),
    "decay": (_decay, "last used {} ago: confidence {} of {:g}"),
    "feedback": (_feedback, "{} helpful, {} harmful{}"),
    "disputes": (_disputes, "{} disputed, {} reinforced or confirmed"),
    "intent": (_intent, "the task asks for {}"),
    "citations": (_citations, "multiplies the score; cites {}"),
}
