"""What was done and how it went: traces, the experience log, and a brief before the next task."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from ...files.rotate import MAX_LOG_ENTRIES, next_number, rotate_log
from ...learn.traces.record import Experienced, Told, plan_experience, plan_trace
from ...model.errors import BadInput
from ...model.filters import DEFAULT, READABLE, Filter
from ...model.kinds import ACTIVE, RECORDED
from ...model.record import replace
from ...recall.brief import MAX_TOKENS, write_brief
from ...recall.limits import MAX_SIMILAR, MIN_SIMILARITY
from ...recall.patterns import match_patterns
from ...recall.show.labels import labels_by_id
from ...state.run import TRACE, dependency_chain, execution_order
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...files.append import Written
    from ...model.entry import Memory, Plan
    from ...recall.brief import Brief
    from ...recall.patterns import PatternMatch

MAX_RUNS, MAX_LEARNINGS, MAX_LESSONS = 8, 3, 5  # that a brief looks at; the budget decides what goes in


class Traces(Wing):
    """Runs, the experience log, and a brief before the next task."""

    def add(self, goal: str | Told, via: str = "", **told: Any) -> Written:
        """Write the trace of a run into a file of its own: `add("Deploy", status="failure", tools=("docker",))`."""
        whole, path = Told(goal, **told) if isinstance(goal, str) else goal, self._core.layout.path
        decide = partial(plan_trace, whole, lambda name: os.path.lexists(path(name)))
        return self._core.writer.write_decided(decide, via)[0]

    def log(
        self, goal: str | Experienced, by: str = "", via: str = "", keep: int = MAX_LOG_ENTRIES, **told: Any
    ) -> Written:
        """Add an entry to the experience log; what is older than the last `keep` entries is archived."""
        whole = Experienced(goal, **told) if isinstance(goal, str) else goal

        def decide() -> Plan:
            plan = plan_experience(whole, next_number(self._core.layout), by)
            rotate_log(self._core.layout, keep - len(plan.entries))  # under the same lock: nobody waits for it twice
            return plan

        return self._core.writer.write_decided(decide, via)[0]

    def by_id(self, statuses: Sequence[str] = ()) -> Mapping[str, Memory]:
        """Return all traces by id, of some statuses or of any."""
        only = Filter(kinds=(TRACE,), statuses=tuple(statuses))
        return {memory.id: memory for memory in self._core.reading.inside(only)}

    def needed_by(self, id: str) -> Sequence[str]:
        """Return the ids of what a trace depended on, directly or not."""
        return dependency_chain(self.by_id(), id)

    def list(self, statuses: Sequence[str] = READABLE) -> Sequence[Memory]:
        """Return traces in the order of execution: none before its parent or what it depended on."""
        found = self.by_id(statuses)
        return [found[id] for id in execution_order(found.values())]

    def search(
        self,
        text: str,
        limit: int = MAX_SIMILAR,
        min_similarity: float = MIN_SIMILARITY,
        since: str = "",
        until: str = "",
        only: Filter | None = None,
    ) -> Sequence[PatternMatch]:
        """Return earlier runs that resemble a task: traces and experiences, unless a filter names other kinds."""
        core = self._core
        window = {name: said for name, said in (("since", since), ("until", until)) if said}
        inside = replace(only or replace(DEFAULT, kinds=RECORDED), **window)
        asked = (text, limit, min_similarity)
        return core.read(
            lambda: match_patterns(core.view(inside), core.index.store, core.spaces(), *asked),
            ("query", *asked, inside),
        )

    def brief(self, goal: str, budget: int = MAX_TOKENS) -> Brief:
        """Return what worked, what failed and what to avoid for a goal, from runs, learnings and lessons."""
        if not goal.strip():
            raise BadInput("a brief needs a goal", "say what is to be done")
        past = replace(DEFAULT, kinds=RECORDED, statuses=(*READABLE, "archived"))
        taught = replace(DEFAULT, kinds=("learning",), statuses=(ACTIVE,))
        warned = replace(DEFAULT, kinds=("lesson",), statuses=(ACTIVE,))
        asked = ((past, MAX_RUNS), (taught, MAX_LEARNINGS), (warned, MAX_LESSONS))
        matches = [self.search(goal, limit=most, only=only) for only, most in asked]
        runs, learnings, lessons = (self._repo.get_many([match.trace_id for match in some]) for some in matches)
        labels = labels_by_id(self._repo.beliefs.all(), [*runs, *learnings, *lessons])
        return write_brief(goal, runs, learnings, lessons, budget, labels)
