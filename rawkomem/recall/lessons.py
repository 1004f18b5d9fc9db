"""Which lessons may be injected: those with enough confidence that are not too old, by settings and the clock."""

from __future__ import annotations

from ..model.clock import DAY
from .score import Reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.entry import Memory
    from .limits import Limits


def held_back(memory: Memory, limits: Limits, now: int) -> Reason | None:
    """Return why a lesson is not injected; None if it may be, and for any other kind of memory."""
    if memory.kind != "lesson":
        return None
    said = str(memory.extra.get("ruleConfidence", ""))
    confidence = _number(said)
    if confidence is not None and confidence < limits.lesson_confidence:
        return Reason("unsure-lesson", (said, limits.lesson_confidence))
    seen = max(memory.created, memory.last_observed)
    age = (now - seen) // DAY
    return Reason("old-lesson", (age, limits.lesson_days)) if seen and age >= limits.lesson_days else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
