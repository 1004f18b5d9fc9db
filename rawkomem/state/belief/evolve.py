"""Evolving: a new text finds the memory that it is a newer version of, if there is one. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.errors import BadInput
from ...model.kinds import ACTIVE, GROUPS
from ...model.record import record, replace
from ...text.overlap import specific
from ..changes.corroborate import plan_corroborate
from ..changes.supersede import outweighs
from ..decide import plan_add
from ..fold import created
from .claims import TEXT_LENGTH, plan_superseding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Entry, Memory, Plan
    from ..changes import Trust

MIN_RELATED_COSINE = 0.6  # cosine above which two texts have to do with each other (neolata)
MAX_CANDIDATES = 10  # looked at (neolata)
MIN_SAME_COSINE = 0.8  # cosine above which, and …
MIN_SHARED_WORDS = 0.6  # … share of the specific words of the shorter text above which, both are about the same subject
MIN_SUBJECT_WORDS = 2  # specific words that a subject needs: one shared word is no subject


@record
class Related:
    """A memory that has to do with a text: how close it is, and which share of the specific words both have."""

    memory: Memory
    cosine: float
    shared: float

    @property
    def same_subject(self) -> bool:
        """Tell whether it clearly speaks of the same thing."""
        return self.cosine >= MIN_SAME_COSINE and self.shared >= MIN_SHARED_WORDS


def related_to(entry: Entry, found: Sequence[tuple[Memory, float]]) -> list[Related]:
    """Return the active memories among those found that have to do with a new text, the closest first."""
    own = _words(entry.title, entry.body)
    kept = [(memory, cosine) for memory, cosine in found if memory.status == ACTIVE and memory.kind not in GROUPS]
    related = [
        Related(memory, cosine, _share(own, _words(memory.title, memory.body)))
        for memory, cosine in kept
        if cosine > MIN_RELATED_COSINE
    ]
    return sorted(related, key=lambda item: (-item.cosine, item.memory.id))[:MAX_CANDIDATES]


def plan_evolve(entry: Entry, related: Sequence[Related], trust: Trust) -> Plan:
    """Store a text; it confirms a memory that says the same, and supersedes one that it clearly is a newer version of.

    Only the closest one, and only where the new text is trusted as much. Otherwise it is just stored: a wrong guess
    would hide a good memory.
    """
    if len(entry.body) > TEXT_LENGTH:
        raise BadInput(f"the text has more than {TEXT_LENGTH:,} characters", "'rawkomem add' stores documents")
    plan = plan_add(entry)
    (first,) = plan.entries
    closest = next((item.memory for item in related if item.same_subject), None)
    if closest is None:
        why = "; nothing speaks clearly of the same" if related else ""
        return replace(plan, why=plan.why + why)
    if _plain(first.title, first.body) == _plain(closest.title, closest.body):
        return plan_corroborate(closest, first)
    if not outweighs(created(first), [closest], trust):
        return replace(plan, why=f"{plan.why} beside {closest.id}, which is trusted more")
    return plan_superseding(first, [closest], "a newer text about the same")


def _words(title: str, body: str) -> frozenset[str]:
    return frozenset(specific(f"{title}\n{body}"))


def _share(a: frozenset[str], b: frozenset[str]) -> float:
    fewer = min(len(a), len(b))
    return len(a & b) / fewer if fewer >= MIN_SUBJECT_WORDS else 0.0


def _plain(title: str, body: str) -> str:
    return " ".join(f"{title} {body}".lower().split())
