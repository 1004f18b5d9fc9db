"""Traces of runs, with the keys, headings and file names of LLMos: recorded by a caller, or made from
a session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..format.blocks import bulleted, list_items, numbered
from ..format.frontmatter import EXPERIENCE_NUMBER
from ..model.entries import Entry, Memory, Plan, Value
from ..model.errors import BadInput, check_known
from ..model.ids import numbered_names, trace_path
from ..model.values import filled, now, record, replace
from ..redaction.find import redact
from ..state.plans import plan_add
from ..state.runs import OUTCOMES, first_list, first_value, run_of, step_of
from ..text.clean import one_line
from ..text.commands import command_failed, is_test, only_looks
from ..text.paths import path_below
from ..text.prompts import read_prompt
from .turns import TOOL, USER, RunFacts, Turn

# Plan new traces and log entries, with the keys, headings and file names of LLMos.

LOG_FILE = "log/memory_log.md"
SESSION_KEY = "session"  # key: the session that hooks recorded


@record
class ToldTrace:
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


def plan_trace(told: ToldTrace, taken: Callable[[str], bool]) -> Plan:
    """Plan to store a trace in its own file; `taken` returns whether a path is in use."""
    extra: dict[str, Value] = {
        **_trace_facts(told),
        "parent": told.parent,
        "depends_on": list(told.depends_on),
        SESSION_KEY: told.session,
    }
    at = min(told.at or now(), now())
    stem = trace_path(at, redact(told.agent)).removesuffix(".md")
    paths = (f"{name}.md" for name in numbered_names(stem))
    return _plan_run(
        told.goal,
        told.status,
        extra,
        kind="trace",
        by=told.agent,
        at=at,
        body=told.body.strip() or trace_body(told),
        path=next(path for path in paths if not taken(path)),
    )


def _plan_run(
    goal: str, outcome: str, extra: Mapping[str, Value], **fields: Any
) -> Plan:
    """Plan to store the record of a run; empty values of `extra` are left out. Raise BadInput for a wrong outcome."""
    if not goal.strip():
        raise BadInput("a trace needs a goal", "name the goal of the run with --goal")
    check_known("status", outcome, OUTCOMES)
    known = filled(extra)
    return plan_add(Entry(title=" ".join(goal.split()), extra=known, **fields))


def trace_change(told: ToldTrace) -> Entry:
    """Return the amendment that updates the stored trace of a session."""
    return Entry(
        kind="amend", by=told.agent, body=trace_body(told), extra=_trace_facts(told)
    )


def _trace_facts(told: ToldTrace) -> dict[str, Value]:
    return {
        "status": told.status,
        "duration_ms": str(told.duration_ms),
        "tools_used": list(told.tools),
        "files_created": list(told.files),
        "error": told.error,
    }


def trace_body(told: ToldTrace) -> str:
    """Return the sections of a trace under the headings of LLMos, without empty sections."""
    parts = {
        "Plan": told.plan.strip(),
        "Steps Executed": numbered(_listed_items(told.steps)),
        "Results": told.results.strip(),
        "Learnings": bulleted(_listed_items(told.learnings)),
    }
    sections = [f"## {title}\n{text}" for title, text in parts.items() if text]
    return "\n\n".join([f"# Execution Trace: {' '.join(told.goal.split())}", *sections])


def _listed_items(texts: Sequence[str]) -> list[str]:
    """Return the items of texts without their list marks."""
    return [item for text in texts for item in list_items(text)]


@record
class ToldExperience:
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


def plan_experience(told: ToldExperience, number: int, by: str = "") -> Plan:
    """Plan to append an entry to the experience log. The number is for people; the entry has its own id."""
    extra: dict[str, Value] = {
        EXPERIENCE_NUMBER: str(number),
        "project_name": told.project,
        "final_outcome": told.outcome,
        "components_used": list(told.components),
        "files_created": str(told.files),
        "output_summary": told.summary,
        "execution_time_ms": str(told.duration_ms) if told.duration_ms else "",
        "learnings_or_issues": told.learnings,
        SESSION_KEY: told.session,
    }
    return _plan_run(
        told.goal, told.outcome, extra, kind="experience", by=by, path=LOG_FILE
    )


# Recognize whether a person is content with the agent's work.

MAX_REACTION_WORDS = 40  # first words that are read; later words describe the next task
OBJECTION = re.compile(
    r"^(?:no(?:pe)?(?:[,.!;:]|\s+(?:that|this|it|you|don['’]?t|not)\b|$))"
    r"|^(?:wrong|revert|undo|stop|roll (?:it )?back)\b"
    r"|\bstill (?:fail|broken|wrong|crash|not\b|doesn|does not|the same|getting|see|there|an? error|red\b)"
    r"|\b(?:doesn|didn|isn|don)['’]?t (?:work|help|compile|build|run|right)"
    r"|\b(?:does|did|is|are) not (?:work|right|what)|\bnot working\b"
    r"|\b(?:that|this|it)(?:['’]s| is| was) (?:all |completely |just )?(?:wrong|broken|worse|not\b)"
    r"|\b(?:you|it) broke\b|\b(?:revert|undo) (?:that|this|it|all|your|the)\b|\btests? (?:still )?(?:fail|are red)",
    re.IGNORECASE,
)
APPROVAL = re.compile(
    r"^(?:yes|yep|yeah|ok(?:ay)?|good|nice|great|cool|perfect|awesome|excellent|amazing|done|super|lgtm)\b"
    r"|\b(?:thanks|thank you|thx|perfect|lgtm|well done|good job|great job|awesome|excellent)\b"
    r"|\blooks? (?:good|great|right)\b|\b(?:it|that|this|everything|all|now) works?\b|^works\b"
    r"|\bworks (?:now|well|great|fine|perfectly|for me|as)\b|\b(?:fixed|solved) (?:it|now|the)\b"
    r"|^(?:ship|merge|commit|push) (?:it|this|that)\b",
    re.IGNORECASE,
)


def is_content(ask: str) -> bool | None:
    """Return whether a person is content with the work so far; None if the words do not show it."""
    said = " ".join(ask.split()[:MAX_REACTION_WORDS])
    if OBJECTION.search(said):
        return False
    return True if APPROVAL.search(said) else None


# Make a trace of a session: what the person asked, what the agent did, and how it ended.
#
# No tool output is copied, because it may contain text of strangers. The goal comes from the
# person. The steps are the agent's commands and the files that it wrote.

MIN_GOAL_WORDS = 3  # shorter requests, like "hi", do not name a goal
MAX_GOAL_CHARS = 160
MAX_STEP_CHARS = 120
MAX_NAME_CHARS = 60
MAX_PATH_CHARS = 200
MAX_STEPS = 12
MAX_TOOLS = 20
MAX_FILES = 40
# longer pauses between turns count as this much work: people leave sessions open
MAX_PAUSE_MS = 15 * 60_000
# result of an act → what stands behind its step
RESULT_MARKS = {True: " - failed", False: " - done", None: ""}
SUCCESS = "success"
FAILURE = "failure"
PARTIAL = "partial"
RECOVERED = "success_with_recovery"


@record
class RecordedAct:
    """A command that was run or a file that was written; `place` is the index of its turn."""

    place: int
    command: str = ""
    file: str = ""
    failed: bool | None = None


def trace_of(turns: Sequence[Turn], run: RunFacts, project: str) -> ToldTrace | None:
    """Return the trace of a session; None if it has no goal, or nothing was written or run.

    The goal is the first request of at least MIN_GOAL_WORDS, else the first request, else the first slash command. Paths are stored relative to the folder `project`.
    """
    read = {
        place: read_prompt(turn.text)
        for place, turn in enumerate(turns)
        if turn.role == USER
    }
    asks = {
        place: one.ask.strip()
        for place, one in read.items()
        if one.ask.strip() and not one.is_host
    }
    acts = _acts(turns, project)
    long = [ask for ask in asks.values() if len(ask.split()) >= MIN_GOAL_WORDS]
    commands = [
        f"/{one_line(one.command, MAX_NAME_CHARS)}"
        for one in read.values()
        if one.command
    ]
    goal = one_line(next(iter([*long, *asks.values(), *commands]), ""), MAX_GOAL_CHARS)
    if not goal or not acts:
        return None
    status, why, error = _outcome(asks, acts)
    times = sorted(turn.at for turn in turns if turn.at > 0)
    return ToldTrace(
        goal=goal,
        status=status,
        duration_ms=sum(
            min(later - earlier, MAX_PAUSE_MS) for earlier, later in pairwise(times)
        ),
        tools=_first_names(
            (
                one_line(turn.tool, MAX_NAME_CHARS)
                for turn in turns
                if turn.role == TOOL
            ),
            MAX_TOOLS,
        ),
        files=_first_names([act.file for act in acts], MAX_FILES),
        agent=run.agent,
        error=error,
        steps=_steps(map(_step, acts)),
        results=why,
        session=run.session,
        at=times[-1] if times else 0,
    )


def continued_trace(known: Memory, told: ToldTrace) -> ToldTrace:
    """Return the new trace of a session merged with the stored one, whose goal is kept.

    The new one may be of the last turns only: a host without transcripts passes no more.
    """
    before = run_of(known)
    files = first_list(known, ("files_created",))
    duration = first_value(known, ("duration_ms",))
    return replace(
        told,
        goal=known.title,
        duration_ms=max(told.duration_ms, int(duration) if duration.isdecimal() else 0),
        tools=_first_names([*before.tools, *told.tools], MAX_TOOLS),
        files=_first_names([*files, *told.files], MAX_FILES),
        steps=_steps([*before.steps, *told.steps]),
    )


def _acts(turns: Sequence[Turn], project: str) -> list[RecordedAct]:
    """Return the commands and file writes of a session, each with its result. Read-only commands are left out."""
    results = {
        turn.did.id: turn
        for turn in turns
        if turn.did and turn.did.id and turn.did.failed is not None
    }
    acts: list[RecordedAct] = []
    for place, turn in enumerate(turns):
        did = turn.did
        if did is None or not (did.command or did.written is not None):
            continue
        result = results.get(did.id, turn)
        failed = result.did.failed if result.did else None
        file = one_line(path_below(did.file, project), MAX_PATH_CHARS)
        if did.command and not only_looks(did.command):
            failed = command_failed(did.command, failed, result.text)
            command = _in_project(did.command, project)
            acts.append(RecordedAct(place, command, failed=failed))
        elif did.written is not None and file:
            acts.append(RecordedAct(place, file=file, failed=failed))
    return acts


def _outcome(asks: dict[int, str], acts: Sequence[RecordedAct]) -> tuple[str, str, str]:
    """Return (status, reason for it, last error). The latest reaction or test run decides."""
    felt = [
        (place, mood)
        for place, ask in list(asks.items())[1:]
        if (mood := is_content(ask)) is not None
    ]
    tests = [act for act in acts if is_test(act.command) and act.failed is not None]
    struggled = any(act.failed for act in tests) or any(not mood for _, mood in felt)
    good = RECOVERED if struggled else SUCCESS
    error = f"{_short(tests[-1].command)} failed" if tests and tests[-1].failed else ""
    last = acts[-1]
    felt_at, is_happy = felt[-1] if felt else (-1, False)
    if felt and (not tests or felt_at > tests[-1].place):
        if not is_happy and felt_at < last.place:
            return PARTIAL, "The person objected, and the agent kept working.", error
        if not is_happy:
            return FAILURE, "The person objected.", error
        if error:
            why = "The person was content, although the last run of the tests failed."
            return PARTIAL, why, error
        return good, "The person was content.", ""
    if error:
        status = PARTIAL if is_happy else FAILURE
        return status, "The last run of the tests failed.", error
    if tests:
        return good, "The last run of the tests passed.", ""
    if last.failed:
        error = f"{_short(last.command or last.file)} failed"
        return PARTIAL, "The last step failed, and nobody said how it went.", error
    return SUCCESS, "Nobody objected; no test was run.", ""


def _step(act: RecordedAct) -> str:
    what = f"`{_short(act.command)}`" if act.command else f"Write {act.file}"
    return what + RESULT_MARKS[act.failed]


def _steps(told: Iterable[str]) -> tuple[str, ...]:
    """Return each step once, with its last result. Of more than MAX_STEPS, return the first and the last ones."""
    steps = [*{step_of(step)[0]: step for step in told}.values()]
    half = MAX_STEPS // 2
    return tuple(steps if len(steps) <= MAX_STEPS else steps[:half] + steps[-half:])


def _short(command: str) -> str:
    return one_line(command.replace("`", "'"), MAX_STEP_CHARS)


def _first_names(names: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, names)))[:most]


def _in_project(command: str, project: str) -> str:
    """Return a command with paths relative to the project folder."""
    return (
        command.replace(f"cd {project} && ", "")
        .replace(f"{project}/", "")
        .replace(project, ".")
    )
