"""Digests: several memories in one, made of their own sentences. A source that is covered may be archived. Pure.

A sentence with a number, a negation, a condition or a name in code is covered by a sentence with the same words in the
same order. Any other sentence is covered by a sentence with all its content words. The words of the title, which is
the subject, must be covered, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...format.read_entries import MAX_PATTERNS, MAX_TAGS
from ...model.entry import Entry, Plan
from ...model.errors import BadInput
from ...model.kinds import ACTIVE, IMPORTANCE
from ...model.record import record
from ...text.clean import one_line
from ...text.language import language, word_set
from ...text.prose import prose_lines, sentences
from ...text.summary import extract, join
from ..belief.contrary import known_cues
from ..belief.prose import contradictions
from ..changes.archive import archiving
from ..decide import plan_add
from ..derive import derived, inherited

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...model.entry import Memory

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
BACK_REFERENCES = word_set("it its they them their this that these those he she his her both such so then there")


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
    unquotable: str  # the first line that a digest cannot contain: code, a table, or a heading over prose


def agreeing(memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories without those that contradict each other, because a digest would state both."""
    found = contradictions(memories)
    opposed = {memory.id for pair in found for memory in (pair.newer, pair.older)}
    return [memory for memory in memories if memory.id not in opposed]


def digest_of(memories: Sequence[Memory]) -> Digest:
    """Return a digest: the most informative sentences of each memory, then others that complete whole sources."""
    sources = [_source(memory) for memory in memories]
    said = extract(texts_of(memories), TELLING_WORDS)
    chosen = [[one for one in source.sentences if one.text in told] for source, told in zip(sources, said, strict=True)]
    if not any(chosen):  # no whole sentence: the summary quotes the beginning of a long one
        return Digest(_text(memories, said), {memory.id: memory.title for memory in memories})
    left = MAX_WORDS - sum(_length(some) for some in chosen)
    numbers = range(len(sources))
    for number in sorted(numbers, key=lambda one: (_length(_missing(sources[one], chosen, one)), one)):
        more = _missing(sources[number], chosen, number)
        if more and not sources[number].unquotable and _length(more) <= left:
            left -= _length(more)
            chosen[number] = [one for one in sources[number].sentences if one in chosen[number] or one in more]
    missing = {sources[one].memory.id: _first_missing(sources[one], chosen, one) for one in numbers}
    told = [[one.text for one in some] for some in chosen]
    return Digest(_text(memories, told), {id: part for id, part in missing.items() if part})


def plan_digest(title: str, sources: Sequence[Memory], source: str, by: str) -> Plan:
    """Plan to store a digest of several memories."""
    if len(sources) < MIN_SOURCES:
        raise BadInput(
            "a digest needs at least two active memories that do not contradict each other",
            "run 'rawkomem conflicts' to see contradictions",
        )
    digest = digest_of(sources)
    entry = Entry(
        title=title,
        when=inherited(MAX_PATTERNS, (), (memory.when for memory in sources)),
        tags=inherited(MAX_TAGS, ("digest",), (memory.tags for memory in sources)),
        importance=max((memory.importance for memory in sources), key=IMPORTANCE.index),
        source=source,
        by=by,
        body=digest.text,
    )
    (written,) = plan_add(derived(entry, [memory.id for memory in sources])).entries
    return Plan((written,), f"make a digest of {len(sources)} memories")


def archive_held(digest: Memory, sources: Sequence[Memory], by: str) -> list[Entry]:
    """Return archive entries for unchanged sources that a digest covers; empty if the digest's text is outdated."""
    unchanged = [memory for memory in sources if memory.status == ACTIVE and memory.updated <= digest.created]
    made = digest_of(sources) if unchanged else None
    if not made or digest.body.strip() != made.text.strip():
        return []
    held = [memory for memory in unchanged if memory.id not in made.missing]
    return [archiving(memory, f"compressed into {digest.id}", by) for memory in held]


def unheld_part(memory: Memory, holder: Memory) -> str:
    """Return the first part of a memory that `holder` does not cover; empty if it covers everything."""
    own, other = _source(memory), _source(holder)
    said = [*other.sentences, _sentence(holder.title, frozenset())]
    missing = [one for one in own.sentences if not any(_holds(known, one) for known in said)]
    if own.unquotable and own.unquotable not in holder.body:
        return own.unquotable
    return missing[0].text if missing else "" if own.sentences else memory.title


def texts_of(memories: Sequence[Memory]) -> list[tuple[str, float]]:
    """Return (text, weight from 0 to 1) of each memory; the text is the title if the body is empty."""
    most = len(IMPORTANCE) - 1
    return [(memory.body or memory.title, IMPORTANCE.index(memory.importance) / most) for memory in memories]


def _text(memories: Sequence[Memory], said: Iterable[Sequence[str]]) -> str:
    parts = [(one_line(memory.title or memory.id), join(some)) for memory, some in zip(memories, said, strict=True)]
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in parts if text)


def _source(memory: Memory) -> Source:
    subject = frozenset(language().stems(memory.title))
    found = sentences(memory.body or memory.title)
    return Source(memory, tuple(_sentence(text, subject) for text in found), _unquotable(memory, found))


def _sentence(text: str, subject: frozenset[str]) -> Sentence:
    words = [word for part in text.split() if (word := part.lstrip(OPENING_SIGNS).rstrip(CLOSING_SIGNS).lower())]
    plain = [word.replace("'", "").replace("’", "") for word in words]
    cues = known_cues().cues
    deciding = cues.negations | cues.conditions | language().negations | {*cues.numerals} | QUANTITIES
    marks = tuple(word for word in plain if word in deciding)
    stems = [language().stem(word) if word.isalpha() else word for word in plain if word not in ARTICLES]
    is_exact = bool(marks) or not all(word.isalpha() for word in plain)
    return Sentence(text, tuple(stems), frozenset(language().stems(text)), subject, marks, is_exact)


def _unquotable(memory: Memory, found: Sequence[str]) -> str:
    """Return the first line of code, of a table, or of a heading that is neither the title nor above a list."""
    prose = [line.strip() for line in prose_lines(memory.body)]
    written = [line.strip() for line in memory.body.split("\n")]
    code = (line for line in written if line and line not in prose and not line.startswith(FENCES))
    odd = (line for line in prose if line.startswith(("|", "#")) and _is_lost(line.strip("# "), memory.title, found))
    return next(code, "") or next(odd, "")


def _is_lost(line: str, title: str, found: Sequence[str]) -> bool:
    stems = language().stems(line)
    return stems not in ([], language().stems(title)) and not any(text.startswith(f"{line}: ") for text in found)


def _missing(source: Source, chosen: Sequence[Sequence[Sentence]], number: int) -> list[Sentence]:
    """Return the sentences of a source that must be added to cover it completely."""
    own, others = chosen[number], [one for some in chosen for one in some]
    missing = [one for one in source.sentences if one not in own and not any(_holds(other, one) for other in others)]
    needed = {*own, *missing}
    for before, one in reversed([*zip(source.sentences, source.sentences[1:], strict=False)]):
        if one in needed and one.text.split()[0].lower() in BACK_REFERENCES:
            needed.add(before)
    return [one for one in source.sentences if one in needed and one not in own]


def _first_missing(source: Source, chosen: Sequence[Sequence[Sentence]], number: int) -> str:
    missing = _missing(source, chosen, number)
    return source.unquotable or (missing[0].text if missing else "" if source.sentences else source.memory.title)


def _holds(one: Sentence, other: Sentence) -> bool:
    """Return whether sentence `one` covers sentence `other`, including its subject."""
    if not other.subject <= one.subject | one.stems or not other.stems <= one.stems or one.marks != other.marks:
        return False
    rest = iter(one.words)
    return not other.is_exact or all(word in rest for word in other.words)


def _length(some: Iterable[Sentence]) -> int:
    return sum(len(one.text.split()) for one in some)
