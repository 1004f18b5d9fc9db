"""Find memories with nearly equal sentences that contradict each other.

The sentences have the same words, except for a number, a negation, the object of "use X", or what one of them rejects.
Other contradictions need a claim: the rules prefer to miss a contradiction over a false alarm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import combinations
from zlib import crc32

from ..model.entries import Memory
from ..model.values import ACTIVE, GROUPS, KEPT_BOTH, RECORDED, record
from ..text.language import language, language_cache, language_code, word_set
from ..text.prose import sentences

# The words that reveal a contradiction between sentences, as data for each human language.


@record
class Cues:
    """The words of one language, in lower case without apostrophes."""

    negations: frozenset[str] = frozenset()
    # words that limit a sentence to certain cases
    conditions: frozenset[str] = frozenset()
    choosing: frozenset[str] = frozenset()  # verbs whose object is a choice
    rejecting: frozenset[str] = frozenset()  # verbs whose object is no longer used
    # after a choice or a comma: what follows is not used
    instead: frozenset[str] = frozenset()
    bounds: frozenset[str] = frozenset()  # words that end an object
    # words in sentences that allow other choices, too
    adding: frozenset[str] = frozenset()
    # words after which a sentence only gives a reason
    reasons: frozenset[str] = frozenset()
    numerals: tuple[str, ...] = ()  # words for 1, 2, 3 …
    units: frozenset[str] = frozenset()  # a number before or after one is a value


NO_CUES = Cues()
CUES = {
    "en": Cues(
        negations=word_set(
            "no not never none without cannot cant dont doesnt didnt isnt arent wasnt wont shouldnt mustnt wouldnt nor"
        ),
        conditions=word_set(
            "if when unless except while until once only where whenever during outside besides"
        ),
        choosing=word_set(
            "adopt adopted choose chose pick picked prefer preferred prefers use used uses using"
        ),
        rejecting=word_set(
            "abandon abandoned avoid ban banned deprecated drop dropped forbid remove removed replace replaced stop stopped"
        ),
        instead=word_set("instead rather over not never"),
        bounds=word_set(
            """
            across against all and any anymore around as at be between but by each every for from in inside into is are
            longer of on onto or per so than then through to under via was were with within
            """
        ),
        adding=word_set("also too additionally either both besides optionally can may might could sometimes often"),
        reasons=word_set("because since otherwise"),
        numerals=(
            "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"
        ),
        units=word_set(
            """
            port version limit timeout ttl maximum minimum size length width
            approval approvals attempts bits bytes cents characters chars columns connections copies cores days dollars
            euros gb gib hours instances items kb kib lines mb members mib milliseconds minutes months ms nodes pages
            people percent pixels points processes px replicas requests retries reviewers rows seconds sec spaces tb
            threads time times tokens users weeks words workers years
            """
        ),
    )
}  # fmt: skip


def known_cues() -> Cues:
    """Return the cues of the current language; empty for a language without cues, so that only numbers are compared."""
    return CUES.get(language_code(), NO_CUES)


# of a body that are read: a rule is at its beginning, and a later detail outdates no memory
MAX_BODY_CHARS = 600
MAX_STATEMENTS = 6  # per memory
MAX_SENTENCE_WORDS = 30  # a longer sentence says several things
MAX_GROUP = 20  # memories with a common key that are compared with each other
MAX_PAIRS = 3_000  # pairs of memories that are compared
MAX_CHOICE_WORDS = 3  # a choice of more words is a description
MIN_WORDS = 3  # that two sentences without a common title or condition must share
MIN_FRAME_WORDS = 2  # … besides their choices
EDGES = ".!?\"'`*_“”‘’<>"
BREAK = ","
BREAKS = re.compile(r"[()\[\]]|[,;:](?=\s|$)")  # they end a clause
# a sentence with one of these is code
CODE_SIGNS = (" = ", "==", "->", "()", '"""', "</")


@record
class Statement:
    """A sentence as sets of stems."""

    text: str
    frame: frozenset[str]  # its words without the others
    chosen: frozenset[str]
    rejected: frozenset[str]
    # values; a number that names a thing, as in "sprint 12", is a word
    numbers: frozenset[str]
    is_negative: bool

    @property
    def words(self) -> frozenset[str]:
        """Return all its words without numbers."""
        return self.frame | self.chosen | self.rejected


Role = tuple[str, str, str]  # field of Cues that decides, stem, number
# in this order
ROLES = ("reasons", "instead", "negations", "choosing", "rejecting", "bounds")
MAX_KNOWN_WORDS = 20_000  # size of the cache
_known_words: dict[str, Role] = language_cache()


def read_statement(sentence: str) -> Statement | None:
    """Return the statement of a sentence; None for code and for a sentence that is too long."""
    plain = (
        sentence.lower()
        .replace("'", "")
        .replace("’", "")
        .replace("any more", "anymore")
    )
    parts = BREAKS.sub(f" {BREAK} ", plain).split()
    words = [word for part in parts if (word := part.strip(EDGES))]
    if not 0 < len(words) <= MAX_SENTENCE_WORDS or any(
        sign in sentence for sign in CODE_SIGNS
    ):
        return None
    cues = known_cues()
    frame, chosen, rejected, numbers = set[str](), set[str](), set[str](), set[str]()
    place = frame  # the set that the next word belongs to
    negative = denied = False
    before = ""  # the word before, if it belongs to a set
    for at, word in enumerate(words):
        role, stem, value = _known_words.get(word) or _read_word(word, cues)
        if role == "instead" and not chosen and not (frame and words[at - 1] == BREAK):
            role = "negations" if word in cues.negations else ""
        if (
            value
            and before
            and cues.units.isdisjoint((before, *words[at + 1 : at + 2]))
        ):
            value = ""  # the number is a name, as in "sprint 12"
        if stem and not role and not value:
            place.add(stem)
            before = word
            continue
        before = ""
        if role == "reasons":
            break
        if value and not role:
            numbers.add(value)
        elif role == BREAK:
            place, denied = frame, False
        elif role == "instead":
            place = rejected
        elif role == "negations":
            negative = denied = True
        elif role == "choosing":
            place = rejected if denied else chosen
        elif role == "rejecting":
            place, negative, denied = rejected, True, True
        elif role == "bounds":
            place = frame if place else place  # "instead of" goes on
    if not cues.adding.isdisjoint(words):
        frame, chosen = frame | chosen, set()
    return Statement(
        sentence,
        frozenset(frame - chosen - rejected),
        frozenset(chosen),
        frozenset(rejected),
        frozenset(numbers),
        negative,
    )


def _read_word(word: str, cues: Cues) -> Role:
    """Return the role of a word, its stem (empty for a function word), and its number."""
    if len(_known_words) >= MAX_KNOWN_WORDS:
        _known_words.clear()
    role = BREAK if word == BREAK else ""
    for name in ROLES:
        if not role and word in getattr(cues, name):
            role = name
    value = _number(word, cues)
    counts = value or word in cues.conditions or not language().is_stop(word)
    stem = language().roots([word])[0] if counts else ""
    _known_words[word] = role, stem, value
    return _known_words[word]


def _number(word: str, cues: Cues) -> str:
    """Return a number, with its unit if both are one word; empty for any other word and for a date."""
    if word in cues.numerals:
        return str(cues.numerals.index(word) + 1)
    digits = word.lstrip("$€£v")
    return (
        digits if digits[:1].isdigit() and "-" not in word and "/" not in word else ""
    )


# Compare the statements of memories.

TITLE, CONDITION = "title", "condition"  # what two memories have in common


@record
class Prose:
    """The statements of a memory, prepared for comparison."""

    id: str
    title: frozenset[str]
    conditions: frozenset[str]
    heading: Statement | None  # the title as a statement
    statements: tuple[Statement, ...]
    settled: frozenset[str]  # ids of contradicting memories that are kept, too


@record
class Disagreement:
    """Two sentences of two memories that contradict each other."""

    one: str
    other: str


@record
class Contradiction:
    """Two memories in use that contradict each other."""

    newer: Memory
    older: Memory
    said: Disagreement  # `one` is the newer memory's sentence


def contradictions(memories: Iterable[Memory]) -> list[Contradiction]:
    """Return the contradictions between memories, sorted by the id of the newer memory."""
    by_id = {memory.id: memory for memory in memories if has_comparable_prose(memory)}
    prose = {id: prose_of(memory) for id, memory in by_id.items()}
    found = []
    for pair in _candidate_pairs(prose.values()):
        newer, older = sorted(
            (by_id[id] for id in pair), key=lambda memory: (-memory.worded, memory.id)
        )
        said = disagreement(prose[newer.id], prose[older.id])
        if said:
            found.append(Contradiction(newer, older, said))
    return sorted(found, key=lambda one: (one.newer.id, one.older.id))


def has_comparable_prose(memory: Memory) -> bool:
    """Return whether a memory's prose is compared. Claims are not, because they have their own rules."""
    return (
        memory.status == ACTIVE
        and memory.kind not in (*GROUPS, *RECORDED)
        and "claim" not in memory.extra
    )


def _candidate_pairs(said: Iterable[Prose]) -> set[tuple[str, str]]:
    """Return pairs of memories that may contradict each other."""
    groups: dict[int, list[tuple[str, int]]] = {}
    for one in said:
        for key, stance in statement_keys(one):
            groups.setdefault(key, []).append((one.id, stance))
    pairs: set[tuple[str, str]] = set()
    for group in groups.values():
        if len(pairs) < MAX_PAIRS:
            compared = combinations(sorted(group)[:MAX_GROUP], 2)
            pairs.update(
                (a[0], b[0]) for a, b in compared if a[0] != b[0] and a[1] != b[1]
            )
    return pairs


def statement_keys(said: Prose) -> set[tuple[int, int]]:
    """Return (key, stance) of each sentence. Sentences that contradict each other have one key and two stances.

    The index stores them, so that a prompt compares only the few memories that may contradict each other.
    """
    found = set()
    for one in _all_statements(said):
        found.add(
            (_checksum("words", one.words), _checksum(one.is_negative, one.numbers))
        )
        if one.chosen:
            frame = (
                _checksum("frame", one.frame)
                if one.frame
                else _checksum("title", said.title)
            )
            found.add((frame, _checksum("chosen", one.chosen)))
        for rest in _without_one(one) if one.rejected else ():
            found.add(
                (_checksum("words", rest | one.rejected), _checksum("rejects", ()))
            )
    return found


def _without_one(said: Statement) -> list[frozenset[str]]:
    """Return the words of a statement without those that it rejects, also without its choice or one other word."""
    kept = said.frame | said.chosen
    return [kept, said.frame, *(kept - {word} for word in kept)]


def _checksum(kind: object, words: Iterable[str]) -> int:
    return crc32(f"{kind} {' '.join(sorted(words))}".encode(errors="replace"))


def _all_statements(said: Prose) -> tuple[Statement, ...]:
    return (said.heading, *said.statements) if said.heading else said.statements


def prose_of(memory: Memory) -> Prose:
    """Return the statements of a memory."""
    found = map(read_statement, sentences(memory.body[:MAX_BODY_CHARS], MAX_STATEMENTS))
    return Prose(
        memory.id,
        frozenset(language().stems(memory.title)),
        frozenset(" ".join(condition.lower().split()) for condition in memory.when),
        read_statement(memory.title),
        tuple(one for one in found if one),
        frozenset(id for type, id in memory.links if type == KEPT_BOTH),
    )


def disagreement(one: Prose, other: Prose) -> Disagreement | None:
    """Return two contradicting sentences of two memories, or None."""
    if one.id in other.settled or other.id in one.settled or _are_a_series(one, other):
        return None
    if one.title and one.title == other.title:
        tie, ours, others = TITLE, one.statements, other.statements
    else:
        tie = CONDITION if one.conditions & other.conditions else ""
        ours, others = _all_statements(one), _all_statements(other)
    is_list = max(_free_choices(ours), _free_choices(others)) > 1
    for mine in ours:
        for theirs in others:
            if _contradicts(mine, theirs, tie) and (mine.frame or not is_list):
                return Disagreement(mine.text, theirs.text)
    return None


def _are_a_series(one: Prose, other: Prose) -> bool:
    """Return whether only numbers distinguish the titles, like those of sprint 12 and sprint 13."""
    differing = one.title ^ other.title
    chooses = one.heading and one.heading.chosen
    return (
        bool(differing) and not chooses and all(word[0].isdigit() for word in differing)
    )


def _free_choices(statements: Iterable[Statement]) -> int:
    """Return the number of choices without a purpose: "Use ruff"."""
    return len({said.chosen for said in statements if not said.frame})


def overrules(one: Prose, other: Prose) -> bool:
    """Return whether the first memory, a person's correction, contradicts the second, or rejects what it names."""
    if disagreement(one, other):
        return True
    return any(
        mine.rejected
        and mine.rejected <= theirs.frame | theirs.chosen
        and not theirs.is_negative
        and (not mine.frame or mine.frame & theirs.frame)
        for mine in _all_statements(one)
        for theirs in _all_statements(other)
    )


def _contradicts(one: Statement, other: Statement, tie: str) -> bool:
    if _rejects(one, other, tie) or _rejects(other, one, tie):
        return True
    if one.words == other.words and len(one.words) >= (1 if tie else MIN_WORDS):
        if one.is_negative != other.is_negative:
            return one.numbers == other.numbers
        if one.numbers != other.numbers:
            return (
                len(one.numbers - other.numbers)
                == len(other.numbers - one.numbers)
                == 1
            )
    if (
        one.frame != other.frame
        or one.numbers != other.numbers
        or not (one.chosen and other.chosen)
    ):
        return False
    if one.chosen <= other.chosen or other.chosen <= one.chosen:
        return False
    if not one.frame and tie != TITLE:
        return False
    if not tie and len(one.frame) < MIN_FRAME_WORDS:
        return False
    return max(len(one.chosen), len(other.chosen)) <= MAX_CHOICE_WORDS


def _rejects(one: Statement, other: Statement, tie: str) -> bool:
    """Return whether a statement says the same as another, but with other words instead of those that it rejects."""
    rest = other.words - one.rejected
    if other.is_negative or other.rejected or not one.rejected <= other.words:
        return False
    if (
        not one.rejected
        or one.numbers != other.numbers
        or len(rest) < (1 if tie else MIN_FRAME_WORDS)
    ):
        return False
    return rest in _without_one(one)
