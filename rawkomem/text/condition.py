"""Reads a whenToUse pattern: alternatives, a phrase, a glob, a regex, a sentence, or a pattern that is not used."""

from __future__ import annotations

from ..model.record import record, replace
from .clean import clean
from .language import language_cache
from .overlap import body, clauses, is_language
from .paths import is_file_glob, spell_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_PATTERN_CHARS = 256  # a condition is a line; longer ones are mistakes or attacks
MAX_RE2_BYTES = 8 << 20  # memory of one pattern: RE2's own default, stated
MAX_KNOWN_CONDITIONS = 4_096  # conditions remembered: those of a batch of files
MAX_COMPILED_PATTERNS = 512  # compiled patterns kept; hostile repositories hold thousands

ALTERNATIVES, GLOB, REGEX, LANGUAGE, PHRASE, REFUSED = "alternatives", "glob", "regex", "language", "phrase", "refused"
PIECES, PATHS, ENGINE, WORDS = "pieces", "paths", "engine", "words"  # how a condition is matched

METACHARACTERS = ".*+?()[]{}^$\\"
BRACKETS = str.maketrans("()[]", "    ")
SEPARATORS = "\x1f\x1e\x1d"  # of packed fields, alternatives and pieces: clean() leaves none of them in a text
GAP = "\0"  # stands for `.*` while a pattern is taken apart; clean() leaves no such character in it
# A pattern that fires on all of these fires on everything.
NONSENSE = ("qophs vext blamp", "jurd woky fligz", "nymx cuts dib")


@record
class Note:
    """One odd thing about a pattern: a code to decide by, a text to follow the pattern's name, and what to do."""

    code: str
    text: str
    hint: str = "say which words of a task should bring this memory up, such as: auth|login|security"


EMPTY_PART = Note("empty-alternative", "has an empty alternative: it is left out")
TOO_WIDE = Note("wide-condition", "matches everything: it is not used")
BACKSPACE = Note("backspace", "holds a backspace: in double quotes YAML reads \\b as one; use single quotes")
NO_RE2 = Note("no-re2", "needs google-re2, which is not installed: it is matched as plain text", "install google-re2")
REGEX_HINT = "look-around and back-references are not supported; write alternatives: login|sign.?in"


@record
class Condition:
    """One whenToUse pattern, read. All fields are plain values, so an index may store them."""

    text: str
    form: str
    how: str = ""
    parts: tuple[tuple[str, ...], ...] = ()  # alternatives: pieces in order, globs, or specific stems
    phrase: str = ""  # what fires as it stands, besides the parts
    notes: tuple[Note, ...] = ()


known: dict[str, Condition] = language_cache()  # read before, perhaps by another process


def read_condition(pattern: str) -> Condition:
    """Return what a pattern means. Never raises: a pattern that cannot be used is a refused condition with a note."""
    if pattern not in known:
        if len(known) >= MAX_KNOWN_CONDITIONS:
            known.clear()
        known[pattern] = _read(pattern)
    return known[pattern]


def _read(pattern: str) -> Condition:
    text = " ".join(clean(pattern).split())
    if not text.strip("|"):
        return _refused(text, Note("empty-condition", "is empty: it matches nothing"))
    if len(text) > MAX_PATTERN_CHARS:
        return _refused(text, Note("long-condition", f"is longer than {MAX_PATTERN_CHARS} characters: it is not used"))
    note = (BACKSPACE,) if "\b" in pattern else ()
    sentence = text.rstrip(".?!")
    if is_language(sentence) and not _has_signs(_prose(sentence)) and "*" not in sentence:
        return Condition(text, LANGUAGE, WORDS, clauses(text), body(text), note)
    if not is_file_glob(text):
        found = _read_pattern(text)
        return replace(found, notes=note + found.notes)
    globs = tuple((glob,) for glob in spell_out(text))
    return Condition(text, GLOB, PATHS, globs, notes=note) if globs else _refused(text, *note, TOO_WIDE)


def pack(condition: Condition) -> str:
    """Return a condition as one string without its notes, for an index to keep: reading costs more than firing."""
    parts = SEPARATORS[1].join(SEPARATORS[2].join(pieces) for pieces in condition.parts)
    return SEPARATORS[0].join((condition.text, condition.form, condition.how, condition.phrase, parts))


def unpack(packed: str) -> Condition:
    """Return the condition that `pack` made a string of."""
    text, form, how, phrase, parts = packed.split(SEPARATORS[0])
    pieces = (tuple(part.split(SEPARATORS[2])) for part in parts.split(SEPARATORS[1]) if part)
    return Condition(text, form, how, tuple(pieces), phrase)


def _refused(text: str, *notes: Note) -> Condition:
    return Condition(text, REFUSED, notes=notes)


def _read_pattern(text: str) -> Condition:
    """Read alternatives, a phrase, or pieces with gaps between them; a pattern that needs more goes to the engine."""
    signs = _has_signs(text)
    gapped = (text.replace(".*", GAP) if signs else text).replace("*", GAP)
    if signs and any(c in METACHARACTERS for c in gapped):
        return _read_regex(text)
    form = REGEX if signs else GLOB if GAP in gapped else ALTERNATIVES if "|" in gapped else PHRASE
    return _read_pieces(text, form, gapped)


def _read_pieces(text: str, form: str, gapped: str, notes: tuple[Note, ...] = ()) -> Condition:
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
    """Return whether a text has an escape, a class, a group, an anchor or a quantified class, as only a regex has."""
    if "\\" in text or text.startswith("^") or text.endswith("$") or "|^" in text or "$|" in text:
        return True
    if 0 <= text.find("[") < text.rfind("]") or 0 <= text.find("(") < text.rfind(")"):
        return True
    return _has_quantifier(text)


def _prose(text: str) -> str:
    """Return a sentence without its brackets, unless they hold alternatives or are counted."""
    return text if "|" in text or _has_quantifier(text) else text.translate(BRACKETS)


def _has_quantifier(text: str) -> bool:
    return any(_quantifies(text, at) for at, c in enumerate(text) if at and c in "*+?{")


def _quantifies(text: str, at: int) -> bool:
    """Return whether the character here counts the one before it. `c++`, `a+b` and `impl*auth` are no quantifiers."""
    before = text[at - 1]
    if text[at] == "{":
        return text[at + 1 : at + 2].isdigit() and "}" in text[at:]
    return before in ".)]}" or (text[at] == "?" and before.isalnum())


def _read_regex(text: str) -> Condition:
    parts = [part for part in text.split("|") if part.strip()]
    notes = (EMPTY_PART,) if text.startswith("|") or text.endswith("|") or "||" in text else ()
    source = _widen("|".join(parts))
    regex, why = compiled(source)
    if regex is None:
        return _read_pieces(text, GLOB if "*" in text else PHRASE, text.replace("*", GAP), (*notes, *why))
    if regex.search("") or all(regex.search(probe) for probe in NONSENSE):
        return _refused(text, TOO_WIDE)
    return Condition(text, REGEX, ENGINE, ((source,),), text.lower(), notes)


def _widen(text: str) -> str:
    """Return the regex a pattern means: a bare star is a gap, a doubled plus is text."""
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


_compiled: dict[str, tuple[Any, tuple[Note, ...]]] = {}


def compiled(source: str) -> tuple[Any, tuple[Note, ...]]:
    """Return RE2's pattern, or None and why there is none. Never Python's `re`: it can be made to run forever."""
    if source not in _compiled:
        if len(_compiled) >= MAX_COMPILED_PATTERNS:
            _compiled.clear()
        _compiled[source] = _try_compile(source)
    return _compiled[source]


def _try_compile(source: str) -> tuple[Any, tuple[Note, ...]]:
    try:
        import re2  # here, not above: it costs a cold command 8 ms, and most conditions need no regex
    except ImportError:
        return None, (NO_RE2,)
    options = re2.Options()
    options.log_errors, options.max_mem, options.case_sensitive = False, MAX_RE2_BYTES, False
    options.never_capture = True  # only yes or no is asked: groups would make RE2 leave its fastest engine
    try:
        return re2.compile(source, options), ()
    except re2.error as failure:
        reason = failure.args[0] if failure.args else ""
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        said = f"is no regex RE2 can run ({reason}): it is matched as plain text"
        return None, (Note("bad-regex", said, REGEX_HINT),)
