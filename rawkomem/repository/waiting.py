"""The list of everything that waits for a person's decision: drafts, proposed changes, conflicts and memories in
quarantine; and the decisions about them.
"""

from __future__ import annotations

from collections.abc import (
    Collection,
    Iterator,
    Sequence,
)

from ..files.append import Written
from ..model.entries import Draft, Memory
from ..model.errors import BadInput
from ..model.filters import Filter
from ..model.values import (
    TYPE_CHECKING,
    record,
)
from ..state.fold import (
    ACTIVATE,
    REJECT,
    reviewed_name,
)
from ..text.acts import ASK
from ..text.difference import Risk, compare, risks_of
from .beliefs import Proposal

if TYPE_CHECKING:
    from . import Repository

KINDS = DRAFT, PROPOSAL, CONFLICT, QUARANTINED = (
    "draft",
    "proposal",
    "conflict",
    "quarantined",
)
MORE = "more"  # asks for the drafts of which the person is not asked; they are of the kind DRAFT
KEEP = "keep"
DROP = "drop"
BOTH = "both"
JOIN = "join"
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
# about a draft that names acts of an agent
GUARD_DECISIONS = {
    KEEP: "store it; the agent is reminded when it does this",
    ASK: "store it; you are asked when an agent does this",
    DROP: "discard it",
}
# about a draft that says the same as a memory
AGREEING_DECISIONS = {
    KEEP: "confirm the memory that says the same",
    JOIN: "add these words to that memory",
    BOTH: "store it as a memory of its own",
    DROP: "discard it",
}
# about a draft that contradicts memories, besides those above
CORRECTING_DECISIONS = {
    KEEP: "store it in place of what it corrects",
    BOTH: "store it; what it corrects stays in use",
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
        if self.draft and self.draft.agrees:
            return AGREEING_DECISIONS
        names_acts = self.draft and self.draft.applies
        decisions = GUARD_DECISIONS if names_acts else DECISIONS[self.kind]
        if self.draft and self.draft.corrects:
            return {**decisions, **CORRECTING_DECISIONS}
        return decisions

    @property
    def risks(self) -> Sequence[Risk]:
        """Return what looks dangerous: in what a proposal adds, or in the whole draft or memory."""
        if self.proposal:
            pairs = (change[1:] for change in self.proposal.differences)
            return [risk for pair in pairs for risk in compare(*pair).risks]
        item = self.draft or self.memory
        return risks_of(item) if item else []


def waiting(repository: Repository, kinds: Collection[str] = KINDS) -> list[Waiting]:
    """Return what waits: proposed changes, conflicts, drafts, then quarantined memories, each latest first.

    Drafts of which the person is not asked are included only if `kinds` has MORE.
    """
    items = [*_proposals(repository)] if PROPOSAL in kinds else []
    conflicts = [*_conflicts(repository)] if {CONFLICT, QUARANTINED} & {*kinds} else []
    items += conflicts if CONFLICT in kinds else []
    items += [
        Waiting(DRAFT, one.id, one.title or one.text, one.at, draft=one)
        for one in sorted(repository.drafts.all(), key=_asked_first)
        if (MORE if one.more else DRAFT) in kinds
    ]
    if QUARANTINED in kinds:
        listed = {item.id for item in conflicts}
        rows = repository.list(Filter(statuses=(QUARANTINED,), current=False))
        quarantined = repository.get_many(
            [row.id for row in rows if row.id not in listed]
        )
        items += [_of_memory(QUARANTINED, memory) for memory in quarantined]
    return items


def _asked_first(draft: Draft) -> tuple[bool, float]:
    """Return the key that sorts drafts which are less sure behind the others, by score."""
    return draft.more, -draft.score if draft.more else 0.0


def decide(
    repository: Repository, item: Waiting, decision: str, reason: str = "", by: str = ""
) -> Sequence[Written]:
    """Carry out a decision about an item and return the written entries; a dropped draft writes none."""
    if decision not in item.decisions:
        raise BadInput(
            f"{decision!r} is no decision about a {item.kind}",
            f"use one of {', '.join(item.decisions)}",
        )
    beliefs = repository.beliefs
    keeps = decision == KEEP
    if item.kind == DRAFT:
        if decision != DROP:
            how = decision if decision in (JOIN, BOTH) else ""
            guard = "" if keeps or how else decision
            return repository.drafts.keep(item.id, by=by, guard=guard, how=how).written
        repository.drafts.drop(item.id)
        return ()
    if item.kind == PROPOSAL:
        assert item.proposal
        names = [reviewed_name(entry) for entry in item.proposal.changes]
        return beliefs.decide(item.id, keeps, names, reason, by)
    if item.other:
        settle = {KEEP: "supersede", BOTH: "keep_both"}.get(decision, "")
    else:
        settle = ""
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
