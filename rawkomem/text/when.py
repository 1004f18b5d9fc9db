"""whenToUse: whether a condition fires on a task, and what `check` says about it."""

from __future__ import annotations

from ..model.problem import Problem, error, warning
from ..model.record import record
from .clean import clean
from .condition import (
    ALTERNATIVES,
    ENGINE,
    PATHS,
    PHRASE,
    REFUSED,
    REGEX,
    WORDS,
    Condition,
    compiled,
    pack,
    read_condition,
    unpack,
)
from .language import language, language_cache
from .overlap import enough, named, specific, subject
from .paths import fits, mentioned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Condition",
    "fires",
    "fires_on_subject",
    "match",
    "pack",
    "prepare",
    "problems_of",
    "read_condition",
    "unpack",
]

MOST_PATTERNS = 32  # more conditions than that make a memory fire on anything
TASK_LENGTH = 10_000  # the subject of a task stands in its beginning
SHORT_WORD = 2  # `go` and `ui` are looked for as words: as parts of words they are everywhere
PREPARED = 8  # texts kept ready: a task, its subject, the everyday sentences
# Sentences about nothing in common: a condition that fires on two of them fires on letters, not on a subject.
EVERYDAY = (
    "several musicians travelled south for the winter festival",
    "his uncle repaired broken clocks inside a mountain village",
    "the gardener painted her wooden fence orange before breakfast",
    "they watched sailing boats drift beyond the quiet harbour",
)


@record
class Task:
    """A task's text, prepared once for many conditions."""

    text: str
    lower: str
    lines: tuple[str, ...]
    words: frozenset[str]
    stems: frozenset[str]
    paths: tuple[str, ...]


def match(pattern: str, text: str) -> str:
    """Which part of a pattern fires on a text, in words; empty when none does."""
    return fires(read_condition(pattern), text)


def fires(condition: Condition, task: str) -> str:
    """Which part of a condition fires on a task, in words; empty when none does."""
    if condition.form == REFUSED:
        return ""
    ready = prepare(task)
    if condition.how == WORDS:
        return _words_fire(condition, ready)
    if condition.how == PATHS:
        return _path_fires(condition, ready)
    if condition.how == ENGINE:
        return _engine_fires(condition, ready)
    return _pieces_fire(condition, ready)


def fires_on_subject(condition: Condition, task: str) -> bool:
    """Whether a condition fires on what a task is about, rather than on words or letters that any task holds."""
    if condition.how == PATHS:
        return bool(fires(condition, task))
    if not fires(condition, subject(task)):
        return False
    return sum(bool(fires(condition, sentence)) for sentence in EVERYDAY) < 2


def problems_of(patterns: Iterable[str], line: int = 1) -> list[Problem]:
    """What `check` says about a memory's conditions."""
    given = list(patterns)
    found = []
    if len(given) > MOST_PATTERNS:
        message = f"whenToUse has {len(given)} patterns: {MOST_PATTERNS} at most"
        found.append(error(message, "join related words with | or keep the few that matter", line))
    for pattern in given[:MOST_PATTERNS]:
        shown = clean(pattern)[:40]
        for note in read_condition(pattern).notes:
            found.append(warning(f"whenToUse {shown!r} {note}", _hint(note), line))
    return found


def _hint(note: str) -> str:
    if "RE2" in note:
        return "look-around and back-references are not supported; write alternatives: login|sign.?in"
    return "say which words of a task should bring this memory up, such as: auth|login|security"


_ready: dict[str, Task] = language_cache()  # one task meets many conditions


def prepare(task: str) -> Task:
    """A task as conditions see it: cleaned, cut, in lower case, with its words and stems."""
    if task in _ready:
        return _ready[task]
    text = clean(task[:TASK_LENGTH])
    lower = text.lower()
    lines = tuple(" ".join(line.split()) for line in lower.split("\n"))
    said = frozenset(language().words(text))
    ready = Task(text, " ".join(lower.split()), lines, said, frozenset(specific(text)), tuple(mentioned(lower)))
    if len(_ready) >= PREPARED:
        _ready.clear()
    _ready[task] = ready
    return ready


def _pieces_fire(condition: Condition, task: Task) -> str:
    form = condition.form
    for pieces in condition.parts:
        if _word_fires(pieces[0], task) if form in (ALTERNATIVES, PHRASE) else _gaps_fire(pieces, task):
            shown = "*".join(pieces)
            return "regex" if form == REGEX else f"{'alternative' if form == ALTERNATIVES else form} {shown!r}"
    return ""


def _word_fires(piece: str, task: Task) -> bool:
    if len(piece) <= SHORT_WORD and piece.isascii() and piece.isalnum():
        return piece in task.words
    return piece in task.lower


def _gaps_fire(pieces: tuple[str, ...], task: Task) -> bool:
    return all(piece in task.lower for piece in pieces) and any(_in_order(pieces, line) for line in task.lines)


def _in_order(pieces: tuple[str, ...], line: str) -> bool:
    at = 0
    for piece in pieces:
        at = line.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _engine_fires(condition: Condition, task: Task) -> str:
    regex, _ = compiled(condition.parts[0][0])
    if regex is not None and regex.search(task.text):
        return "regex"
    return _phrase_fires(condition, task)


def _path_fires(condition: Condition, task: Task) -> str:
    for (glob,) in condition.parts:
        for path in task.paths:
            if fits(glob, path):
                return f"path {path!r}"
    return ""


def _words_fire(condition: Condition, task: Task) -> str:
    for stems in condition.parts:
        shared = task.stems.intersection(stems)
        if len(shared) >= enough(len(stems)):
            return "words: " + named(condition.text, shared)
    return _phrase_fires(condition, task)


def _phrase_fires(condition: Condition, task: Task) -> str:
    return f"phrase {condition.phrase!r}" if condition.phrase in task.lower else ""
