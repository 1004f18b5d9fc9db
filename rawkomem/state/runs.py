"""Runs: read a trace or an experience as the record of a task; find dependencies and the order of
execution.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..format.blocks import list_items, sections_of
from ..model.entries import Memory, by_time
from ..model.values import items_of, record
from .trust import reachable

TRACE = "trace"
EXPERIENCE = "experience"
OUTCOMES = ("success", "failure", "partial", "success_with_recovery")
SUCCESS = ("success", "success_with_recovery")
# sections, best first
APPROACH = ("recommended approach", "learnings", "key insights", "plan")
# status of a step
DONE = (
    "done",
    "ok",
    "success",
    "succeeded",
    "completed",
    "complete",
    "passed",
    "✓",
    "✅",
)
DEPENDS = ("depends_on", "dependencies", "dependsOn")
PARENT = ("parent", "parent_trace", "parentTraceId")
FAILED = ("failed", "failure", "error", "aborted", "timeout", "✗", "❌")


@record
class Run:
    """One execution of a task, read from its trace."""

    id: str
    goal: str
    outcome: str = ""
    tools: tuple[str, ...] = ()
    plan: str = ""
    steps: tuple[str, ...] = ()
    results: str = ""
    learnings: tuple[str, ...] = ()
    error: str = ""
    at: int = 0

    @property
    def succeeded(self) -> bool:
        """Return whether the run reached its goal, also after a recovery."""
        return self.outcome in SUCCESS


def run_of(memory: Memory) -> Run:
    """Return a trace or an experience as a run; missing fields stay empty."""
    parts = sections_of(memory.body)
    return Run(
        id=memory.id,
        goal=goal_of(memory),
        outcome=outcome_of(memory),
        tools=tools_of(memory),
        plan=parts.get("plan", ""),
        steps=tuple(list_items(parts.get("steps executed") or parts.get("steps", ""))),
        results=parts.get("results", ""),
        learnings=tuple(
            list_items(
                parts.get("learnings", "")
                or first_value(memory, ("learnings_or_issues",))
            )
        ),
        error=first_value(memory, ("error",)) or parts.get("error", ""),
        at=memory.created,
    )


def goal_of(memory: Memory) -> str:
    """Return the goal of the task."""
    return first_value(memory, ("goal", "primary_goal")) or memory.title


def outcome_of(memory: Memory) -> str:
    """Return the outcome: one of OUTCOMES, or any other text in the file."""
    return first_value(memory, ("status", "final_outcome", "outcome")).lower()


def tools_of(memory: Memory) -> tuple[str, ...]:
    """Return the tools that were used."""
    return first_list(memory, ("tools_used", "toolsUsed", "components_used"))


def approach_of(memory: Memory) -> str:
    """Return the approach: the best section in APPROACH, else the learnings or the summary of an experience."""
    parts = sections_of(memory.body)
    section = next((parts[name] for name in APPROACH if parts.get(name)), "")
    return section or first_value(memory, ("learnings_or_issues", "output_summary"))


def step_of(text: str) -> tuple[str, bool]:
    """Return a step without its status (`… - failed`), and whether the status is a failure."""
    what, dash, status = text.rpartition(" - ")
    word = status.strip().lower().rstrip(".!")
    if not dash or not word.startswith((*DONE, *FAILED)):
        return text, False
    return what.strip(), word.startswith(FAILED)


def first_value(memory: Memory, keys: Iterable[str]) -> str:
    """Return the value of the first key that the frontmatter has, as text."""
    return next(
        (str(memory.extra[key]).strip() for key in keys if memory.extra.get(key)), ""
    )


def first_list(memory: Memory, keys: Iterable[str]) -> tuple[str, ...]:
    """Return the value of the first key that the frontmatter has, as a tuple of texts."""
    value = next((memory.extra[key] for key in keys if memory.extra.get(key)), [])
    return tuple(str(item) for item in items_of(value))


def dependency_chain(traces: Mapping[str, Memory], id: str) -> list[str]:
    """Return the direct and indirect dependencies of a trace, nearest first, without duplicates."""

    def needed_by(one: str) -> tuple[str, ...]:
        return first_list(traces[one], DEPENDS) if one in traces else ()

    return list(reachable([id], needed_by))[1:]


def execution_order(traces: Iterable[Memory]) -> list[str]:
    """Return the ids of traces by time, each after its parent and its dependencies; a cycle is broken."""
    ordered = by_time(traces)
    known = {memory.id: memory for memory in ordered}
    done: dict[str, None] = {}
    for memory in ordered:
        _visit_trace(memory.id, known, done)
    return list(done)


def _visit_trace(
    start: str, known: Mapping[str, Memory], done: dict[str, None]
) -> None:
    """Visit a trace after its dependencies, without recursion: a chain may be longer than Python's stack."""
    stack = [start]
    entered = {start}
    while stack:
        id = stack[-1]
        needed = (*first_list(known[id], PARENT), *first_list(known[id], DEPENDS))
        missing = next(
            (
                other
                for other in needed
                if other in known and other not in done and other not in entered
            ),
            "",
        )
        if missing:
            entered.add(missing)
            stack.append(missing)
        else:
            done[stack.pop()] = None
