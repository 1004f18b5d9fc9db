"""Consolidate: repeat all steps, each on the result of the others, until nothing changes; return one Plan. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Plan
from .contradict import plan_contradictions
from .dedupe import plan_corroborate, plan_dedupe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..belief.claims import Registry
    from .census import Census
    from .dedupe import Later

    Step = Callable[[Census], Plan]


def steps(later: Later, registry: Registry, by: str) -> list[Step]:
    """Return the steps in their order; `later` finds similar memories."""
    return [
        lambda census: plan_dedupe(census, later, by),
        lambda census: plan_contradictions(census, registry, by),
        lambda census: plan_corroborate(census, later),
    ]


def plan_consolidate(
    census: Census, todo: Sequence[Step], progress: Callable[[int, int], None] = lambda done, total: None
) -> Plan:
    """Plan all changes of a consolidation. The loop ends, because no step undoes the changes of another."""
    plans: list[Plan] = []
    done, changed = 0, True
    while changed:
        changed = False
        for step in todo:
            plan = step(census)
            if plan.entries:
                census, changed = census.after(plan), True
                plans.append(plan)
            done += 1
            progress(done, done + len(todo))
    told = "; ".join(plan.why for plan in plans) or "nothing to do"
    return Plan(tuple(entry for plan in plans for entry in plan.entries), f"consolidate: {told}")
