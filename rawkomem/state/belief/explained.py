"""The explanation of a memory: the parts of its trust, connections, conflicts, history and replacements."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ...model.clock import iso
from ...model.kinds import ACTIVE
from ...model.record import record
from ...text.count import count
from ..facets import is_valid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Memory
    from ..changes import Trust as Believing
    from ..derive import Weak
    from ..graph.graph import Edge
    from ..history import Step
    from .trust import Trust


@record
class Explained:
    """A memory, and the facts that decide its standing."""

    memory: Memory
    standing: str  # the reason why it is not in use; empty if it is in use
    trust: Trust
    edges: tuple[Edge, ...]
    conflicts: tuple[Memory, ...]
    weak: tuple[Weak, ...]  # sources that are no longer valid
    steps: tuple[Step, ...]


def standing(memory: Memory, at: int, weak: Sequence[Weak] = ()) -> str:
    """Return the reason why a memory is not in use at a time; empty if it is in use. For `weak`, see derive.py."""
    reason = f" ({memory.reason})" if memory.reason else ""
    if memory.status == "superseded":
        return f"superseded by {memory.superseded_by}{reason}"
    if memory.status == "disputed":
        return f"disputed {count(memory.disputes, 'time')}{reason}"
    if memory.status == "quarantined" and memory.conflicts_with:
        return f"quarantined{reason}: conflicts with {', '.join(memory.conflicts_with)}"
    if memory.status != ACTIVE:
        return f"{memory.status}{reason}"
    if is_valid(memory, at):
        return next((f"made from {source.id}, which is {source.why}" for source in weak if source.holds_back), "")
    begins = at < memory.valid_from
    return f"valid from {iso(memory.valid_from)}" if begins else f"its validity ended {iso(memory.valid_until)}"


@record
class Replaced:
    """A superseded memory and its replacement, with the trust of both."""

    old: Memory
    new: Memory
    old_trust: float
    new_trust: float


def replacements(chain: Sequence[Memory], trust: Believing) -> list[Replaced]:
    """Return the steps of a chain of memories, each superseded by the next."""
    return [Replaced(old, new, trust(old), trust(new)) for old, new in pairwise(chain)]
