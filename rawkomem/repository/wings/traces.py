"""Records of runs: traces, the experience log, and a brief before the next task."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from ...files.layout import Layout, personal_root
from ...files.rotate import MAX_LOG_ENTRIES, next_number, rotate_log
from ...learn.traces.from_session import Session, continued, trace_of
from ...learn.traces.record import SESSION, Experienced, Told, plan_experience, plan_trace, trace_change
from ...model.entry import Entry
from ...model.errors import BadInput, RawkoError
from ...model.filters import DEFAULT, READABLE, Filter
from ...model.kinds import ACTIVE, RECORDED
from ...model.record import replace
from ...recall.brief import MAX_TOKENS, write_brief
from ...recall.limits import MAX_SIMILAR, MIN_SIMILARITY
from ...recall.patterns import match_patterns
from ...recall.show.labels import labels_by_id
from ...state.run import EXPERIENCE, TRACE, dependency_chain, execution_order, outcome_of, tools_of
from ...text.clean import one_line
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...files.append import Written
    from ...learn.session.turns import Turn
    from ...model.entry import Memory, Plan
    from ...recall.brief import Brief
    from ...recall.patterns import PatternMatch

MAX_RUNS, MAX_LEARNINGS, MAX_LESSONS = 8, 3, 5  # searched for a brief; the budget decides which are used


VIA = "agent"  # origin of a session's trace, because no person read it
MAX_SESSION_CHARS = 100


class Traces(Wing):
    """Writes and finds traces and experiences, and writes a brief before the next task."""

    def add(self, goal: str | Told, via: str = "", **told: Any) -> Written:
        """Write the trace of a run into a new file: `add("Deploy", status="failure", tools=("docker",))`."""
        whole, path = Told(goal, **told) if isinstance(goal, str) else goal, self._core.layout.path
        decide = partial(plan_trace, whole, lambda name: os.path.lexists(path(name)))
        return self._core.writer.write_decided(decide, via)[0]

    def log(
        self, goal: str | Experienced, by: str = "", via: str = "", keep: int = MAX_LOG_ENTRIES, **told: Any
    ) -> Written:
        """Add an entry to the experience log; archive all but the last `keep` entries."""
        whole = Experienced(goal, **told) if isinstance(goal, str) else goal

        def decide() -> Plan:
            plan = plan_experience(whole, next_number(self._core.layout), by)
            rotate_log(self._core.layout, keep - len(plan.entries))  # under the same lock: others wait once
            return plan

        return self._core.writer.write_decided(decide, via)[0]

    def record_session(self, turns: Sequence[Turn], host: str, session: str) -> Written | None:
        """Record a session: a trace, and a line in this repository's experience log and in the user's own.

        Pass the whole session. If the session already has a trace, it is amended. Return None if there is nothing new
        to record, or if the session has no id.
        """
        id = one_line(session or next((turn.session for turn in turns if turn.session), ""), MAX_SESSION_CHARS)
        told = trace_of(turns, Session(host, id, self._core.layout.project)) if id else None
        if told is None:
            return None
        known = self._of_session(TRACE, id)
        if known:
            told = continued(known, told)
        written = self._continue(known, told) if known else self.add(told, via=VIA)
        self.log_session(told)
        self._log_personally(told)
        return written

    def log_session(self, told: Told, project: str = "") -> None:
        """Add a session to the experience log, or amend its line if the outcome changed."""
        known = self._of_session(EXPERIENCE, told.session)
        if known is None:
            self.log(experience_of(told, project or os.path.basename(self._core.layout.project)), told.agent, VIA)
        elif outcome_of(known) != told.status:
            change = {"final_outcome": told.status, "output_summary": told.results}
            self._repo.amend(known.id, Entry(kind="amend", by=told.agent, body=told.results, extra=change), via=VIA)

    def experiences(self) -> Sequence[Memory]:
        """Return the entries of the experience log, latest first."""
        found = self._core.reading.inside(Filter(kinds=(EXPERIENCE,), statuses=READABLE))
        return sorted(found, key=lambda memory: (-memory.created, memory.id))

    def _continue(self, known: Memory, told: Told) -> Written | None:
        """Amend the active trace of a session if tools or files were added or its outcome changed; else return None."""
        files = known.extra.get("files_created") or []
        same = (outcome_of(known), len(tools_of(known)), len(files) if isinstance(files, list) else 1)
        if known.status != ACTIVE or same == (told.status, len(told.tools), len(told.files)):
            return None
        return self._repo.amend(known.id, trace_change(told), via=VIA)

    def _log_personally(self, told: Told) -> None:
        """Add the session to the log of the user's own repository, if it exists. A failure is a warning."""
        core, root = self._core, personal_root()
        if core.layout.root == root or not os.path.isdir(root):
            return
        try:
            with type(self._repo)(Layout(root), core.warn, via=VIA) as own:
                own.traces.log_session(told, os.path.basename(core.layout.project))
        except (RawkoError, OSError) as failure:
            core.warn(f"could not write the log of your personal repository: {failure}")

    def _of_session(self, kind: str, id: str) -> Memory | None:
        found = self._core.reading.inside(Filter(kinds=(kind,)))
        return next((memory for memory in found if memory.extra.get(SESSION) == id), None)

    def by_id(self, statuses: Sequence[str] = ()) -> Mapping[str, Memory]:
        """Return all traces by id, with these statuses or with any."""
        only = Filter(kinds=(TRACE,), statuses=tuple(statuses))
        return {memory.id: memory for memory in self._core.reading.inside(only)}

    def needed_by(self, id: str) -> Sequence[str]:
        """Return the ids of the traces that a trace depended on, directly or indirectly."""
        return dependency_chain(self.by_id(), id)

    def list(self, statuses: Sequence[str] = READABLE) -> Sequence[Memory]:
        """Return traces in the order of execution: each after its parent and the traces that it depended on."""
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
        """Return earlier runs that are similar to a task: traces and experiences, unless a filter names other kinds."""
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
            raise BadInput("a brief needs a goal", "describe the task")
        past = replace(DEFAULT, kinds=RECORDED, statuses=(*READABLE, "archived"))
        taught = replace(DEFAULT, kinds=("learning",), statuses=(ACTIVE,))
        warned = replace(DEFAULT, kinds=("lesson",), statuses=(ACTIVE,))
        asked = ((past, MAX_RUNS), (taught, MAX_LEARNINGS), (warned, MAX_LESSONS))
        matches = [self.search(goal, limit=most, only=only) for only, most in asked]
        runs, learnings, lessons = (self._repo.get_many([match.trace_id for match in some]) for some in matches)
        labels = labels_by_id(self._repo.beliefs.all(), [*runs, *learnings, *lessons])
        return write_brief(goal, runs, learnings, lessons, budget, labels)


def experience_of(told: Told, project: str) -> Experienced:
    """Return the line of the experience log about a trace."""
    return Experienced(
        told.goal,
        told.status,
        project,
        components=told.tools,
        files=len(told.files),
        summary=told.results,
        duration_ms=told.duration_ms,
        learnings=told.error,
        session=told.session,
    )
