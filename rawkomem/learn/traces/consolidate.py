"""Consolidate the traces of one goal into a learning. Pure: returns a Plan.

A trace whose goal resembles that of a learning is added to it by an amendment. The other traces are grouped by the
earliest goal that they resemble, which becomes the new learning's `goal`. No trace is counted twice, so you can repeat
a run that was interrupted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...model.clock import DAY
from ...model.entry import Entry, Plan
from ...model.kinds import ACTIVE
from ...state.changes.supersede import superseding
from ...state.decide import about, plan_add
from ...state.derive import covered, derived, derived_from
from ...state.graph.episode import by_time
from ...state.run import TRACE, Run, goal_of, listed, run_of
from ...text.clean import one_line
from ...text.overlap import specific
from ..drafts.known import plain
from .learning_text import Learned, earlier_runs, learning_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ...model.entry import Memory
    from ...state.lifecycle.census import Census

    # (texts in order, minimum cosine) → for each text the index of the first text that it resembles, or its own index
    Leaders = Callable[[Sequence[str], float], list[int]]
    Wording = Callable[[Learned], str]  # writes the text of a learning

SOURCE = "consolidate"  # stored as the source of these learnings
KIND = "learning"
PREFIX = "Learning: "
FAILED = "failed"  # key: ids of the sources that did not reach their goal
MIN_TRACES = 2  # of a new learning
MIN_COSINE = 0.7  # of equal goals (static vectors): "create an FFT plot", "plot the spectrum of an audio file"
OLD_MIN_COSINE = 0.6  # … of learnings that nobody has changed for half a year
OLD_DAYS = 182  # LLMos: long-term memory is consolidated after six months
MAX_SOURCES = 1_000  # of a learning; their list fits into a frontmatter of 64 KiB
MAX_CONDITIONS = 5
NAME_LENGTH = 160  # characters of a goal in a title
CONDITION_WORDS = 24


def plan_learnings(census: Census, leaders: Leaders, by: str = "", wording: Wording = learning_text) -> Plan:
    """Plan learnings for all traces that are in none yet, and merge old learnings with similar goals."""
    learnings = made_learnings(census)
    entries: list[Entry] = []
    for learning, new in _groups(learnings, unlearned(census), leaders):
        if learning:
            entries.append(_amended(census, learning, new, (), by, wording))
        elif len(new) >= MIN_TRACES:
            entries.append(_new(new, by, wording))
    changed, before = {entry.target for entry in entries}, census.now - OLD_DAYS * DAY
    old = [learning for learning in learnings if learning.id not in changed and 0 < learning.updated <= before]
    entries += _merged(census, old, leaders, by, wording)
    made, amended = (sum(entry.kind == kind for entry in entries) for kind in (KIND, "amend"))
    return Plan(tuple(entries), f"{made} new learnings, {amended} amended")


def made_learnings(census: Census) -> tuple[Memory, ...]:
    """Return the active learnings that were made from traces, oldest first."""
    found = (memory for memory in census.memories.values() if memory.kind == KIND and memory.source == SOURCE)
    return by_time(memory for memory in found if memory.status == ACTIVE and derived_from(memory))


def unlearned(census: Census) -> tuple[Memory, ...]:
    """Return the active traces that are in no learning, oldest first. Deleting a learning frees its traces."""
    known = covered(census.memories.values(), KIND)
    traces = (memory for memory in census.memories.values() if memory.kind == TRACE and memory.status == ACTIVE)
    return by_time(memory for memory in traces if memory.id not in known)


def is_due(count: int, oldest: int, last: int, now: int, least: int, days: int = 7) -> bool:
    """Tell whether consolidation is due: enough new traces, or at least one after a week without a run (LLMos)."""
    return count >= least or (count > 0 and now - max(oldest, last) >= days * DAY)


def most_of_one_goal(census: Census, leaders: Leaders) -> int:
    """Return the number of new traces of the goal that has most of them."""
    return max((len(new) for _, new in _groups(made_learnings(census), unlearned(census), leaders)), default=0)


def _groups(
    learnings: Sequence[Memory], new: Sequence[Memory], leaders: Leaders
) -> Iterator[tuple[Memory | None, list[Memory]]]:
    """Yield (learning, new traces) for each goal; the learning is None if the goal has none or it is full."""
    room = [learning for learning in learnings if len(derived_from(learning)) < MAX_SOURCES]
    leads = leaders([goal_of(memory) for memory in (*room, *new)], MIN_COSINE)
    members: dict[int, list[Memory]] = {}
    for place, trace in enumerate(new, len(room)):
        members.setdefault(leads[place], []).append(trace)
    for lead, traces in sorted(members.items()):
        learning = room[lead] if lead < len(room) else None
        free = MAX_SOURCES - (len(derived_from(learning)) if learning else 0)
        yield learning, traces[:free]
        for start in range(free, len(traces), MAX_SOURCES):
            yield None, traces[start : start + MAX_SOURCES]


def _new(traces: Sequence[Memory], by: str, wording: Wording) -> Entry:
    runs = [run_of(trace) for trace in traces]
    learned = Learned(_most_common_goal(runs), len(runs), sum(not run.succeeded for run in runs), tuple(runs))
    entry = Entry(
        kind=KIND,
        title=PREFIX + learned.name,
        when=conditions_of(run.goal for run in runs),
        tags=(KIND,),
        source=SOURCE,
        by=by,
        body=wording(learned),
        extra={"goal": runs[0].goal, FAILED: [run.id for run in runs if not run.succeeded]},
    )
    return plan_add(derived(entry, [run.id for run in runs])).entries[0]


def _amended(
    census: Census, learning: Memory, new: Sequence[Memory], others: Sequence[Memory], by: str, wording: Wording
) -> Entry:
    """Return the amendment that rewrites a learning from its own traces, new traces and those of other learnings."""
    whole = (learning, *others)
    ids = list(dict.fromkeys([*(id for one in whole for id in derived_from(one)), *(trace.id for trace in new)]))
    runs = [run_of(census.memories[id]) for id in ids if id in census.memories]
    known = {run.id for run in runs}
    gone = [one for one in whole if any(id not in known for id in derived_from(one))]
    runs += [run for one in gone for run in earlier_runs(one)]
    failed = [id for one in whole for id in listed(one, (FAILED,))]
    failed = list(dict.fromkeys([*failed, *(trace.id for trace in new if not run_of(trace).succeeded)]))
    learned = Learned(learning.title.removeprefix(PREFIX), len(ids), len(failed), tuple(runs))
    conditions = dict.fromkeys([*(one for other in whole for one in other.when), *conditions_of(map(goal_of, new))])
    when, extra = tuple(conditions)[:MAX_CONDITIONS], {FAILED: [*failed]}
    change = Entry(kind="amend", by=by, body=wording(learned), when=when, given=("whenToUse",), extra=extra)
    return about(learning, derived(change, ids))


def _merged(census: Census, old: Sequence[Memory], leaders: Leaders, by: str, wording: Wording) -> list[Entry]:
    """Return entries that merge old learnings with similar goals. The first one supersedes the others."""
    groups: dict[int, list[Memory]] = {}
    for place, lead in enumerate(leaders([goal_of(learning) for learning in old], OLD_MIN_COSINE)):
        groups.setdefault(lead, []).append(old[place])
    entries: list[Entry] = []
    for first, *others in groups.values():
        if others and sum(len(derived_from(one)) for one in (first, *others)) <= MAX_SOURCES:
            entries.append(_amended(census, first, (), others, by, wording))
            entries += [superseding(other, first.id, f"consolidated into {first.id}", by) for other in others]
    return entries


def _most_common_goal(runs: Sequence[Run]) -> str:
    """Return the goal in the wording that is most common; if several are, the first of them."""
    chosen = Counter(plain(run.goal) for run in runs).most_common(1)[0][0]
    return one_line(next(run.goal for run in runs if plain(run.goal) == chosen), NAME_LENGTH)


def conditions_of(goals: Iterable[str]) -> tuple[str, ...]:
    """Return conditions like "When the task is to …", one for each goal with other specific words."""
    found: dict[tuple[str, ...], str] = {}
    for goal in goals:
        task = " ".join(plain(goal).split()[:CONDITION_WORDS])
        subject = tuple(sorted(set(specific(task))))
        if subject and len(found) < MAX_CONDITIONS:
            found.setdefault(subject, f"When the task is to {task}")
    return tuple(found.values())


def learning_of(census: Census) -> dict[str, Memory]:
    """Return trace id → the active learning that contains it."""
    return {id: learning for learning in made_learnings(census) for id in derived_from(learning)}
