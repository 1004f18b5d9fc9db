"""Consolidate: the whole life of beliefs in one Plan. Duplicates, contradictions, corroboration, digests, prune. Pure.

Each step sees what the steps before it decided, and all are repeated until none has anything left to do: so a second
run does nothing, and one that was interrupted is continued to the same end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Plan
from ...model.record import record
from .compress import Compression, plan_compress
from .contradict import plan_contradictions
from .decay import plan_prune
from .dedupe import plan_corroborate, plan_dedupe

if TYPE_CHECKING:
    from collections.abc import Callable

    from .census import Census
    from .compress import Pairs
    from .contradict import ClaimRules
    from .dedupe import Later

    Step = Callable[[Census], Plan]


@record
class Similar:
    """How memories are compared."""

    later: Later
    pairs: Pairs


def steps(similar: Similar, rules: ClaimRules | None, how: Compression, by: str) -> dict[str, Step]:
    """Return the steps by name, in their order; without rules for claims, contradictions are left alone."""
    named: dict[str, Step] = {"duplicates": lambda census: plan_dedupe(census, similar.later, by)}
    if rules is not None:
        named["contradictions"] = lambda census: plan_contradictions(census, rules, by)
    return named | {
        "corroboration": lambda census: plan_corroborate(census, similar.later),
        "digests": lambda census: plan_compress(census, similar.pairs, how, by),
        "prune": lambda census: plan_prune(census, by),
    }


def plan_consolidate(
    census: Census, todo: dict[str, Step], progress: Callable[[int, int], None] = lambda done, total: None
) -> Plan:
    """Plan everything that consolidating changes. Ends, since every step only adds to what is settled."""
    entries: list[tuple[str, Plan]] = []
    done, changed = 0, True
    while changed:
        changed = False
        for name, step in todo.items():
            plan = step(census)
            if plan.entries:
                census, changed = census.after(plan), True
                entries.append((name, plan))
            done += 1
            progress(done, done + len(todo))
    told = "; ".join(plan.why for _, plan in entries) or "nothing to do"
    return Plan(tuple(entry for _, plan in entries for entry in plan.entries), f"consolidate: {told}")
