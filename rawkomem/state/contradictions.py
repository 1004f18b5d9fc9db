"""Find memories with nearly equal sentences that contradict each other.

The sentences have the same words, except for a number, a negation, an opposite ("enable", "disable"), the object of
"use X", or what one of them rejects. cues.json has the words of each language.
Other contradictions need a claim: the rules prefer to miss a contradiction over a false alarm.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import chain, combinations, pairwise
from zlib import crc32

from ..model.entries import Entry, Memory
from ..model.values import (
    ACTIVE,
    GROUPS,
    KEPT_BOTH,
    RECORDED,
    TYPE_CHECKING,
    record,
    replace,
)
from ..text.clean import late_regex
from ..text.language import identity, known_languages, language, read_language, word_set
from ..text.prose import sentences

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


with open(
    os.path.join(os.path.dirname(__file__), "cues.json"), encoding="utf-8"
) as _file:
    DATA = json.load(_file)

# unit → what it measures, size
UNITS: dict[str, tuple[str, float]] = DATA["units"]
LATIN_WORD = "[a-z0-9_.+%#/-]*[a-z0-9%]"


@record
class Cues:
    """The words of one language, in lower case."""

    known: frozenset[str]  # words that identify the language
    function_words: frozenset[str]  # they are not compared
    negations: frozenset[str]
    # a second one makes a sentence positive again: "never … without"
    reversing: frozenset[str]
    # what follows in the clause says when a sentence holds
    conditions: frozenset[str]
    limits: frozenset[str]  # function words that are compared
    # compared together with the next word: "from staging"
    relations: frozenset[str]
    choosing: frozenset[str]  # verbs whose object is a choice
    # verbs whose object, or subject after `links`, is no longer used
    rejecting: frozenset[str]
    replacing: frozenset[str]  # what follows is not used
    # after a choice or a comma: what follows is not used
    instead: frozenset[str]
    bounds: frozenset[str]  # words that end an object
    # words in sentences that allow other choices, too
    adding: frozenset[str]
    # words after which a sentence only gives a reason
    reasons: frozenset[str]
    units: frozenset[str]  # a number before or after one is a value
    # a number after one is a value, if it ends an object
    ranks: frozenset[str]
    rank_endings: frozenset[str]  # of a compound word, like "log-level"
    links: frozenset[str]  # words before a state: "is enabled", "to true"
    # a verb after one orders nothing: "to enable …"
    purposes: frozenset[str]
    # opposites: "+" or "-" and their common stem, which may be empty
    states: dict[str, str]
    orders: dict[str, str]  # verbs that start or end a clause
    measures: dict[str, str]  # word → key of UNITS
    numerals: list[str]  # words for 1, 2, 3 …
    phrases: dict[str, str]  # replaced before a sentence is split into words
    link_distance: int = 3  # words from a link to its state
    stemmer: Callable[[list[str]], list[str]] = list  # returns the stem of each word
    signs_per_word: int = 1  # more in a script without spaces

    @property
    def is_unspaced(self) -> bool:
        """Return whether the language is written without spaces."""
        return self.signs_per_word > 1

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return what a text without spaces consists of: known words, Latin words and signs."""
        longest_first = sorted(self.known, key=len, reverse=True)
        return re.compile("|".join((*longest_first, LATIN_WORD, r"\S")))

    def words(self, text: str) -> list[str]:
        """Return the words of a lower-case text, in order."""
        for phrase, word in self.phrases.items():
            text = text.replace(phrase, word)
        return self.pattern.findall(text) if self.is_unspaced else text.split()


# fields whose words identify a language; words like "limit" and "version" are in many languages
IDENTIFYING = (
    "function_words", "negations", "conditions", "choosing", "rejecting", "replacing", "bounds", "adding", "reasons",
    "links", "numerals", "measures", "states", "orders",
)  # fmt: skip


def _read_cues(code: str, table: dict[str, Any]) -> Cues:
    """Return the cues of a language. If `languages/<code>.py` exists, its function words and stems are used."""
    fields: dict[str, Any] = {
        name: word_set(value) if isinstance(value, str) else value
        for name, value in table.items()
    }
    fields["measures"] |= DATA["symbols"]
    fields["numerals"] = table["numerals"].split()
    if code in known_languages():
        spoken = read_language(code)
        fields |= {"function_words": spoken.stop_words, "stemmer": spoken.roots}
    known = frozenset(word for name in IDENTIFYING for word in fields[name])
    if "signs_per_word" in table:
        known |= fields["units"] | fields["ranks"]
    return Cues(known, **fields)


CUES: dict[str, Cues] = {
    code: _read_cues(code, table) for code, table in DATA["languages"].items()
}


def language_of(text: str) -> str:
    """Return the language that most words of a text belong to; English if no language is recognized."""
    text = text.lower()
    spaced = language().words(text)
    counts = {}
    for code, cues in CUES.items():
        is_unspaced = cues.is_unspaced and not text.isascii()
        words = cues.words(text) if is_unspaced else spaced
        counts[code] = len(cues.known.intersection(words))
    return max(CUES, key=counts.__getitem__)


# of a body that are read: a rule is at its beginning, and a later detail outdates no memory
MAX_BODY_CHARS = 600
MAX_STATEMENTS = 6  # per memory
MAX_SENTENCE_WORDS = 30  # a longer sentence says several things
MAX_GROUP = 20  # memories with a common key that are compared with each other
MAX_PAIRS = 3_000  # pairs of memories that are compared
MAX_CHOICE_WORDS = 3  # a choice of more words is a description
MAX_UNIT_ERROR = 0.1  # 1 GB and 1024 MB are equal, and 1 month and 30 days
EDGES = ".!?\"'`*_“”‘’<>。！？"
BREAK = ","
BREAKS = late_regex(r"[()\[\]（）]|[,;:](?=\s|$)|[，；：]")  # they end a clause
# a sentence with one of these is code
CODE_SIGNS = (" = ", "==", "->", "()", '"""', "</")
NUMBER = late_regex(r"[$€£v]?(\d[\d,_]*(?:\.\d+)?)([^\W\d_]*|%)")
DECIMAL = late_regex(r"\d+(?:\.\d+)?")

Value = tuple[str, str]  # number, key of UNITS or empty
Pair = tuple[str, str]  # ids of two memories


@record
class Statement:
    """A sentence as stems."""

    text: str
    # what it states, in parts that a word like "with" separates
    objects: tuple[tuple[str, ...], ...]
    chosen: frozenset[str]
    rejected: frozenset[str]
    # values; a number that names a thing, as in "sprint 12", is a word
    numbers: frozenset[Value]
    is_negative: bool
    signs_per_word: int
    kept: frozenset[str]  # the stems of what it states

    @property
    def frame(self) -> frozenset[str]:
        """Return what it states without its choice."""
        return self.kept - self.chosen

    @property
    def words(self) -> frozenset[str]:
        """Return all its words without numbers."""
        return self.kept | self.rejected


@record
class Word:
    """A word of a sentence."""

    text: str
    role: str  # the field of Cues that has it
    stem: str  # empty for a function word
    value: Value | None


END = Word(BREAK, BREAK, "", None)  # before the first word and after the last
# they have no effect inside a condition
PLAIN_ROLES = (
    "replacing", "instead", "negations", "reversing", "choosing", "rejecting",
)  # fmt: skip
ENDING_ROLES = (BREAK, "relations", "conditions", "bounds")  # they end an object
ROLES = ("reasons", *PLAIN_ROLES, *ENDING_ROLES[1:])  # in this order
MAX_KNOWN_WORDS = 20_000  # size of the cache


@lru_cache(MAX_KNOWN_WORDS)
def read_word(text: str, code: str) -> Word:
    """Return a word of a language."""
    if text == BREAK:
        return END
    cues = CUES[code]
    roles = [name for name in ROLES if text in getattr(cues, name)]
    role = "".join(roles[:1])
    value = _value(text, cues)
    stem = cues.stemmer([text])[0]
    is_compared = value or text in cues.limits or text not in cues.function_words
    return Word(text, role, stem if is_compared else "", value)


def _value(text: str, cues: Cues) -> Value | None:
    """Return a number, with its unit if both are one word; None for any other word and for a date."""
    if text in cues.numerals:
        return str(cues.numerals.index(text) + 1), ""
    match = NUMBER.fullmatch(text)
    if match:
        number = match[1].replace(",", "").replace("_", "")
        unit = cues.measures.get(match[2], "")
        return (number, unit) if unit else (number + match[2], "")
    digits = text.lstrip("$€£v")
    is_number = digits[:1].isdigit() and "-" not in text and "/" not in text
    return (digits, "") if is_number else None


FRAME = "frame"
CHOSEN = "chosen"
REJECTED = "rejected"
MARK = "="  # before the stem of opposites
REQUIRED = "+required"  # a state in Cues


class Object(list[str]):
    """Stems of a sentence that belong together."""

    place = FRAME


def read_statement(sentence: str, code: str) -> Statement | None:
    """Return the statement of a sentence; None for code and for a sentence that is too long."""
    cues = CUES[code]
    parts = cues.words(BREAKS.sub(f" {BREAK} ", sentence.lower()))
    texts = [text for part in parts if (text := part.strip(EDGES))]
    is_code = any(sign in sentence for sign in CODE_SIGNS)
    if is_code or not 0 < len(texts) <= MAX_SENTENCE_WORDS * cues.signs_per_word:
        return None
    reader = _Reader(cues, [END, *(read_word(text, code) for text in texts), END])
    reader.read()
    objects = [tuple(part) for part in reader.objects if part.place != REJECTED]
    chosen = reader.stems(CHOSEN) if cues.adding.isdisjoint(texts) else frozenset()
    rejected = reader.stems(REJECTED)
    return Statement(
        sentence,
        tuple(objects),
        chosen,
        rejected,
        frozenset(reader.numbers),
        reader.negated != reader.reversed,
        cues.signs_per_word,
        frozenset(chain.from_iterable(objects)) - (rejected - chosen),
    )


class _Reader:
    """Reads the words of a sentence, one after the other."""

    def __init__(self, cues: Cues, words: list[Word]):
        self.cues = cues
        self.words = words
        self.objects = [Object()]
        self.numbers: set[Value] = set()
        self.clause = 0  # number of the clause's first object
        self.negated = self.reversed = self.denied = self.in_condition = False
        self.relation = ""  # the word before, if it belongs to the next one

    def stems(self, place: str) -> frozenset[str]:
        """Return the stems at a place."""
        return frozenset(
            stem for part in self.objects if part.place == place for stem in part
        )

    def read(self) -> None:
        """Read all words, until one that starts a reason."""
        before = ""  # the word before, if it is compared
        unit = ""  # of the number before
        for at, word in enumerate(self.words[1:-1], 1):
            role = self._role(at)
            last = before
            opposite = self._opposite(at)
            before = ""
            if role == "reasons":
                break
            if unit:  # this word is the unit
                unit = ""
            elif opposite:
                self._add(opposite.strip("+-") and MARK + opposite[1:])
                self.reversed ^= opposite[0] == "-"
            elif word.value and not role and self._is_value(at, word.value[1], last):
                number, own = word.value
                if not own and DECIMAL.fullmatch(number):
                    unit = self.cues.measures.get(self.words[at + 1].text, "")
                self.numbers.add((number, own or unit))
                self._add(UNITS[own or unit][0])
            elif role:
                self._turn(role, at)
            elif word.stem or (self.in_condition and self._is_plain(word)):
                if self.cues.is_unspaced and last.isascii() != word.text.isascii():
                    self._start()  # without a space: "使用 npm 安装"
                self._add(word.stem or word.text)
                before = word.text

    def _role(self, at: int) -> str:
        """Return the role of a word at its place."""
        word = self.words[at]
        if self.in_condition and self._is_plain(word):
            return ""
        follows = self.objects[0] and self.words[at - 1] is END
        if word.role != "instead" or follows or self.stems(CHOSEN):
            return word.role
        return "negations" if word.text in self.cues.negations else ""

    def _is_plain(self, word: Word) -> bool:
        """Return whether a word is compared as it is inside a condition."""
        return word.role in PLAIN_ROLES or word.text in self.cues.states

    def _opposite(self, at: int) -> str:
        """Return the opposite of Cues that a word is: a state as in "is enabled", or an order as in "enable it"."""
        before, word, after = self.words[at - 1 : at + 2]
        state = self.cues.states.get(word.text, "")
        order = self.cues.orders.get(word.text, "")
        if self.in_condition or not (state or order):
            return ""
        describes = after.stem and not after.role  # "enabled flags"
        is_alone = before is after is END  # "debug: true"
        if is_alone or (self._is_linked(at, self.cues.link_distance) and not describes):
            return state
        is_first = not any(self.objects[self.clause :]) and not self.relation
        is_order = is_first or after is END or self.cues.is_unspaced
        return order if is_order and before.text not in self.cues.purposes else ""

    def _is_linked(self, at: int, distance: int) -> bool:
        """Return whether one of the words before says that this one is a state."""
        start = max(0, at - distance)
        return any(word.text in self.cues.links for word in self.words[start:at])

    def _is_value(self, at: int, unit: str, before: str) -> bool:
        """Return whether a number is a value. Others name a thing, like "sprint 12"."""
        after = self.words[at + 1]
        units = {before, after.text} & self.cues.units
        if units or after.text in self.cues.measures or unit:
            return True
        if self.in_condition or not before:
            return not self.in_condition
        return self._is_rank(before) and self._is_set(at, before)

    def _is_rank(self, before: str) -> bool:
        """Return whether the number after a word is a rank: "level 2", "log-level 2", "nivel de log 2"."""
        of_name = {part[-1] for part in self.objects[-2:-1] if part}
        is_word = before in self.cues.ranks or not of_name.isdisjoint(self.cues.ranks)
        return is_word or before.endswith(tuple(self.cues.rank_endings))

    def _is_set(self, at: int, before: str) -> bool:
        """Return whether the sentence sets the rank at a place: "run at level 2", "log level 2 is used"."""
        after = self.words[at + 1]
        is_named = len(self.objects[-1]) > 1 or before not in self.cues.ranks
        if after.role not in ENDING_ROLES:  # the end: "wird mit Stufe 2 komprimiert"
            is_last = self.words[at + 2] is END
            return is_last and self._is_linked(at, self.cues.link_distance)
        if after.text not in self.cues.links:
            return is_named or sum(map(len, self.objects)) > 1
        clause = self.words[at : self.words.index(END, at)]
        return is_named and any(map(self._is_choice, clause))

    def _is_choice(self, word: Word) -> bool:
        """Return whether a word after "is" says that something is used."""
        return word.role == "choosing" or self.cues.states.get(word.text) == REQUIRED

    def _turn(self, role: str, at: int) -> None:
        """Change the place of the next words, or the meaning of the sentence."""
        word = self.words[at]
        if role in ENDING_ROLES:
            self._start()
        if role == BREAK:
            self.objects[-1].place, self.clause = FRAME, len(self.objects) - 1
            self.denied = self.in_condition = False
        elif role == "relations":
            self.relation = f"{word.text} "
        elif role == "conditions":
            self._add(word.text)
            self.in_condition = True
        elif role in ("replacing", "instead"):
            self._start(REJECTED)
        elif role == "reversing":
            self.reversed = not self.reversed
        elif role == "choosing" and not self._has_only_subject(at):
            self._start(REJECTED if self.denied else CHOSEN)
        elif role == "negations":
            self.negated = self.denied = True
            if self.objects[-1].place == CHOSEN:  # "use no X"
                self.objects[-1].place = REJECTED
        elif role == "rejecting":
            self._reject(at)

    def _has_only_subject(self, at: int) -> bool:
        """Return whether a verb has a subject and no object: "Redis is used for sessions"."""
        is_end = self.words[at + 1].role in ENDING_ROLES
        return is_end and any(self.objects[self.clause :])

    def _reject(self, at: int) -> None:
        """Reject the words before "was removed", or those after "remove"."""
        before, after = self.words[at - 1], self.words[at + 1]
        if after is END and before.text in self.cues.purposes:
            return  # a kind of thing, as in "mistakes to avoid"
        if self._is_linked(at, 2):
            for part in self.objects[self.clause :]:
                part.place = REJECTED if part.place == FRAME else part.place
        elif after is END:  # a name, as in "episode remove"
            self._add(self.words[at].stem)
            return
        else:
            self._start(REJECTED)
        self.negated = self.denied = True

    def _add(self, stem: str) -> None:
        if stem:
            part = self.objects[-1]
            part.append(self.relation + stem if part.place == FRAME else stem)
            self.relation = ""

    def _start(self, place: str = FRAME) -> None:
        """Start an object. If the last one has no words, it goes on: in "instead of X", the object follows."""
        if self.objects[-1]:
            self.objects.append(Object())
        if place != FRAME:
            self.objects[-1].place = place


# Compare the statements of memories.

# what two memories have in common
TITLE = "title"
CONDITION = "condition"
MIN_WORDS = {TITLE: 1, CONDITION: 2, "": 3}  # that their sentences must share
MIN_FRAME_WORDS = {TITLE: 0, CONDITION: 1, "": 2}  # … besides their choices


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


def contradictions(
    memories: Iterable[Memory], pairs: Iterable[Pair] | None = None
) -> list[Contradiction]:
    """Return the contradictions between memories, sorted by the id of the newer memory.

    `pairs` are the results of `opposed_pairs` for these memories, if they are known.
    """
    by_id = {memory.id: memory for memory in memories if has_comparable_prose(memory)}
    prose = {id: prose_of(memory) for id, memory in by_id.items()}
    if pairs is None:
        pairs = opposed_pairs(
            (one.id, *key)
            for one in prose.values()
            for key in sorted(statement_keys(one))
        )
    found = []
    for pair in pairs:
        newer, older = sorted(
            (by_id[id] for id in pair), key=lambda memory: (-memory.worded, memory.id)
        )
        difference = disagreement(prose[newer.id], prose[older.id])
        if difference:
            found.append(Contradiction(newer, older, difference))
    return sorted(found, key=lambda one: (one.newer.id, one.older.id))


def has_comparable_prose(memory: Memory) -> bool:
    """Return whether a memory's prose is compared. Claims are not, because they have their own rules."""
    return (
        memory.status == ACTIVE
        and memory.kind not in (*GROUPS, *RECORDED)
        and "claim" not in memory.extra
    )


def opposed_pairs(keys: Iterable[tuple[str, int, int]]) -> set[Pair]:
    """Return pairs of memories that may contradict each other, from (memory, key, stance) of their sentences."""
    groups: dict[int, list[tuple[str, int]]] = {}
    for id, key, stance in keys:
        groups.setdefault(key, []).append((id, stance))
    pairs: set[Pair] = set()
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
    keys = set()
    for one in _all_statements(said):
        role = "rejects" if one.rejected else "states"
        stance = _checksum(f"{role} {one.is_negative}", one.numbers)
        for rest in _without_one_object(one) if one.rejected else [one.kept]:
            if words := rest | one.rejected:
                keys.add((_checksum("words", words), stance))
        if one.chosen:
            if one.frame:
                frame = _checksum("frame", one.frame)
            else:
                frame = _checksum("title", said.title)
            keys.add((frame, _checksum("chosen", one.chosen)))
    return keys


def _without_one_object(said: Statement) -> list[frozenset[str]]:
    """Return what a statement states, also without its choice, one other object or one word."""
    objects = [part for part in said.objects if len(part) <= MAX_CHOICE_WORDS]
    left_out = [
        said.chosen,
        *map(frozenset, objects),
        *(frozenset((word,)) for word in said.kept),
    ]
    return [said.kept, *(said.kept - words for words in left_out)]


def _checksum(kind: object, words: Iterable[object]) -> int:
    text = " ".join(sorted(map(str, words)))
    return crc32(f"{kind} {text}".encode(errors="replace"))


def _all_statements(said: Prose) -> tuple[Statement, ...]:
    return (said.heading, *said.statements) if said.heading else said.statements


def prose_of(memory: Memory) -> Prose:
    """Return the statements of a memory."""
    body = memory.body[:MAX_BODY_CHARS]
    code = language_of(body)
    read = (
        read_statement(sentence, code) for sentence in sentences(body, MAX_STATEMENTS)
    )
    statements = [one for one in read if one]
    joined = [
        _joined(*pair)
        for pair in pairwise(statements)
        if pair[1].rejected and not pair[1].kept
    ]
    heading = read_statement(memory.title, language_of(memory.title))
    if heading and memory.title.endswith(")"):
        # what is in brackets says where the rule is from, not what the choice is for: "Prefer early returns (Style)"
        heading = replace(heading, chosen=frozenset())
    return Prose(
        memory.id,
        frozenset(language().stems(memory.title)),
        frozenset(map(identity, memory.when)),
        heading,
        (*statements, *joined),
        frozenset(id for type, id in memory.links if type == KEPT_BOTH),
    )


def _joined(said: Statement, rejecting: Statement) -> Statement:
    """Return a statement that also rejects what the next sentence rejects: "X is gone.\""""
    rejected = said.rejected | rejecting.rejected
    kept = said.kept - (rejected - said.chosen)
    return replace(said, rejected=rejected, is_negative=True, kept=kept)


def disagreement(one: Prose, other: Prose) -> Disagreement | None:
    """Return two contradicting sentences of two memories, or None."""
    if one.id in other.settled or other.id in one.settled or _are_a_series(one, other):
        return None
    if one.title and one.title == other.title:
        tie = TITLE
        ours = one.statements
        others = other.statements
    else:
        tie = CONDITION if one.conditions & other.conditions else ""
        ours = _all_statements(one)
        others = _all_statements(other)
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
    """Return whether the first memory, a person's correction, contradicts the second, or rejects what it names.

    A memory that rejects the same, or names what the correction chooses, gives a reason for it: "npm breaks the
    lockfile; pnpm is the package manager" agrees with "use pnpm, never npm".
    """
    if disagreement(one, other):
        return True
    others = _all_statements(other)
    return any(
        mine.rejected
        and mine.rejected <= theirs.frame | theirs.chosen
        and not theirs.is_negative
        and (not mine.frame or mine.frame & theirs.frame)
        and not any(_agrees(mine, said) for said in others)
        for mine in _all_statements(one)
        for theirs in others
    )


def _agrees(one: Statement, other: Statement) -> bool:
    """Return whether a statement rejects what another rejects, or names what it chooses."""
    if one.rejected <= other.rejected:
        return True
    if other.is_negative:
        return one.rejected <= other.words
    return bool(one.chosen) and one.chosen <= other.kept


def _contradicts(one: Statement, other: Statement, tie: str) -> bool:
    if _rejects(one, other, tie) or _rejects(other, one, tie):
        return True
    if one.words == other.words and _has_enough(one.words, MIN_WORDS[tie], one):
        if one.is_negative != other.is_negative:
            return one.numbers == other.numbers
        mine = one.numbers - other.numbers
        theirs = other.numbers - one.numbers
        if len(mine) == len(theirs) == 1:
            return _differ(*mine, *theirs)
    if one.frame != other.frame or one.numbers != other.numbers:
        return False
    ours = one.chosen - other.chosen
    others = other.chosen - one.chosen
    if not ours or not others or one.is_negative != other.is_negative:
        return False
    if not _has_enough(one.frame, MIN_FRAME_WORDS[tie], one):
        return False
    if not one.frame:  # more than a name is a description, like "small stores"
        return len(ours) == len(others) == 1
    longest = max(len(one.chosen), len(other.chosen))
    return longest <= MAX_CHOICE_WORDS * one.signs_per_word


def _has_enough(words: frozenset[str], min_words: int, said: Statement) -> bool:
    """Return whether there are enough words; marks do not count. In a script without spaces, signs are counted."""
    signs = said.signs_per_word
    counted = [word for word in words if not word.startswith(MARK)]
    if signs > 1:
        amount = sum(signs if word.isascii() else len(word) for word in counted)
        return amount >= min_words * signs
    return len(counted) >= min_words


def _differ(one: Value, other: Value) -> bool:
    """Return whether two values differ. Different units are converted."""
    if one[1] == other[1]:
        return True
    amount, others = (float(number) * UNITS[unit][1] for number, unit in (one, other))
    return abs(amount - others) > MAX_UNIT_ERROR * max(amount, others)


def _rejects(one: Statement, other: Statement, tie: str) -> bool:
    """Return whether a statement says the same as another, but with other words instead of those that it rejects."""
    if not one.rejected or other.is_negative or other.rejected:
        return False
    if not one.rejected <= other.words or one.numbers != other.numbers:
        return False
    rest = other.words - one.rejected
    min_words = MIN_FRAME_WORDS[tie] if rest or other.chosen else 1
    return _has_enough(rest, min_words, one) and rest in _without_one_object(one)


MAX_TIES = 3


def contradicted_memories(entry: Entry, memories: Iterable[Memory]) -> list[Memory]:
    """Return the first MAX_TIES memories that a new entry contradicts, in the order of `memories`."""
    said = prose_of(
        Memory(id="new", title=entry.title, body=entry.body, when=entry.when)
    )
    found = (
        memory
        for memory in memories
        if has_comparable_prose(memory) and overrules(said, prose_of(memory))
    )
    return [*found][:MAX_TIES]
