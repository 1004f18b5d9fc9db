"""Packs ranked memories into a prompt's budget. What is left out is listed with the reason, never in silence."""

from __future__ import annotations

from ..model.kinds import IMPORTANCE
from ..model.record import record, replace
from ..text.same import is_copy
from .limits import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .rank import Scored


@record
class Packed:
    """What goes in, in the order of the ranking, and what stays out with the reason."""

    items: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    tokens: int


def pack(ranked: Sequence[Scored], limits: Limits, cost: Callable[[Scored], int]) -> Packed:
    """Take what passed the gate: no twins, important enough, at most so many, greedily by value for each token."""
    left = [item for item in ranked if item.out]
    kept: list[Scored] = []
    for item in (item for item in ranked if not item.out):
        for copy in _copies(item, kept):
            kept.remove(copy)
            left.append(replace(copy, out=f"says the same as {item.memory.id}, for which a person vouches"))
        full = f"only {limits.most} are injected" if len(kept) >= limits.most else ""
        reason = full or _unwanted(item, kept, limits)
        (left if reason else kept).append(replace(item, out=reason))
    chosen, over, tokens = _fit(kept, limits.budget, cost)
    return Packed(tuple(chosen), tuple(left + over), tokens)


def unvouched(item: Scored, before: Sequence[Scored], limits: Limits) -> str:
    """Why an item that no person vouches for stays out, beside those that are in; empty where it may go in."""
    if not item.signals.unverified or sum(bool(other.signals.unverified) for other in before) < limits.unverified:
        return ""
    remedy = f"commit it or run 'rawkomem review {item.memory.id} --activate'"
    return f"unverified ({item.signals.unverified}): {remedy}"


def _copies(item: Scored, before: list[Scored]) -> list[Scored]:
    """What says the same as this item, is in already, and gives way because only this one has a person behind it."""
    if item.signals.unverified:
        return []
    return [other for other in before if other.signals.unverified and _alike(item, other)]


def _unwanted(item: Scored, before: list[Scored], limits: Limits) -> str:
    least = IMPORTANCE.index(limits.least_importance)
    if IMPORTANCE.index(item.memory.importance) < least:
        return f"importance {item.memory.importance} is below {limits.least_importance}"
    twin = next((other for other in before if _alike(item, other)), None)
    return f"says the same as {twin.memory.id}" if twin else unvouched(item, before, limits)


def _alike(a: Scored, b: Scored) -> bool:
    if not a.memory.body or not b.memory.body:
        return a.memory.title == b.memory.title and a.memory.body == b.memory.body and a.memory.when == b.memory.when
    return is_copy(a.memory.body, b.memory.body)


def _fit(items: list[Scored], budget: int, cost: Callable[[Scored], int]) -> tuple[list[Scored], list[Scored], int]:
    """Greedy by value density; the best one goes first whatever it costs, unless it alone is over the budget."""
    costs = {item.memory.id: cost(item) for item in items}
    by_density = sorted(items[1:], key=lambda item: -item.score / max(1, costs[item.memory.id]))
    chosen, over, tokens = set(), [], 0
    for item in items[:1] + by_density:
        if tokens + costs[item.memory.id] <= budget:
            chosen.add(item.memory.id)
            tokens += costs[item.memory.id]
        else:
            over.append(replace(item, out=f"needs {costs[item.memory.id]} tokens, {budget - tokens} are left"))
    return [item for item in items if item.memory.id in chosen], over, tokens
