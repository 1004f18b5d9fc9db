"""Implement `rawkomem trace`: record tasks and how they went."""

from __future__ import annotations

import sys
from typing import Any

import click

from ....files.append import Written
from ....files.given_text import read_stdin
from ....format.compose import entry_from_text
from ....format.llmos_keys import EXPERIENCE_NUMBER
from ....git.user import user_name
from ....learn.traces.record import Experienced, Told
from ....model.clock import iso
from ....model.entry import Memory
from ....model.errors import BadInput
from ....model.filters import READABLE
from ....model.kinds import RECORDED
from ....repository import Repository
from ....state.run import OUTCOMES, outcome_of, said, tools_of
from ....text.clean import one_line
from ..commands import pass_repository
from ..groups import Verbs
from ..opening import open_personal, open_repository
from ..options import ALL, JSON, LIMIT
from ..terminal import day, note, paint, say, say_either, say_json, say_rows, shortened, wide

MAX_PROJECT_CHARS = 40
STATUS = click.Choice(OUTCOMES)
OUTCOME_COLORS = {"success": "green", "success_with_recovery": "green", "partial": "yellow"}


@click.group("trace", cls=Verbs, bare="list")
def trace_command() -> None:
    """Record tasks and how they went.

    A trace is one file for one task. 'rawkomem brief' shows what earlier traces teach, 'rawkomem tidy consolidate
    --apply' writes learnings from them. See 'rawkomem docs traces'.
    """


@trace_command.command("add")
@click.option("--goal", required=True, help="The goal of the task.")
@click.option("--status", type=STATUS, default=OUTCOMES[0], show_default=True, help="The outcome.")
@click.option("--duration-ms", type=click.IntRange(0), default=0, help="The duration in milliseconds.")
@click.option("--tool", "tools", multiple=True, help="A tool that was used; may be repeated.")
@click.option("--file", "files", multiple=True, help="A file that was created; may be repeated.")
@click.option("--agent", default="", help="Who did the task. Default: you.")
@click.option("--error", default="", help="The error message.")
@click.option("--plan", default="", help="The plan.")
@click.option(
    "--step", "--steps", "steps", multiple=True, help="A step, optionally followed by ' - status'; may be repeated."
)
@click.option("--results", default="", help="The results.")
@click.option(
    "--learning",
    "--learnings",
    "learnings",
    multiple=True,
    help="What to repeat or to avoid next time; may be repeated.",
)
@click.option("--parent", default="", help="The trace of the parent task.")
@click.option("--depends-on", "depends_on", multiple=True, help="A trace that this task depends on; may be repeated.")
@JSON
@pass_repository
def trace_add(repository: Repository, as_json: bool, **given: Any) -> None:
    """Record a task.

    The text comes from --plan, --step, --results and --learning. Without these options, it comes from standard
    input.
    """
    if not any(given[name] for name in ("plan", "steps", "results", "learnings")):
        given["body"] = _piped()
    told = Told(**{**given, "agent": given["agent"] or user_name()})
    _report(repository.traces.add(told), as_json)
    repository.core.follow()


def _piped() -> str:
    return "" if sys.stdin.isatty() else entry_from_text(read_stdin()).body


@trace_command.command("list")
@click.option("--status", type=STATUS, multiple=True, help="Only traces with this outcome; may be repeated.")
@click.option("--archived", is_flag=True, help="Include archived traces.")
@click.option("--in-order", is_flag=True, help="Sort by execution: a trace follows its parent and its dependencies.")
@ALL
@JSON
@pass_repository
def trace_list(
    repository: Repository, status: tuple[str, ...], archived: bool, in_order: bool, limit: int, as_json: bool
) -> None:
    """List recorded tasks, latest first."""
    statuses = (*READABLE, "archived") if archived else READABLE
    found = repository.traces.list(statuses)
    if not in_order:
        found = sorted(found, key=lambda memory: (-memory.created, memory.id))
    found = [memory for memory in found if not status or outcome_of(memory) in status]
    say_rows(as_json, shortened(as_json, found, limit), _json, _line)
    if not found and not as_json:
        note("no trace found: 'rawkomem trace add' records one")


def _line(memory: Memory) -> str:
    outcome = outcome_of(memory) or "unknown"
    away = " [archived]" if memory.status == "archived" else ""
    title = one_line(memory.title, max(20, wide() - len(memory.id) - len(away) - 36))
    shown = paint(f"{outcome:21}", OUTCOME_COLORS.get(outcome, "red"))
    return f"{day(memory.created)}  {shown} {title}  {paint(memory.id + away, 'dim')}"


def _json(memory: Memory) -> dict[str, Any]:
    who = {"trace_id": memory.id, "timestamp": iso(memory.created), "goal": memory.title, "agent": memory.by}
    how = {"status": outcome_of(memory), "tools_used": list(tools_of(memory))}
    return {**who, **how, "path": memory.path, "archived": memory.status == "archived"}


@trace_command.command("show")
@click.argument("id")
@JSON
@pass_repository
def trace_show(repository: Repository, id: str, as_json: bool) -> None:
    """Show one recorded task and its dependencies."""
    memory = repository.get(id)
    if memory.kind not in RECORDED:
        raise BadInput(f"{memory.id} is a {memory.kind}, not a trace", f"'rawkomem show {memory.id}' shows it")
    needed = repository.traces.needed_by(memory.id)
    if as_json:
        say_json({**_json(memory), **memory.extra, "depended_on": list(needed), "body": memory.body})
        return
    say(_line(memory))
    for name, value in memory.extra.items():
        text = ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)
        say(f"{paint(f'{name:13}', 'dim')} {one_line(text, 400)}")
    if needed:
        say(f"{paint('depended on  ', 'dim')} {', '.join(needed)}")
    say(f"{paint('file         ', 'dim')} {memory.path}:{memory.line}")
    say()
    say(memory.body)


@trace_command.group("log", invoke_without_command=True)
@click.option("--personal", is_flag=True, help="Show the log of your personal repository: all your projects.")
@LIMIT
@JSON
@click.pass_context
def log_command(ctx: click.Context, personal: bool, limit: int, as_json: bool) -> None:
    """Show the work log: one line for each task.

    Hooks add an entry for each session in which files were written or commands were run. If you have a personal
    repository ('rawkomem init --personal'), they also add the entry there.
    """
    if ctx.invoked_subcommand:
        return
    repository = open_personal() if personal else open_repository(ctx.obj)
    found = repository.traces.experiences()[:limit]
    say_rows(as_json, found, _log_json, _log_line)
    if not found and not as_json:
        note("the log is empty: hooks add an entry for each session, 'rawkomem trace log add' adds one by hand")


def _log_json(memory: Memory) -> dict[str, Any]:
    what = {"id": memory.id, "timestamp": iso(memory.created), "goal": memory.title, "agent": memory.by}
    return {**what, "project": said(memory, ("project_name",)), "outcome": outcome_of(memory), "path": memory.path}


def _log_line(memory: Memory) -> str:
    project = said(memory, ("project_name",))
    return _line(memory) + (paint(f"  in {one_line(project, MAX_PROJECT_CHARS)}", "dim") if project else "")


@log_command.command("add")
@click.option("--goal", required=True, help="The goal of the task.")
@click.option("--outcome", type=STATUS, default=OUTCOMES[0], show_default=True, help="The outcome.")
@click.option("--project", default="", help="The name of the project.")
@click.option("--component", "components", multiple=True, help="An agent or a tool that was used; may be repeated.")
@click.option("--files", type=click.IntRange(0), default=0, help="The number of files that were created.")
@click.option("--summary", default="", help="A short summary of the results.")
@click.option("--duration-ms", type=click.IntRange(0), default=0, help="The duration in milliseconds.")
@click.option("--learnings", default="", help="What was learned or went wrong; '-' reads standard input.")
@JSON
@pass_repository
def log_add(repository: Repository, as_json: bool, **given: Any) -> None:
    """Add an entry to the work log.

    The log keeps its last 1,000 entries. Older entries move to the archive; none is deleted.
    """
    if given["learnings"] == "-":
        given["learnings"] = read_stdin().strip()
    _report(repository.traces.log(Experienced(**given), user_name()), as_json)
    repository.core.follow()


def _report(written: Written, as_json: bool) -> None:
    entry = written.entry
    data = {"id": entry.id, "path": entry.path, "redacted": written.redacted}
    number = f"exp_{entry.extra[EXPERIENCE_NUMBER]}  " if EXPERIENCE_NUMBER in entry.extra else ""
    say_either(as_json, data, f"{paint('recorded', 'green')}  {number}{entry.id}  {paint(entry.path, 'dim')}")
    if written.redacted:
        note("secrets in the text were redacted before it was written")
