"""Tells whether a whenToUse condition fires on a text, which part of it does, and what `check` says about it."""

from __future__ import annotations

from ..model.problem import Problem, error, warning
from ..model.record import record, replace
from .clean import clean
from .condition import ALTERNATIVES, ENGINE, PATHS, PHRASE, REFUSED, REGEX, WORDS, Condition, Engine, read_condition
from .language import language
from .overlap import enough, named, specific
from .paths import fits, mentioned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PATTERNS = 32  # more conditions than that make a memory fire on anything
MAX_TEXT_CHARS = 10_000  # the subject of a task stands in its beginning
SHORT_WORD_CHARS = 2  # `go` and `ui` are looked for as words: as parts of words they are everywhere
MAX_SHOWN_CHARS = 40  # of a pattern in a message
ALTERNATIVE, PATH, LINK, PASTED = "alternative", "path", "link", "pasted"  # beside GLOB, PHRASE, REGEX and WORDS: how something fired
SENTENCES = {REGEX: "regex", WORDS: "words: {}", LINK: "linked from {}", PASTED: "in the pasted text: {}"}  # the others: "{how} {text!r}"
# Sentences about nothing in common: a condition that fires on two of them fires on letters, not on a subject.
EVERYDAY = (
    "several musicians travelled south for the winter festival",
    "his uncle repaired broken clocks inside a mountain village",
    "the gardener painted her wooden fence orange before breakfast",
    "they watched sailing boats drift beyond the quiet harbour",
)


@record
class Fired:
    """The part of a condition that fired: `how` is a code to decide by, `text` the part itself."""

    how: str
    text: str = ""

    @property
    def sentence(self) -> str:
        """Return the sentence for a reader."""
        return SENTENCES[self.how].format(self.text) if self.how in SENTENCES else f"{self.how} {self.text!r}"


@record
class Situation:
    """A clean text, taken apart once for many conditions, and the engine that searches it for their regexes."""

    text: str
    lower: str
    lines: tuple[str, ...]
    words: frozenset[str]
    stems: frozenset[str]
    paths: tuple[str, ...]
    engine: Engine


def situation_of(text: str, engine: Engine | None = None) -> Situation:
    """Return a clean text as conditions see it: cut, in lower case, with its words, stems and paths.

    Texts about one task share its `engine`, and so its budget.
    """
    text = text[:MAX_TEXT_CHARS]
    lower = text.lower()
    lines = tuple(" ".join(line.split()) for line in lower.split("\n"))
    found = frozenset(language().words(text))
    stems, paths = frozenset(specific(text)), tuple(mentioned(lower))
    return Situation(text, " ".join(lower.split()), lines, found, stems, paths, engine or Engine())


def match(pattern: str, text: str) -> Fired | None:
    """Return the part of a pattern that fires on a text; None when no part does."""
    return fires(read_condition(pattern), situation_of(clean(text)))


def fires(condition: Condition, situation: Situation) -> Fired | None:
    """Return the part of a condition that fires in a situation; None when no part does."""
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
    """Return whether a condition fires on the subject of a situation, not on words or letters that any text holds."""
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
    """Return what `check` says about a memory's conditions."""
    given = list(patterns)
    found = []
    if len(given) > MAX_PATTERNS:
        message = f"whenToUse has {len(given)} patterns: {MAX_PATTERNS} at most"
        hint = "join related words with | or keep the few that matter"
        found.append(error("too-many-conditions", message, hint, line))
    for pattern in given[:MAX_PATTERNS]:
        shown = clean(pattern)[:MAX_SHOWN_CHARS]
        for note in read_condition(pattern).notes:
            found.append(warning(note.code, f"whenToUse {shown!r} {note.text}", note.hint, line))
    return found


def _pieces_fire(condition: Condition, situation: Situation) -> Fired | None:
    form = condition.form
    how = ALTERNATIVE if form == ALTERNATIVES else form
    for pieces in condition.parts:
        if _word_fires(pieces[0], situation) if form in (ALTERNATIVES, PHRASE) else _gaps_fire(pieces, situation):
            return Fired(how, "*".join(pieces))
    return None


def _word_fires(piece: str, situation: Situation) -> bool:
    if len(piece) <= SHORT_WORD_CHARS and piece.isascii() and piece.isalnum():
        return piece in situation.words
    return piece in situation.lower


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
