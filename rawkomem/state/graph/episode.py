"""Episodes: an entry names the first members, `link` entries of type `member` add and remove others. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.clock import iso
from ...model.entry import Entry, Plan
from ...model.errors import BadInput, Refused
from ...model.kinds import ACTIVE, GROUPS
from ...model.record import record
from ...text.summary import summarize
from ...text.topics import topic
from ..changes.link import linking
from ..decide import plan_add
from ..references import MEMBER, Names
from .digest import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...model.entry import Memory
    from .graph import Graph

MAX_MEMBERS = 1_000  # neolata's largest batch; the list still fits a frontmatter of 64 KiB
MIN_CAPTURED = 2  # neolata: one memory is no episode that a window finds by itself
SUMMARY_WORDS = 120  # a paragraph


@record
class Episode:
    """An episode with its members, the oldest first, and the names of members that are no more."""

    memory: Memory
    members: tuple[Memory, ...]
    missing: tuple[str, ...] = ()

    @property
    def active(self) -> tuple[Memory, ...]:
        """Return the members that still count: not superseded, quarantined, archived or deleted."""
        return tuple(memory for memory in self.members if memory.status == ACTIVE)

    @property
    def start(self) -> int:
        """Return the time of its first member; 0 when unknown."""
        return min((memory.created for memory in self.members if memory.created), default=0)

    @property
    def end(self) -> int:
        """Return the time of its last member; 0 when unknown."""
        return max((memory.created for memory in self.members), default=0)

    @property
    def by(self) -> tuple[str, ...]:
        """Return the names of the people and agents who took part."""
        return tuple(sorted({memory.by for memory in self.members if memory.by}))


def episodes_in(graph: Graph) -> list[Episode]:
    """Return all episodes of a graph of all memories, the latest first."""
    members: dict[str, list[Memory]] = {id: [] for id, memory in graph.memories.items() if memory.kind in GROUPS}
    missing: dict[str, list[str]] = {id: [] for id in members}
    for edge in graph.edges:
        if edge.type == MEMBER and edge.source in members:
            members[edge.source].append(graph.memories[edge.target])
    for broken in graph.broken:
        if broken.type == MEMBER and broken.memory.id in members:
            missing[broken.memory.id].append(broken.name)
    found = [Episode(graph.memories[id], by_time(members[id]), tuple(missing[id])) for id in members]
    return sorted(found, key=lambda episode: (-(episode.end or episode.memory.created), episode.memory.id))


def by_time(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return memories sorted by time."""
    return tuple(sorted(memories, key=lambda memory: (memory.created, memory.id)))


def plan_episode(name: str, members: Sequence[Memory], tags: Sequence[str], text: str, by: str) -> Plan:
    """Store a new episode of these memories; without a name, it is named after its topic and first day."""
    if not members:
        raise BadInput("an episode needs at least one memory", "name memories, or capture a stretch of time")
    _check_members(members, 0)
    ordered = by_time(members)
    about = topic(" ".join(memory.title for memory in ordered)) or "episode"
    title = name or f"{about} {iso(ordered[0].created)[:10]}".strip()
    extra = {"members": [memory.id for memory in ordered]}
    return plan_add(Entry(kind="episode", title=title, tags=tags, body=text, by=by, extra=extra))


def plan_join(episode: Episode, memories: Sequence[Memory], by: str) -> Plan:
    """Add memories to an episode; those that are in it already stay."""
    known = {memory.id for memory in episode.members}
    new = [memory for memory in memories if memory.id not in known]
    if not new:
        raise Refused(f"all of them are in {episode.memory.id} already", "nothing to do")
    _check_members(new, len(known))
    joining = linking(episode.memory, [memory.id for memory in new], MEMBER, by)
    return Plan((joining,), f"add {len(new)} to {episode.memory.id}")


def plan_leave(episode: Episode, memories: Sequence[Memory], by: str) -> Plan:
    """Take memories out of an episode; they themselves stay as they are."""
    names = Names(memories)
    leaving = [name for type, name in episode.memory.links if type == MEMBER and names.find(name)]
    if not leaving:
        raise Refused(f"none of them is in {episode.memory.id}", "'rawkomem episode show' lists its members")
    removing = linking(episode.memory, leaving, MEMBER, by, removed=True)
    return Plan((removing,), f"remove {len(leaving)} from {episode.memory.id}")


def _check_members(members: Sequence[Memory], others: int) -> None:
    if others + len(members) > MAX_MEMBERS:
        count = f"{others + len(members):,}"
        raise BadInput(f"an episode holds at most {MAX_MEMBERS:,} memories, not {count}", "make several episodes")
    for memory in members:
        if memory.kind in GROUPS:
            raise BadInput(f"{memory.id} is an episode itself", "add its members instead")
        if memory.status == "deleted":
            raise Refused(f"{memory.id} is deleted", "name memories that are there")


def summary_of(memories: Sequence[Memory], most_words: int) -> str:
    """Return what memories say together, in their own sentences; a title stands for a memory without text."""
    return summarize(texts_of(memories), most_words)
