"""Prune: archive decayed memories, and remove dangling links. Nothing is deleted. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.clock import DAY
from ...model.entry import DECAY, Plan
from ...model.kinds import ACTIVE, DRAFT, FADING
from ...model.record import record
from ...text.count import count
from ..changes.archive import archiving
from ..changes.link import linking
from ..derive import DERIVED
from ..graph.graph import build
from ..references import SUPERSEDES, Names
from .strength import FADED_BELOW, WEAK_BELOW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...model.entry import Entry, Memory
    from .census import Census
    from .strength import Strength

SUPERSEDED_DAYS = 90
MIN_DISPUTED_TRUST = 0.2
STATUSES_IN_USE = (ACTIVE, DRAFT, "conflicted", "disputed")
UNCOUNTED_LINKS = (
    SUPERSEDES,
    DERIVED,
)  # do not strengthen a memory: they lead to its replacement or digest


@record
class Outlook:
    """The strength of every memory that may decay, and the ids of those below the limit."""

    strengths: dict[str, Strength]
    faded: tuple[str, ...]

    @property
    def weakening(self) -> tuple[str, ...]:
        """Return the ids of memories that are weak but not below the limit."""
        left = set(self.strengths) - set(self.faded)
        return tuple(sorted(id for id in left if self.strengths[id].value < WEAK_BELOW))


def look_ahead(census: Census, least: float) -> Outlook:
    """Return the memories with a strength below `least`. Links to memories below it do not count for the others."""
    around = held_by(census)
    may_fade = {id: memory for id, memory in sorted(census.memories.items()) if _may_fade(census, memory)}
    strengths: dict[str, Strength] = {}
    faded: set[str] = set()
    pending = set(may_fade)
    while pending:
        for id in pending:
            strengths[id] = census.strength(may_fade[id], len(around.get(id, set()) - faded))
        gone = {id for id in pending if strengths[id].value < least}
        faded |= gone
        pending = {other for id in gone for other in around.get(id, ()) if other in may_fade} - faded
    return Outlook(strengths, tuple(sorted(faded)))


def held_by(census: Census) -> dict[str, set[str]]:
    """Return memory → the memories in use that a declared link connects it with, in either direction."""
    graph = build(list(census.memories.values()), lambda memory: memory.status in STATUSES_IN_USE)
    held = ((id, [edge for edge in edges if edge.type not in UNCOUNTED_LINKS]) for id, edges in graph.around.items())
    return {id: {edge.other(id) for edge in edges} for id, edges in held}


def plan_prune(census: Census, by: str = "") -> Plan:
    """Plan to archive decayed, long superseded, and disputed memories of low trust; and to remove dangling links.

    Critical memories and memories that a person vouches for are never archived.
    """
    outlook = look_ahead(census, FADED_BELOW)
    done = [(census.memories[id], f"prune: {outlook.strengths[id]}") for id in outlook.faded]
    for id, memory in sorted(census.memories.items()):
        days = (census.now - memory.updated) / DAY
        if census.is_spared(memory) or id in outlook.faded:
            continue
        if memory.status == "superseded" and days > SUPERSEDED_DAYS:
            done.append((memory, f"prune: superseded {count(round(days), 'day')} ago"))
        elif memory.status == "disputed" and census.trust(memory) < MIN_DISPUTED_TRUST:
            done.append((memory, f"prune: disputed, trust {census.trust(memory):.2f}"))
    leaving = {memory.id for memory, _ in done}
    staying = [memory for id, memory in sorted(census.memories.items()) if id not in leaving]
    cleaned = list(_cleaned(staying, census.memories.values(), by))
    archived = [archiving(memory, reason, by) for memory, reason in done]
    why = f"prune: archive {len(done)}, clean links of {len({entry.about for entry in cleaned})}"
    return Plan((*archived, *cleaned), why, DECAY)


def _may_fade(census: Census, memory: Memory) -> bool:
    return memory.kind in FADING and memory.status in (ACTIVE, "disputed") and not census.is_spared(memory)


def _cleaned(memories: Iterable[Memory], every: Iterable[Memory], by: str) -> Iterable[Entry]:
    """Yield, for each memory in use and each type of link, an entry that removes the dangling links."""
    names = Names(memory for memory in every if memory.status != "deleted")
    for memory in memories:
        lost: dict[str, list[str]] = {}
        for type, name in memory.links if memory.status in STATUSES_IN_USE else ():
            if not names.find(name):
                lost.setdefault(type, []).append(name)
        for type, gone in lost.items():
            yield linking(memory, gone, type, by, removed=True)
