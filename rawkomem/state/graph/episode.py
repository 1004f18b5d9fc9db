"""Episodes: an entry lists the first members; `link` entries of type `member` add and remove members. Pure."""

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

MAX_MEMBERS = 1_000  # neolata's largest batch; the list fits into a frontmatter of 64 KiB
MIN_CAPTURED = 2  # neolata: `capture` makes no episode of one memory
SUMMARY_WORDS = 120  # a paragraph


@record
class Episode:
    """An episode with its members, oldest first, and the names of members that no longer exist."""

    memory: Memory
    members: tuple[Memory, ...]
    missing: tuple[str, ...] = ()

    @property
    def active(self) -> tuple[Memory, ...]:
        """Return the active members."""
        return tuple(memory for memory in self.members if memory.status == ACTIVE)

    @property
    def start(self) -> int:
        """Return the time of the first member; 0 if unknown."""
        return min((memory.created for memory in self.members if memory.created), default=0)

    @property
    def end(self) -> int:
        """Return the time of the last member; 0 if unknown."""
        return max((memory.created for memory in self.members), default=0)

    @property
    def by(self) -> tuple[str, ...]:
        """Return the authors of the members, sorted."""
        return tuple(sorted({memory.by for memory in self.members if memory.by}))


def episodes_in(graph: Graph) -> list[Episode]:
    """Return all episodes of a graph of all memories, latest first."""
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
    """Plan to store an episode with these memories; without a name, its title is the topic and the first day."""
    if not members:
        raise BadInput("an episode needs at least one memory", "name memories, or run 'rawkomem episode capture'")
    _check_members(members, 0)
    ordered = by_time(members)
    about = topic(" ".join(memory.title for memory in ordered)) or "episode"
    title = name or f"{about} {iso(ordered[0].created)[:10]}".strip()
    extra = {"members": [memory.id for memory in ordered]}
    return plan_add(Entry(kind="episode", title=title, tags=tags, body=text, by=by, extra=extra))


def plan_join(episode: Episode, memories: Sequence[Memory], by: str) -> Plan:
    """Plan to add memories to an episode; skip memories that are already members."""
    known = {memory.id for memory in episode.members}
    new = [memory for memory in memories if memory.id not in known]
    if not new:
        raise Refused(f"all of them are already in {episode.memory.id}", "nothing to do")
    _check_members(new, len(known))
    joining = linking(episode.memory, [memory.id for memory in new], MEMBER, by)
    return Plan((joining,), f"add {len(new)} to {episode.memory.id}")


def plan_leave(episode: Episode, memories: Sequence[Memory], by: str) -> Plan:
    """Plan to remove memories from an episode; the memories themselves do not change."""
    names = Names(memories)
    leaving = [name for type, name in episode.memory.links if type == MEMBER and names.find(name)]
    if not leaving:
        raise Refused(f"none of them is in {episode.memory.id}", f"run 'rawkomem episode show {episode.memory.id}'")
    removing = linking(episode.memory, leaving, MEMBER, by, removed=True)
    return Plan((removing,), f"remove {len(leaving)} from {episode.memory.id}")


def _check_members(members: Sequence[Memory], others: int) -> None:
    if others + len(members) > MAX_MEMBERS:
        count = f"{others + len(members):,}"
        raise BadInput(f"an episode can have at most {MAX_MEMBERS:,} memories, not {count}", "make several episodes")
    for memory in members:
        if memory.kind in GROUPS:
            raise BadInput(f"{memory.id} is an episode itself", "add its members instead")
        if memory.status == "deleted":
            raise Refused(f"{memory.id} is deleted", "name memories that are not deleted")


def summary_of(memories: Sequence[Memory], most_words: int) -> str:
    """Return a summary made of sentences of the memories; the title is used if the body is empty."""
    return summarize(texts_of(memories), most_words)
