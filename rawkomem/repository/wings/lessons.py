"""Lessons of a repository: learn one, look them up, take over and hand out wire blocks, distil failures, heritage.

Whoever decides about lessons holds one lock, so that two that learn the same write it once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.lock import lock
from ...index.lists import memory_of
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
from ...recall.gate import held_back
from ...state.belief.committer import UNKNOWN
from ...state.belief.trust import standing_of_entry, trust_of
from ...state.changes.heritage import plan_heritage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...files.append import Written
    from ...format.lesson import LessonContext
    from ...learn.lessons.from_failures import Candidate
    from ...learn.lessons.lesson import Lesson
    from ...model.entry import Memory
    from ...state.changes.heritage import HeritageChain
    from .. import Repository

SPARE = 3  # times as many are looked for: some may be unsure or old
LIMIT = 10  # lessons at the start of a session (RFC-0011 §8.2)
COUNTING = (ACTIVE, HELD)  # lessons that a new one is compared with; what was taken out of use may be learned again


@record
class Distilled:
    """What a cycle came to: each candidate with what became of it, and the lessons for the next session."""

    found: tuple[tuple[Candidate, Learned], ...]
    top: tuple[Lesson, ...]
    written: bool


def learn(repository: Repository, context: LessonContext, by: str = "", via: str = "") -> tuple[Lesson, str]:
    """Store a lesson, and tell what became of it: one of its pattern that is as sure stands for it."""
    with lock(repository.layout, "lessons"):
        learned = plan_lesson(context, _known(repository), _trust(repository, via), by)
        return _carried_out(repository, learned, via)


def take_over(repository: Repository, text: str, via: str = "import") -> tuple[Lesson, str]:
    """Store the lesson of a wire block under the id, the time and the agent that it names."""
    wire = read_wire(text)
    with lock(repository.layout, "lessons"):
        stored = next((memory for memory in _lessons(repository) if memory.id == wire.id), None)
        if stored:
            return lesson_of(stored), KNOWN
        known = _known(repository)
        wire = renamed(wire, known)
        learned = plan_lesson(wire.context, known, _trust(repository, via), wire.by, wire=wire)
        return _carried_out(repository, learned, via)


def query(
    repository: Repository, question: str = "", limit: int = LIMIT, least_confidence: float | None = None
) -> list[Lesson]:
    """Lessons in use, the gravest first; with a question, of those that fit it best. No unsure or old ones."""
    limits = repository.settings.limits("")
    if least_confidence is not None:
        limits = replace(limits, lesson_confidence=least_confidence)
    memories: Sequence[Memory]
    if question.strip():
        only = Filter(kinds=("lesson",), statuses=(ACTIVE,), current=True)
        memories = repository.get_all([item.row.id for item in repository.search(question, SPARE * limit, only)])
    else:
        memories = _lessons(repository, (ACTIVE,))
    at = now()
    usable = [lesson_of(memory) for memory in memories if not held_back(memory, limits, at)]
    return by_severity(usable[:limit]) if question.strip() else by_severity(usable)[:limit]


def by_pattern(repository: Repository, name: str) -> list[Lesson]:
    """Every lesson of a pattern, by its id or its readable name, whatever its status: the surest in use first."""
    lessons = [lesson for lesson in map(lesson_of, _lessons(repository)) if with_name(lesson, name)]
    return sorted(lessons, key=lambda one: (one.status != ACTIVE, -one.context.confidence, -one.at, one.id))


def distill(repository: Repository, dry_run: bool = False, by: str = "") -> Distilled:
    """One cycle: failures of the last day, and those repeated within a week, become lessons. Twice is once."""
    with lock(repository.layout, "lessons"):
        repository.sync()
        found = [_distilled(repository, candidate, dry_run, by) for candidate in candidates(_all(repository), now())]
    return Distilled(tuple(found), tuple(query(repository)), not dry_run)


def _distilled(repository: Repository, candidate: Candidate, dry_run: bool, by: str) -> tuple[Candidate, Learned]:
    """Lessons that somebody took out of use count here: a cycle must not bring back what a person rejected."""
    known = _lessons(repository)
    learned = plan_lesson(candidate.context, known, _trust(repository, "distilled"), by, candidate.sources)
    if learned.plan.entries and not dry_run:
        repository.write(learned.plan, via="distilled")
    return candidate, learned


def inherit(repository: Repository, name: str, chain: HeritageChain, by: str = "") -> Written:
    """Give a memory the chain of intents that led to it."""
    return repository.write(plan_heritage(repository.get(name), chain, by))[0]


def _carried_out(repository: Repository, learned: Learned, via: str) -> tuple[Lesson, str]:
    if learned.plan.entries:
        repository.write(learned.plan, via)
    return lesson_of(repository.get(learned.id)), learned.what


def _known(repository: Repository) -> list[Memory]:
    return _lessons(repository, COUNTING)


def _lessons(repository: Repository, statuses: Sequence[str] = ()) -> list[Memory]:
    rows = repository.list(Filter(kinds=("lesson",), statuses=tuple(statuses)))
    return [*repository.get_all([row.id for row in rows])]


def _all(repository: Repository) -> list[Memory]:
    return repository.read(lambda: [memory_of(doc) for doc in repository.index.catalogue.docs()])


def _trust(repository: Repository, via: str) -> Callable[[Memory], float]:
    """How far lessons are believed; a new one by how it arrives."""
    standing = standing_of_entry(UNKNOWN, via or repository.via)

    def trust(memory: Memory) -> float:
        known = repository.index.catalogue.row(memory.id)
        return repository.trust(memory) if known else trust_of(memory, standing, now())

    return trust
