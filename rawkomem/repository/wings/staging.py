"""Compare the staged memories of a commit with others: near duplicates and contradictions become proposals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...git.run import GitFailed
from ...git.staged import Staged
from ...git.staged_same import Brought
from ...index.claims import claiming
from ...model.entry import Plan
from ...model.errors import NotFound
from ...model.record import record
from ...state.belief.claims import claim_of, rivals_of
from ...state.belief.conflicts import kept_both
from ...state.belief.prose import contradictions
from ...state.changes.supersede import superseding
from ...state.lifecycle.dedupe import is_comparable, same_subject
from ...state.lifecycle.held import missing_fact
from ...text.clean import one_line
from ...text.same import NEAR_DUPLICATE, identity, said_in, says_same
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...files.append import Written
    from ...model.entry import Entry, Memory

NEAR, PROSE, CLAIM = "near-duplicate", "contradiction", "contradicting-claim"  # codes of proposals
MAX_SEARCHED = 50  # staged memories that are compared; a larger import waits for `consolidate`
MAX_RESULTS = 8  # of the search for one staged memory
MAX_QUESTION_CHARS = 400
SHOWN_CHARS = 60  # of a sentence that is quoted


@record
class Proposal:
    """Two memories, one of which may be redundant or wrong: a message, and a hint with the command that keeps one."""

    code: str
    memory: Memory  # added or changed by the commit
    other: Memory
    message: str
    hint: str


class Staging(Wing):
    """Compares staged memories with others. Only `settle` writes."""

    def brought(self, staged: Staged | None = None) -> Brought:
        """Return the memories that the next commit adds or changes; raise NotFound without git."""
        try:
            return Brought(staged or Staged(self._core.layout))
        except GitFailed as failure:
            raise NotFound(f"git cannot tell what is staged: {failure}", failure.hint) from None

    def proposals(self, brought: Brought) -> list[Proposal]:
        """Return near duplicates and contradictions of the staged memories; exact duplicates are not included.

        Only memories that the commit contains are compared.
        """
        memories = list(brought.memories.values())[:MAX_SEARCHED]
        if not memories:
            return []
        questions = [f"{memory.title}\n{memory.body}"[:MAX_QUESTION_CHARS] for memory in memories]
        answers = self._core.look(questions, MAX_RESULTS, cached=False)
        found: dict[frozenset[str], Proposal] = {}
        for memory, answer in zip(memories, answers, strict=True):
            around = self._around(brought, memory, [item.row.id for item in answer.found])
            for one in (*_near(memory, around), *_opposed(memory, around), *self._claims(brought, memory)):
                found.setdefault(frozenset((one.memory.id, one.other.id)), one)
        return list(found.values())

    def settle(self, brought: Brought, by: str = "") -> Sequence[Written]:
        """Supersede each added memory that duplicates another one; change no other memory."""
        pairs = [(twins.memory, twins.other) for twins in brought.twins()]
        pairs += [(one.memory, one.other) for one in self.proposals(brought) if one.code == NEAR]
        entries: dict[str, Entry] = {}
        for memory, other in pairs:
            if memory.id in brought.created and other.id not in entries and not missing_fact(memory, other):
                entries.setdefault(memory.id, superseding(memory, other.id, f"duplicate of {other.id}", by))
        plan = Plan(tuple(entries.values()), f"supersede {len(entries)} staged duplicates")
        written = self._core.writer.write(plan) if entries else ()
        if written:
            self._core.follow()
        return written

    def _around(self, brought: Brought, memory: Memory, ids: Sequence[str]) -> list[Memory]:
        """Return the other memories with these ids that the commit contains, in their staged version."""
        known = self._core.read(lambda: self._core.reading.whole(id for id in ids if id != memory.id))
        return [brought.memories.get(other.id, other) for other in known if brought.holds(other.path)]

    def _claims(self, brought: Brought, memory: Memory) -> Iterator[Proposal]:
        claim = claim_of(memory)
        if claim is None:
            return
        said = self._core.read(lambda: claiming(self._core.index.catalogue, *claim.key))
        others = [other for other in said if other.id != memory.id and brought.holds(other.path)]
        for rival in rivals_of(memory, others, self._repo.beliefs.predicates()):
            if not kept_both(memory, rival):
                what = f"{claim.subject} {claim.predicate} {claim.value}"
                yield _proposal(CLAIM, memory, rival, f"contradicts {rival.id}: {one_line(what, SHOWN_CHARS)}")


def _near(memory: Memory, around: Sequence[Memory]) -> Iterator[Proposal]:
    own = said_in(f"{memory.title} {memory.body}")
    for other in around:
        if not is_comparable(memory, other) or not same_subject(memory, other):
            continue
        exact = identity(f"{memory.title}\n{memory.body}") == identity(f"{other.title}\n{other.body}")
        if not exact and says_same(own, said_in(f"{other.title} {other.body}"), NEAR_DUPLICATE):
            yield _proposal(
                NEAR, memory, other, f"says nearly the same as {other.id}, {one_line(other.title, SHOWN_CHARS)!r}"
            )


def _opposed(memory: Memory, around: Sequence[Memory]) -> Iterator[Proposal]:
    for found in contradictions([memory, *around]):
        if memory.id in (found.newer.id, found.older.id):
            newer = found.newer.id == memory.id
            other, one, two = (
                (found.older, found.said.one, found.said.other)
                if newer
                else (found.newer, found.said.other, found.said.one)
            )
            quoted = f"{one_line(one, SHOWN_CHARS)!r} against {one_line(two, SHOWN_CHARS)!r}"
            yield _proposal(PROSE, memory, other, f"contradicts {other.id}: {quoted}")


def _proposal(code: str, memory: Memory, other: Memory, message: str) -> Proposal:
    """Return a proposal. Its command keeps `other` for a duplicate, and `memory` for a contradiction."""
    old, new = (memory, other) if code == NEAR else (other, memory)
    return Proposal(code, memory, other, f"{memory.id} {message}", f"'rawkomem supersede {old.id} {new.id}' keeps one")
