"""The list of everything that waits for a person's decision: drafts, proposed changes, conflicts and
memories in quarantine; and the decisions about them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..files.append import Written
from ..model.entries import Draft, Memory
from ..model.errors import BadInput
from ..model.filters import Filter
from ..model.values import TYPE_CHECKING, record
from ..state.fold import ACTIVATE, REJECT, reviewed_name
from .beliefs import Proposal

if TYPE_CHECKING:
    from . import Repository

KINDS = DRAFT, PROPOSAL, CONFLICT, QUARANTINED = (
    "draft",
    "proposal",
    "conflict",
    "quarantined",
)
KEEP, DROP, BOTH = "keep", "drop", "both"
# kind → decision → what it does
DECISIONS = {
    DRAFT: {KEEP: "store it as a memory", DROP: "discard it"},
    PROPOSAL: {KEEP: "apply the change", DROP: "discard the change"},
    CONFLICT: {
        KEEP: "use it in place of the other",
        DROP: "archive it; the other stays",
        BOTH: "use both",
    },
    QUARANTINED: {KEEP: "put it into use", DROP: "archive it"},
}


@record
class Waiting:
    """One item that waits for a person's decision."""

    kind: str  # one of KINDS
    id: str  # of the draft, or of the memory
    title: str
    at: int  # when it was found or last changed, in milliseconds
    draft: Draft | None = None
    memory: Memory | None = None  # all kinds except DRAFT
    # only PROPOSAL: the changes, and the memory with them
    proposal: Proposal | None = None
    # only CONFLICT: the memory in use that `memory` contradicts
    other: Memory | None = None
    # the contradicting sentences; empty if claims contradict
    said: tuple[str, str] = ("", "")

    @property
    def decisions(self) -> dict[str, str]:
        """Return the possible decisions, each with what it does."""
        return DECISIONS[self.kind]


def waiting(repository: Repository, kinds: Collection[str] = KINDS) -> list[Waiting]:
    """Return what waits: proposed changes, conflicts, drafts, then quarantined memories, each latest first."""
    found = [*_proposals(repository)] if PROPOSAL in kinds else []
    conflicts = [*_conflicts(repository)] if {CONFLICT, QUARANTINED} & {*kinds} else []
    found += conflicts if CONFLICT in kinds else []
    if DRAFT in kinds:
        drafts = repository.drafts.all()
        found += [
            Waiting(DRAFT, one.id, one.title or one.text, one.at, draft=one)
            for one in drafts
        ]
    if QUARANTINED in kinds:
        listed = {item.id for item in conflicts}
        rows = repository.list(Filter(statuses=(QUARANTINED,), current=False))
        held = repository.get_many([row.id for row in rows if row.id not in listed])
        found += [_of_memory(QUARANTINED, memory) for memory in held]
    return found


def decide(
    repository: Repository, item: Waiting, decision: str, reason: str = "", by: str = ""
) -> Sequence[Written]:
    """Carry out a decision about an item and return the written entries; a dropped draft writes none."""
    if decision not in item.decisions:
        raise BadInput(
            f"{decision!r} is no decision about a {item.kind}",
            f"use one of {', '.join(item.decisions)}",
        )
    beliefs, keeps = repository.beliefs, decision == KEEP
    if item.kind == DRAFT:
        if keeps:
            return repository.drafts.keep(item.id, by=by).written
        repository.drafts.drop(item.id)
        return ()
    if item.kind == PROPOSAL:
        assert item.proposal
        shown = [reviewed_name(entry) for entry in item.proposal.changes]
        return beliefs.decide(item.id, keeps, shown, reason, by)
    settle = (
        {KEEP: "supersede", BOTH: "keep_both"}.get(decision, "") if item.other else ""
    )
    return beliefs.review(
        item.id, REJECT if decision == DROP else ACTIVATE, settle, reason, by
    )


def _of_memory(
    kind: str,
    memory: Memory,
    other: Memory | None = None,
    said: tuple[str, str] = ("", ""),
) -> Waiting:
    title = memory.title or memory.path
    return Waiting(
        kind, memory.id, title, memory.updated, memory=memory, other=other, said=said
    )


def _proposals(repository: Repository) -> Iterator[Waiting]:
    for proposal in repository.beliefs.proposals():
        memory = proposal.memory
        at = max(entry.at for entry in proposal.changes)
        yield Waiting(
            PROPOSAL, memory.id, memory.title, at, memory=memory, proposal=proposal
        )


def _conflicts(repository: Repository) -> Iterator[Waiting]:
    for conflict in repository.beliefs.conflicts():
        yield _of_memory(CONFLICT, conflict.memory, conflict.other)
    for pair in repository.beliefs.contradictions():
        yield _of_memory(
            CONFLICT, pair.newer, pair.older, (pair.said.one, pair.said.other)
        )
