"""A run: what a trace or an experience tells of a task that was done. How it went, with which tools, in which steps."""

from __future__ import annotations

from ..format.sections import items, sections
from ..model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model.entry import Memory

TRACE, EXPERIENCE = "trace", "experience"
OUTCOMES = ("success", "failure", "partial", "success_with_recovery")
SUCCESS = ("success", "success_with_recovery")
APPROACH = ("recommended approach", "learnings", "key insights", "plan")  # sections that say how, the best first
DONE = ("done", "ok", "success", "succeeded", "completed", "complete", "passed", "✓", "✅")  # of a step
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
