"""Episodes: an entry names the first members, `link` entries of type `member` add and remove others. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...format.read_entries import MAX_PATTERNS, MAX_TAGS
from ...model.clock import iso
from ...model.entry import Entry, Plan
from ...model.errors import BadInput, Refused
from ...model.kinds import ACTIVE, GROUPS, IMPORTANCE
from ...model.record import record
from ...text.clean import one_line
from ...text.summary import extract, join, summarize
from ...text.topics import topic
from ..changes.archive import archiving
from ..changes.link import linking
from ..decide import plan_add
from ..derive import derived, inherited
from ..references import MEMBER, Names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...model.entry import Memory
    from .graph import Graph

MAX_MEMBERS = 1_000  # neolata's largest batch; the list still fits a frontmatter of 64 KiB
MIN_CAPTURED = 2  # neolata: one memory is no episode that a window finds by itself
SUMMARY_WORDS = 120  # a paragraph
DIGEST_WORDS = 400  # within SPEC-0009's 200 to 500 words of a good memory


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
    return summarize(_texts(memories), most_words)


def digest_of(memories: Sequence[Memory], most_words: int) -> str:
    """Return the summary with a heading for each memory that adds something."""
    said = zip(memories, extract(_texts(memories), most_words), strict=True)
    parts = [(one_line(memory.title or memory.id), join(sentences)) for memory, sentences in said if sentences]
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in parts)


def _texts(memories: Sequence[Memory]) -> list[tuple[str, float]]:
    most = len(IMPORTANCE) - 1
    return [(memory.body or memory.title, IMPORTANCE.index(memory.importance) / most) for memory in memories]


def plan_digest(title: str, sources: Sequence[Memory], source: str, archive: bool, by: str) -> Plan:
    """Store one memory that says what several say, with their conditions and tags; archive these with `archive`."""
    if len(sources) < MIN_CAPTURED:
        raise BadInput("a digest needs at least two active memories", "there is nothing to compress")
    digest = Entry(
        title=title,
        when=inherited(MAX_PATTERNS, (), (memory.when for memory in sources)),
        tags=inherited(MAX_TAGS, ("digest",), (memory.tags for memory in sources)),
        importance=max((memory.importance for memory in sources), key=IMPORTANCE.index),
        source=source,
        by=by,
        body=digest_of(sources, DIGEST_WORDS),
    )
    (written,) = plan_add(derived(digest, [memory.id for memory in sources])).entries
    archived = [archiving(memory, f"compressed into {written.id}", by) for memory in sources if archive]
    return Plan((written, *archived), f"compress {len(sources)} memories")
