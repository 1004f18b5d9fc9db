"""Implement `rawkomem trace`: recorded tasks, what they teach, and periods of work."""

from __future__ import annotations

import sys
from typing import Any

from ...files.layout import read_stdin
from ...format.entries import entry_from_text
from ...learn.traces import ToldExperience, ToldTrace
from ...model.errors import BadInput
from ...model.filters import READABLE
from ...model.values import RECORDED
from ...recall.earlier_tasks import PatternMatch
from ...recall.signals import MAX_SIMILAR, MIN_SIMILARITY, filter_of
from ...repository import Repository
from ...state.digests import SUMMARY_WORDS
from ...state.runs import OUTCOMES, first_value, outcome_of, tools_of
from ...state.trust import sources_in
from .adding import REDACTED_REMARK
from .answers import Fields
from .declarations import answer, prints_json, verbs
from .importing import project_command
from .opening import note_if_uncounted
from .options import ALL, FILTER_LINES, LIMIT
from .searching import RESULT, say_result
from .terminal import note

OUTCOME = "|".join(OUTCOMES)
TRACE = Fields(
    "trace_id=id timestamp:iso=created goal=title agent=by status tools_used path archived",
    "{timestamp:day}  {status:~unknown|<21|hue} {goal:wide 90}  {trace_id:dim}{0.status:mark|dim}",
    "no trace found: 'rawkomem trace add' records one",
    status=outcome_of,
    tools_used=tools_of,
    archived=lambda memory: memory.status == "archived",
)
WHOLE_TRACE = TRACE.but(
    "*extra depended_on body",
    f"{TRACE.line}\n{{0.extra:facts}}\n{{depended_on:?depended on   %}}\nfile          {{path}}\n\n{{body:text}}",
)
MATCH = Fields(
    of=PatternMatch,
    line="{similarity:.2f}  {goal:200}  {success:yes succeeded/failed}{tools_used:?  with %}  {trace_id}\n      {suggested_approach:300}",
    nothing="no earlier task is similar",
)
NEW_ENTRY = Fields(
    "id=entry.id path=entry.path redacted",
    "{0:=recorded|green}  {id}  {path:dim}",
    remarks=f"{{redacted:?{REDACTED_REMARK}}}",
)
LOG_ENTRY = Fields(
    "id timestamp:iso=created goal=title agent=by project outcome path",
    "{timestamp:day}  {outcome:~unknown|<21|hue} {goal:wide 90}  {id:dim}{0.status:mark|dim}{project:40|?  in %|dim}",
    "the log is empty: hooks add an entry for each session, 'rawkomem trace log add' adds one by hand",
    project=lambda memory: first_value(memory, ("project_name",)),
    outcome=outcome_of,
)


@verbs("trace", bare="list")
def trace_command() -> None:
    """Record tasks and how they went; group them in episodes.

    A trace is one file for one task. 'rawkomem context --goal QUERY' shows what earlier traces teach, 'rawkomem tidy consolidate
    --apply' writes learnings from them. See 'rawkomem docs traces'.

    Examples:
      rawkomem trace list
      rawkomem trace add --goal 'Release 1.2' --learning 'Tag before you build'
    """


@trace_command.verb(
    "add",
    "--goal TEXT!: The goal of the task.",
    f"--status {OUTCOME} ={OUTCOMES[0]}: The outcome.",
    "--duration-ms 0.. =0: The duration in milliseconds.",
    "--tool TEXT... >tools: A tool that was used; may be repeated.",
    "--file TEXT... >files: A file that was created; may be repeated.",
    "--agent TEXT: Who did the task. Default: you.",
    "--error TEXT: The error message.",
    "--plan TEXT: The plan.",
    "--step --steps TEXT... >steps: A step, optionally followed by ' - status'; may be repeated.",
    "--results TEXT: The results.",
    "--learning --learnings TEXT... >learnings: What to repeat or to avoid next time; may be repeated.",
    "--parent TEXT: The trace of the parent task.",
    "--depends-on TEXT...: A trace that this task depends on; may be repeated.",
    NEW_ENTRY,
)
def trace_add(repository: Repository, by: str, as_json: bool, **options: Any) -> Any:
    """Record a task.

    The text comes from --plan, --step, --results and --learning. Without these options, it comes from standard
    input.

    Examples:
      rawkomem trace add --goal 'Release 1.2' --status failure --error 'The tag was missing'
    """
    if not any(options[name] for name in ("plan", "steps", "results", "learnings")):
        options["body"] = (
            "" if sys.stdin.isatty() else entry_from_text(read_stdin()).body
        )
    trace = ToldTrace(**{**options, "agent": options["agent"] or by})
    return repository.traces.add(trace)


@trace_command.verb(
    "list",
    f"--status {OUTCOME}...: Only traces with this outcome; may be repeated.",
    "--archived: Include archived traces.",
    "--in-order: Sort by execution: a trace follows its parent and its dependencies.",
    ALL,
    [TRACE],
)
def trace_list(
    repository: Repository, status: tuple[str, ...], archived: bool, in_order: bool
) -> Any:
    """List recorded tasks, latest first.

    Examples:
      rawkomem trace list
      rawkomem trace list --status failure -n 5
    """
    traces = repository.traces.list((*READABLE, "archived") if archived else READABLE)
    if not in_order:
        traces = sorted(traces, key=lambda memory: (-memory.created, memory.id))
    return [memory for memory in traces if not status or outcome_of(memory) in status]


@trace_command.verb(
    "search",
    "TASK...",
    f"--limit -n 1.. ={MAX_SIMILAR}: Maximum number of results.",
    f"--min-similarity 0.0..1.0 ={MIN_SIMILARITY}: Minimum similarity.",
    "--since TEXT: Only tasks since this date, time or age, such as 30d.",
    "--until TEXT: Only tasks until this date (inclusive), time or age.",
    [MATCH],
)
def trace_search(
    repository: Repository,
    task: tuple[str, ...],
    limit: int,
    min_similarity: float,
    since: str,
    until: str,
) -> Any:
    """Find earlier tasks that resemble a task.

    Each line has the similarity, the goal, the outcome, the tools and the steps.

    Examples:
      rawkomem trace search 'release a new version'
    """
    goal = " ".join(task)
    return repository.traces.search(goal, limit, min_similarity, since, until)


@trace_command.verb("show", "ID", WHOLE_TRACE)
def trace_show(repository: Repository, id: str) -> Any:
    """Show one recorded task and its dependencies.

    Examples:
      rawkomem trace show TRACE
    """
    memory = repository.get(id)
    if memory.kind not in RECORDED:
        raise BadInput(
            f"{memory.id} is a {memory.kind}, not a trace",
            f"'rawkomem show {memory.id}' shows it",
        )
    return answer(memory, depended_on=repository.traces.needed_by(memory.id))


@trace_command.verbs("log", bare="list", default="list")
def log_command() -> None:
    """Show the work log: one line for each task.

    Hooks add an entry for each session in which files were written or commands were run. If you have a personal
    repository ('rawkomem init --personal'), they also add the entry there.

    Examples:
      rawkomem trace log
      rawkomem trace log add --goal 'Release 1.2' --summary 'Done in an hour'
    """


@log_command.verb(
    "list",
    "--personal: Show the log of your personal repository: all your projects.",
    LIMIT,
    [LOG_ENTRY],
)
def log_list(repository: Repository, limit: int) -> Any:
    """Show the work log, latest first.

    Examples:
      rawkomem trace log list -n 5
    """
    return repository.traces.experiences()[:limit]


@log_command.verb(
    "add",
    "--goal TEXT!: The goal of the task.",
    f"--outcome {OUTCOME} ={OUTCOMES[0]}: The outcome.",
    "--project TEXT: The name of the project.",
    "--component TEXT... >components: An agent or a tool that was used; may be repeated.",
    "--files 0.. =0: The number of files that were created.",
    "--summary TEXT: A short summary of the results.",
    "--duration-ms 0.. =0: The duration in milliseconds.",
    "--learnings TEXT: What was learned or went wrong; '-' reads standard input.",
    NEW_ENTRY,
)
def log_add(repository: Repository, by: str, as_json: bool, **options: Any) -> Any:
    """Add an entry to the work log.

    The log keeps its last 1,000 entries. Older entries move to the archive; none is deleted.

    Examples:
      rawkomem trace log add --goal 'Release 1.2' --outcome partial
    """
    if options["learnings"] == "-":
        options["learnings"] = read_stdin().strip()
    return repository.traces.log(ToldExperience(**options), by)


TAGS = "--tag -t TEXT... >tags: A tag of the episode; may be repeated."
EPISODE = Fields(
    "id=memory.id name=memory.title summary=memory.body tags=memory.tags start:iso end:iso by path=memory.path"
    " members=members.id missing",
    "{start:day}…{end:day}  {name:80|bold}  {members:n memory}  {id:dim}",
    "no episodes yet: 'rawkomem trace episode capture --since 2026-01-23' creates one",
)
MEMBER = Fields(
    "id title status created:iso by",
    "  {created:day}  {title:80}{status:mark}  {id:dim}",
)
WHOLE_EPISODE = EPISODE.but(
    "memories=members",
    f"{EPISODE.line}\n\n{{summary:text}}\n\n{{memories_lines:text}}",
    remarks="{missing_lines:text}",
    memories=[MEMBER],
    missing=[Fields(line="member {0} no longer exists")],
)
SUMMARY = Fields(
    "id summary kept",
    "{summary:text}",
    remarks="{summary:yes /no active member has any text}",
)
DIGEST = Fields(
    "id=entry.id path=entry.path summary=entry.body derivedFrom archived",
    "{0:=stored|green}  {id}  {path:dim}\nfrom {derivedFrom:n memory}, {archived} of them archived",
    remarks="{staying:text}",
)


@trace_command.verbs("episode", bare="list")
def episode_command() -> None:
    """Group memories that belong to one period of work.

    An episode is a file in memories/episodes/ that names its members. Search and list show episodes; injection uses
    the members, not the episode. 'rawkomem delete' deletes an episode and keeps its members.

    Examples:
      rawkomem trace episode list
      rawkomem trace episode capture 'Release week' --since 2026-01-01
    """


@episode_command.verb(
    "create",
    "NAME",
    "IDS...",
    TAGS,
    "--text TEXT: A description. 'rawkomem trace episode summarize ID --keep' can write it later.",
    EPISODE,
)
def create_episode(
    repository: Repository,
    name: str,
    ids: tuple[str, ...],
    tags: tuple[str, ...],
    text: str,
    by: str,
) -> Any:
    """Create an episode from these memories.

    Examples:
      rawkomem trace episode create 'Release week' ID OTHER
    """
    episode = repository.episodes.create(name, ids, tags, text, by)
    return answer(episode, EPISODE.done("created"))


@episode_command.verb(
    "capture",
    "[NAME]",
    FILTER_LINES["since"],
    FILTER_LINES["until"],
    "--by TEXT >discoverer: Only memories that this agent or person discovered.",
    "--kind -k TEXT... >kinds: Only this kind; may be repeated.",
    "--with-tag TEXT... >wanted: Only memories with this tag; may be repeated.",
    TAGS,
    EPISODE,
)
def capture_episode(
    repository: Repository, name: str, since: str, until: str, discoverer: str, kinds: tuple[str, ...],
    wanted: tuple[str, ...], tags: tuple[str, ...], by: str,
) -> Any:  # fmt: skip
    """Create an episode from the memories of a time span or a filter.

    At least two memories must match. Without NAME, the episode is named after its topic and its first day.

    Examples:
      rawkomem trace episode capture 'Release week' --since 2026-01-01
    """
    if not (since or until or discoverer or kinds or wanted):
        raise BadInput(
            "capture needs a filter", "add --since, --until, --by, --kind or --with-tag"
        )
    only = filter_of(kind=kinds, tag=wanted, since=since, until=until)
    episode = repository.episodes.capture(name, only, discoverer, tags, by)
    return answer(episode, EPISODE.done("captured"))


@episode_command.verb("add", "ID", "IDS...", EPISODE)
def add_members(repository: Repository, id: str, ids: tuple[str, ...], by: str) -> Any:
    """Add memories to an episode.

    Examples:
      rawkomem trace episode add EPISODE ID
    """
    episode = repository.episodes.add(id, ids, by)
    note_if_uncounted(repository, id)
    return answer(episode, EPISODE.done("extended"))


@episode_command.verb("remove", "ID", "IDS...", EPISODE)
def remove_members(
    repository: Repository, id: str, ids: tuple[str, ...], by: str
) -> Any:
    """Remove memories from an episode; the memories stay.

    Examples:
      rawkomem trace episode remove EPISODE ID
    """
    episode = repository.episodes.remove(id, ids, by)
    note_if_uncounted(repository, id)
    return answer(episode, EPISODE.done("reduced"))


@episode_command.verb("list", ALL, [EPISODE])
def list_episodes(repository: Repository) -> Any:
    """List episodes, latest first.

    Examples:
      rawkomem trace episode list
    """
    return repository.episodes.list()


@episode_command.verb("show", "ID", WHOLE_EPISODE)
def show_episode(repository: Repository, id: str) -> Any:
    """Show an episode and its members, oldest first.

    Examples:
      rawkomem trace episode show EPISODE
    """
    return repository.episodes.get(id)


@episode_command.verb("search", "ID", "QUERY...", LIMIT, [RESULT])
def search_episode(
    repository: Repository, id: str, query: tuple[str, ...], limit: int
) -> None:
    """Find the members of an episode that match a question.

    Examples:
      rawkomem trace episode search EPISODE 'what failed'
    """
    results = repository.episodes.search(id, " ".join(query), limit)
    if prints_json():
        answer(results)
        return
    for number, item in enumerate(results, 1):
        say_result(number, item)
    if not results:
        note("no member matches")


@episode_command.verb(
    "summarize",
    "ID",
    f"--words 1..2000 ={SUMMARY_WORDS}: The maximum number of words.",
    "--keep: Store the summary as the text of the episode.",
    SUMMARY,
)
def summarize_episode(
    repository: Repository, id: str, words: int, keep: bool, by: str
) -> Any:
    """Summarize an episode in sentences of its members.

    No language model is used: the same members always give the same summary.

    Examples:
      rawkomem trace episode summarize EPISODE --words 80
    """
    summary = repository.episodes.summarize(id, words)
    if keep:
        repository.episodes.keep_summary(id, summary, by)
    whole = repository.episodes.get(id).memory.id
    return {"id": whole, "summary": summary, "kept": keep}


@episode_command.verb(
    "compress",
    "ID",
    "--title TEXT: The title of the digest. Default: 'Digest: ' and the name of the episode.",
    "--archive: Archive members that the digest covers completely.",
    DIGEST,
)
def compress_episode(
    repository: Repository, id: str, title: str, archive: bool, by: str
) -> Any:
    """Write one memory that sums up the members of an episode.

    The digest names its sources in 'derivedFrom' and has their conditions and tags.

    Examples:
      rawkomem trace episode compress EPISODE
    """
    digest, archived, staying = repository.episodes.compress(id, title, archive, by)
    return answer(
        digest,
        derivedFrom=sources_in(digest.entry.extra),
        archived=len(archived),
        staying="\n".join(f"{id} stays active: {why}" for id, why in staying.items()),
    )


trace_command.add_command(project_command)
