"""Pack ranked memories into the token budget of a prompt, and list the other memories with the reason."""

from __future__ import annotations

from ..model.kinds import GROUPS, IMPORTANCE
from ..model.record import record, replace
from ..text.same import is_copy
from ..text.when import LINK, Fired
from .order import is_critical, without_outdated
from .reasons import Reason
from .relevance.gate import held_back, rests_on_withdrawn, withdrawn
from .score import Scored
from .signals import Signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..model.entry import Memory
    from .gather import Sources
    from .limits import Limits

    Shorter = Callable[[Scored, int], Scored | None]  # (item, tokens) → the item with fewer sentences, or None


@record
class Packed:
    """The chosen items in the order of the ranking, and the others with the reason."""

    items: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    tokens: int


def pack(
    ranked: Sequence[Scored],
    limits: Limits,
    cost: Callable[[Scored], int],
    shorter: Shorter = lambda item, budget: None,
) -> Packed:
    """Choose items within the limits. Leave out those that are unimportant, outdated, twins of others, or too many.

    Critical items are chosen first (SPEC-0009). Items that no person vouches for are chosen last, so that they do not
    displace others.
    """
    left = [item for item in ranked if item.out]
    wanted: list[Scored] = []
    for item in (item for item in ranked if not item.out):
        reason = _unimportant(item, limits)
        (left if reason else wanted).append(replace(item, out=reason))
    current, outdated = without_outdated(sorted(wanted, key=lambda item: bool(item.signals.unverified)))
    left += outdated
    kept: list[Scored] = []
    for item in sorted(current, key=_turn):
        full = Reason("full", (limits.max_injected,)) if len(kept) >= limits.max_injected else None
        reason = full or _unwanted(item, kept, limits)
        (left if reason else kept).append(replace(item, out=reason))
    places = {item.memory.id: place for place, item in enumerate(current)}
    chosen, over, tokens = _fit(kept, limits.budget, cost, shorter)
    chosen.sort(key=lambda item: places[item.memory.id])
    return Packed(tuple(chosen), tuple(left + over), tokens)


def _turn(item: Scored) -> tuple[bool, bool, bool]:
    """Return a sort key: vouched items, then what a person said, then the rest; critical items first in each."""
    standing = item.signals.unverified
    return bool(standing), bool(standing and not standing.said), not is_critical(item)


def _unimportant(item: Scored, limits: Limits) -> Reason | None:
    least = IMPORTANCE.index(limits.min_importance)
    if IMPORTANCE.index(item.memory.importance) >= least:
        return None
    return Reason("unimportant", (item.memory.importance, limits.min_importance))


def _unvouched(item: Scored, before: Sequence[Scored], limits: Limits) -> Reason | None:
    """Return why an item that no person vouches for is left out after the items `before`; None if it may go in."""
    standing = item.signals.unverified
    if not standing or sum(bool(other.signals.unverified) for other in before) < limits.max_unverified:
        return None
    return Reason("unverified", (standing.why, item.memory.id))


def _unwanted(item: Scored, before: list[Scored], limits: Limits) -> Reason | None:
    twin = next((other for other in before if _alike(item, other)), None)
    if twin:
        if item.signals.unverified and not twin.signals.unverified:
            return Reason("vouched-twin", (twin.memory.id,))
        return Reason("twin", (twin.memory.id,))
    return _unvouched(item, before, limits)


def _alike(a: Scored, b: Scored) -> bool:
    if not a.memory.body or not b.memory.body:
        return a.memory.title == b.memory.title and a.memory.body == b.memory.body and a.memory.when == b.memory.when
    return is_copy(a.memory.body, b.memory.body)


def _fit(
    items: list[Scored], budget: int, cost: Callable[[Scored], int], shorter: Shorter
) -> tuple[list[Scored], list[Scored], int]:
    """Choose items in order while they fit into the budget; shorten an item that is too long."""
    chosen: list[Scored] = []
    over: list[Scored] = []
    tokens = 0
    for item in items:
        needed, left = cost(item), budget - tokens
        fitting = item if needed <= left else shorter(item, left)
        if fitting:
            chosen.append(fitting)
            tokens += needed if fitting is item else cost(fitting)
        else:
            over.append(replace(item, out=Reason("over-budget", (needed, max(0, left)))))
    return chosen, over, tokens


def add_linked(packed: Packed, sources: Sources, limits: Limits, cost: Callable[[Scored], int]) -> Packed:
    """Add memories that the packed ones link to directly, while there is room.

    Linked memories that a person vouches for come before items that no person vouches for. The first of the latter is
    what a person said in a session against an item.
    """
    items = [item for item in packed.items if not item.signals.unverified]
    linked = [*_linked_items(items, sources, limits, _linked)]
    against = [*_linked_items(items, sources, limits, sources.successors)]
    doubted = [item for item in packed.items if item.signals.unverified]
    tokens = packed.tokens - sum(map(cost, doubted))
    left = {item.memory.id: item for item in packed.left_out}
    present = {item.memory.id for item in items}
    others = [item for item in linked if item.signals.unverified]
    own = {item.memory.id: item for item in doubted}
    said = [own.get(one.memory.id, one) for one in against if one.signals.unverified and one.signals.unverified.said]
    for item in (*(item for item in linked if not item.signals.unverified), *said, *doubted, *others):
        id, needed = item.memory.id, cost(item)
        if id in present:
            continue
        reason = _no_room(items, limits, needed, tokens)
        unvouched = None if reason else _unvouched(item, items, limits)
        if not (reason or unvouched):
            items.append(item)
            present.add(id)
            tokens += needed
        elif unvouched or item in doubted:
            left[id] = replace(item, out=unvouched or reason)
    return Packed(tuple(items), tuple(item for id, item in left.items() if id not in present), tokens)


def _no_room(items: Sequence[Scored], limits: Limits, needed: int, tokens: int) -> Reason | None:
    if len(items) >= limits.max_injected:
        return Reason("full", (limits.max_injected,))
    room = limits.budget - tokens
    return Reason("over-budget", (needed, max(0, room))) if needed > room else None


def _linked_items(
    items: Iterable[Scored], sources: Sources, limits: Limits, linked: Callable[[Memory], Iterable[str]]
) -> Iterable[Scored]:
    """Yield the memories that items are linked to and that may be injected."""
    for item in items:
        for id in linked(item.memory):
            memory = sources.view.memory(id)
            if memory is None or memory.status != "active" or memory.kind in GROUPS:
                continue
            if withdrawn(memory) or held_back(memory, limits, sources.view.at):
                continue
            standing, weak = sources.unverified([memory]).get(id), sources.view.believed.weak_sources(memory)
            fired = Fired(LINK, item.memory.id)
            signals = Signals(id, fired=fired, cited=sources.cited(memory), unverified=standing, weak=weak)
            if not rests_on_withdrawn(signals):
                yield Scored(memory, signals, item.score / 2, ())


def _linked(memory: Memory) -> Iterable[str]:
    return dict.fromkeys([*(name.removesuffix(".md") for name in memory.related), *(id for _, id in memory.links)])
