"""Implement `rawkomem episode`: group memories that belong to one period of work."""

from __future__ import annotations

from typing import Any

import click

from ....git.user import user_name
from ....model.clock import iso, read_time
from ....model.entry import Memory
from ....model.errors import BadInput
from ....model.filters import Filter
from ....repository import Repository
from ....state.derive import sources_in
from ....state.graph.episode import SUMMARY_WORDS, Episode
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_repository
from ..groups import Verbs
from ..options import ALL, JSON, LIMIT
from ..terminal import day, fields_of, name_of, note, paint, say, say_either, say_json, say_rows, shortened
from .search import result_json as found_json
from .search import show as show_found

TAG = click.option("--tag", "-t", "tags", multiple=True, help="A tag of the episode; may be repeated.")


@click.group("episode", cls=Verbs, bare="list", old={"summarise": "summarize"})
def episode_command() -> None:
    """Group memories that belong to one period of work.

    An episode is a file in memories/episodes/ that names its members. Search and list show episodes; injection uses
    the members, not the episode. 'rawkomem delete' deletes an episode and keeps its members.
    """


@episode_command.command("create")
@click.argument("name")
@click.argument("ids", nargs=-1, required=True)
@TAG
@click.option("--text", default="", help="A description. 'rawkomem episode summarize ID --keep' can write it later.")
@JSON
@pass_repository
def create(
    repository: Repository, name: str, ids: tuple[str, ...], tags: tuple[str, ...], text: str, as_json: bool
) -> None:
    """Create an episode from these memories."""
    made = repository.episodes.create(name, ids, tags, text, user_name())
    _tell(made, "created", as_json)


@episode_command.command("capture")
@click.argument("name", required=False, default="")
@click.option("--since", default="", help="Only memories from this time on (ISO 8601).")
@click.option("--until", default="", help="Only memories before this time (ISO 8601).")
@click.option("--by", "discoverer", default="", help="Only memories that this agent or person discovered.")
@click.option("--kind", "-k", "kinds", multiple=True, help="Only this kind; may be repeated.")
@click.option("--with-tag", "wanted", multiple=True, help="Only memories with this tag; may be repeated.")
@TAG
@JSON
@pass_repository
def capture(
    repository: Repository, name: str, since: str, until: str, discoverer: str, kinds: tuple[str, ...],
    wanted: tuple[str, ...], tags: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Create an episode from the memories of a time span or a filter.

    At least two memories must match. Without NAME, the episode is named after its topic and its first day.
    """
    if not (since or until or discoverer or kinds or wanted):
        raise BadInput("capture needs a filter", "add --since, --until, --by, --kind or --with-tag")
    only = Filter(kinds=kinds, tags=wanted, since=_time("--since", since), until=_time("--until", until))
    made = repository.episodes.capture(name, only, discoverer, tags, user_name())
    _tell(made, "captured", as_json)


@episode_command.command("add")
@click.argument("id")
@click.argument("ids", nargs=-1, required=True)
@JSON
@pass_repository
def add(repository: Repository, id: str, ids: tuple[str, ...], as_json: bool) -> None:
    """Add memories to an episode."""
    _tell(repository.episodes.add(id, ids, user_name()), "extended", as_json)


@episode_command.command("remove")
@click.argument("id")
@click.argument("ids", nargs=-1, required=True)
@JSON
@pass_repository
def remove(repository: Repository, id: str, ids: tuple[str, ...], as_json: bool) -> None:
    """Remove memories from an episode; the memories stay."""
    _tell(repository.episodes.remove(id, ids, user_name()), "reduced", as_json)


@episode_command.command("list")
@ALL
@JSON
@pass_repository
def list_episodes(repository: Repository, limit: int, as_json: bool) -> None:
    """List episodes, latest first."""
    nothing = "no episodes yet: 'rawkomem episode capture --since 2026-01-23' creates one"
    say_rows(as_json, shortened(as_json, repository.episodes.list(), limit), _json, _line, nothing)


@episode_command.command("show")
@click.argument("id")
@JSON
@pass_repository
def show(repository: Repository, id: str, as_json: bool) -> None:
    """Show an episode and its members, oldest first."""
    episode = repository.episodes.get(id)
    if as_json:
        say_json({**_json(episode), "memories": [_member_json(memory) for memory in episode.members]})
        return
    say(_line(episode))
    if episode.memory.body:
        say(f"\n{episode.memory.body}\n")
    for memory in episode.members:
        say(f"  {day(memory.created)}  {name_of(memory)}")
    for name in episode.missing:
        note(f"member {one_line(name, 60)!r} no longer exists")


@episode_command.command("search")
@click.argument("id")
@click.argument("query", nargs=-1, required=True)
@LIMIT
@JSON
@pass_repository
def search(repository: Repository, id: str, query: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Find the members of an episode that match a question."""
    found = repository.episodes.search(id, " ".join(query), limit)
    if as_json:
        say_json([found_json(item) for item in found])
        return
    for number, item in enumerate(found, 1):
        show_found(number, item)
    if not found:
        note("no member matches")


@episode_command.command("summarize")
@click.argument("id")
@click.option(
    "--words",
    default=SUMMARY_WORDS,
    show_default=True,
    type=click.IntRange(1, 2_000),
    help="The maximum number of words.",
)
@click.option("--keep", is_flag=True, help="Store the summary as the text of the episode.")
@JSON
@pass_repository
def summarize(repository: Repository, id: str, words: int, keep: bool, as_json: bool) -> None:
    """Summarize an episode in sentences of its members.

    No language model is used: the same members always give the same summary.
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
@click.argument("id")
@click.option("--title", default="", help="The title of the digest. Default: 'Digest: ' and the name of the episode.")
@click.option("--archive", is_flag=True, help="Archive members that the digest covers completely.")
@JSON
@pass_repository
def compress(repository: Repository, id: str, title: str, archive: bool, as_json: bool) -> None:
    """Write one memory that sums up the members of an episode.

    The digest names its sources in 'derivedFrom' and has their conditions and tags.
    """
    (digest, *archived), staying = repository.episodes.compress(id, title, archive, user_name())
    repository.core.follow()
    entry, sources = digest.entry, list(sources_in(digest.entry.extra))
    if as_json:
        say_json({"id": entry.id, "path": entry.path, "summary": entry.body, "derivedFrom": sources,
                  "archived": len(archived)})  # fmt: skip
        return
    say(f"{paint('stored', 'green')}  {entry.id}  {paint(entry.path, 'dim')}")
    say(f"from {count(len(sources), 'memory')}, {len(archived)} of them archived")
    for id, why in staying.items():
        note(f"{id} stays active: {why}")


def _time(option: str, text: str) -> int:
    at = read_time(text)[0] if text else 0
    if at is None:
        raise BadInput(f"{option} {text!r} is not an ISO 8601 time", "write 2026-01-23 or 2026-01-23T10:30:00Z")
    return at


def _json(episode: Episode) -> dict[str, Any]:
    memory = episode.memory
    return {"id": memory.id, "name": memory.title, "summary": memory.body, "tags": list(memory.tags),
            "start": iso(episode.start), "end": iso(episode.end), "by": list(episode.by), "path": memory.path,
            "members": [member.id for member in episode.members], "missing": list(episode.missing)}  # fmt: skip


def _member_json(memory: Memory) -> dict[str, Any]:
    return {**fields_of(memory, "id", "title", "status"), "created": iso(memory.created), "by": memory.by}


def _line(episode: Episode) -> str:
    memory = episode.memory
    span = day(episode.start) if day(episode.start) == day(episode.end) else f"{day(episode.start)}…{day(episode.end)}"
    name = paint(one_line(memory.title, 80), "bold")
    return f"{span}  {name}  {count(len(episode.members), 'memory')}  {paint(memory.id, 'dim')}"


def _tell(episode: Episode, done: str, as_json: bool) -> None:
    said = f"{paint(done, 'green')}  {_line(episode)}  {paint(episode.memory.path, 'dim')}"
    say_either(as_json, _json(episode), said)
