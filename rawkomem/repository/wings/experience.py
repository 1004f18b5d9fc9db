"""What was done and how it went: traces, the experience log, and a brief before the next task."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...files.rotate import MAX_LOG_ENTRIES, next_number, rotate_log
from ...learn.traces.record import plan_experience, plan_trace
from ...model.errors import BadInput
from ...model.kinds import ACTIVE
from ...model.record import replace
from ...recall.brief import BUDGET, write_brief
from ...recall.filters import DEFAULT, READABLE
from ...state.order import dependency_chain, execution_order
from ...state.run import TASKS, TRACE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...files.append import Written
    from ...learn.traces.record import Experienced, Told
    from ...model.entry import Memory, Plan
    from ...recall.brief import Brief
    from .. import Repository

RUNS, LEARNINGS, LESSONS = 8, 3, 5  # that a brief looks at; the budget decides what goes in


def add_trace(repository: Repository, told: Told, via: str = "") -> Written:
    """Write the trace of an execution into a file of its own."""

    def taken(path: str) -> bool:
        return os.path.lexists(repository.layout.path(path))

    return repository.write_decided(lambda: plan_trace(told, taken), via)[0]


def add_experience(
    repository: Repository, told: Experienced, by: str = "", via: str = "", keep: int = MAX_LOG_ENTRIES
) -> Written:
    """Add an entry to the experience log under the next number; what is older than the last `keep` is archived."""

    def decide() -> Plan:
        plan = plan_experience(told, next_number(repository.layout), by)
        rotate_log(repository.layout, keep - len(plan.entries))  # under the same lock: nobody waits for it twice
        return plan

    return repository.write_decided(decide, via)[0]


def traces(repository: Repository, statuses: Sequence[str] = ()) -> Mapping[str, Memory]:
    """All traces by id, of some statuses or of any."""
    from ...index.lists import memory_of

    def find() -> dict[str, Memory]:
        rows = [row for row in repository.index.catalogue.all() if row.kind == TRACE]
        wanted = [row.id for row in rows if not statuses or row.status in statuses]
        return {id: memory_of(repository.index.catalogue.doc(id)) for id in wanted}

    return repository.read(find)


def needed_by(repository: Repository, id: str) -> Sequence[str]:
    """What a trace depended on, directly or not."""
    return dependency_chain(traces(repository), id)


def in_order(repository: Repository, statuses: Sequence[str]) -> Sequence[Memory]:
    """Traces as they were executed: none before its parent or what it depended on."""
    found = traces(repository, statuses)
    return [found[id] for id in execution_order(found.values())]


def brief(repository: Repository, goal: str, budget: int = BUDGET) -> Brief:
    """What worked, what failed, what to avoid and how to go about a goal, from runs, learnings and lessons."""
    if not goal.strip():
        raise BadInput("a brief needs a goal", "say what is to be done")
    past = replace(DEFAULT, kinds=TASKS, statuses=(*READABLE, "archived"))  # what became a learning still happened
    taught = replace(DEFAULT, kinds=("learning",), statuses=(ACTIVE,))
    warned = replace(DEFAULT, kinds=("lesson",), statuses=(ACTIVE,))
    asked = ((past, RUNS), (taught, LEARNINGS), (warned, LESSONS))
    matches = [repository.query(goal, limit=most, only=only) for only, most in asked]
    runs, learnings, lessons = (repository.get_all([match.trace_id for match in some]) for some in matches)
    return write_brief(goal, runs, learnings, lessons, budget)
