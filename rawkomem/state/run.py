"""A run: what a trace or an experience tells of a task that was done, which runs it depended on, and their order."""

from __future__ import annotations

from ..format.sections import items, sections
from ..model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..model.entry import Memory

TRACE, EXPERIENCE = "trace", "experience"
OUTCOMES = ("success", "failure", "partial", "success_with_recovery")
SUCCESS = ("success", "success_with_recovery")
APPROACH = ("recommended approach", "learnings", "key insights", "plan")  # sections that say how, the best first
DONE = ("done", "ok", "success", "succeeded", "completed", "complete", "passed", "✓", "✅")  # of a step
DEPENDS = ("depends_on", "dependencies", "dependsOn")
PARENT = ("parent", "parent_trace", "parentTraceId")
FAILED = ("failed", "failure", "error", "aborted", "timeout", "✗", "❌")


@record
class Run:
    """One execution of a task, as its trace tells it."""

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
        """Tell whether it reached its goal, at once or after a recovery."""
        return self.outcome in SUCCESS


def run_of(memory: Memory) -> Run:
    """Return a trace or an experience as a run; what it does not say stays empty."""
    parts = sections(memory.body)
    return Run(
        id=memory.id,
        goal=goal_of(memory),
        outcome=outcome_of(memory),
        tools=tools_of(memory),
        plan=parts.get("plan", ""),
        steps=tuple(items(parts.get("steps executed") or parts.get("steps", ""))),
        results=parts.get("results", ""),
        learnings=tuple(items(parts.get("learnings", "") or said(memory, ("learnings_or_issues",)))),
        error=said(memory, ("error",)) or parts.get("error", ""),
        at=memory.created,
    )


def goal_of(memory: Memory) -> str:
    """Return what the task was after."""
    return said(memory, ("goal", "primary_goal")) or memory.title


def outcome_of(memory: Memory) -> str:
    """Return how it went, one of OUTCOMES or whatever the file says."""
    return said(memory, ("status", "final_outcome", "outcome")).lower()


def tools_of(memory: Memory) -> tuple[str, ...]:
    """Return the tools that were used."""
    return listed(memory, ("tools_used", "toolsUsed", "components_used"))


def approach_of(memory: Memory) -> str:
    """Return how to do likewise: the section that says it best, else what an experience says it learned."""
    parts = sections(memory.body)
    found = next((parts[name] for name in APPROACH if parts.get(name)), "")
    return found or said(memory, ("learnings_or_issues", "output_summary"))


def step_of(text: str) -> tuple[str, bool]:
    """Return a step without the status behind it (`… - failed`), and whether that says that it failed."""
    what, dash, status = text.rpartition(" - ")
    word = status.strip().lower().rstrip(".!")
    if not dash or not word.startswith((*DONE, *FAILED)):
        return text, False
    return what.strip(), word.startswith(FAILED)


def said(memory: Memory, keys: Iterable[str]) -> str:
    """Return the first of some keys that the frontmatter has, as text."""
    return next((str(memory.extra[key]).strip() for key in keys if memory.extra.get(key)), "")


def listed(memory: Memory, keys: Iterable[str]) -> tuple[str, ...]:
    """Return the first of some keys that the frontmatter has, as a list."""
    value = next((memory.extra[key] for key in keys if memory.extra.get(key)), [])
    return tuple(str(item) for item in (value if isinstance(value, list) else [value]))


def dependency_chain(traces: Mapping[str, Memory], id: str) -> list[str]:
    """Return what a trace depended on, and what that did, each once, the nearest first."""
    chain: dict[str, None] = {}
    waiting = [id]
    for one in waiting:
        for other in listed(traces[one], DEPENDS) if one in traces else ():
            if other != id and other not in chain:
                chain[other] = None
                waiting.append(other)
    return list(chain)


def execution_order(traces: Iterable[Memory]) -> list[str]:
    """Return all traces by time, but none before its parent or what it depended on; of a cycle, the earliest first."""
    ordered = sorted(traces, key=lambda memory: (memory.created, memory.id))
    known = {memory.id: memory for memory in ordered}
    done: dict[str, None] = {}
    for memory in ordered:
        _visit(memory.id, known, done)
    return list(done)


def _visit(start: str, known: Mapping[str, Memory], done: dict[str, None]) -> None:
    """Visit a trace after what it needed, without recursion: a chain may be longer than Python's stack."""
    stack, entered = [start], {start}
    while stack:
        id = stack[-1]
        needed = (*listed(known[id], PARENT), *listed(known[id], DEPENDS))
        missing = next((other for other in needed if other in known and other not in done and other not in entered), "")
        if missing:
            entered.add(missing)
            stack.append(missing)
        else:
            done[stack.pop()] = None
