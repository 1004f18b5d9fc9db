"""Lessons: learn under one lock, look up, exchange as wire blocks, distill failures, record heritage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...files.lock import lock
from ...format.lesson import LessonContext
from ...learn.lessons.from_failures import candidates
from ...learn.lessons.lesson import (
    HELD,
    KNOWN,
    Learned,
    by_severity,
    lesson_of,
    plan_lesson,
    read_wire,
    renamed,
    with_name,
)
from ...model.clock import now
from ...model.filters import Filter
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ...recall.relevance.gate import held_back
from ...state.belief.committer import UNKNOWN
from ...state.belief.trust import standing_of_entry, trust_of
from ...state.changes.heritage import HeritageChain, plan_heritage
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...files.append import Written
    from ...learn.lessons.from_failures import Candidate
    from ...learn.lessons.lesson import Lesson
    from ...model.entry import Memory

SPARE_FACTOR = 3  # times as many are looked for: some may be unsure or old
MAX_LESSONS = 10  # lessons at the start of a session (RFC-0011 §8.2)
COUNTING = (ACTIVE, HELD)  # lessons that a new one is compared with; what was taken out of use may be learned again


@record
class Distilled:
    """What a cycle came to: each candidate with what became of it, and the lessons for the next session."""

    found: tuple[tuple[Candidate, Learned], ...]
    top: tuple[Lesson, ...]
    written: bool


class Lessons(Wing):
    """Lessons from failures, and the intents that led to a memory."""

    def learn(
        self, context: LessonContext | None = None, by: str = "", via: str = "", **told: Any
    ) -> tuple[Lesson, str]:
        """Store a lesson, `learn(situation=…, fix=…)`, unless one is as sure; return it and what became of it."""
        context = context or LessonContext(**told)
        with lock(self._core.layout, "lessons"):
            return self._carried_out(plan_lesson(context, self._lessons(COUNTING), self._trust(via), by), via)

    def take_over(self, text: str, via: str = "import") -> tuple[Lesson, str]:
        """Store the lesson of a wire block under the id, the time and the agent that it names."""
        wire = read_wire(text)
        with lock(self._core.layout, "lessons"):
            stored = next((memory for memory in self._lessons() if memory.id == wire.id), None)
            if stored:
                return lesson_of(stored), KNOWN
            known = self._lessons(COUNTING)
            wire = renamed(wire, known)
            learned = plan_lesson(wire.context, known, self._trust(via), wire.by, wire=wire)
            return self._carried_out(learned, via)

    def search(self, question: str = "", limit: int = MAX_LESSONS, min_confidence: float | None = None) -> list[Lesson]:
        """Return sure and recent lessons in use that fit a question best, or all; the most severe first."""
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
        """Return every lesson of a pattern, by its id or its name, whatever its status: the surest in use first."""
        lessons = [lesson for lesson in map(lesson_of, self._lessons()) if with_name(lesson, name)]
        return sorted(lessons, key=lambda one: (one.status != ACTIVE, -one.context.confidence, -one.at, one.id))

    def distill(self, dry_run: bool = False, by: str = "") -> Distilled:
        """Turn failures of the last day, and those repeated within a week, into lessons. A second run adds nothing."""
        with lock(self._core.layout, "lessons"):
            self._repo.sync()
            failures = candidates(self._core.reading.all(), now())
            found = [self._distilled(candidate, dry_run, by) for candidate in failures]
        return Distilled(tuple(found), tuple(self.search()), not dry_run)

    def _distilled(self, candidate: Candidate, dry_run: bool, by: str) -> tuple[Candidate, Learned]:
        """Store a candidate's lesson, unless it is known. Lessons out of use count: what a person rejected stays so."""
        known = self._lessons()
        learned = plan_lesson(candidate.context, known, self._trust("distilled"), by, candidate.sources)
        if learned.plan.entries and not dry_run:
            self._core.writer.write(learned.plan, via="distilled")
            self._core.written = ()  # other failures follow: where they cannot be read, the command fails
        return candidate, learned

    def inherit(
        self,
        name: str,
        intents: Sequence[str],
        hypotheses: Sequence[str] = (),
        rationales: Sequence[str] = (),
        by: str = "",
    ) -> Written:
        """Give a memory the chain of intents that led to it, the first cause first."""
        chain = HeritageChain(tuple(intents), tuple(hypotheses), tuple(rationales))
        return self._core.writer.write(plan_heritage(self._repo.get(name), chain, by))[0]

    def _carried_out(self, learned: Learned, via: str) -> tuple[Lesson, str]:
        if learned.plan.entries:
            self._core.writer.write(learned.plan, via)
        return lesson_of(self._repo.get(learned.id)), learned.what

    def _lessons(self, statuses: Sequence[str] = ()) -> list[Memory]:
        return [*self._core.reading.inside(Filter(kinds=("lesson",), statuses=tuple(statuses)))]

    def _trust(self, via: str) -> Callable[[Memory], float]:
        """Return how far lessons are believed; a new one by how it arrives."""
        standing = standing_of_entry(UNKNOWN, via or self._core.via)

        def trust(memory: Memory) -> float:
            known = self._core.index.catalogue.row(memory.id)
            return self._repo.beliefs.trust(memory).value if known else trust_of(memory, standing, now())

        return trust
