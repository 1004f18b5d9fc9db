"""Evolve: find the memory that a new text updates, and plan to supersede or confirm it. Pure."""

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

MAX_CANDIDATES = 10  # memories compared with a new text (neolata)


@record
class Related:
    """A memory related to a text: the similarity, and the share of specific words that both have."""

    memory: Memory
    cosine: float
    shared: float

    @property
    def same_subject(self) -> bool:
        """Return whether the memory is clearly about the same subject."""
        return self.cosine >= SIMILAR.min_cosine and self.shared >= SIMILAR.min_shared


def related_to(entry: Entry, found: Sequence[tuple[Memory, float]]) -> list[Related]:
    """Return the active memories of `found` that are related to a new text, closest first."""
    own = said_in(f"{entry.title}\n{entry.body}")
    kept = [(memory, cosine) for memory, cosine in found if memory.status == ACTIVE and memory.kind not in GROUPS]
    related = [
        Related(memory, cosine, shared(own, said_in(f"{memory.title}\n{memory.body}"), subject_only=True))
        for memory, cosine in kept
        if cosine > RELATED_COSINE
    ]
    return sorted(related, key=lambda item: (-item.cosine, item.memory.id))[:MAX_CANDIDATES]


def plan_evolve(entry: Entry, related: Sequence[Related], trust: Trust) -> Plan:
    """Plan to confirm the closest memory if it says the same, to supersede it if trust allows, or just to store."""
    if len(entry.body) > MAX_TEXT_CHARS:
        raise BadInput(f"the text has more than {MAX_TEXT_CHARS:,} characters", "use 'rawkomem add' for documents")
    plan = plan_add(entry)
    (first,) = plan.entries
    closest = next((item.memory for item in related if item.same_subject), None)
    if closest is None:
        why = "; no memory is clearly about the same subject" if related else ""
        return replace(plan, why=plan.why + why)
    if is_identical(f"{first.title} {first.body}", f"{closest.title} {closest.body}"):
        return plan_corroborate(closest, first)
    if not outweighs(created(first), [closest], trust):
        return replace(plan, why=f"{plan.why} and keep {closest.id}, which is trusted more")
    return plan_superseding(first, [closest], "a newer text about the same")
