"""Make a trace of a session: what the person asked, what the agent did, and how it ended.

No tool output is copied, because it may contain text of strangers. The goal comes from the person. The steps are the
agent's commands and the files that it wrote.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ...model.record import record, replace
from ...state.run import run_of, said, step_of, tools_of
from ...text.clean import one_line
from ...text.paths import path_below
from ...text.spoken.prompt import read_prompt
from ..session.turns import TOOL, USER
from .reactions import has_failed, is_content, is_test, only_looks
from .record import Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...model.entry import Memory
    from ..session.turns import Turn

MIN_GOAL_WORDS = 3  # shorter requests, like "hi", do not name a goal
MAX_GOAL_CHARS, MAX_STEP_CHARS, MAX_NAME_CHARS, MAX_PATH_CHARS = 160, 120, 60, 200
MAX_STEPS, MAX_TOOLS, MAX_FILES = 12, 20, 40
MAX_PAUSE_MS = 15 * 60_000  # longer pauses between turns count as this much work: people leave sessions open
FAILED, DONE = " - failed", " - done"
SUCCESS, FAILURE, PARTIAL, RECOVERED = "success", "failure", "partial", "success_with_recovery"


@record
class Session:
    """The agent, the id and the project folder of a session."""

    agent: str = ""
    id: str = ""
    project: str = ""  # folder; paths are stored relative to it


@record
class Act:
    """A command that was run or a file that was written; `place` is the index of its turn."""

    place: int
    command: str = ""
    file: str = ""
    failed: bool | None = None


def trace_of(turns: Sequence[Turn], run: Session) -> Told | None:
    """Return the trace of a session; None if it has no goal, or nothing was written or run."""
    asks = _asks(turns)
    acts = _acts(turns, run.project)
    goal = _goal(turns, asks)
    if not goal or not acts:
        return None
    status, why, error = _outcome(asks, acts)
    return Told(
        goal=goal,
        status=status,
        duration_ms=_duration(turn.at for turn in turns),
        tools=_first([one_line(turn.tool, MAX_NAME_CHARS) for turn in turns if turn.role == TOOL], MAX_TOOLS),
        files=_first([act.file for act in acts], MAX_FILES),
        agent=run.agent,
        error=error,
        steps=_steps([_step(act) for act in acts]),
        results=why,
        session=run.id,
        at=max((turn.at for turn in turns), default=0),
    )


def continued(known: Memory, told: Told) -> Told:
    """Return the new trace of a session merged with the stored one. The stored goal is kept."""
    before = run_of(known)
    files = known.extra.get("files_created")
    earlier = [str(file) for file in files] if isinstance(files, list) else []
    duration = said(known, ("duration_ms",))
    return replace(
        told,
        goal=known.title,
        duration_ms=max(told.duration_ms, int(duration) if duration.isdecimal() else 0),
        tools=_first([*tools_of(known), *told.tools], MAX_TOOLS),
        files=_first([*earlier, *told.files], MAX_FILES),
        steps=_steps([*before.steps, *told.steps]),
    )


def _asks(turns: Sequence[Turn]) -> dict[int, str]:
    """Return index of a turn → what a person typed in it."""
    read = {place: read_prompt(turn.text) for place, turn in enumerate(turns) if turn.role == USER}
    return {place: one.ask.strip() for place, one in read.items() if one.ask.strip() and not one.is_host}


def _goal(turns: Sequence[Turn], asks: dict[int, str]) -> str:
    """Return the first request of at least MIN_GOAL_WORDS, else the first request, else the first slash command."""
    told = [ask for ask in asks.values() if len(ask.split()) >= MIN_GOAL_WORDS] or list(asks.values())
    if told:
        return one_line(told[0], MAX_GOAL_CHARS)
    commands = (read_prompt(turn.text).command for turn in turns if turn.role == USER)
    return next((f"/{one_line(name, MAX_NAME_CHARS)}" for name in commands if name), "")


def _acts(turns: Sequence[Turn], project: str) -> list[Act]:
    """Return the commands and file writes of a session, each with its result. Read-only commands are left out."""
    results = {turn.did.id: turn for turn in turns if turn.did and turn.did.id and turn.did.failed is not None}
    acts: list[Act] = []
    for place, turn in enumerate(turns):
        did = turn.did
        if did is None or not (did.command or did.file):
            continue
        result = results.get(did.id, turn)
        failed = result.did.failed if result.did else None
        if did.command and not only_looks(did.command):
            command = _in_project(did.command, project)
            acts.append(Act(place, command, failed=has_failed(did.command, failed, result.text)))
        elif did.file and (file := one_line(path_below(did.file, project), MAX_PATH_CHARS)):
            acts.append(Act(place, file=file, failed=failed))
    return acts


def _outcome(asks: dict[int, str], acts: Sequence[Act]) -> tuple[str, str, str]:
    """Return (status, reason for it, last error). The latest reaction or test run decides."""
    felt = [(place, mood) for place, ask in list(asks.items())[1:] if (mood := is_content(ask)) is not None]
    tests = [act for act in acts if is_test(act.command) and act.failed is not None]
    struggled = any(act.failed for act in tests) or any(not mood for _, mood in felt)
    error = f"{_short(tests[-1].command)} failed" if tests and tests[-1].failed else ""
    if felt and (not tests or felt[-1][0] > tests[-1].place):
        return *_felt(felt[-1][1], felt[-1][0] < acts[-1].place, struggled, bool(error)), error
    if error:
        return (PARTIAL if felt and felt[-1][1] else FAILURE), "The last run of the tests failed.", error
    if tests:
        return (RECOVERED if struggled else SUCCESS), "The last run of the tests passed.", ""
    last = acts[-1]
    if last.failed:
        return (
            PARTIAL,
            "The last step failed, and nobody said how it went.",
            f"{_short(last.command or last.file)} failed",
        )
    return SUCCESS, "Nobody objected; no test was run.", ""


def _felt(content: bool, went_on: bool, struggled: bool, is_red: bool) -> tuple[str, str]:
    """Return the status, and a sentence about it, for the person's last reaction."""
    if not content:
        return (
            (PARTIAL, "The person objected, and the agent kept working.")
            if went_on
            else (FAILURE, "The person objected.")
        )
    if is_red:
        return PARTIAL, "The person was content, although the last run of the tests failed."
    return (RECOVERED if struggled else SUCCESS), "The person was content."


def _step(act: Act) -> str:
    what = f"`{_short(act.command)}`" if act.command else f"Write {act.file}"
    return what + (FAILED if act.failed else DONE if act.failed is False else "")


def _steps(steps: Iterable[str]) -> tuple[str, ...]:
    """Return each step once, with its last result. Of more than MAX_STEPS, return the first and the last ones."""
    latest: dict[str, str] = {}
    for step in steps:
        latest[step_of(step)[0]] = step
    found = list(latest.values())
    half = MAX_STEPS // 2
    return tuple(found if len(found) <= MAX_STEPS else found[:half] + found[-half:])


def _short(command: str) -> str:
    return one_line(command.replace("`", "'"), MAX_STEP_CHARS)


def _first(names: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, names)))[:most]


def _duration(times: Iterable[int]) -> int:
    """Return the milliseconds of work. A pause counts as MAX_PAUSE_MS at most."""
    known = sorted(at for at in times if at > 0)
    return sum(min(later - earlier, MAX_PAUSE_MS) for earlier, later in pairwise(known))


def _in_project(command: str, project: str) -> str:
    """Return a command with paths relative to the project folder."""
    if not project:
        return command
    return command.replace(f"cd {project} && ", "").replace(f"{project}/", "").replace(project, ".")
