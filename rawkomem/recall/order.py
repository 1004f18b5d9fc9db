"""Order the memories that passed the gate, by score, importance and age, and drop outdated ones."""

from __future__ import annotations

from ..model.clock import DAY
from ..model.kinds import IMPORTANCE
from ..model.record import replace
from .reasons import Reason
from .relevance.gate import CRITICAL, is_sure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .score import Scored

MAX_RELEVANCE_GAP = 0.1  # between equals; the cosines of two wordings of one rule differ by this much
MIN_ALIKE = 0.5  # share of the shorter title's or body's words that two memories on one subject have in common
LOOKED_AT_CHARS = 1_000  # of a body that are compared with another body
MAX_COMPARED = 12  # items that are compared with each other: more than twice as many as are injected


def in_order(items: Iterable[Scored], margin: float) -> list[Scored]:
    """Return the items, best first. Scores within the share `margin` of the best are equal: importance and age decide.

    First the best item and its equals are sorted, then the best of the rest and its equals, and so on. Items that no
    person vouches for come last, so that they do not change the order of the others.
    """
    groups: dict[bool, list[Scored]] = {False: [], True: []}
    for item in items:
        groups[bool(item.signals.unverified)].append(item)
    return [item for group in groups.values() for item in _in_order(group, margin)]


def _in_order(items: Iterable[Scored], margin: float) -> list[Scored]:
    rest = sorted(items, key=lambda item: (-item.score, precedence(item)))
    ordered: list[Scored] = []
    while rest:
        best = rest[0]
        equals = [item for item in rest if _is_equal(item, best, margin)]
        ordered += sorted(equals, key=precedence)
        rest = [item for item in rest if not _is_equal(item, best, margin)]
    return ordered


def _is_equal(item: Scored, best: Scored, margin: float) -> bool:
    """Return whether an item is as good as the best one: a similar score, or both fired and have a similar cosine.

    Scores are relative to the worst result. Among a few good results, scores differ more than the memories do.
    """
    if item.score >= best.score * (1 - margin):
        return True
    gap = best.signals.relevance - item.signals.relevance
    return bool(margin) and is_sure(item.signals) and is_sure(best.signals) and gap <= MAX_RELEVANCE_GAP


def precedence(item: Scored) -> tuple[int, int, float, str]:
    """Return the sort key of equals: the most important first, then the newest day, the best score, and the id."""
    memory = item.memory
    return -IMPORTANCE.index(memory.importance), -(memory.worded // DAY), -item.score, memory.id


def is_critical(item: Scored) -> bool:
    """Return whether a memory has the importance `critical`."""
    return item.memory.importance == CRITICAL


def without_outdated(items: Sequence[Scored]) -> tuple[list[Scored], list[Scored]]:
    """Return the current items, and the items that a newer one contradicts, with the reason.

    The newer item takes the place of the older one in the order, if that place is better. A memory that no person
    vouches for never makes a vouched one outdated.
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


def corrections_first(items: Sequence[Scored]) -> tuple[Scored, ...]:
    """Return the items with a person's statement from a session moved before the older memory that it contradicts."""
    ordered = [*items]
    for item in [one for one in items if one.signals.unverified and one.signals.unverified.said]:
        from ..state.belief.prose import overrules, prose_of

        said = prose_of(item.memory)
        others = ordered[: ordered.index(item)]
        older = (one for one in others if one.memory.worded <= item.memory.worded)
        first = next((one for one in older if overrules(said, prose_of(one.memory))), None)
        if first:
            ordered.remove(item)
            ordered.insert(ordered.index(first), item)
    return tuple(ordered)


def _any_alike(items: Sequence[Scored]) -> bool:
    """Return whether any two items may be about the same subject: a cheap test before sentences are compared."""
    conditions = [frozenset(item.memory.when) for item in items]
    titles = [_words(item.memory.title) for item in items]
    bodies = [_words(item.memory.body[:LOOKED_AT_CHARS]) for item in items]
    pairs = [(one, other) for one in range(len(items)) for other in range(one)]
    return any(
        conditions[one] & conditions[other]
        or _overlap(titles[one], titles[other])
        or _overlap(bodies[one], bodies[other])
        for one, other in pairs
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().split())


def _overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= MIN_ALIKE * min(len(one), len(other))


def _newer(items: Sequence[Scored]) -> dict[str, str]:
    """Return id of an outdated memory → id of the newest memory that contradicts it."""
    if not _any_alike(items):
        return {}
    from ..state.belief.prose import disagreement, prose_of, speaks  # slow import, not needed for 0 or 1 items

    found: dict[str, str] = {}
    ordered = sorted((item for item in items if speaks(item.memory)), key=lambda item: -item.memory.worded)
    said = [prose_of(item.memory) for item in ordered]
    for place, item in enumerate(ordered):
        for other in range(place):
            older, newer = item.memory, ordered[other].memory
            may = newer.worded > older.worded and (item.signals.unverified or not ordered[other].signals.unverified)
            if may and disagreement(said[other], said[place]):
                found[older.id] = newer.id
                break
    return found
