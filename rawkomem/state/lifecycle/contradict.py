"""Settle contradictions between stored claims, as if the claims were stored one after the other. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Plan
from ...model.kinds import KEPT_BOTH
from ..belief.claims import KEEP_BOTH, SUPERSEDE, UNREGISTERED, claim_of, rivals_of
from ..belief.conflicts import kept_both
from ..changes.link import linking
from ..changes.quarantine import NEEDS_REVIEW, TRUST_INSUFFICIENT, holding
from ..changes.supersede import outweighs, superseding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...model.entry import Entry, Memory
    from ..belief.claims import Registry
    from .census import Census


def plan_contradictions(census: Census, registry: Registry, by: str = "") -> Plan:
    """Plan to settle the active claims, oldest first, as if each were stored after the claims before it."""
    entries: list[Entry] = []
    standing: dict[tuple[str, str], list[Memory]] = {}
    for memory in sorted(census.active(), key=lambda memory: (memory.created, memory.id)):
        claim = claim_of(memory)
        if claim is None:
            continue
        before = standing.setdefault(claim.key, [])
        rivals = [rival for rival in rivals_of(memory, before, registry) if not kept_both(memory, rival)]
        policy = registry.get(claim.predicate, UNREGISTERED).conflict_policy
        decided = list(_decide(census, memory, rivals, policy, by)) if rivals else []
        entries += decided
        gone = {entry.about for entry in decided if entry.kind in ("supersede", "quarantine")}
        before[:] = [other for other in (*before, memory) if other.id not in gone]
    changed = len({entry.about for entry in entries})
    return Plan(tuple(entries), f"settle contradictions of {changed} memories")


def _decide(census: Census, memory: Memory, rivals: Sequence[Memory], policy: str, by: str) -> Iterator[Entry]:
    names = [rival.id for rival in rivals]
    if policy == KEEP_BOTH:
        yield linking(memory, names, KEPT_BOTH, by)
    elif policy == SUPERSEDE and outweighs(memory, rivals, census.trust):
        for rival in rivals:
            yield superseding(rival, memory.id, f"contradicted by {memory.id}", by)
    else:
        yield holding(memory, TRUST_INSUFFICIENT if policy == SUPERSEDE else NEEDS_REVIEW, by, names)
