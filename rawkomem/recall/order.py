"""Orders what passed the gate: of near equals the more important, then the newer; outdated memories stay out."""

from __future__ import annotations

from ..model.kinds import IMPORTANCE
from ..model.record import replace
from .reasons import Reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model.entry import Memory
    from .score import Scored

CRITICAL = IMPORTANCE[-1]  # SPEC-0009: always included if relevant

MAX_COMPARED = 12  # items that are compared with each other: more than twice what is injected


def in_order(items: Iterable[Scored], margin: float) -> list[Scored]:
    """Return the items, the best first; those whose score is lower by at most a share `margin` count as its equals.

    The best item and its equals are put in order, then the best of the rest and its equals, and so on.
    """
    rest = sorted(items, key=lambda item: (-item.score, precedence(item.memory)))
    ordered: list[Scored] = []
    while rest:
        least = rest[0].score * (1 - margin)
        equals = [item for item in rest if item.score >= least]
        ordered += sorted(equals, key=lambda item: precedence(item.memory))
        rest = rest[len(equals) :]
    return ordered


def precedence(memory: Memory) -> tuple[int, int, str]:
    """Return what sorts equals: the most important first, then the one whose words are the newest, then by id."""
    return -IMPORTANCE.index(memory.importance), -memory.worded, memory.id


def is_critical(item: Scored) -> bool:
    """Return whether an item is chosen before all others."""
    return item.memory.importance == CRITICAL


def without_outdated(items: Sequence[Scored]) -> tuple[list[Scored], list[Scored]]:
    """Return the items that still hold, and those that a newer one contradicts, with the reason.

    The newer one takes the older one's place, if that is the better one. What no person vouches for makes nothing
    outdated that a person vouches for.
    """
    newer = _newer(items[:MAX_COMPARED])
    if not newer:
        return [*items], []
    by_id = {item.memory.id: item for item in items}
    current: dict[str, Scored] = {}
    for id in by_id:
        while id in newer:
            id = newer[id]
        current.setdefault(id, by_id[id])
    outdated = [replace(by_id[id], out=Reason("outdated", (other,))) for id, other in newer.items()]
    return [*current.values()], outdated


def _newer(items: Sequence[Scored]) -> dict[str, str]:
    """Return outdated memory → the newest one that contradicts it."""
    if len(items) < 2:
        return {}
    from ..state.belief.prose import disagreement, prose_of  # many an answer is one memory, or none

    found: dict[str, str] = {}
    ordered = sorted(items, key=lambda item: -item.memory.worded)
    said = [prose_of(item.memory) for item in ordered]
    for place, item in enumerate(ordered):
        for other in range(place):
            older, newer = item.memory, ordered[other].memory
            may = newer.worded > older.worded and (item.signals.unverified or not ordered[other].signals.unverified)
            if may and disagreement(said[other], said[place]):
                found[older.id] = newer.id
                break
    return found
