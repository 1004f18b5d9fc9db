"""Find the memories that a person should look at, by check, for the Health view of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...git.citations import GONE, STALE
from ...model.clock import DAY, now
from ...model.entry import Memory
from ...model.kinds import GROUPS, NEED_WHEN, RECORDED
from ...repository import Repository
from ...text.clean import one_line
from .answers import listed
from .difference import difference

MAX_FINDINGS = 100  # of one check; the page loads the next ones after decisions
MIN_UNUSED_DAYS = 14  # a younger memory may not have had a chance to be used

Finding = tuple[Memory, str, dict[str, Any]]  # a memory, the finding in words, and more facts for the page


def health(repository: Repository) -> dict[str, Any]:
    """Return the findings of each check and their number."""
    memories = [*repository.get_many([row.id for row in repository.list()])]
    checks: dict[str, Callable[[], Iterable[Finding]]] = {
        "stale": lambda: _stale(repository),
        "contradicted": lambda: _contradicted(repository),
        "weak": lambda: _weak(repository),
        "unconditional": lambda: _unconditional(memories),
        "unused": lambda: _unused(repository, memories),
        "unverified": lambda: _unverified(repository, memories),
    }
    return {"memories": len(memories), "checks": [_check(name, [*find()]) for name, find in checks.items()]}


def _check(name: str, found: list[Finding]) -> dict[str, Any]:
    items = [{**listed(memory), "found": one_line(told, 300), **more} for memory, told, more in found[:MAX_FINDINGS]]
    return {"name": name, "total": len(found), "items": items}


def _stale(repository: Repository) -> Iterable[Finding]:
    """Yield memories that cite code which changed or is gone."""
    for memory, cited in repository.citations.all():
        changed = [item for item in cited if item.state in (STALE, GONE)]
        if changed:
            told = "; ".join(f"{item.citation.place} is {item.state}" for item in changed)
            yield memory, told, {"can_confirm": any(item.state == STALE for item in changed)}


def _contradicted(repository: Repository) -> Iterable[Finding]:
    """Yield memories that contradict another memory in use, by a claim or by a sentence."""
    claims = [(one.memory, one.other) for one in repository.beliefs.conflicts()]
    sentences = [(one.newer, one.older) for one in repository.beliefs.contradictions()]
    for number, (memory, other) in enumerate([*claims, *sentences]):
        parts = difference(one_line(other.body, 600), one_line(memory.body, 600))
        facts = {"other": {"id": other.id, "title": one_line(other.title)}, "parts": parts}
        yield memory, f"contradicts “{one_line(other.title, 120)}”", {**facts, "in_review": number < len(claims)}


def _weak(repository: Repository) -> Iterable[Finding]:
    """Yield memories whose sources no longer hold."""
    for memory, sources in repository.beliefs.weakened():
        yield memory, f"sources that no longer hold: {len(sources)}", {}


def _unconditional(memories: Iterable[Memory]) -> Iterable[Finding]:
    """Yield memories without a condition: only their words and meaning can bring them into a prompt."""
    for memory in memories:
        if memory.kind in NEED_WHEN and not memory.when:
            yield memory, "has no condition", {}


def _unused(repository: Repository, memories: Iterable[Memory]) -> Iterable[Finding]:
    """Yield memories that were never injected into a prompt on this machine, the oldest first."""
    used, at = repository.lifecycle.accesses(), now()
    for memory in sorted(memories, key=lambda memory: (memory.created, memory.id)):
        days = (at - memory.created) // DAY
        is_old = bool(memory.created) and days >= MIN_UNUSED_DAYS
        if is_old and memory.kind not in (*GROUPS, *RECORDED) and memory.id not in used:
            yield memory, f"not injected on this machine in {days} days", {}


def _unverified(repository: Repository, memories: Iterable[Memory]) -> Iterable[Finding]:
    """Yield memories that no person vouches for."""
    memories = [*memories]
    found = repository.beliefs.all().unverified(memories)
    for memory in memories:
        if memory.id in found:
            yield memory, one_line(found[memory.id].why, 200), {"can_vouch": not memory.vouched}
