"""Episodes of a repository, for the command line and other faces: decide by a Plan, write it, tell how it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Entry
from ...model.errors import BadInput, NotFound, Refused
from ...model.filters import READABLE, Filter
from ...model.kinds import ACTIVE, GROUPS
from ...model.record import replace
from ...state.changes.amend import plan_amend
from ...state.derive import made_of
from ...state.graph import episode as decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...files.append import Written
    from ...recall.search import Found
    from ...state.graph.episode import Episode
    from .. import Repository


def create(
    repository: Repository, name: str, ids: Sequence[str], tags: Sequence[str] = (), text: str = "", by: str = ""
) -> Episode:
    """A new episode of these memories."""
    plan = decide.plan_episode(name, repository.get_all(ids), tags, text, by)
    return show(repository, repository.write(plan)[0].entry.id)


def capture(
    repository: Repository, name: str, only: Filter, discoverer: str = "", tags: Sequence[str] = (), by: str = ""
) -> Episode:
    """A new episode of everything that passes a filter, of one discoverer or of all."""
    only = replace(only, statuses=only.statuses or READABLE)
    rows = [row for row in repository.list(only) if row.kind not in GROUPS and discoverer in ("", row.by)]
    if len(rows) < decide.MIN_CAPTURED:
        found = "one memory" if rows else "no memory"
        raise NotFound(f"{found} fits: an episode is captured from at least two", "widen the time or the filter")
    return create(repository, name, [row.id for row in rows], tags, "", by)


def add(repository: Repository, name: str, ids: Sequence[str], by: str = "") -> Episode:
    """Add memories to an episode."""
    repository.write(decide.plan_join(show(repository, name), repository.get_all(ids), by))
    return show(repository, name)


def remove(repository: Repository, name: str, ids: Sequence[str], by: str = "") -> Episode:
    """Take memories out of an episode."""
    repository.write(decide.plan_leave(show(repository, name), repository.get_all(ids), by))
    return show(repository, name)


def list_all(repository: Repository) -> list[Episode]:
    """All episodes, the latest first."""
    found = decide.episodes_in(repository.graph(statuses=()))
    return [episode for episode in found if episode.memory.status in READABLE]


def show(repository: Repository, name: str) -> Episode:
    """One episode, by its id, the start of one, or its file's stem."""
    memory = repository.get(name)
    if memory.kind not in GROUPS:
        raise BadInput(f"{memory.id} is a {memory.kind}, not an episode", "'rawkomem episode list' shows episodes")
    if memory.status == "deleted":
        raise Refused(f"{memory.id} is deleted", "'rawkomem episode list' shows episodes")
    found = decide.episodes_in(repository.graph(statuses=()))
    return next(episode for episode in found if episode.memory.id == memory.id)


def search(repository: Repository, name: str, question: str, limit: int) -> Sequence[Found]:
    """The members of an episode that fit a question best."""
    ids = tuple(memory.id for memory in show(repository, name).members)
    return repository.search(question, limit, Filter(ids=ids, statuses=READABLE)) if ids else []


def summarise(repository: Repository, name: str, most_words: int = decide.SUMMARY_WORDS) -> str:
    """What the active members of an episode say, in their own sentences."""
    return decide.summary_of(show(repository, name).active, most_words)


def keep_summary(repository: Repository, name: str, summary: str, by: str = "") -> Written:
    """Make a summary the episode's text, by appending."""
    if not summary:
        raise BadInput("there is nothing to keep: no member has any text", "add members first")
    return repository.write(plan_amend(show(repository, name).memory, Entry(kind="amend", body=summary, by=by)))[0]


def compress(
    repository: Repository, name: str, title: str = "", archive: bool = False, by: str = ""
) -> Sequence[Written]:
    """A digest of an episode's active members as a memory of its own; the originals are archived only on request."""
    episode = show(repository, name)
    graph = repository.graph(statuses=(ACTIVE,))
    for known in made_of(graph.memories.values(), episode.active):
        raise Refused(f"{known.id} is a digest of exactly these memories already", "delete it to make another")
    title = title or f"Digest: {episode.memory.title}"
    return repository.write(decide.plan_digest(title, episode.active, f"episode {episode.memory.id}", archive, by))
