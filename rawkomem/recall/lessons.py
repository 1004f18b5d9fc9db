"""Which lessons may be injected: sure enough of their rule, and not too old. Both depend on settings and the clock."""

from __future__ import annotations

from ..model.clock import DAY
from ..model.record import replace
from ..text.count import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model.entry import Memory
    from .limits import Limits
    from .rank import Scored


def held_back(memory: Memory, least_confidence: float, days: int, now: int) -> str:
    """Why a lesson is not to be injected; empty where it may be, and for whatever is no lesson."""
    if memory.kind != "lesson":
        return ""
    said = str(memory.extra.get("ruleConfidence", ""))
    confidence = _number(said)
    if confidence is not None and confidence < least_confidence:
        return f"a lesson of confidence {said}: {least_confidence:g} is needed"
    seen = max(memory.created, memory.last_observed)
    age = (now - seen) // DAY
    if seen and age >= days:
        return f"a lesson of {count(age, 'day')} ago: they are kept for {days} days unless somebody confirms them"
    return ""


def without_held_back(ranked: Iterable[Scored], limits: Limits, now: int) -> list[Scored]:
    """The candidates, marked where they are lessons that may not be injected."""
    return [replace(item, out=item.out or is_held_back(item.memory, limits, now)) for item in ranked]


def is_held_back(memory: Memory, limits: Limits, now: int) -> str:
    """The same by an agent's limits."""
    return held_back(memory, limits.lesson_confidence, limits.lesson_days, now)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
