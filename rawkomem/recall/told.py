"""Leaves out what the session was given before, so that other memories may take the place."""

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

    Keys = frozenset[str]  # of memories as the session saw them

SESSION_BUDGETS = 5  # budgets of a prompt that a session may spend until its context is compacted


def key_of(item: Scored) -> str:
    """Return the id of a memory with a checksum of what a prompt shows of it: a changed memory is told again."""
    memory = item.memory
    shown = (memory.kind, memory.title, memory.body, memory.importance, repr(memory.when), memory.status)
    return f"{memory.id}@{checksum(*shown, 'unverified' if item.signals.unverified else '')}"


def left_of_session(budget: int, spent: int) -> int:
    """Return the budget of a prompt in a session that has spent so many tokens since its context was last empty."""
    return max(0, min(budget, SESSION_BUDGETS * budget - spent))


def spent(injection: Injection) -> int:
    """Return the tokens that a session spends on an injection: what no person vouches for takes nobody's room."""
    doubted = [item for item in injection.items if item.signals.unverified]
    if len(doubted) == len(injection.items):
        return 0
    return max(0, injection.tokens - sum(count_tokens(f"{item.memory.title}\n{item.text or ''}") for item in doubted))


def leave_out(gated: list[Scored], told: Keys) -> list[Scored]:
    """Mark what the session was told among the items that passed the gate, and what says the same."""
    if not told:
        return gated
    marked = [_marked(item, told) for item in gated]
    before = [item for item in marked if item.out and item.out.code == "told"]
    return [_without_copy(item, before) for item in marked] if before else marked


def _without_copy(item: Scored, before: Sequence[Scored]) -> Scored:
    """Mark a copy of what was told; what a person vouches for is told again after a copy that nobody vouches for."""
    body = "" if item.out else item.memory.body
    counting = (told.memory for told in before if item.signals.unverified or not told.signals.unverified)
    twin = next((other.id for other in counting if body and other.body and is_copy(body, other.body)), "")
    return replace(item, out=Reason("twin", (twin,))) if twin else item


def leave_out_linked(packed: Packed, told: Keys) -> Packed:
    """Take out what was told and came along by a link."""
    if not told or not any(key_of(item) in told for item in packed.items):
        return packed
    marked = [_marked(item, told) for item in packed.items]
    return replace(
        packed,
        items=tuple(item for item in marked if not item.out),
        left_out=(*packed.left_out, *(item for item in marked if item.out)),
    )


def saved(gated: Sequence[Scored], told: Keys, limits: Limits, cost: Callable[[Scored], int]) -> int:
    """Return the tokens of what would be injected again if the session had not been told."""
    if not any(not item.out and key_of(item) in told for item in gated):
        return 0
    return sum(cost(item) for item in pack(gated, limits, cost).items if key_of(item) in told)


def _marked(item: Scored, told: Keys) -> Scored:
    return item if item.out or key_of(item) not in told else replace(item, out=Reason("told"))
