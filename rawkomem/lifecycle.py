"""The life of a repository's memories: decay, compress, consolidate. Reads all of them, decides by a Plan, writes it.

One run at a time: whoever comes second waits, and finds the work done.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .files.lock import Lock
from .index.documents import Filter
from .index.lists import memory_of
from .index.neighbours import Neighbours
from .model.clock import now
from .model.entry import Plan
from .model.record import record
from .state.census import Census
from .state.claims import UNREGISTERED, claim_of, rivals_of
from .state.compress import Compression, plan_compress
from .state.consolidate import Similar, plan_consolidate, steps
from .state.contradict import ClaimRules
from .state.decay import Outlook, held_by, look_ahead, plan_decay
from .state.strength import FADED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .model.entry import Memory
    from .repository import Repository
    from .state.strength import Strength

    Progress = Callable[[int, int], None]

WAIT = 120.0  # seconds for another run to end; consolidating 10,000 memories takes less
AT_ONCE = 500  # entries written before others may write, and progress is told


def _quiet(done: int, total: int) -> None:
    return None


@record
class Done:
    """What a run changed, or would change: the plan, and the memories as they were before it, by id."""

    plan: Plan
    memories: dict[str, Memory]
    written: bool


def decay(
    repository: Repository, dry_run: bool = False, by: str = "", progress: Progress = _quiet
) -> tuple[Done, Outlook]:
    """Archive what faded and clean links; with how strong each memory was."""
    outlooks: list[Outlook] = []

    def decide(census: Census) -> Plan:
        outlooks.append(look_ahead(census, FADED))
        return plan_decay(census, by)

    return _run(repository, decide, dry_run, progress), outlooks[0]


def compress(
    repository: Repository, how: Compression, dry_run: bool = False, by: str = "", progress: Progress = _quiet
) -> Done:
    """Digests of what belongs together and lies idle."""

    def decide(census: Census) -> Plan:
        return plan_compress(census, _neighbours(repository).pairs, how, by)

    return _run(repository, decide, dry_run, progress)


def consolidate(repository: Repository, dry_run: bool = False, by: str = "", progress: Progress = _quiet) -> Done:
    """Duplicates, contradictions, corroboration, digests, prune."""

    def decide(census: Census) -> Plan:
        near = _neighbours(repository)
        todo = steps(Similar(near.later, near.pairs), _claim_rules(repository), Compression(), by)
        return plan_consolidate(census, todo, progress)

    return _run(repository, decide, dry_run, progress)


def strength(repository: Repository, memory: Memory) -> Strength:
    """How alive a memory is, with what that is made of."""
    census = take_census(repository)
    return census.strength(memory, len(held_by(census).get(memory.id, ())))


def take_census(repository: Repository) -> Census:
    """All memories of a repository, with what depends on the clock and on this machine."""
    index = repository.index
    memories = repository.read(lambda: [memory_of(doc) for doc in index.catalogue.docs()])
    at = now()
    uses = {id: (access.count, access.last) for id, access in repository.accesses().items()}
    believed = repository.believing()
    return Census({memory.id: memory for memory in memories}, at, lambda memory: believed.trust(memory).value, uses)


def _neighbours(repository: Repository) -> Neighbours:
    return Neighbours(repository.read(lambda: repository.index.store.vectors(Filter())))


def _claim_rules(repository: Repository) -> ClaimRules:
    """What claims mean in this repository."""
    registry = repository.predicates()

    def key(memory: Memory) -> tuple[str, str] | None:
        claim = claim_of(memory)
        return claim.key if claim else None

    def rivals(memory: Memory, others: Sequence[Memory]) -> Sequence[Memory]:
        return rivals_of(memory, others, registry)

    def policy(memory: Memory) -> str:
        claim = claim_of(memory)
        return registry.get(claim.predicate, UNREGISTERED).conflict_policy if claim else ""

    return ClaimRules(key, rivals, policy)


def _run(repository: Repository, decide: Callable[[Census], Plan], dry_run: bool, progress: Progress) -> Done:
    if dry_run:
        census = take_census(repository)
        return Done(decide(census), dict(census.memories), written=False)
    with Lock(os.path.join(repository.layout.local, "life.lock"), WAIT):
        census = take_census(repository)
        plan = decide(census)
        _write(repository, plan, progress)
    return Done(plan, dict(census.memories), written=True)


def _write(repository: Repository, plan: Plan, progress: Progress) -> None:
    """Write a plan in parts. Each entry stands for itself: whoever runs again after a kill goes on from there."""
    for start in range(0, len(plan.entries), AT_ONCE):
        repository.write(Plan(plan.entries[start : start + AT_ONCE], plan.why))
        progress(min(start + AT_ONCE, len(plan.entries)), len(plan.entries))
    if plan.entries:
        repository.sync()
