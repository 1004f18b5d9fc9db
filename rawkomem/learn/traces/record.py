"""Plan new traces and log entries, with the keys, headings and file names of LLMos."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...format.llmos_keys import EXPERIENCE_NUMBER
from ...format.sections import items
from ...model.clock import iso, now
from ...model.entry import Entry
from ...model.errors import BadInput
from ...model.names import file_stem
from ...model.record import record, replace
from ...state.decide import plan_add
from ...state.run import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...model.entry import Plan, Value

AGENT = "agent"  # in the file name of a trace that names no agent
LOG_FILE = "log/memory_log.md"
SESSION = "session"  # key: the session that hooks recorded


@record
class Told:
    """The contents of a trace: its outcome, duration, tools and files, and the text of its sections."""

    goal: str
    status: str = "success"
    duration_ms: int = 0
    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    agent: str = ""
    error: str = ""
    plan: str = ""
    steps: tuple[str, ...] = ()
    results: str = ""
    learnings: tuple[str, ...] = ()
    body: str = ""  # replaces the sections
    parent: str = ""
    depends_on: tuple[str, ...] = ()
    session: str = ""  # id of the host session that hooks recorded
    at: int = 0  # time of its end; 0: now


def plan_trace(told: Told, taken: Callable[[str], bool]) -> Plan:
    """Plan to store a trace in its own file; `taken` returns whether a path is in use."""
    _check(told.goal, told.status)
    extra: dict[str, Value] = {
        **_facts(told),
        "parent": told.parent,
        "depends_on": list(told.depends_on),
        SESSION: told.session,
    }
    at = min(told.at or now(), now())
    entry = Entry(
        kind="trace",
        title=" ".join(told.goal.split()),
        by=told.agent,
        at=at,
        body=told.body.strip() or trace_body(told),
        extra={key: value for key, value in extra.items() if value},
        path=_free(trace_path(at, told.agent), taken),
    )
    return replace(plan_add(entry), why=f"trace of {told.goal!r}")


def trace_change(told: Told) -> Entry:
    """Return the amendment that updates the stored trace of a session."""
    return Entry(kind="amend", by=told.agent, body=trace_body(told), extra=_facts(told))


def _facts(told: Told) -> dict[str, Value]:
    return {
        "status": told.status,
        "duration_ms": str(told.duration_ms),
        "tools_used": list(told.tools),
        "files_created": list(told.files),
        "error": told.error,
    }


def _check(goal: str, status: str) -> None:
    if not goal.strip():
        raise BadInput("a trace needs a goal", "name the goal of the run with --goal")
    if status not in OUTCOMES:
        raise BadInput(f"unknown status {status!r}", "one of " + ", ".join(OUTCOMES))


def trace_body(told: Told) -> str:
    """Return the sections of a trace under the headings of LLMos, without empty sections."""
    parts = {
        "Plan": told.plan.strip(),
        "Steps Executed": "\n".join(f"{number}. {step}" for number, step in enumerate(_lines(told.steps), 1)),
        "Results": told.results.strip(),
        "Learnings": "\n".join(f"- {line}" for line in _lines(told.learnings)),
    }
    sections = [f"## {title}\n{text}" for title, text in parts.items() if text]
    return "\n\n".join([f"# Execution Trace: {' '.join(told.goal.split())}", *sections])


def _lines(texts: Sequence[str]) -> list[str]:
    """Return the items of texts without their list marks."""
    return [item for text in texts for item in items(text)]


def trace_path(at: int, agent: str) -> str:
    """Return a path like `traces/2026-01/2026-01-23T10-30-00-000Z_planner.md`, from the time and the agent."""
    stamp = iso(at)
    stamp = stamp if "." in stamp else stamp.replace("Z", ".000Z")
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in agent).strip("-")[:64] or AGENT
    name = name if name.isascii() else file_stem(agent)
    return f"traces/{stamp[:7]}/{stamp.replace(':', '-').replace('.', '-')}_{name}.md"


def _free(path: str, taken: Callable[[str], bool]) -> str:
    stem, number = path.removesuffix(".md"), 1
    while taken(path):
        number += 1
        path = f"{stem}-{number}.md"
    return path


@record
class Experienced:
    """The contents of an entry in the experience log."""

    goal: str
    outcome: str = "success"
    project: str = ""
    components: tuple[str, ...] = ()
    files: int = 0
    summary: str = ""
    duration_ms: int = 0
    learnings: str = ""
    session: str = ""  # id of the host session that hooks recorded


def plan_experience(told: Experienced, number: int, by: str = "") -> Plan:
    """Plan to append an entry to the experience log. The number is for people; the entry has its own id."""
    _check(told.goal, told.outcome)
    extra: dict[str, Value] = {
        EXPERIENCE_NUMBER: str(number),
        "project_name": told.project,
        "final_outcome": told.outcome,
        "components_used": list(told.components),
        "files_created": str(told.files),
        "output_summary": told.summary,
        "execution_time_ms": str(told.duration_ms) if told.duration_ms else "",
        "learnings_or_issues": told.learnings,
        SESSION: told.session,
    }
    entry = Entry(
        kind="experience",
        title=" ".join(told.goal.split()),
        by=by,
        extra={key: value for key, value in extra.items() if value},
        path=LOG_FILE,
    )
    return replace(plan_add(entry), why=f"experience {number}: {told.goal!r}")
