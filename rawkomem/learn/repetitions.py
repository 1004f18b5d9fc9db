"""Find out whether memories or other drafts already say what is about to be learned, or contradict it."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence

from ..embed.providers import bundled_embedder
from ..model.entries import (
    CORRECTION,
    DECISION,
    PREFERENCE,
    REQUEST,
    RULE,
    Draft,
    Entry,
    Memory,
)
from ..model.values import replace
from ..state.contradictions import (
    contradicted_memories,
    disagreement,
    language_of,
    prose_of,
    read_statement,
)
from ..text.chunks import fenced_lines
from ..text.language import (
    NEAR_DUPLICATE,
    language,
    says_same,
    shared_words,
    statement_of,
)
from ..text.prose import sentences
from . import cues

Near = Callable[[str], Sequence[tuple[Memory, float]]]


# Find out whether a repository already has the memory that is about to be learned, in the same or
# similar words.

# used as the id of an entry that was learned in the same session
JUST_NOW = "this session"
MIN_KNOWN_WORDS = 3  # of a body: a shorter text occurs in other bodies by chance


class KnownTexts:
    """All known texts, also those of rejected or deleted memories, so that these are not learned again.

    `counts` tells whether a memory counts: an agent must not store what a person says before the person says it.
    """

    def __init__(
        self, memories: Iterable[Memory], near: Near, counts: Callable[[str], bool]
    ):
        self._texts = [
            (memory.id, plain_words(memory.title), plain_words(memory.body))
            for memory in memories
        ]
        self._near = near
        self._counts = counts
        self._new: list[Entry] = []

    def __call__(self, entry: Entry) -> str:
        """Return the id of the memory that says the same as an entry. If there is none, remember it and return ""."""
        known = self._said(entry) or self._meant(entry)
        if not known:
            self._new.append(entry)
            self._texts.append(
                (JUST_NOW, plain_words(entry.title), plain_words(entry.body))
            )
        return known

    def _said(self, entry: Entry) -> str:
        """Return the id of the memory that contains the words of an entry or has its title; empty if none does."""
        title = plain_words(entry.title)
        words = plain_words(entry.body)
        telling = len(words.split()) >= MIN_KNOWN_WORDS
        return next(
            (
                id
                for id, other, body in self._texts
                if (title == other or (telling and f" {words} " in f" {body} "))
                and (id == JUST_NOW or self._counts(id))
            ),
            "",
        )

    def _meant(self, entry: Entry) -> str:
        """Return the id of the memory that says the same in other words; empty if none does."""
        said = statement_of(entry.body)
        for memory, cosine in self._near(entry.title_and_body):
            same = says_same(said, statement_of(memory.body), NEAR_DUPLICATE, cosine)
            if same and self._counts(memory.id):
                return memory.id
        new = any(
            says_same(said, statement_of(other.body), NEAR_DUPLICATE)
            for other in self._new
        )
        return JUST_NOW if new else ""


def plain_words(text: str) -> str:
    """Return the words of a text, in lower case and without punctuation."""
    return " ".join(language().words(text))


# Find out whether a person said the same thing in two sessions, in different words. Such a draft
# is worth keeping.

# kinds in which a person says something without being asked
PROMOTED_KINDS = (
    CORRECTION,
    RULE,
    PREFERENCE,
    DECISION,
)
# share of the shorter turn's specific words that both turns contain
MIN_SAME_SHARED = 0.85


def is_repeated(one: Draft, other: Draft) -> bool:
    """Return whether two drafts hold exactly the same words. A program sends such text, not a person."""
    return plain_words(one.said) == plain_words(other.said)


def means_same(one: Draft, other: Draft) -> bool:
    """Return whether the texts of two drafts mean the same: shared words, equal numbers, negated alike.

    What the person said beside a rule ("Start task 4. Always commit …") does not matter.
    """
    if not {one.kind, other.kind} <= {*PROMOTED_KINDS}:
        return False
    first = statement_of(one.text)
    second = statement_of(other.text)
    if first.numbers != second.numbers or bool(first.negations) != bool(
        second.negations
    ):
        return False
    return shared_words(first, second, subject_only=True) >= MIN_SAME_SHARED


def cosine_of(one: bytes, other: bytes) -> float:
    """Return the cosine of two normalized vectors of 32-bit floats."""
    first = array("f", one)
    second = array("f", other)
    return sum(a * b for a, b in zip(first, second, strict=True))


# Find memories that already say what a person said in a session, even in other words.
#
# The limits were set on 12 real sessions with the bundled vectors (docs/learning.md), so this
# module always uses those vectors, whichever model the index uses. The limits are strict: missing
# a match is better than claiming a false one.

MIN_COVER_WORDS = 2  # specific words that a memory and a person's words share …
MIN_COVER_SHARED = 0.4  # … as a share of those of the shorter text
MIN_COVER_COSINE = 0.5  # of the memory and the person's words, or their key sentence


CLAUSE_END = re.compile(r"[,.;:\n]")
CODE_SPAN = re.compile(r"`([^`\n]+)`")
# a word as in code: TZ=UTC, packages/web, page.tsx, nodeVersion, 300
NAME = re.compile(r"[^\s`\"'(),;!?]*(?:\w[=/_.:@]\w|\d|[a-z][A-Z])[^\s`\"'(),;!?]*")


def covering_memories(draft: Draft, memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories that say what a draft says and do not contradict it, closest first."""
    texts = [
        one.body if one.title in one.body else one.title_and_body for one in memories
    ]
    whole, key, *vectors = bundled_embedder().embed([draft.text, draft.title, *texts])
    said = statement_of(draft.text)
    key_numbers = statement_of(draft.title).numbers
    close = []
    for memory, text, vector in zip(memories, texts, vectors, strict=True):
        other = statement_of(text)
        is_other_number = (
            key_numbers and other.numbers and not key_numbers & other.numbers
        )
        fewer = min(len(said.subject), len(other.subject))
        wanted = max(MIN_COVER_WORDS, MIN_COVER_SHARED * fewer)
        cosine = max(cosine_of(whole, vector), cosine_of(key, vector))
        is_close = (
            cosine >= MIN_COVER_COSINE and len(said.subject & other.subject) >= wanted
        )
        is_same = not is_other_number and _asks_same(draft.text, text, other.subject)
        if is_close and is_same and not _contradicts(draft, memory):
            close.append((cosine, memory))
    return [memory for _, memory in sorted(close, key=lambda pair: -pair[0])]


def _asks_same(text: str, memory: str, known: frozenset[str]) -> bool:
    """Return whether in each sentence, most words of a clause that forbids nothing are among the known ones.

    A sentence that only forbids has none.
    "Never run bare pytest, run make suite" does not say what a memory about pytest says. Each command and name must be
    in the memory as it is written ("make suite" is not a word about a suite), and what the text tells to use. The
    memory's code must not run what the text forbids.
    """
    written = (*cues.COMMANDS.findall(text), *CODE_SPAN.findall(text))
    names = (name.strip(".:") for name in NAME.findall(text))
    said = (read_statement(one, language_of(text)) for one in CLAUSE_END.split(text))
    used = (stem for one in said if one for stem in one.chosen)
    if not all(one.lower() in memory.lower() for one in (*written, *names, *used)):
        return False
    clauses = [*map(statement_of, CLAUSE_END.split(text))]
    forbidden = [one.subject for one in clauses if one.subject and one.negations]
    code = [statement_of(line) for line, is_code in fenced_lines(memory) if is_code]
    if any(
        words <= line.subject and not line.negations
        for words in forbidden
        for line in code
    ):
        return False
    return all(_is_known(sentence, known) for sentence in sentences(text))


def _is_known(sentence: str, known: frozenset[str]) -> bool:
    clauses = map(statement_of, CLAUSE_END.split(sentence))
    asked = [one.subject for one in clauses if one.subject and not one.negations]
    return not asked or any(len(one & known) > len(one) / 2 for one in asked)


def _contradicts(draft: Draft, memory: Memory) -> bool:
    said = replace(memory, id=draft.id, body=draft.text)
    return disagreement(prose_of(said), prose_of(memory)) is not None


# Link a person's words to the memories that they contradict.

# kinds that may contradict a memory
CORRECTING = (*PROMOTED_KINDS, REQUEST)


def tied_draft(
    draft: Draft,
    entry: Entry,
    memories: Sequence[Memory],
    counts: Callable[[str], bool],
) -> Draft:
    """Return a draft with the memories that it contradicts and their conditions, or with the one that says the same.

    Only a memory that counts can say the same: to keep such a draft confirms that memory.
    """
    found = contradicted_memories(entry, memories) if draft.kind in CORRECTING else []
    counted = [] if found else [one for one in memories if counts(one.id)]
    same = covering_memories(draft, counted) if counted else []
    return replace(
        draft,
        corrects=tuple(memory.id for memory in found),
        agrees=same[0].id if same else "",
        when=inherited_conditions(draft.when, found),
    )


def inherited_conditions(
    when: Iterable[str], memories: Iterable[Memory]
) -> tuple[str, ...]:
    """Return conditions plus those of the contradicted memories, so that the new memory is recalled where they were."""
    return tuple(
        dict.fromkeys((*when, *(one for memory in memories for one in memory.when)))
    )
