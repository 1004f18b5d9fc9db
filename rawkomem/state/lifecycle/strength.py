"""The strength of a memory: neolata's formula, except that `stability` can only slow decay down. Pure."""

from __future__ import annotations

from math import exp

from ...model.clock import DAY
from ...model.record import record
from ...text.count import count
from ..facets import category_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.entry import Memory

# neolata's default is 0.7, which is our default importance, medium.
IMPORTANCES = {"low": 0.4, "medium": 0.7, "high": 0.85, "critical": 1.0}
REINFORCED_IMPORTANCE = 0.1  # added for each reinforcement, up to 1
CATEGORIES = {"decision": 1.3, "preference": 1.4, "insight": 1.1}
AGE_HALF_LIFE_DAYS = 30  # since it was created
TOUCH_HALF_LIFE_DAYS = 60  # since it was last changed or used
MIN_FACTOR = 0.1  # minimum of the factors age and touch
STABILITY_EXPONENT = 0.5  # exponent after `stability` days without a change or use
LINK_STRENGTH, MAX_LINK_STRENGTH = 0.05, 0.3
USE_STRENGTH, MAX_USE_STRENGTH = 0.02, 0.2
WEAK_BELOW = 0.3
FADED_BELOW = 0.15  # below it, prune archives a memory


@record
class Part:
    """One part of a strength. Importance, age, touch and category are multiplied; links and uses are added."""

    name: str
    value: float
    why: str


@record
class Strength:
    """The strength of a memory from 0 to 1, and its parts."""

    value: float
    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return f"strength {self.value:.2f}: {', '.join(part.why for part in self.parts if part.why)}"


def strength_of(memory: Memory, links: int, now: int, uses: int = 0, last_use: int = 0) -> Strength:
    """Return the strength of a memory with this number of links.

    Pass uses on this machine only for display, never where a change of files depends on the strength.
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
    """Return the factor that is left after some days: a half after `half` days, at least MIN_FACTOR."""
    return float(max(MIN_FACTOR, 0.5 ** (days / half)))


def _steadiness(memory: Memory, last_use: int, now: int) -> float:
    """Return the factor from a memory's stability; 0 if it has none."""
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
