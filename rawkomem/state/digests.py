"""Several memories as one: digests, made of the sentences of their sources, and episodes, which list
their members.

A sentence with a number, a negation, a condition or a name in code is covered by a sentence with
the same words in the same order. Any other sentence is covered by a sentence with all its content
words. The words of the title, which is the subject, must be covered, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from ..format.entries import MAX_PATTERNS, MAX_TAGS
from ..model.entries import Entry, Memory, Plan
from ..model.errors import BadInput, Refused
from ..model.values import ACTIVE, DAY, FADING, GROUPS, IMPORTANCE, iso, record
from ..text.chunks import counted
from ..text.clean import one_line
from ..text.language import language, word_set
from ..text.prose import (
    extract_sentences,
    join_sentences,
    prose_lines,
    sentences,
    summarize,
    topic_slug,
)
from .changes import MEMBER, Names, archiving, linking
from .contradictions import contradictions, known_cues
from .graph import Graph, build_graph, clusters
from .housekeeping import Census
from .plans import plan_add
from .trust import derived_from, inherited_texts, is_valid, memory_by_source, with_sources

Pairs = Callable[[Collection[str], float], list[tuple[str, str, float]]]


# Digests: several memories in one, made of their own sentences. A source that is covered may be
# archived. Pure.
#
# A sentence with a number, a negation, a condition or a name in code is covered by a sentence with
# the same words in the same order. Any other sentence is covered by a sentence with all its
# content words. The words of the title, which is the subject, must be covered, too.

MIN_SOURCES = 2  # of a digest
TELLING_WORDS = 400  # of the most informative sentences; SPEC-0009 recommends 200 to 500 words
MAX_WORDS = 500  # including sentences that are added to cover whole sources
OPENING_SIGNS, CLOSING_SIGNS = "([{\"'`", ".,;:!?)]}\"'`"  # around a word
FENCES = ("```", "~~~")
ARTICLES = word_set("a an the")
QUANTITIES = word_set(
    """
    zero half twice double dozen thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty
    sixty seventy eighty ninety hundred thousand million all every always only must
    """
)
BACK_REFERENCES = word_set(
    "it its they them their this that these those he she his her both such so then there"
)


@record
class Digest:
    """The text of a digest. `missing` maps the id of a source to its first part that the text does not cover."""

    text: str
    missing: dict[str, str]


@record
class Sentence:
    """A sentence of a memory: its words in order, its content words, and those of the title (`subject`)."""

    text: str
    words: tuple[str, ...]
    stems: frozenset[str]
    subject: frozenset[str]
    marks: tuple[str, ...]  # words that change the meaning: negations, conditions, quantities
    is_exact: bool  # whether the order of its words counts


@record
class Source:
    """A memory, parsed into sentences."""

    memory: Memory
    sentences: tuple[Sentence, ...]
    unquotable: (
        str  # the first line that a digest cannot contain: code, a table, or a heading over prose
    )


def without_contradicting(memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories without those that contradict each other, because a digest would state both."""
    found = contradictions(memories)
    opposed = {memory.id for pair in found for memory in (pair.newer, pair.older)}
    return [memory for memory in memories if memory.id not in opposed]


def digest_of(memories: Sequence[Memory]) -> Digest:
    """Return a digest: the most informative sentences of each memory, then others that complete whole sources."""
    sources = [_parsed_source(memory) for memory in memories]
    said = extract_sentences(texts_of(memories), TELLING_WORDS)
    chosen = [
        [one for one in source.sentences if one.text in told]
        for source, told in zip(sources, said, strict=True)
    ]
    if not any(chosen):  # no whole sentence: the summary quotes the beginning of a long one
        return Digest(
            _digest_text(memories, said), {memory.id: memory.title for memory in memories}
        )
    left = MAX_WORDS - sum(_word_count(some) for some in chosen)
    numbers = range(len(sources))
    for number in sorted(
        numbers, key=lambda one: (_word_count(_missing_sentences(sources[one], chosen, one)), one)
    ):
        more = _missing_sentences(sources[number], chosen, number)
        if more and not sources[number].unquotable and _word_count(more) <= left:
            left -= _word_count(more)
            chosen[number] = [
                one for one in sources[number].sentences if one in chosen[number] or one in more
            ]
    missing = {
        sources[one].memory.id: _first_missing_part(sources[one], chosen, one) for one in numbers
    }
    told = [[one.text for one in some] for some in chosen]
    return Digest(_digest_text(memories, told), {id: part for id, part in missing.items() if part})


def plan_digest(title: str, sources: Sequence[Memory], source: str, by: str) -> Plan:
    """Plan to store a digest of several memories."""
    if len(sources) < MIN_SOURCES:
        raise BadInput(
            "a digest needs at least two active memories that do not contradict each other",
            "run 'rawkomem review' to see contradictions",
        )
    digest = digest_of(sources)
    entry = Entry(
        title=title,
        when=inherited_texts(MAX_PATTERNS, (), (memory.when for memory in sources)),
        tags=inherited_texts(MAX_TAGS, ("digest",), (memory.tags for memory in sources)),
        importance=max((memory.importance for memory in sources), key=IMPORTANCE.index),
        source=source,
        by=by,
        body=digest.text,
    )
    (written,) = plan_add(with_sources(entry, [memory.id for memory in sources])).entries
    return Plan((written,), f"make a digest of {len(sources)} memories")


def archive_covered(digest: Memory, sources: Sequence[Memory], by: str) -> list[Entry]:
    """Return archive entries for unchanged sources that a digest covers; empty if the digest's text is outdated."""
    unchanged = [
        memory for memory in sources if memory.status == ACTIVE and memory.updated <= digest.created
    ]
    made = digest_of(sources) if unchanged else None
    if not made or digest.body.strip() != made.text.strip():
        return []
    held = [memory for memory in unchanged if memory.id not in made.missing]
    return [archiving(memory, f"compressed into {digest.id}", by) for memory in held]


def uncovered_part(memory: Memory, holder: Memory) -> str:
    """Return the first part of a memory that `holder` does not cover; empty if it covers everything."""
    own, other = _parsed_source(memory), _parsed_source(holder)
    said = [*other.sentences, _parsed_sentence(holder.title, frozenset())]
    missing = [one for one in own.sentences if not any(_covers(known, one) for known in said)]
    if own.unquotable and own.unquotable not in holder.body:
        return own.unquotable
    return missing[0].text if missing else "" if own.sentences else memory.title


def texts_of(memories: Sequence[Memory]) -> list[tuple[str, float]]:
    """Return (text, weight from 0 to 1) of each memory; the text is the title if the body is empty."""
    most = len(IMPORTANCE) - 1
    return [
        (memory.body or memory.title, IMPORTANCE.index(memory.importance) / most)
        for memory in memories
    ]


def _digest_text(memories: Sequence[Memory], said: Iterable[Sequence[str]]) -> str:
    parts = [
        (one_line(memory.title or memory.id), join_sentences(some))
        for memory, some in zip(memories, said, strict=True)
    ]
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in parts if text)


def _parsed_source(memory: Memory) -> Source:
    subject = frozenset(language().stems(memory.title))
    found = sentences(memory.body or memory.title)
    prose = [line.strip() for line in prose_lines(memory.body)]
    written = [line.strip() for line in memory.body.split("\n")]
    code = (line for line in written if line and line not in prose and not line.startswith(FENCES))
    odd = (
        line
        for line in prose
        if line.startswith(("|", "#")) and _is_lost(line.strip("# "), memory.title, found)
    )
    return Source(
        memory,
        tuple(_parsed_sentence(text, subject) for text in found),
        next(code, "") or next(odd, ""),
    )


def _parsed_sentence(text: str, subject: frozenset[str]) -> Sentence:
    words = [
        word
        for part in text.split()
        if (word := part.lstrip(OPENING_SIGNS).rstrip(CLOSING_SIGNS).lower())
    ]
    plain = [word.replace("'", "").replace("’", "") for word in words]
    cues = known_cues()
    deciding = (
        cues.negations | cues.conditions | language().negations | {*cues.numerals} | QUANTITIES
    )
    marks = tuple(word for word in plain if word in deciding)
    stems = [
        language().stem(word) if word.isalpha() else word for word in plain if word not in ARTICLES
    ]
    is_exact = bool(marks) or not all(word.isalpha() for word in plain)
    return Sentence(text, tuple(stems), frozenset(language().stems(text)), subject, marks, is_exact)


def _is_lost(line: str, title: str, found: Sequence[str]) -> bool:
    stems = language().stems(line)
    return stems not in ([], language().stems(title)) and not any(
        text.startswith(f"{line}: ") for text in found
    )


def _missing_sentences(
    source: Source, chosen: Sequence[Sequence[Sentence]], number: int
) -> list[Sentence]:
    """Return the sentences of a source that must be added to cover it completely."""
    own, others = chosen[number], [one for some in chosen for one in some]
    missing = [
        one
        for one in source.sentences
        if one not in own and not any(_covers(other, one) for other in others)
    ]
    needed = {*own, *missing}
    for before, one in reversed([*zip(source.sentences, source.sentences[1:], strict=False)]):
        if one in needed and one.text.split()[0].lower() in BACK_REFERENCES:
            needed.add(before)
    return [one for one in source.sentences if one in needed and one not in own]


def _first_missing_part(source: Source, chosen: Sequence[Sequence[Sentence]], number: int) -> str:
    missing = _missing_sentences(source, chosen, number)
    return source.unquotable or (
        missing[0].text if missing else "" if source.sentences else source.memory.title
    )


def _covers(one: Sentence, other: Sentence) -> bool:
    """Return whether sentence `one` covers sentence `other`, including its subject."""
    if (
        not other.subject <= one.subject | one.stems
        or not other.stems <= one.stems
        or one.marks != other.marks
    ):
        return False
    rest = iter(one.words)
    return not other.is_exact or all(word in rest for word in other.words)


def _word_count(some: Iterable[Sentence]) -> int:
    return sum(len(one.text.split()) for one in some)


# Episodes: an entry lists the first members; `link` entries of type `member` add and remove
# members. Pure.

MAX_EPISODE_MEMBERS = 1_000  # neolata's largest batch; the list fits into a frontmatter of 64 KiB
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
    members: dict[str, list[Memory]] = {
        id: [] for id, memory in graph.memories.items() if memory.kind in GROUPS
    }
    missing: dict[str, list[str]] = {id: [] for id in members}
    for edge in graph.edges:
        if edge.type == MEMBER and edge.source in members:
            members[edge.source].append(graph.memories[edge.target])
    for broken in graph.broken:
        if broken.type == MEMBER and broken.memory.id in members:
            missing[broken.memory.id].append(broken.name)
    found = [
        Episode(graph.memories[id], by_time(members[id]), tuple(missing[id])) for id in members
    ]
    return sorted(
        found, key=lambda episode: (-(episode.end or episode.memory.created), episode.memory.id)
    )


def by_time(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return memories sorted by time."""
    return tuple(sorted(memories, key=lambda memory: (memory.created, memory.id)))


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
        raise Refused(
            f"none of them is in {episode.memory.id}",
            f"run 'rawkomem trace episode show {episode.memory.id}'",
        )
    removing = linking(episode.memory, leaving, MEMBER, by, removed=True)
    return Plan((removing,), f"remove {len(leaving)} from {episode.memory.id}")


def _check_members(members: Sequence[Memory], others: int) -> None:
    if others + len(members) > MAX_EPISODE_MEMBERS:
        count = f"{others + len(members):,}"
        raise BadInput(
            f"an episode can have at most {MAX_EPISODE_MEMBERS:,} memories, not {count}",
            "make several episodes",
        )
    for memory in members:
        if memory.kind in GROUPS:
            raise BadInput(f"{memory.id} is an episode itself", "add its members instead")
        if memory.status == "deleted":
            raise Refused(f"{memory.id} is deleted", "name memories that are not deleted")


def summary_of(memories: Sequence[Memory], most_words: int) -> str:
    """Return a summary made of sentences of the memories; the title is used if the body is empty."""
    return summarize(texts_of(memories), most_words)


# Digests of related memories that nobody changed lately, made of their own sentences. Pure.

DIGEST_SOURCE = "compress"  # `source` of the digests made here
MIN_DIGEST_MEMBERS, IDLE_DAYS, MAX_DIGESTS = 3, 30, 5  # neolata
MIN_COSINES = (
    0.6,
    0.7,
    0.8,
    0.9,
)  # minimum similarity of a cluster: the first value that gives small enough clusters
MAX_DIGEST_MEMBERS = 30  # of a digest, which then has a dozen words for each
MAX_TRUST_SPREAD = (
    0.15  # between sources, because a digest has the trust of its least trusted source
)


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
    today = [one for one in digests if derived_from(one) and census.now - one.created < DAY]
    room = how.max_digests - len(today)
    plans: list[Plan] = []
    for label, sources in _digest_groups(census, made_before, pairs, how):
        if len(plans) >= room:
            break
        plans.append(plan_digest(f"Digest: {label}", by_time(sources), DIGEST_SOURCE, by))
    return Plan(
        tuple(entry for plan in plans for entry in plan.entries),
        f"make {counted(len(plans), 'digest')}",
    )


def plan_archive_sources(census: Census, by: str = "") -> Plan:
    """Plan to archive sources that their digest covers, except those that housekeeping must not archive."""
    entries = []
    for digest, sources in _digests_with_sources(census):
        held = archive_covered(digest, sources, by)
        entries += [entry for entry in held if not census.is_spared(census.memories[entry.about])]
    return Plan(tuple(entries), f"archive {counted(len(entries), 'memory')} that digests cover")


def digests_of(census: Census) -> dict[str, str]:
    """Return source → the active digest that was made from it."""
    return {
        id: digest.id for digest, _ in _digests_with_sources(census) for id in derived_from(digest)
    }


def uncovered_sources(census: Census) -> dict[str, str]:
    """Return active source of a digest → its first part that the digest does not cover, so that it is not archived."""
    parts: dict[str, str] = {}
    for _, sources in _digests_with_sources(census):
        missing = digest_of(sources).missing
        for source in sources:
            if source.status == ACTIVE and source.id in missing:
                parts[source.id] = missing[source.id]
    return parts


def _digest_groups(
    census: Census, covered: Collection[str], pairs: Pairs, how: Digesting
) -> Iterator[tuple[str, list[Memory]]]:
    """Yield (label, memories) for new digests. Covered memories are clustered, too, so that clusters stay stable."""
    taking = {memory.id: memory for memory in _clustered(census, covered, how)}
    for cosine in MIN_COSINES:
        found = clusters(
            build_graph(list(taking.values()), lambda memory: True, pairs(taking, cosine)),
            how.members,
        )
        for cluster in found:
            if len(cluster.ids) <= MAX_DIGEST_MEMBERS or cosine == MIN_COSINES[-1]:
                fresh = [taking[id] for id in cluster.ids if id not in covered][:MAX_DIGEST_MEMBERS]
                for alike in _by_similar_trust(fresh, census):
                    group = without_contradicting(alike) if len(alike) >= how.members else []
                    if len(group) >= how.members:
                        yield cluster.label or group[0].title, group
        large = {
            id for cluster in found if len(cluster.ids) > MAX_DIGEST_MEMBERS for id in cluster.ids
        }
        taking = {id: memory for id, memory in taking.items() if id in large}


def _clustered(census: Census, covered: Collection[str], how: Digesting) -> Iterator[Memory]:
    for memory in census.memories.values():
        if memory.id in covered:
            if memory.status != "deleted":
                yield memory
        elif memory.status == ACTIVE and memory.kind in FADING and is_valid(memory, census.now):
            idle = (
                census.touched(memory)
                and census.now - census.touched(memory) >= how.idle_days * DAY
            )
            if idle and not derived_from(memory) and "claim" not in memory.extra:
                yield memory


def _by_similar_trust(memories: Iterable[Memory], census: Census) -> Iterator[list[Memory]]:
    """Yield memories in groups of similar trust, so that a doubtful memory does not lower the trust of others."""
    group: list[Memory] = []
    for memory in sorted(memories, key=lambda one: (-census.trust(one), one.id)):
        if group and census.trust(group[0]) - census.trust(memory) > MAX_TRUST_SPREAD:
            yield group
            group = []
        group.append(memory)
    if group:
        yield group


def _digests_with_sources(census: Census) -> Iterator[tuple[Memory, list[Memory]]]:
    """Yield the active digests that were made here, sorted by id, with the sources that still exist."""
    for _, memory in sorted(census.memories.items()):
        if memory.status == ACTIVE and memory.source == DIGEST_SOURCE and derived_from(memory):
            ids = derived_from(memory)
            yield memory, [census.memories[id] for id in ids if id in census.memories]
