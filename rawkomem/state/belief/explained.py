"""What explains a memory: the parts of its trust, connections, conflicts, history, and what took its place."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ...model.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Memory
    from ..graph.graph import Edge
    from ..history import Step
    from .claims import Trust as Believing
    from .trust import Trust


@record
class Explained:
    """A memory and everything that it is judged by."""

    memory: Memory
    standing: str  # why it is not in use; empty when it is
    trust: Trust
    edges: tuple[Edge, ...]
    conflicts: tuple[Memory, ...]
    steps: tuple[Step, ...]


@record
class Replaced:
    """One memory in the place of another, with the trust of both."""

    old: Memory
    new: Memory
    old_trust: float
    new_trust: float


def replacements(chain: Sequence[Memory], trust: Believing) -> list[Replaced]:
    """The steps of a chain of memories, each superseded by the next."""
    return [Replaced(old, new, trust(old), trust(new)) for old, new in pairwise(chain)]
