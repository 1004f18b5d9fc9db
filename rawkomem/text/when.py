"""whenToUse: how a condition is read, whether it fires on a task, and what `check` says about it."""

from __future__ import annotations

from ..model.problem import Problem, error, warning
from ..model.record import record, replace
from .clean import clean
from .overlap import body, clauses, enough, is_language, named, specific
from .paths import fits, is_file_glob, mentioned, spell_out
from .stem import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

MOST_PATTERNS = 32  # more conditions than that make a memory fire on anything
LONGEST_PATTERN = 256  # a condition is a line; longer ones are mistakes or attacks
TASK_LENGTH = 10_000  # the subject of a task stands in its beginning
SHORT_WORD = 2  # `go` and `ui` are looked for as words: as parts of words they are everywhere
MEMORY = 8 << 20  # bytes RE2 may use for one pattern: its own default, stated
MOST_COMPILED = 512  # compiled patterns kept; hostile repositories hold thousands

ALTERNATIVES, GLOB, REGEX, LANGUAGE, PHRASE, REFUSED = "alternatives", "glob", "regex", "language", "phrase", "refused"
PIECES, PATHS, ENGINE, WORDS = "pieces", "paths", "engine", "words"  # how a condition is matched

METACHARACTERS = ".*+?()[]{}^$\\"
BRACKETS = str.maketrans("()[]", "    ")
SEPARATORS = "\x1f\x1e\x1d"  # of packed fields, alternatives and pieces: clean() leaves none of them in a text
GAP = "\0"  # stands for `.*` while a pattern is taken apart; clean() leaves no such character in it
EMPTY_PART = "has an empty alternative: it is left out"
TOO_WIDE = "matches everything: it is not used"
NONSENSE = ("qophs vext blamp", "jurd woky fligz", "nymx cuts dib")  # a pattern that fires on all of these fires on all


@record
class Condition:
    """One whenToUse pattern, read. All fields are plain values, so an index may store them."""

    text: str
    form: str
    how: str = ""
    parts: tuple[tuple[str, ...], ...] = ()  # alternatives: pieces in order, globs, or specific stems
    phrase: str = ""  # what fires as it stands, besides the parts
    notes: tuple[str, ...] = ()  # what is odd about the pattern, in words


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


def read_condition(pattern: str) -> Condition:
    """What a pattern means. Never raises: what cannot be used is a refused condition with a note."""
    text = " ".join(clean(pattern).split())
    if not text.strip("|"):
        return _refused(text, "is empty: it matches nothing")
    if len(text) > LONGEST_PATTERN:
        return _refused(text, f"is longer than {LONGEST_PATTERN} characters: it is not used")
    note = ("holds a backspace: in double quotes YAML reads \\b as one; use single quotes",) if "\b" in pattern else ()
    sentence = text.rstrip(".?!")
    if is_language(sentence) and not _has_signs(_prose(sentence)) and "*" not in sentence:
        return Condition(text, LANGUAGE, WORDS, clauses(text), body(text), note)
    found = _read_glob(text) if is_file_glob(text) else _read_pattern(text)
    return replace(found, notes=note + found.notes)


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


def pack(condition: Condition) -> str:
    """A condition as one string without its notes, for an index to keep: reading costs more than firing."""
    parts = SEPARATORS[1].join(SEPARATORS[2].join(pieces) for pieces in condition.parts)
    return SEPARATORS[0].join((condition.text, condition.form, condition.how, condition.phrase, parts))


def unpack(packed: str) -> Condition:
    """The condition that `pack` made a string of."""
    text, form, how, phrase, parts = packed.split(SEPARATORS[0])
    pieces = (tuple(part.split(SEPARATORS[2])) for part in parts.split(SEPARATORS[1]) if part)
    return Condition(text, form, how, tuple(pieces), phrase)


# --- reading ------------------------------------------------------------------------------------------------------


def _refused(text: str, note: str) -> Condition:
    return Condition(text, REFUSED, notes=(note,))


def _read_glob(text: str) -> Condition:
    globs = tuple((glob,) for glob in spell_out(text))
    return Condition(text, GLOB, PATHS, globs) if globs else _refused(text, TOO_WIDE)


def _read_pattern(text: str) -> Condition:
    """Alternatives, a phrase, or pieces with gaps between them; what needs more goes to the engine."""
    signs = _has_signs(text)
    gapped = (text.replace(".*", GAP) if signs else text).replace("*", GAP)
    if signs and any(c in METACHARACTERS for c in gapped):
        return _read_regex(text)
    form = REGEX if signs else GLOB if GAP in gapped else ALTERNATIVES if "|" in gapped else PHRASE
    return _read_pieces(text, form, gapped)


def _read_pieces(text: str, form: str, gapped: str, notes: tuple[str, ...] = ()) -> Condition:
    kept = []
    for alternative in gapped.lower().split("|"):
        pieces = tuple(piece for piece in alternative.strip().split(GAP) if piece.strip())
        if any(c.isalnum() for piece in pieces for c in piece) or len("".join(pieces)) > 1:
            kept.append(pieces)
        elif pieces or GAP in alternative:
            return _refused(text, TOO_WIDE)
        elif EMPTY_PART not in notes:
            notes = (*notes, EMPTY_PART)
    return Condition(text, form, PIECES, tuple(kept), notes=notes)


def _has_signs(text: str) -> bool:
    """Whether a text holds what only a regex would: an escape, a class, a group, an anchor, a quantified class."""
    if "\\" in text or text.startswith("^") or text.endswith("$") or "|^" in text or "$|" in text:
        return True
    if 0 <= text.find("[") < text.rfind("]") or 0 <= text.find("(") < text.rfind(")"):
        return True
    return any(_quantifies(text, at) for at, c in enumerate(text) if at and c in "*+?{")


def _prose(text: str) -> str:
    """A sentence without its brackets, unless they hold alternatives or are counted."""
    if "|" in text or any(_quantifies(text, at) for at, c in enumerate(text) if at and c in "*+?{"):
        return text
    return text.translate(BRACKETS)


def _quantifies(text: str, at: int) -> bool:
    """Whether the character here counts the one before it. `c++`, `a+b` and `impl*auth` are no quantifiers."""
    before = text[at - 1]
    if text[at] == "{":
        return text[at + 1 : at + 2].isdigit() and "}" in text[at:]
    return before in ".)]}" or (text[at] == "?" and before.isalnum())


def _read_regex(text: str) -> Condition:
    parts = [part for part in text.split("|") if part.strip()]
    notes = (EMPTY_PART,) if text.startswith("|") or text.endswith("|") or "||" in text else ()
    source = _widen("|".join(parts))
    regex, why = _compile(source)
    if regex is None:
        return _read_pieces(text, GLOB if "*" in text else PHRASE, text.replace("*", GAP), (*notes, why))
    if regex.search("") or all(regex.search(probe) for probe in NONSENSE):
        return _refused(text, TOO_WIDE)
    return Condition(text, REGEX, ENGINE, ((source,),), text.lower(), notes)


def _widen(text: str) -> str:
    """The regex a pattern means: a bare star is a gap, a doubled plus is text."""
    out = ""
    for at, c in enumerate(text):
        before = text[at - 1 : at]
        if c == "*" and not (before in (".", ")", "]", "}") or text[at - 2 : at - 1] == "\\"):
            out += ".*"
        elif c == "+" and (before == "+" or text[at + 1 : at + 2] == "+"):
            out += r"\+"
        else:
            out += c
    return out


_compiled: dict[str, tuple[Any, str]] = {}


def _compile(source: str) -> tuple[Any, str]:
    """RE2's pattern, or None and why there is none. Never Python's `re`: it can be made to run for ever."""
    if source not in _compiled:
        if len(_compiled) >= MOST_COMPILED:
            _compiled.clear()
        _compiled[source] = _try_compile(source)
    return _compiled[source]


def _try_compile(source: str) -> tuple[Any, str]:
    try:
        import re2  # here, not above: it costs a cold command 8 ms, and most conditions need no regex
    except ImportError:
        return None, "needs google-re2, which is not installed: it is matched as plain text"
    options = re2.Options()
    options.log_errors, options.max_mem, options.case_sensitive = False, MEMORY, False
    options.never_capture = True  # only yes or no is asked: groups would make RE2 leave its fastest engine
    try:
        return re2.compile(source, options), ""
    except re2.error as failure:
        return None, f"is no regex RE2 can run ({_reason(failure)}): it is matched as plain text"


def _reason(failure: Exception) -> str:
    said = failure.args[0] if failure.args else ""
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)


def _hint(note: str) -> str:
    if "RE2" in note:
        return "look-around and back-references are not supported; write alternatives: login|sign.?in"
    return "say which words of a task should bring this memory up, such as: auth|login|security"


# --- firing -------------------------------------------------------------------------------------------------------

_last: list[tuple[str, Task]] = []  # one task meets many conditions


def prepare(task: str) -> Task:
    """A task as conditions see it: cleaned, cut, in lower case, with its words and stems."""
    if _last and _last[0][0] == task:
        return _last[0][1]
    text = clean(task[:TASK_LENGTH])
    lower = text.lower()
    lines = tuple(" ".join(line.split()) for line in lower.split("\n"))
    ready = Task(
        text, " ".join(lower.split()), lines, frozenset(words(text)), frozenset(specific(text)), tuple(mentioned(lower))
    )
    _last[:] = [(task, ready)]
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
    regex, _ = _compile(condition.parts[0][0])
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
