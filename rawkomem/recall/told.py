"""Leave out memories that the session has received before, to make room for others."""

from __future__ import annotations

from ..files.local.told import checksum
from ..model.record import replace
from ..text.same import is_copy
from ..text.tokens import count_tokens
from .pack import Packed, pack
from .reasons import Reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .inject import Injection
    from .limits import Limits
    from .score import Scored

    Keys = frozenset[str]  # from key_of, of the memories that the session has received

SESSION_BUDGETS = 5  # a session may spend this many prompt budgets until its context is compacted


def key_of(item: Scored) -> str:
    """Return the id of a memory with a checksum of its content, so that a changed memory is injected again."""
    memory = item.memory
    shown = (memory.kind, memory.title, memory.body, memory.importance, repr(memory.when), memory.status)
    return f"{memory.id}@{checksum(*shown, 'unverified' if item.signals.unverified else '')}"


def left_of_session(budget: int, spent: int) -> int:
    """Return the budget of the next prompt in a session that has `spent` tokens since its last compaction."""
    return max(0, min(budget, SESSION_BUDGETS * budget - spent))


def spent(injection: Injection) -> int:
    """Return the tokens that an injection costs a session. Items that no person vouches for are not counted."""
    doubted = [item for item in injection.items if item.signals.unverified]
    if len(doubted) == len(injection.items):
        return 0
    return max(0, injection.tokens - sum(count_tokens(f"{item.memory.title}\n{item.text or ''}") for item in doubted))


def leave_out(gated: list[Scored], told: Keys) -> list[Scored]:
    """Mark the items that the session has received before, and copies of them."""
    if not told:
        return gated
    marked = [_marked(item, told) for item in gated]
    before = [item for item in marked if item.out and item.out.code == "told"]
    return [_without_copy(item, before) for item in marked] if before else marked


def _without_copy(item: Scored, before: Sequence[Scored]) -> Scored:
    """Mark a copy of an item that was received before. An unvouched copy does not stop a vouched item."""
    body = "" if item.out else item.memory.body
    counting = (told.memory for told in before if item.signals.unverified or not told.signals.unverified)
    twin = next((other.id for other in counting if body and other.body and is_copy(body, other.body)), "")
    return replace(item, out=Reason("twin", (twin,))) if twin else item


def leave_out_linked(packed: Packed, told: Keys) -> Packed:
    """Leave out linked items that the session has received before."""
    if not told or not any(key_of(item) in told for item in packed.items):
        return packed
    marked = [_marked(item, told) for item in packed.items]
    return replace(
        packed,
        items=tuple(item for item in marked if not item.out),
        left_out=(*packed.left_out, *(item for item in marked if item.out)),
    )


def saved(gated: Sequence[Scored], told: Keys, limits: Limits, cost: Callable[[Scored], int]) -> int:
    """Return the tokens of the items that are not injected again because the session has received them."""
    if not any(not item.out and key_of(item) in told for item in gated):
        return 0
    return sum(cost(item) for item in pack(gated, limits, cost).items if key_of(item) in told)


def _marked(item: Scored, told: Keys) -> Scored:
    return item if item.out or key_of(item) not in told else replace(item, out=Reason("told"))
