"""Lessons: store and find them, exchange them as wire blocks, draft them from failures, record heritage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...files.local.drafts import DROPPED
from ...files.lock import lock
from ...format.lesson import LessonContext
from ...learn.lessons.from_failures import proposals
from ...learn.lessons.lesson import (
    HELD,
    KNOWN,
    Learned,
    by_severity,
    is_about,
    is_made_up,
    lesson_of,
    plan_lesson,
    read_wire,
    renamed,
    with_name,
)
from ...model.clock import now
from ...model.entry import Plan
from ...model.filters import Filter
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ...recall.relevance.gate import held_back
from ...state.belief.committer import UNKNOWN
from ...state.belief.trust import standing_of_entry, trust_of
from ...state.changes.archive import archiving
from ...state.changes.heritage import HeritageChain, plan_heritage
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...files.append import Written
    from ...learn.lessons.from_failures import Proposal
    from ...learn.lessons.lesson import Lesson
    from ...model.entry import Memory

SPARE_FACTOR = 3  # search for this many times the limit, because some lessons may be unsure or old
MAX_LESSONS = 10  # lessons at the start of a session (RFC-0011 §8.2)
DRAFTED, WAITING, DECIDED = "drafted", "waiting", "decided"  # besides KNOWN: a lesson has this pattern
COMPARED_STATUSES = (ACTIVE, HELD)  # a new lesson is compared only with these: others may be learned again


@record
class Distilled:
    """The result of `distill`: each proposal with its outcome, and the lessons for the next session."""

    found: tuple[tuple[Proposal, str], ...]  # DRAFTED, WAITING, DECIDED or KNOWN
    top: tuple[Lesson, ...]
    written: bool
    archived: tuple[str, ...] = ()  # lessons whose rule an earlier version invented


class Lessons(Wing):
    """Stores, finds and drafts lessons; records the intents that led to a memory."""

    def learn(
        self, context: LessonContext | None = None, by: str = "", via: str = "", **told: Any
    ) -> tuple[Lesson, str]:
        """Store a lesson, `learn(situation=…, fix=…)`, unless a known one is as confident; return it and the result."""
        context = context or LessonContext(**told)
        with lock(self._core.layout, "lessons"):
            return self._carried_out(plan_lesson(context, self._lessons(COMPARED_STATUSES), self._trust(via), by), via)

    def take_over(self, text: str, via: str = "import") -> tuple[Lesson, str]:
        """Store the lesson of a wire block with the block's id, time and agent; return it and the outcome."""
        wire = read_wire(text)
        with lock(self._core.layout, "lessons"):
            stored = next((memory for memory in self._lessons() if memory.id == wire.id), None)
            if stored:
                return lesson_of(stored), KNOWN
            known = self._lessons(COMPARED_STATUSES)
            wire = renamed(wire, known)
            learned = plan_lesson(wire.context, known, self._trust(via), wire.by, wire=wire)
            return self._carried_out(learned, via)

    def search(self, question: str = "", limit: int = MAX_LESSONS, min_confidence: float | None = None) -> list[Lesson]:
        """Return confident and recent lessons in use, most severe first: the best matches for a question, or all."""
        limits = self._core.settings.limits("")
        if min_confidence is not None:
            limits = replace(limits, min_lesson_confidence=min_confidence)
        memories: Sequence[Memory]
        if question.strip():
            only = Filter(kinds=("lesson",), statuses=(ACTIVE,), current=True)
            memories = self._repo.get_many(
                [item.row.id for item in self._repo.search(question, SPARE_FACTOR * limit, only)]
            )
        else:
            memories = self._lessons((ACTIVE,))
        at = now()
        usable = [lesson_of(memory) for memory in memories if not held_back(memory, limits, at)]
        return by_severity(usable[:limit]) if question.strip() else by_severity(usable)[:limit]

    def by_pattern(self, name: str) -> list[Lesson]:
        """Return every lesson with a pattern id or name: first those in use, then by confidence."""
        lessons = [lesson for lesson in map(lesson_of, self._lessons()) if with_name(lesson, name)]
        return sorted(lessons, key=lambda one: (one.status != ACTIVE, -one.context.confidence, -one.at, one.id))

    def distill(self, dry_run: bool = False, by: str = "") -> Distilled:
        """Draft lessons from the failures of the last day, and from failures repeated within a week.

        A second run adds nothing. Lessons whose rule an earlier version invented, and that nobody vouches for, are
        archived.
        """
        with lock(self._core.layout, "lessons"):
            self._repo.sync()
            found = [self._propose(proposal, dry_run) for proposal in proposals(self._core.reading.all(), now())]
            made_up = [memory for memory in self._lessons((ACTIVE,)) if self._is_made_up(memory)]
            entries = tuple(archiving(memory, "a rule that nobody wrote", by) for memory in made_up)
            if entries and not dry_run:
                self._core.writer.write(Plan(entries, f"archive {len(entries)} lessons without a rule"))
        return Distilled(tuple(found), tuple(self.search()), not dry_run, tuple(memory.id for memory in made_up))

    def _propose(self, proposal: Proposal, dry_run: bool) -> tuple[Proposal, str]:
        """Store a draft and return the outcome. Skip it if it waits, was decided, or any lesson has its pattern."""
        store, draft = self._repo.drafts.store, proposal.draft
        waiting = {one.id: one for one in store.all()}
        if any(is_about(lesson_of(memory), proposal.pattern, proposal.scope) for memory in self._lessons()):
            return proposal, KNOWN
        if draft.id in store.decided():
            return proposal, DECIDED
        if draft.id in waiting and waiting[draft.id].text == draft.text:
            return proposal, WAITING
        if not dry_run:
            if proposal.is_solved and proposal.unsolved_id in waiting:
                store.decide(waiting[proposal.unsolved_id], DROPPED)
            store.put([draft])
        return proposal, DRAFTED

    def _is_made_up(self, memory: Memory) -> bool:
        return is_made_up(lesson_of(memory)) and not self._repo.beliefs.is_vouched(memory.id)

    def inherit(
        self,
        name: str,
        intents: Sequence[str],
        hypotheses: Sequence[str] = (),
        rationales: Sequence[str] = (),
        by: str = "",
    ) -> Written:
        """Append the chain of intents that led to a memory, earliest first."""
        chain = HeritageChain(tuple(intents), tuple(hypotheses), tuple(rationales))
        return self._core.writer.write(plan_heritage(self._repo.get(name), chain, by))[0]

    def _carried_out(self, learned: Learned, via: str) -> tuple[Lesson, str]:
        if learned.plan.entries:
            self._core.writer.write(learned.plan, via)
        return lesson_of(self._repo.get(learned.id)), learned.what

    def _lessons(self, statuses: Sequence[str] = ()) -> list[Memory]:
        return [*self._core.reading.inside(Filter(kinds=("lesson",), statuses=tuple(statuses)))]

    def _trust(self, via: str) -> Callable[[Memory], float]:
        """Return a function that computes a lesson's trust; for a new lesson, from how it arrives."""
        standing = standing_of_entry(UNKNOWN, via or self._core.via)

        def trust(memory: Memory) -> float:
            known = self._core.index.catalogue.row(memory.id)
            return self._repo.beliefs.trust(memory).value if known else trust_of(memory, standing, now())

        return trust
