"""Several memories as one: digests, made of the sentences of their sources, and episodes, which list
their members.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from ..format.entries import MAX_PATTERNS, MAX_TAGS
from ..model.entries import Entry, Memory, Plan, by_time
from ..model.errors import BadInput, Refused
from ..model.values import ACTIVE, DAY, FADING, GROUPS, IMPORTANCE, iso, record, replace
from ..text.chunks import counted
from ..text.clean import one_line
from ..text.language import identity, language
from ..text.prose import (
    extract_sentences,
    join_sentences,
    prose_lines,
    sentences,
    summarize,
    topic_slug,
)
from .changes import MEMBER, Names, archiving, linking
from .contradictions import contradictions
from .fold import plan_quarantined
from .graph import LinkGraph, build_graph, clusters
from .housekeeping import Census
from .plans import joined_plan, plan_add
from .trust import (
    derived_from,
    is_valid,
    memory_by_source,
    with_sources,
)

Pairs = Callable[[Collection[str], float], list[tuple[str, str, float]]]


# Digests: several memories in one, made of their own sentences. A source may be archived if the
# digest quotes all its sentences. Pure.

MIN_SOURCES = 2  # of a digest
# of the most informative sentences; SPEC-0009 recommends 200 to 500 words
TELLING_WORDS = 400
MAX_WORDS = 500  # including sentences that are added to quote whole sources
FENCES = ("```", "~~~")


def without_contradicting(memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories without those that contradict each other, because a digest would state both."""
    pairs = contradictions(memories)
    opposed = {memory.id for pair in pairs for memory in (pair.newer, pair.older)}
    return [memory for memory in memories if memory.id not in opposed]


def digest_text(memories: Sequence[Memory]) -> str:
    """Return a digest: the most informative sentences of each memory, then others that complete whole sources."""
    whole = [sentences(memory.body or memory.title) for memory in memories]
    quoted = extract_sentences(texts_of(memories), TELLING_WORDS)
    left = MAX_WORDS - sum(map(_word_count, quoted))
    numbers = range(len(memories))
    for number in sorted(numbers, key=lambda one: (_word_count(whole[one]), one)):
        more = _word_count(text for text in whole[number] if text not in quoted[number])
        if more <= left and not _unquotable(memories[number]):
            left -= more
            quoted[number] = whole[number]
    return "\n\n".join(
        f"## {one_line(memory.title or memory.id)}\n\n{join_sentences(texts)}"
        for memory, texts in zip(memories, quoted, strict=True)
        if texts
    )


def plan_derived(
    entry: Entry, sources: Sequence[Memory], inherits: bool = False, held: str = ""
) -> Plan:
    """Plan to store a memory that is made from others: a learning, digest, skill, lesson or reflection.

    `derivedFrom` names the sources, which limit its trust. With `inherits`, it gets their conditions and tags, too;
    with `held`, the reason, it waits for a review.
    """
    if inherits:
        both: list[Entry | Memory] = [entry, *sources]
        when = dict.fromkeys(text for one in both for text in one.when)
        tags = dict.fromkeys(text for one in both for text in one.tags)
        entry = replace(
            entry, when=tuple(when)[:MAX_PATTERNS], tags=tuple(tags)[:MAX_TAGS]
        )
    plan = plan_add(with_sources(entry, [memory.id for memory in sources]))
    return plan_quarantined(plan.entries[0], held, entry.by) if held else plan


def plan_digest(title: str, sources: Sequence[Memory], source: str, by: str) -> Plan:
    """Plan to store a digest of several memories."""
    if len(sources) < MIN_SOURCES:
        raise BadInput(
            "a digest needs at least two active memories that do not contradict each other",
            "run 'rawkomem review' to see contradictions",
        )
    entry = Entry(
        title=title,
        tags=("digest",),
        importance=max((one.importance for one in sources), key=IMPORTANCE.index),
        source=source,
        by=by,
        body=digest_text(sources),
    )
    return plan_derived(entry, sources, inherits=True)


def uncovered_part(memory: Memory, holder: Memory) -> str:
    """Return the first part of a memory that `holder` does not say in the same words; empty if it says everything."""
    odd = _unquotable(memory)
    if odd and odd not in holder.body:
        return odd
    stems = language().stems
    if not {*stems(memory.title)} <= {*stems(f"{holder.title} {holder.body}")}:
        return memory.title
    own = sentences(memory.body) or [memory.title]
    if join_sentences(own) in holder.body:
        return ""
    quoted = {identity(text) for text in (*sentences(holder.body), holder.title)}
    return next((text for text in own if identity(text) not in quoted), "")


def texts_of(memories: Sequence[Memory]) -> list[tuple[str, float]]:
    """Return (text, weight from 0 to 1) of each memory; the text is the title if the body is empty."""
    most = len(IMPORTANCE) - 1
    return [
        (memory.body or memory.title, IMPORTANCE.index(memory.importance) / most)
        for memory in memories
    ]


def _unquotable(memory: Memory) -> str:
    """Return the first line of a memory that a digest cannot quote: code, a table, or a heading over prose."""
    prose = [line.strip() for line in prose_lines(memory.body)]
    quotable = sentences(memory.body)
    for line in map(str.strip, memory.body.split("\n")):
        if line and line not in prose and not line.startswith(FENCES):
            return line
        heading = line.strip("# ")
        leads = any(text.startswith(f"{heading}: ") for text in quotable)
        if (
            line.startswith(("|", "#"))
            and heading not in ("", memory.title)
            and not leads
        ):
            return line
    return ""


def _word_count(some: Iterable[str]) -> int:
    return sum(len(text.split()) for text in some)


# Episodes: an entry lists the first members; `link` entries of type `member` add and remove
# members. Pure.

# neolata's largest batch; the list fits into a frontmatter of 64 KiB
MAX_EPISODE_MEMBERS = 1_000
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
        return min(
            (memory.created for memory in self.members if memory.created), default=0
        )

    @property
    def end(self) -> int:
        """Return the time of the last member; 0 if unknown."""
        return max((memory.created for memory in self.members), default=0)

    @property
    def by(self) -> tuple[str, ...]:
        """Return the authors of the members, sorted."""
        return tuple(sorted({memory.by for memory in self.members if memory.by}))


def episodes_in(graph: LinkGraph) -> list[Episode]:
    """Return all episodes of a graph of all memories, latest first."""
    missing: dict[str, list[str]] = {}
    for broken in graph.broken:
        if broken.type == MEMBER:
            missing.setdefault(broken.memory.id, []).append(broken.name)
    episodes = []
    for id, memory in graph.memories.items():
        if memory.kind in GROUPS:
            ties = [edge for edge in graph.around[id] if edge.type == MEMBER]
            members = by_time(graph.memories[e.target] for e in ties if e.source == id)
            episodes.append(Episode(memory, members, tuple(missing.get(id, ()))))
    return sorted(
        episodes, key=lambda one: (-(one.end or one.memory.created), one.memory.id)
    )


def plan_episode(
    name: str, members: Sequence[Memory], tags: Sequence[str], text: str, by: str
) -> Plan:
    """Plan to store an episode with these memories; without a name, its title is the topic and the first day."""
    if not members:
        raise BadInput(
            "an episode needs at least one memory",
            "name memories, or run 'rawkomem trace episode capture'",
        )
    _check_members(members, 0)
    ordered = by_time(members)
    about = topic_slug(" ".join(memory.title for memory in ordered)) or "episode"
    title = name or f"{about} {iso(ordered[0].created)[:10]}".strip()
    extra = {"members": [memory.id for memory in ordered]}
    return plan_add(
        Entry(kind="episode", title=title, tags=tags, body=text, by=by, extra=extra)
    )


def plan_join(episode: Episode, memories: Sequence[Memory], by: str) -> Plan:
    """Plan to add memories to an episode; skip memories that are already members."""
    known = {memory.id for memory in episode.members}
    new = [memory for memory in memories if memory.id not in known]
    if not new:
        raise Refused(
            f"all of them are already in {episode.memory.id}", "nothing to do"
        )
    _check_members(new, len(known))
    joining = linking(episode.memory, [memory.id for memory in new], MEMBER, by)
    return Plan((joining,))


def plan_leave(episode: Episode, memories: Sequence[Memory], by: str) -> Plan:
    """Plan to remove memories from an episode; the memories themselves do not change."""
    names = Names(memories)
    leaving = [
        name
        for type, name in episode.memory.links
        if type == MEMBER and names.find(name)
    ]
    if not leaving:
        raise Refused(
            f"none of them is in {episode.memory.id}",
            f"run 'rawkomem trace episode show {episode.memory.id}'",
        )
    removing = linking(episode.memory, leaving, MEMBER, by, removed=True)
    return Plan((removing,))


def _check_members(members: Sequence[Memory], others: int) -> None:
    if others + len(members) > MAX_EPISODE_MEMBERS:
        count = f"{others + len(members):,}"
        raise BadInput(
            f"an episode can have at most {MAX_EPISODE_MEMBERS:,} memories, not {count}",
            "make several episodes",
        )
    for memory in members:
        if memory.kind in GROUPS:
            raise BadInput(
                f"{memory.id} is an episode itself", "add its members instead"
            )
        if memory.status == "deleted":
            raise Refused(
                f"{memory.id} is deleted", "name memories that are not deleted"
            )


def summary_of(memories: Sequence[Memory], most_words: int) -> str:
    """Return a summary made of sentences of the memories; the title is used if the body is empty."""
    return summarize(texts_of(memories), most_words)


# Digests of related memories that nobody changed lately, made of their own sentences. Pure.

SHOWN_CHARS = 80  # of a quoted sentence
SPARED = "it is critical, or a person vouches for it; to archive it, run 'rawkomem delete ID --archive'"
DIGEST_SOURCE = "compress"  # `source` of the digests made here
# neolata
MIN_DIGEST_MEMBERS = 3
IDLE_DAYS = 30
MAX_DIGESTS = 5
# minimum similarity of a cluster: the first value that gives small enough clusters
MIN_COSINES = (0.6, 0.7, 0.8, 0.9)
MAX_DIGEST_MEMBERS = 30  # of a digest, which then has a dozen words for each
# between sources, because a digest has the trust of its least trusted source
MAX_TRUST_SPREAD = 0.15


@record
class Digesting:
    """The limits of digests: minimum size of a cluster, days without a change, maximum number of digests per day."""

    members: int = MIN_DIGEST_MEMBERS
    idle_days: int = IDLE_DAYS
    max_digests: int = MAX_DIGESTS


def plan_digests(census: Census, pairs: Pairs, how: Digesting, by: str = "") -> Plan:
    """Plan digests of idle clusters, largest first, up to the maximum per day."""
    made_before = memory_by_source(census.memories.values())
    digests = [one for one in census.memories.values() if one.source == DIGEST_SOURCE]
    today = [
        one for one in digests if derived_from(one) and census.now - one.created < DAY
    ]
    room = how.max_digests - len(today)
    plans: list[Plan] = []
    for label, sources in _digest_groups(census, made_before, pairs, how):
        if len(plans) >= room:
            break
        plans.append(
            plan_digest(f"Digest: {label}", by_time(sources), DIGEST_SOURCE, by)
        )
    return joined_plan(plans, f"make {counted(len(plans), 'digest')}")


@record
class ArchivedSources:
    """The plan that archives sources of digests; source → its digest; source that stays → the reason."""

    plan: Plan
    holders: dict[str, str]
    staying: dict[str, str]


def plan_archive_sources(
    census: Census, by: str = "", only: str = ""
) -> ArchivedSources:
    """Plan to archive the sources that their digest quotes and that nobody changed since: of all digests, or of one."""
    entries: list[Entry] = []
    holders: dict[str, str] = {}
    staying: dict[str, str] = {}
    for id, digest in sorted(census.memories.items()):
        is_wanted = id == only if only else digest.source == DIGEST_SOURCE
        if not is_wanted or digest.status != ACTIVE or not derived_from(digest):
            continue
        sources = [
            census.memories[one]
            for one in derived_from(digest)
            if one in census.memories
        ]
        holders |= dict.fromkeys(derived_from(digest), id)
        for source in sources:
            if source.status != ACTIVE:
                continue
            if part := uncovered_part(source, digest):
                quote = one_line(part, SHOWN_CHARS)
                staying[source.id] = f"its digest does not contain {quote!r}"
            elif census.is_spared(source):
                staying[source.id] = SPARED
            elif source.updated <= digest.created:
                entries.append(archiving(source, f"compressed into {id}", by))
    plan = Plan(
        tuple(entries), f"archive {counted(len(entries), 'memory')} that digests cover"
    )
    return ArchivedSources(plan, holders, staying)


def _digest_groups(
    census: Census, covered: Collection[str], pairs: Pairs, how: Digesting
) -> Iterator[tuple[str, list[Memory]]]:
    """Yield (label, memories) for new digests. Covered memories are clustered, too, so that clusters stay stable."""
    taking = {memory.id: memory for memory in _clustered(census, covered, how)}
    for cosine in MIN_COSINES:
        groups = clusters(
            build_graph(
                list(taking.values()), lambda memory: True, pairs(taking, cosine)
            ),
            how.members,
        )
        for cluster in groups:
            if len(cluster.ids) <= MAX_DIGEST_MEMBERS or cosine == MIN_COSINES[-1]:
                fresh = [taking[id] for id in cluster.ids if id not in covered][
                    :MAX_DIGEST_MEMBERS
                ]
                for alike in _by_similar_trust(fresh, census):
                    if len(alike) >= how.members:
                        group = without_contradicting(alike)
                    else:
                        group = []
                    if len(group) >= how.members:
                        yield cluster.label or group[0].title, group
        large = {
            id
            for cluster in groups
            if len(cluster.ids) > MAX_DIGEST_MEMBERS
            for id in cluster.ids
        }
        taking = {id: memory for id, memory in taking.items() if id in large}


def _clustered(
    census: Census, covered: Collection[str], how: Digesting
) -> Iterator[Memory]:
    for memory in census.memories.values():
        if memory.id in covered:
            if memory.status != "deleted":
                yield memory
        elif (
            memory.status == ACTIVE
            and memory.kind in FADING
            and is_valid(memory, census.now)
        ):
            idle = memory.updated and (
                census.now - memory.updated >= how.idle_days * DAY
            )
            if idle and not derived_from(memory) and "claim" not in memory.extra:
                yield memory


def _by_similar_trust(
    memories: Iterable[Memory], census: Census
) -> Iterator[list[Memory]]:
    """Yield memories in groups of similar trust, so that a doubtful memory does not lower the trust of others."""
    group: list[Memory] = []
    for memory in sorted(memories, key=lambda one: (-census.trust(one), one.id)):
        if group and census.trust(group[0]) - census.trust(memory) > MAX_TRUST_SPREAD:
            yield group
            group = []
        group.append(memory)
    if group:
        yield group
