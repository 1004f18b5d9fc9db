"""Strength of a memory (neolata's formula), except that `stability` only ever slows fading down. Pure."""

from __future__ import annotations

from math import exp

from ...model.clock import DAY
from ...model.record import record
from ...text.count import count
from ..facets import category_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.entry import Memory

# neolata's number for a memory of which nothing is said is 0.7: ours is then of medium importance.
IMPORTANCES = {"low": 0.4, "medium": 0.7, "high": 0.85, "critical": 1.0}
REINFORCED_IMPORTANCE = 0.1  # importance for each reinforcement, up to 1
CATEGORIES = {"decision": 1.3, "preference": 1.4, "insight": 1.1}
AGE_HALF_LIFE_DAYS = 30  # since it was found
TOUCH_HALF_LIFE_DAYS = 60  # since it was last changed or used
MIN_LEFT = 0.1  # of what age and touch leave, each
STABILITY_EXPONENT = 0.5  # the exponent after as many days without a touch as a memory's stability
LINK_STRENGTH, MAX_LINK_STRENGTH = 0.05, 0.3
USE_STRENGTH, MAX_USE_STRENGTH = 0.02, 0.2
WEAK_BELOW = 0.3
FADED_BELOW = 0.15  # below: prune proposes to archive it


@record
class Part:
    """One part of a strength: those that multiply, then those that are added."""

    name: str
    value: float
    why: str


@record
class Strength:
    """How alive a memory is, from 0 to 1, and what that is made of."""

    value: float
    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return f"strength {self.value:.2f}: {', '.join(part.why for part in self.parts if part.why)}"


def strength_of(memory: Memory, links: int, now: int, uses: int = 0, last_use: int = 0) -> Strength:
    """Return the strength of a memory with so many links.

    Uses on this machine are for display only: give none where a change of files depends on the strength.
    """
    parts = strength_parts(memory, links, uses, last_use, now)
    importance, age, touch, category, linked, used = (part.value for part in parts)
    faded = max(importance * age * touch * category, importance * _steadiness(memory, last_use, now))
    return Strength(round(min(1.0, faded + linked + used), 4), parts)


def strength_parts(memory: Memory, links: int, uses: int, last_use: int, now: int) -> tuple[Part, ...]:
    """Return importance, age (0 if unknown), touch and category, which multiply; links and uses, which are added."""
    age = _days(memory.created, now)
    touch = _untouched(memory, last_use, now)
    category = category_of(memory)
    weight = CATEGORIES.get(category, 1.0)
    again = f" and {count(memory.reinforcements, 'time')} reinforced" if memory.reinforcements else ""
    used, touched = f"{count(uses, 'use')} on this machine", "used" if last_use > memory.updated else "changed"
    return (
        Part("importance", importance_of(memory), f"importance {memory.importance}{again}"),
        Part("age", fading(age, AGE_HALF_LIFE_DAYS), f"found {count(round(age), 'day')} ago"),
        Part("touch", fading(touch, TOUCH_HALF_LIFE_DAYS), f"last {touched} {count(round(touch), 'day')} ago"),
        Part("category", weight, f"a {category}" if weight != 1.0 else ""),
        Part("links", min(MAX_LINK_STRENGTH, LINK_STRENGTH * links), count(links, "link") if links else ""),
        Part("uses", min(MAX_USE_STRENGTH, USE_STRENGTH * uses), used if uses else ""),
    )


def importance_of(memory: Memory) -> float:
    """Return importance as a number from 0 to 1, raised by each reinforcement."""
    return min(1.0, IMPORTANCES[memory.importance] + REINFORCED_IMPORTANCE * memory.reinforcements)


def fading(days: float, half: float) -> float:
    """Return what days leave: half of it after `half` days, never less than a tenth."""
    return float(max(MIN_LEFT, 0.5 ** (days / half)))


def _steadiness(memory: Memory, last_use: int, now: int) -> float:
    """Return what the stability of a memory leaves of it; nothing where it states none."""
    stability = _number(memory.extra.get("stability"))
    return float(exp(-STABILITY_EXPONENT * _untouched(memory, last_use, now) / stability)) if stability > 0 else 0.0


def _number(said: object) -> float:
    try:
        return float(str(said))
    except ValueError:
        return 0.0


def _untouched(memory: Memory, last_use: int, now: int) -> float:
    return _days(max(memory.updated, memory.created, last_use), now)


def _days(since: int, now: int) -> float:
    return max(0.0, (now - since) / DAY) if since else 0.0
