"""Reviewing what was imported, a whole source at a time, for the faces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exchange.place import is_from, place_of
from ...model.entry import Plan
from ...model.errors import NotFound
from ...model.filters import Filter
from ...state.changes.review import plan_review

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Memory
    from .. import Repository

AT_ONCE = 200  # reviews written under one lock


def waiting(repository: Repository, place: str = "") -> list[Memory]:
    """The imported memories in quarantine, or those of one source: a kind, a file, a folder, or a section."""
    held = repository.get_all([row.id for row in repository.list(Filter(statuses=("quarantined",)))])
    imported = [memory for memory in held if place_of(memory.extra)]
    return [memory for memory in imported if not place or is_from(place_of(memory.extra), place)]


def review_all(
    repository: Repository, place: str, action: str, settle: str = "", reason: str = "", by: str = ""
) -> Sequence[Memory]:
    """Activate or reject everything that waits from one source; the memories as they stand then."""
    held = waiting(repository, place)
    if not held:
        raise NotFound(f"nothing from {place!r} waits for a review", "'rawkomem quarantine list' shows what waits")
    plain = [memory.id for memory in held if not memory.conflicts_with and "claim" not in memory.extra]
    for start in range(0, len(plain), AT_ONCE):
        _review_plain(repository, plain[start : start + AT_ONCE], action, settle, reason, by)
    for memory in held:
        if memory.id not in plain:  # what it contradicts, another review may just have changed
            repository.review(memory.id, action, settle, reason, by)
    return repository.get_all([memory.id for memory in held])


def _review_plain(repository: Repository, ids: Sequence[str], action: str, settle: str, reason: str, by: str) -> None:
    """Review memories that contradict nothing, in one write."""

    def decide() -> Plan:
        still = [memory for memory in repository.get_all(ids) if memory.status == "quarantined"]
        plans = [plan_review(memory, (), action, settle, reason, by, repository.trust) for memory in still]
        return Plan(tuple(entry for plan in plans for entry in plan.entries), f"{action} {len(plans)} memories")

    repository.write_decided(decide)
