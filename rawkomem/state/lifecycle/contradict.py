"""Contradictions among memories that are there already: claims are gone through as if each were stored again. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Entry, Plan
from ...model.record import record
from ..decide import plan_about
from ..graph.link import plan_links
from ..references import KEPT_BOTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...model.entry import Memory, Value
    from .census import Census

ROUNDED = 6  # decimals in which two trusts are compared: two claims of one moment are equally old


@record
class ClaimRules:
    """What claims mean: what a memory's claim is about, who contradicts it, and what its predicate asks for then."""

    key: Callable[[Memory], tuple[str, str] | None]
    rivals: Callable[[Memory, Sequence[Memory]], Sequence[Memory]]
    policy: Callable[[Memory], str]  # supersede, require_review or keep_both


def plan_contradictions(census: Census, rules: ClaimRules, by: str = "") -> Plan:
    """For each active claim, the oldest first, what storing it would have done to those before it."""
    entries: list[Entry] = []
    standing: dict[tuple[str, str], list[Memory]] = {}
    for memory in sorted(census.active(), key=lambda memory: (memory.created, memory.id)):
        key = rules.key(memory)
        if key is None:
            continue
        before = standing.setdefault(key, [])
        rivals = [rival for rival in rules.rivals(memory, before) if not _settled(memory, rival)]
        decided = list(_decide(census, memory, rivals, rules.policy(memory), by)) if rivals else []
        entries += decided
        gone = {entry.about for entry in decided if entry.kind in ("supersede", "quarantine")}
        before[:] = [other for other in (*before, memory) if other.id not in gone]
    changed = len({entry.about for entry in entries})
    return Plan(tuple(entries), f"settle contradictions of {changed} memories")


def _settled(one: Memory, other: Memory) -> bool:
    return (KEPT_BOTH, other.id) in one.links or (KEPT_BOTH, one.id) in other.links


def _decide(census: Census, memory: Memory, rivals: Sequence[Memory], policy: str, by: str) -> Iterator[Entry]:
    if policy == "keep_both":
        yield from plan_links(memory, [rival.id for rival in rivals], KEPT_BOTH, by, "").entries
    elif policy == "supersede" and _outweighs(census, memory, rivals):
        for rival in rivals:
            extra: dict[str, Value] = {"supersededBy": memory.id, "reason": f"contradicted by {memory.id}"}
            yield from plan_about(rival, Entry(kind="supersede", by=by, extra=extra), "").entries
    else:
        reason = "trust_insufficient" if policy == "supersede" else "predicate_requires_review"
        extra = {"reason": reason, "conflictsWith": [rival.id for rival in rivals]}
        yield from plan_about(memory, Entry(kind="quarantine", by=by, extra=extra), "").entries


def _outweighs(census: Census, memory: Memory, rivals: Sequence[Memory]) -> bool:
    """Whether a memory is believed at least as much as each rival: the newer one wins ties, as when it is stored."""
    return all(round(census.trust(memory), ROUNDED) >= round(census.trust(rival), ROUNDED) for rival in rivals)
