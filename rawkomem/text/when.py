"""Test whether a whenToUse condition fires on a text, and find problems with conditions for `rawkomem check`."""

from __future__ import annotations

from ..model.problem import Problem, error, warning
from ..model.record import record, replace
from .clean import clean
from .condition import (
    ALTERNATIVES,
    ENGINE,
    GLOB,
    MIN_BASE_CHARS,
    MIN_STEM_CHARS,
    PATHS,
    PHRASE,
    PIECES,
    REFUSED,
    REGEX,
    WORDS,
    Condition,
    Engine,
    Note,
    bases,
    parts_of,
    read_condition,
)
from .language import language
from .overlap import enough, named, specific
from .paths import fits, mentioned
from .scripts.compounds import spelled_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PATTERNS = 32  # a memory with more conditions would fire on anything
MAX_TEXT_CHARS = 10_000  # of a task, from its start, which names its subject
LAST_SPACED = 0x52F  # up to here are Latin, Greek and Cyrillic letters, whose scripts have spaces between words
MAX_ENDING_CHARS = 3  # that a form of a word may add, in other languages than English
MAX_SHOWN_CHARS = 40  # of a pattern in a message
ALTERNATIVE, PATH, LINK, PASTED, RECENT = (
    "alternative",
    "path",
    "link",
    "pasted",
    "recent",
)  # ways of firing, besides GLOB, PHRASE, REGEX and WORDS
SENTENCES = {
    REGEX: "regex",
    WORDS: "words: {}",
    LINK: "linked from {}",
    PASTED: "in pasted text: {}",
    RECENT: "just before: {}",
}
# All other ways of firing are described as "{how} {text!r}".
# Sentences without a common subject: a condition that fires on two of them fires on letters, not on a subject.
EVERYDAY = (
    "several musicians travelled south for the winter festival",
    "his uncle repaired broken clocks inside a mountain village",
    "the gardener painted her wooden fence orange before breakfast",
    "they watched sailing boats drift beyond the quiet harbour",
)


COMMON_HINT = "name a subject instead"
UNBALANCED_HINT = "close each bracket, or write plain alternatives: login|sign in"


@record
class Fired:
    """The part of a condition that fired: `how` is a code for programs, `text` is the part itself."""

    how: str
    text: str = ""

    @property
    def sentence(self) -> str:
        """Return a description for people."""
        return SENTENCES[self.how].format(self.text) if self.how in SENTENCES else f"{self.how} {self.text!r}"


@record
class Situation:
    """A clean text, split once for many conditions, and the engine that searches it for their regexes."""

    text: str
    lower: str  # on one line; then each compound name, split into words, on its own line
    lines: tuple[str, ...]
    words: frozenset[str]  # with the parts of camelCase words, and with base forms
    stems: frozenset[str]
    paths: tuple[str, ...]
    engine: Engine


def situation_of(text: str, engine: Engine | None = None) -> Situation:
    """Return a clean text prepared for conditions: cut, in lower case, with its words, stems and paths.

    Texts of one task share its `engine`, and so its time budget.
    """
    text = text[:MAX_TEXT_CHARS]
    lower = text.lower()
    lines = tuple(" ".join(line.split()) for line in lower.split("\n"))
    found = frozenset(base for word in parts_of(text) for base in bases(word))
    stems, paths = frozenset(specific(text)), tuple(mentioned(lower))
    names = "".join(f" \n {name}" for name in spelled_out(text)).lower()
    return Situation(text, " ".join(lower.split()) + names, lines, found, stems, paths, engine or Engine())


def match(pattern: str, text: str) -> Fired | None:
    """Return the part of a pattern that fires on a text; None if no part does."""
    return fires(read_condition(pattern), situation_of(clean(text)))


def fires(condition: Condition, situation: Situation) -> Fired | None:
    """Return the part of a condition that fires in a situation; None if no part does."""
    if condition.form == REFUSED:
        return None
    if condition.how == WORDS:
        return _words_fire(condition, situation)
    if condition.how == PATHS:
        found = (path for (glob,) in condition.parts for path in situation.paths if fits(glob, path))
        return next((Fired(PATH, path) for path in found), None)
    if condition.how == ENGINE:
        return _engine_fires(condition, situation)
    return _pieces_fire(condition, situation)


def fires_on_subject(condition: Condition, situation: Situation, subject: Situation) -> bool:
    """Return whether a condition fires on the subject of a situation, not on words or letters of any text."""
    if condition.how == PATHS:
        return bool(fires(condition, situation))
    return bool(fires(condition, subject)) and everyday_hits(condition) < 2


_everyday: list[Situation] = []


def everyday_hits(condition: Condition) -> int:
    """Return how many of the EVERYDAY sentences a condition fires on."""
    _everyday[:] = _everyday or map(situation_of, EVERYDAY)
    engine = Engine()
    return sum(bool(fires(condition, replace(sentence, engine=engine))) for sentence in _everyday)


def problems_of(patterns: Iterable[str], line: int = 1) -> list[Problem]:
    """Return the problems that `rawkomem check` reports about a memory's conditions."""
    given = list(patterns)
    found = []
    if len(given) > MAX_PATTERNS:
        message = f"whenToUse has {len(given)} patterns: {MAX_PATTERNS} at most"
        hint = "join related words with | or keep the few that matter"
        found.append(error("too-many-conditions", message, hint, line))
    for pattern in given[:MAX_PATTERNS]:
        shown = clean(pattern)[:MAX_SHOWN_CHARS]
        for note in read_condition(pattern).notes:
            found.append(warning(note.code, f"whenToUse {shown!r} {note.text}", note.hint, line, quote=pattern))
    return found


def why_unusable(pattern: str) -> Note | None:
    """Return why a pattern must not be stored: it would never fire, fire on everything, or mean something else.

    None if it may be stored.
    """
    condition = read_condition(pattern)
    if condition.form == REFUSED:
        return condition.notes[-1]
    return next((note for note in condition.notes if note.code in ("bad-regex", "backspace")), _unbalanced(condition))


def _unbalanced(condition: Condition) -> Note | None:
    """Return a note if the numbers of opening and closing brackets differ; else None."""
    if condition.form == REGEX or condition.how in (WORDS, PATHS):
        return None
    text = condition.text
    odd = next((pair for pair in ("()", "[]") if text.count(pair[0]) != text.count(pair[1])), "")
    return Note("bad-regex", f"has different numbers of {odd[0]!r} and {odd[1]!r}", UNBALANCED_HINT) if odd else None


def warnings_about(patterns: Iterable[str]) -> list[str]:
    """Return a sentence with a hint for each pattern that fires on words of nearly every task."""
    return [f"{said}: {COMMON_HINT}" for pattern in patterns if (said := why_too_common(pattern))]


def why_too_common(pattern: str) -> str:
    """Return a sentence if a pattern fires on words of nearly every task; else empty."""
    common = _common(read_condition(pattern))
    return f"whenToUse {clean(pattern)[:MAX_SHOWN_CHARS]!r} fires on nearly every task ({common})" if common else ""


def _common(condition: Condition) -> str:
    """Return a common word that alone makes a condition fire; empty if there is none."""
    if condition.form in (ALTERNATIVES, PHRASE, REGEX, GLOB) and condition.how == PIECES:
        spoken = language()
        for pieces in condition.parts:
            words = spoken.words(" ".join(pieces))
            if len(words) == 1 and (spoken.is_stop(words[0]) or spoken.stem(words[0]) in spoken.generic_stems):
                return f"the word {words[0]!r}"
    return "the letters of any word" if everyday_hits(condition) > 1 else ""


def _pieces_fire(condition: Condition, situation: Situation) -> Fired | None:
    form = condition.form
    how = ALTERNATIVE if form == ALTERNATIVES else form
    for pieces in condition.parts:
        if _word_fires(pieces[0], situation) if len(pieces) == 1 else _gaps_fire(pieces, situation):
            return Fired(how, "*".join(pieces))
    return None


def _word_fires(piece: str, situation: Situation) -> bool:
    """Return whether a text contains a word or a phrase as whole words; the last word may have an ending."""
    if piece.isascii() and piece.isalnum():
        return not situation.words.isdisjoint(bases(piece)) or _is_stem(piece, situation)
    if piece not in situation.lower:
        return False
    if any(ord(c) > LAST_SPACED and c.isalpha() for c in piece):
        return True
    at = situation.lower.find(piece)
    while at >= 0:
        if _stands_alone(situation.lower, at, at + len(piece), piece.isascii()):
            return True
        at = situation.lower.find(piece, at + 1)
    return False


def _is_stem(word: str, situation: Situation) -> bool:
    root = language().roots([word])[0]
    return len(root) >= MIN_STEM_CHARS and root in situation.stems and root[:MIN_BASE_CHARS] == word[:MIN_BASE_CHARS]


def _stands_alone(text: str, start: int, end: int, ascii: bool) -> bool:
    """Return whether a part of a text consists of whole words; the last one may have an ending."""
    if text[start].isalnum() and text[start - 1 : start].isalnum():
        return False
    if not text[end - 1].isalnum():
        return True
    last = end
    while last < len(text) and text[last].isalnum():
        last += 1
    ending = text[end:last]
    return ending in ("", "s", "es", "ed", "ing", "d") if ascii else len(ending) <= MAX_ENDING_CHARS


def _gaps_fire(pieces: tuple[str, ...], situation: Situation) -> bool:
    held = all(piece in situation.lower for piece in pieces)
    return held and any(_in_order(pieces, line) for line in situation.lines)


def _in_order(pieces: tuple[str, ...], line: str) -> bool:
    at = 0
    for piece in pieces:
        at = line.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _engine_fires(condition: Condition, situation: Situation) -> Fired | None:
    if situation.engine.finds(condition, situation.text):
        return Fired(REGEX)
    return _phrase_fires(condition, situation)


def _words_fire(condition: Condition, situation: Situation) -> Fired | None:
    for stems in condition.parts:
        shared = situation.stems.intersection(stems)
        if len(shared) >= enough(len(stems)):
            return Fired(WORDS, named(condition.text, shared))
    return _phrase_fires(condition, situation)


def _phrase_fires(condition: Condition, situation: Situation) -> Fired | None:
    return Fired(PHRASE, condition.phrase) if condition.phrase in situation.lower else None
