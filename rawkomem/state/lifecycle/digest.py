"""Digests of related memories that nobody changed lately, made of their own sentences. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.clock import DAY
from ...model.entry import Plan
from ...model.kinds import ACTIVE, FADING
from ...model.record import record
from ...text.count import count
from ..derive import covered, derived_from
from ..facets import is_valid
from ..graph.digest import agreeing, archive_held, digest_of, plan_digest
from ..graph.episode import by_time
from ..graph.graph import build
from ..graph.walk import clusters

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from ...model.entry import Memory
    from .census import Census

    # (ids, minimum cosine) → pairs that are among each other's closest; see index/views/neighbors.py
    Pairs = Callable[[Collection[str], float], list[tuple[str, str, float]]]

SOURCE = "compress"  # `source` of the digests made here
MIN_MEMBERS, IDLE_DAYS, MAX_DIGESTS = 3, 30, 5  # neolata
MIN_COSINES = (0.6, 0.7, 0.8, 0.9)  # minimum similarity of a cluster: the first value that gives small enough clusters
MAX_MEMBERS = 30  # of a digest, which then has a dozen words for each
MAX_TRUST_SPREAD = 0.15  # between sources, because a digest has the trust of its least trusted source


@record
class Digesting:
    """The limits of digests: minimum size of a cluster, days without a change, maximum number of digests per day."""

    members: int = MIN_MEMBERS
    idle_days: int = IDLE_DAYS
    max_digests: int = MAX_DIGESTS


def plan_digests(census: Census, pairs: Pairs, how: Digesting, by: str = "") -> Plan:
    """Plan digests of idle clusters, largest first, up to the maximum per day."""
    made_before = covered(census.memories.values())
    room = how.max_digests - sum(_is_recent(memory, census) for memory in census.memories.values())
    plans: list[Plan] = []
    for label, sources in _groups(census, made_before, pairs, how):
        if len(plans) >= room:
            break
        plans.append(plan_digest(f"Digest: {label}", by_time(sources), SOURCE, by))
    return Plan(tuple(entry for plan in plans for entry in plan.entries), f"make {count(len(plans), 'digest')}")


def plan_archive_sources(census: Census, by: str = "") -> Plan:
    """Plan to archive sources that their digest covers, except those that housekeeping must not archive."""
    entries = []
    for digest in _made(census):
        sources = [census.memories[id] for id in derived_from(digest) if id in census.memories]
        held = archive_held(digest, sources, by)
        entries += [entry for entry in held if not census.is_spared(census.memories[entry.about])]
    return Plan(tuple(entries), f"archive {count(len(entries), 'memory')} that digests cover")


def digests_of(census: Census) -> dict[str, str]:
    """Return source → the active digest that was made from it."""
    return {id: digest.id for digest in _made(census) for id in derived_from(digest)}


def unheld(census: Census) -> dict[str, str]:
    """Return active source of a digest → its first part that the digest does not cover, so that it is not archived."""
    found: dict[str, str] = {}
    for digest in _made(census):
        sources = [census.memories[id] for id in derived_from(digest) if id in census.memories]
        missing = digest_of(sources).missing
        found |= {one.id: missing[one.id] for one in sources if one.status == ACTIVE and one.id in missing}
    return found


def _groups(
    census: Census, covered: Collection[str], pairs: Pairs, how: Digesting
) -> Iterator[tuple[str, list[Memory]]]:
    """Yield (label, memories) for new digests. Covered memories are clustered, too, so that clusters stay stable."""
    taking = {memory.id: memory for memory in _taking_part(census, covered, how)}
    for cosine in MIN_COSINES:
        found = clusters(build(list(taking.values()), lambda memory: True, pairs(taking, cosine)), how.members)
        for cluster in found:
            if len(cluster.ids) <= MAX_MEMBERS or cosine == MIN_COSINES[-1]:
                fresh = [taking[id] for id in cluster.ids if id not in covered][:MAX_MEMBERS]
                for alike in _believed_alike(fresh, census):
                    group = agreeing(alike) if len(alike) >= how.members else []
                    if len(group) >= how.members:
                        yield cluster.label or group[0].title, group
        large = {id for cluster in found if len(cluster.ids) > MAX_MEMBERS for id in cluster.ids}
        taking = {id: memory for id, memory in taking.items() if id in large}


def _taking_part(census: Census, covered: Collection[str], how: Digesting) -> Iterator[Memory]:
    for memory in census.memories.values():
        if memory.id in covered:
            if memory.status != "deleted":
                yield memory
        elif memory.status == ACTIVE and memory.kind in FADING and is_valid(memory, census.now):
            idle = census.touched(memory) and census.now - census.touched(memory) >= how.idle_days * DAY
            if idle and not derived_from(memory) and "claim" not in memory.extra:
                yield memory


def _believed_alike(memories: Iterable[Memory], census: Census) -> Iterator[list[Memory]]:
    """Yield memories in groups of similar trust, so that a doubtful memory does not lower the trust of others."""
    group: list[Memory] = []
    for memory in sorted(memories, key=lambda one: (-census.trust(one), one.id)):
        if group and census.trust(group[0]) - census.trust(memory) > MAX_TRUST_SPREAD:
            yield group
            group = []
        group.append(memory)
    if group:
        yield group


def _is_recent(memory: Memory, census: Census) -> bool:
    return memory.source == SOURCE and bool(derived_from(memory)) and census.now - memory.created < DAY


def _made(census: Census) -> list[Memory]:
    """Return the active digests that were made here, sorted by id."""
    digests = (memory for memory in census.memories.values() if memory.status == ACTIVE and memory.source == SOURCE)
    return sorted((memory for memory in digests if derived_from(memory)), key=lambda memory: memory.id)
