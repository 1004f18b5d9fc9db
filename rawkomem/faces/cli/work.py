"""Implement `rawkomem trace`, `brief` and `episode`: recorded tasks, what they teach, and periods of
work.
"""

from __future__ import annotations

import sys
from typing import Any

import click
from click import Choice, Context, IntRange, argument, group, pass_context

from ...files.append import Written
from ...files.layout import read_stdin
from ...format.entries import entry_from_text
from ...format.fields import EXPERIENCE_NUMBER
from ...git.runner import user_name
from ...learn.traces import ToldExperience, ToldTrace
from ...model.entries import Memory
from ...model.errors import BadInput
from ...model.filters import READABLE, Filter
from ...model.values import RECORDED, as_dict, iso, read_time
from ...recall.earlier_tasks import PatternMatch
from ...recall.signals import MAX_SIMILAR, MIN_SIMILARITY
from ...repository import Repository
from ...state.digests import SUMMARY_WORDS, Episode
from ...state.runs import OUTCOMES, first_value, outcome_of, tools_of
from ...state.trust import sources_in
from ...text.chunks import counted
from ...text.clean import one_line
from .commands import pass_repository
from .declarations import Verbs, flag, list_option, text_option
from .importing import project_command
from .opening import open_personal, open_repository
from .options import ALL, JSON, LIMIT
from .searching import result_json as found_json
from .searching import say_result as show_found
from .terminal import (
    day,
    done_line,
    fields_of,
    name_of,
    note,
    paint,
    say,
    say_either,
    say_fact,
    say_json,
    say_rows,
    shortened,
    wide,
)

# Implement `rawkomem trace`: record tasks and how they went.

MAX_PROJECT_CHARS = 40
STATUS = Choice(OUTCOMES)
OUTCOME_COLORS = {"success": "green", "success_with_recovery": "green", "partial": "yellow"}


@group("trace", cls=Verbs, bare="list")
def trace_command() -> None:
    """Record tasks and how they went; group them in episodes.

    A trace is one file for one task. 'rawkomem context --goal QUERY' shows what earlier traces teach, 'rawkomem tidy consolidate
    --apply' writes learnings from them. See 'rawkomem docs traces'.

    Examples:
      rawkomem trace list
      rawkomem trace add --goal 'Release 1.2' --learning 'Tag before you build'
    """


@trace_command.command("add")
@click.option("--goal", required=True, help="The goal of the task.")
@click.option("--status", type=STATUS, default=OUTCOMES[0], show_default=True, help="The outcome.")
@click.option("--duration-ms", type=IntRange(0), default=0, help="The duration in milliseconds.")
@list_option("--tool", "tools", help="A tool that was used; may be repeated.")
@list_option("--file", "files", help="A file that was created; may be repeated.")
@text_option("--agent", help="Who did the task. Default: you.")
@text_option("--error", help="The error message.")
@text_option("--plan", help="The plan.")
@list_option(
    "--step",
    "--steps",
    "steps",
    help="A step, optionally followed by ' - status'; may be repeated.",
)
@text_option("--results", help="The results.")
@list_option(
    "--learning",
    "--learnings",
    "learnings",
    help="What to repeat or to avoid next time; may be repeated.",
)
@text_option("--parent", help="The trace of the parent task.")
@list_option(
    "--depends-on",
    "depends_on",
    help="A trace that this task depends on; may be repeated.",
)
@JSON
@pass_repository
def trace_add(repository: Repository, as_json: bool, **given: Any) -> None:
    """Record a task.

    The text comes from --plan, --step, --results and --learning. Without these options, it comes from standard
    input.

    Examples:
      rawkomem trace add --goal 'Release 1.2' --status failure --error 'The tag was missing'
    """
    if not any(given[name] for name in ("plan", "steps", "results", "learnings")):
        given["body"] = "" if sys.stdin.isatty() else entry_from_text(read_stdin()).body
    told = ToldTrace(**{**given, "agent": given["agent"] or user_name()})
    _report_recorded(repository.traces.add(told), as_json)
    repository.core.follow()


@trace_command.command("list")
@click.option(
    "--status", type=STATUS, multiple=True, help="Only traces with this outcome; may be repeated."
)
@flag("--archived", help="Include archived traces.")
@flag(
    "--in-order",
    help="Sort by execution: a trace follows its parent and its dependencies.",
)
@ALL
@JSON
@pass_repository
def trace_list(
    repository: Repository,
    status: tuple[str, ...],
    archived: bool,
    in_order: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List recorded tasks, latest first.

    Examples:
      rawkomem trace list
      rawkomem trace list --status failure -n 5
    """
    statuses = (*READABLE, "archived") if archived else READABLE
    found = repository.traces.list(statuses)
    if not in_order:
        found = sorted(found, key=lambda memory: (-memory.created, memory.id))
    found = [memory for memory in found if not status or outcome_of(memory) in status]
    say_rows(
        as_json,
        shortened(as_json, found, limit),
        _trace_json,
        _trace_line,
        "no trace found: 'rawkomem trace add' records one",
    )


def _trace_line(memory: Memory) -> str:
    outcome = outcome_of(memory) or "unknown"
    away = " [archived]" if memory.status == "archived" else ""
    title = one_line(memory.title, max(20, wide() - len(memory.id) - len(away) - 36))
    shown = paint(f"{outcome:21}", OUTCOME_COLORS.get(outcome, "red"))
    return f"{day(memory.created)}  {shown} {title}  {paint(memory.id + away, 'dim')}"


def _trace_json(memory: Memory) -> dict[str, Any]:
    return {
        "trace_id": memory.id,
        "timestamp": iso(memory.created),
        "goal": memory.title,
        "agent": memory.by,
        "status": outcome_of(memory),
        "tools_used": list(tools_of(memory)),
        "path": memory.path,
        "archived": memory.status == "archived",
    }


@trace_command.command("search")
@argument("task", nargs=-1, required=True)
@LIMIT.but(default=MAX_SIMILAR)
@click.option(
    "--min-similarity",
    default=MIN_SIMILARITY,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Minimum similarity.",
)
@text_option("--since", help="Only tasks since this date, time or age, such as 30d.")
@JSON
@pass_repository
def trace_search(
    repository: Repository,
    task: tuple[str, ...],
    limit: int,
    min_similarity: float,
    since: str,
    as_json: bool,
) -> None:
    """Find earlier tasks that resemble a task.

    Each line has the similarity, the goal, the outcome, the tools and the steps.

    Examples:
      rawkomem trace search 'release a new version'
    """
    found = repository.traces.search(" ".join(task), limit, min_similarity, since)
    say_rows(as_json, found, as_dict, _match_line, "no earlier task is similar")


def _match_line(match: PatternMatch) -> str:
    how = "succeeded" if match.success else "failed"
    tools = f"  with {', '.join(match.tools_used)}" if match.tools_used else ""
    head = f"{match.similarity:.2f}  {match.goal}  {how}{tools}  {match.trace_id}"
    steps = one_line(match.suggested_approach.replace("\n", "; "), 300)
    return f"{one_line(head, 300)}\n      {steps}" if steps else one_line(head, 300)


@trace_command.command("show")
@argument("id")
@JSON
@pass_repository
def trace_show(repository: Repository, id: str, as_json: bool) -> None:
    """Show one recorded task and its dependencies.

    Examples:
      rawkomem trace show TRACE
    """
    memory = repository.get(id)
    if memory.kind not in RECORDED:
        raise BadInput(
            f"{memory.id} is a {memory.kind}, not a trace", f"'rawkomem show {memory.id}' shows it"
        )
    needed = repository.traces.needed_by(memory.id)
    if as_json:
        say_json(
            {
                **_trace_json(memory),
                **memory.extra,
                "depended_on": list(needed),
                "body": memory.body,
            }
        )
        return
    say(_trace_line(memory))
    for name, value in memory.extra.items():
        text = ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)
        say_fact(name, one_line(text, 400), 13)
    if needed:
        say_fact("depended on", ", ".join(needed), 13)
    say_fact("file", f"{memory.path}:{memory.line}", 13)
    say()
    say(memory.body)


@trace_command.group("log", invoke_without_command=True)
@flag("--personal", help="Show the log of your personal repository: all your projects.")
@LIMIT
@JSON
@pass_context
def log_command(ctx: Context, personal: bool, limit: int, as_json: bool) -> None:
    """Show the work log: one line for each task.

    Hooks add an entry for each session in which files were written or commands were run. If you have a personal
    repository ('rawkomem init --personal'), they also add the entry there.

    Examples:
      rawkomem trace log
      rawkomem trace log add --goal 'Release 1.2' --summary 'Done in an hour'
    """
    if ctx.invoked_subcommand:
        return
    repository = open_personal() if personal else open_repository(ctx.obj)
    found = repository.traces.experiences()[:limit]
    say_rows(
        as_json,
        found,
        _log_json,
        _log_line,
        "the log is empty: hooks add an entry for each session, 'rawkomem trace log add' adds one by hand",
    )


def _log_json(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "timestamp": iso(memory.created),
        "goal": memory.title,
        "agent": memory.by,
        "project": first_value(memory, ("project_name",)),
        "outcome": outcome_of(memory),
        "path": memory.path,
    }


def _log_line(memory: Memory) -> str:
    project = first_value(memory, ("project_name",))
    return _trace_line(memory) + (
        paint(f"  in {one_line(project, MAX_PROJECT_CHARS)}", "dim") if project else ""
    )


@log_command.command("add")
@click.option("--goal", required=True, help="The goal of the task.")
@click.option("--outcome", type=STATUS, default=OUTCOMES[0], show_default=True, help="The outcome.")
@text_option("--project", help="The name of the project.")
@list_option(
    "--component",
    "components",
    help="An agent or a tool that was used; may be repeated.",
)
@click.option("--files", type=IntRange(0), default=0, help="The number of files that were created.")
@text_option("--summary", help="A short summary of the results.")
@click.option("--duration-ms", type=IntRange(0), default=0, help="The duration in milliseconds.")
@text_option("--learnings", help="What was learned or went wrong; '-' reads standard input.")
@JSON
@pass_repository
def log_add(repository: Repository, as_json: bool, **given: Any) -> None:
    """Add an entry to the work log.

    The log keeps its last 1,000 entries. Older entries move to the archive; none is deleted.

    Examples:
      rawkomem trace log add --goal 'Release 1.2' --outcome partial
    """
    if given["learnings"] == "-":
        given["learnings"] = read_stdin().strip()
    _report_recorded(repository.traces.log(ToldExperience(**given), user_name()), as_json)
    repository.core.follow()


def _report_recorded(written: Written, as_json: bool) -> None:
    entry = written.entry
    data = {"id": entry.id, "path": entry.path, "redacted": written.redacted}
    number = f"exp_{entry.extra[EXPERIENCE_NUMBER]}  " if EXPERIENCE_NUMBER in entry.extra else ""
    say_either(
        as_json,
        data,
        done_line("recorded", f"{number}{entry.id}", entry.path),
    )
    if written.redacted:
        note("secrets in the text were redacted before it was written")


# Implement `rawkomem context --goal QUERY`: print what earlier work teaches about a goal.


# Implement `rawkomem trace episode`: group memories that belong to one period of work.

TAGS = list_option("--tag", "-t", "tags", help="A tag of the episode; may be repeated.")


@trace_command.group("episode", cls=Verbs, bare="list")
def episode_command() -> None:
    """Group memories that belong to one period of work.

    An episode is a file in memories/episodes/ that names its members. Search and list show episodes; injection uses
    the members, not the episode. 'rawkomem delete' deletes an episode and keeps its members.

    Examples:
      rawkomem trace episode list
      rawkomem trace episode capture 'Release week' --since 2026-01-01
    """


@episode_command.command("create")
@argument("name")
@argument("ids", nargs=-1, required=True)
@TAGS
@text_option(
    "--text",
    help="A description. 'rawkomem trace episode summarize ID --keep' can write it later.",
)
@JSON
@pass_repository
def create_episode(
    repository: Repository,
    name: str,
    ids: tuple[str, ...],
    tags: tuple[str, ...],
    text: str,
    as_json: bool,
) -> None:
    """Create an episode from these memories.

    Examples:
      rawkomem trace episode create 'Release week' ID OTHER
    """
    made = repository.episodes.create(name, ids, tags, text, user_name())
    _tell_episode(made, "created", as_json)


@episode_command.command("capture")
@argument("name", required=False, default="")
@text_option("--since", help="Only memories from this time on (ISO 8601).")
@text_option("--until", help="Only memories before this time (ISO 8601).")
@text_option("--by", "discoverer", help="Only memories that this agent or person discovered.")
@list_option("--kind", "-k", "kinds", help="Only this kind; may be repeated.")
@list_option("--with-tag", "wanted", help="Only memories with this tag; may be repeated.")
@TAGS
@JSON
@pass_repository
def capture_episode(
    repository: Repository, name: str, since: str, until: str, discoverer: str, kinds: tuple[str, ...],
    wanted: tuple[str, ...], tags: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Create an episode from the memories of a time span or a filter.

    At least two memories must match. Without NAME, the episode is named after its topic and its first day.

    Examples:
      rawkomem trace episode capture 'Release week' --since 2026-01-01
    """
    if not (since or until or discoverer or kinds or wanted):
        raise BadInput("capture needs a filter", "add --since, --until, --by, --kind or --with-tag")
    only = Filter(
        kinds=kinds,
        tags=wanted,
        since=_time_given("--since", since),
        until=_time_given("--until", until),
    )
    made = repository.episodes.capture(name, only, discoverer, tags, user_name())
    _tell_episode(made, "captured", as_json)


@episode_command.command("add")
@argument("id")
@argument("ids", nargs=-1, required=True)
@JSON
@pass_repository
def add_members(repository: Repository, id: str, ids: tuple[str, ...], as_json: bool) -> None:
    """Add memories to an episode.

    Examples:
      rawkomem trace episode add EPISODE ID
    """
    _tell_episode(repository.episodes.add(id, ids, user_name()), "extended", as_json)


@episode_command.command("remove")
@argument("id")
@argument("ids", nargs=-1, required=True)
@JSON
@pass_repository
def remove_members(repository: Repository, id: str, ids: tuple[str, ...], as_json: bool) -> None:
    """Remove memories from an episode; the memories stay.

    Examples:
      rawkomem trace episode remove EPISODE ID
    """
    _tell_episode(repository.episodes.remove(id, ids, user_name()), "reduced", as_json)


@episode_command.command("list")
@ALL
@JSON
@pass_repository
def list_episodes(repository: Repository, limit: int, as_json: bool) -> None:
    """List episodes, latest first.

    Examples:
      rawkomem trace episode list
    """
    say_rows(
        as_json,
        shortened(as_json, repository.episodes.list(), limit),
        _episode_json,
        _episode_line,
        "no episodes yet: 'rawkomem trace episode capture --since 2026-01-23' creates one",
    )


@episode_command.command("show")
@argument("id")
@JSON
@pass_repository
def show_episode(repository: Repository, id: str, as_json: bool) -> None:
    """Show an episode and its members, oldest first.

    Examples:
      rawkomem trace episode show EPISODE
    """
    episode = repository.episodes.get(id)
    if as_json:
        say_json(
            {
                **_episode_json(episode),
                "memories": [
                    {
                        **fields_of(memory, "id", "title", "status"),
                        "created": iso(memory.created),
                        "by": memory.by,
                    }
                    for memory in episode.members
                ],
            }
        )
        return
    say(_episode_line(episode))
    if episode.memory.body:
        say(f"\n{episode.memory.body}\n")
    for memory in episode.members:
        say(f"  {day(memory.created)}  {name_of(memory)}")
    for name in episode.missing:
        note(f"member {one_line(name, 60)!r} no longer exists")


@episode_command.command("search")
@argument("id")
@argument("query", nargs=-1, required=True)
@LIMIT
@JSON
@pass_repository
def search_episode(
    repository: Repository, id: str, query: tuple[str, ...], limit: int, as_json: bool
) -> None:
    """Find the members of an episode that match a question.

    Examples:
      rawkomem trace episode search EPISODE 'what failed'
    """
    found = repository.episodes.search(id, " ".join(query), limit)
    if as_json:
        say_json([found_json(item) for item in found])
        return
    for number, item in enumerate(found, 1):
        show_found(number, item)
    if not found:
        note("no member matches")


@episode_command.command("summarize")
@argument("id")
@click.option(
    "--words",
    default=SUMMARY_WORDS,
    show_default=True,
    type=IntRange(1, 2_000),
    help="The maximum number of words.",
)
@flag("--keep", help="Store the summary as the text of the episode.")
@JSON
@pass_repository
def summarize_episode(
    repository: Repository, id: str, words: int, keep: bool, as_json: bool
) -> None:
    """Summarize an episode in sentences of its members.

    No language model is used: the same members always give the same summary.

    Examples:
      rawkomem trace episode summarize EPISODE --words 80
    """
    summary = repository.episodes.summarize(id, words)
    if keep:
        repository.episodes.keep_summary(id, summary, user_name())
        repository.core.follow()
    if as_json:
        say_json({"id": repository.episodes.get(id).memory.id, "summary": summary, "kept": keep})
        return
    say(summary)
    if not summary:
        note("no active member has any text")


@episode_command.command("compress")
@argument("id")
@text_option(
    "--title",
    help="The title of the digest. Default: 'Digest: ' and the name of the episode.",
)
@flag("--archive", help="Archive members that the digest covers completely.")
@JSON
@pass_repository
def compress_episode(
    repository: Repository, id: str, title: str, archive: bool, as_json: bool
) -> None:
    """Write one memory that sums up the members of an episode.

    The digest names its sources in 'derivedFrom' and has their conditions and tags.

    Examples:
      rawkomem trace episode compress EPISODE
    """
    (digest, *archived), staying = repository.episodes.compress(id, title, archive, user_name())
    repository.core.follow()
    entry, sources = digest.entry, list(sources_in(digest.entry.extra))
    if as_json:
        say_json({"id": entry.id, "path": entry.path, "summary": entry.body, "derivedFrom": sources,
                  "archived": len(archived)})  # fmt: skip
        return
    say(done_line("stored", entry.id, entry.path))
    say(f"from {counted(len(sources), 'memory')}, {len(archived)} of them archived")
    for id, why in staying.items():
        note(f"{id} stays active: {why}")


def _time_given(option: str, text: str) -> int:
    at = read_time(text)[0] if text else 0
    if at is None:
        raise BadInput(
            f"{option} {text!r} is not an ISO 8601 time", "write 2026-01-23 or 2026-01-23T10:30:00Z"
        )
    return at


def _episode_json(episode: Episode) -> dict[str, Any]:
    memory = episode.memory
    return {"id": memory.id, "name": memory.title, "summary": memory.body, "tags": list(memory.tags),
            "start": iso(episode.start), "end": iso(episode.end), "by": list(episode.by), "path": memory.path,
            "members": [member.id for member in episode.members], "missing": list(episode.missing)}  # fmt: skip


def _episode_line(episode: Episode) -> str:
    memory = episode.memory
    span = (
        day(episode.start)
        if day(episode.start) == day(episode.end)
        else f"{day(episode.start)}…{day(episode.end)}"
    )
    name = paint(one_line(memory.title, 80), "bold")
    return f"{span}  {name}  {counted(len(episode.members), 'memory')}  {paint(memory.id, 'dim')}"


def _tell_episode(episode: Episode, done: str, as_json: bool) -> None:
    say_either(
        as_json,
        _episode_json(episode),
        done_line(done, _episode_line(episode), episode.memory.path),
    )


trace_command.add_command(project_command)
