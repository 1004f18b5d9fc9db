"""Score candidates by the factors of a profile."""

from __future__ import annotations

import math

from ..model.record import record, replace
from ..text.condition import WORDS
from .factors import factor
from .profiles import DOUBTS, PRODUCT, Profile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model.entry import Memory
    from .factors import Factor
    from .question import Question
    from .reasons import Reason
    from .signals import Signals


@record
class Scored:
    """A memory with its score and factors. `out` is the reason why it is not injected, or None if it may be."""

    memory: Memory
    signals: Signals
    score: float
    factors: tuple[Factor, ...]
    out: Reason | None = None
    is_named: bool = False  # the task contains the words of its title
    text: str | None = None  # the part of its body that is shown; None: not chosen yet

    @property
    def why_not(self) -> str:
        """Return a sentence why it is not injected; empty if it may be."""
        return self.out.sentence if self.out else ""


def score(candidates: Iterable[tuple[Memory, Signals]], profile: Profile, question: Question) -> list[Scored]:
    """Return every candidate with its score, best first. On equal scores, the project's own memories come first."""
    scored = [_score(memory, signals, profile, question) for memory, signals in candidates]
    return sorted(scored, key=lambda item: (-item.score, bool(item.memory.layer), item.memory.id))


def _score(memory: Memory, signals: Signals, profile: Profile, question: Question) -> Scored:
    named = (*profile.weights, *((name, 1.0) for name in profile.demotions))
    computed = (factor(name, weight, memory, signals, question) for name, weight in named)
    factors = tuple(item for item in computed if item)
    return Scored(memory, _doubted(signals, factors, profile), combine(factors, profile), factors)


def _doubted(signals: Signals, factors: Iterable[Factor], profile: Profile) -> Signals:
    """Return signals with relevance and confidence lowered by votes and disputes, if the profile uses these."""
    doubts = [min(1.0, item.value) for item in factors if item.name in DOUBTS and item.name in profile.demotions]
    if not doubts:
        return signals
    share = math.prod(doubts)
    sure = signals.fired is not None and signals.fired.how != WORDS  # a pattern that fired keeps its confidence
    return replace(
        signals, relevance=signals.relevance * share, confidence=signals.confidence * (1.0 if sure else share)
    )


def combine(factors: Iterable[Factor], profile: Profile) -> float:
    """Return the score: the profile's formula applied to the factors."""
    factors = tuple(factors)
    if profile.combine == PRODUCT:
        return float(math.prod(item.value**item.weight for item in factors))
    total = sum(item.value * item.weight for item in factors if item.name not in profile.demotions)
    total *= math.prod(item.value for item in factors if item.name in profile.demotions)
    return min(total, profile.max_score) if profile.max_score else total
