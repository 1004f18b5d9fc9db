"""Evolving: a new text finds the memory that it is a newer version of, if there is one. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.errors import BadInput
from ...model.kinds import ACTIVE, GROUPS
from ...model.record import record, replace
from ...text.same import RELATED_COSINE, SIMILAR, is_identical, said_in, shared
from ..changes.corroborate import plan_corroborate
from ..changes.supersede import outweighs
from ..decide import plan_add
from ..fold import created
from .claims import MAX_TEXT_CHARS, plan_superseding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Entry, Memory, Plan
    from ..changes import Trust

MAX_CANDIDATES = 10  # looked at (neolata)


@record
class Related:
    """A memory that has to do with a text: how close it is, and which share of the specific words both have."""

    memory: Memory
    cosine: float
    shared: float

    @property
    def same_subject(self) -> bool:
        """Tell whether it clearly speaks of the same thing."""
        return self.cosine >= SIMILAR.min_cosine and self.shared >= SIMILAR.min_shared


def related_to(entry: Entry, found: Sequence[tuple[Memory, float]]) -> list[Related]:
    """Return the active memories among those found that have to do with a new text, the closest first."""
    own = said_in(f"{entry.title}\n{entry.body}")
    kept = [(memory, cosine) for memory, cosine in found if memory.status == ACTIVE and memory.kind not in GROUPS]
    related = [
        Related(memory, cosine, shared(own, said_in(f"{memory.title}\n{memory.body}"), subject_only=True))
        for memory, cosine in kept
        if cosine > RELATED_COSINE
    ]
    return sorted(related, key=lambda item: (-item.cosine, item.memory.id))[:MAX_CANDIDATES]


def plan_evolve(entry: Entry, related: Sequence[Related], trust: Trust) -> Plan:
    """Store a text: confirm the closest memory that says the same, supersede it if trust allows, or just store it."""
    if len(entry.body) > MAX_TEXT_CHARS:
        raise BadInput(f"the text has more than {MAX_TEXT_CHARS:,} characters", "'rawkomem add' stores documents")
    plan = plan_add(entry)
    (first,) = plan.entries
    closest = next((item.memory for item in related if item.same_subject), None)
    if closest is None:
        why = "; nothing speaks clearly of the same" if related else ""
        return replace(plan, why=plan.why + why)
    if is_identical(f"{first.title} {first.body}", f"{closest.title} {closest.body}"):
        return plan_corroborate(closest, first)
    if not outweighs(created(first), [closest], trust):
        return replace(plan, why=f"{plan.why} beside {closest.id}, which is trusted more")
    return plan_superseding(first, [closest], "a newer text about the same")
