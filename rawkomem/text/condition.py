"""Parse a whenToUse pattern: alternatives, a phrase, a glob, a regex, a sentence, or a pattern that is refused."""

from __future__ import annotations

from ..model.record import record, replace
from .clean import clean
from .language import language, language_cache
from .overlap import body, clauses, is_language
from .paths import is_file_glob
from .paths import spell_out as globs_of
from .scripts.compounds import spell_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_PATTERN_CHARS = 256  # a longer condition is a mistake or an attack
MAX_RE2_BYTES = 2 << 20  # memory limit of one pattern, for its program and RE2's automaton
MAX_REGEX_SIZE = 3_000  # instructions, about 1 ms to compile; regexes of people have about 50
MAX_ENGINE_WORK = 100_000  # instructions that one task may cost in compiling and searching: about 0.1 s
CHARS_PER_INSTRUCTION = 50  # that RE2 searches while it compiles one instruction
MAX_KNOWN_CONDITIONS = 4_096  # size of the cache: enough for a batch of files
MAX_COMPILED_PATTERNS = 512  # size of the cache; hostile repositories have thousands

ALTERNATIVES, GLOB, REGEX, LANGUAGE, PHRASE, REFUSED = "alternatives", "glob", "regex", "language", "phrase", "refused"
PIECES, PATHS, ENGINE, WORDS = "pieces", "paths", "engine", "words"  # how a condition is matched

# Instructions of RE2 for one atom, measured with case ignored.
LITERAL, ANY_CHARACTER, CLASS, WIDE_CLASS, UNICODE_CLASS = 2, 10, 7, 28, 1_250
WIDE_ESCAPES = ("\\x", "\\W", "\\D", "\\S")  # these classes contain characters beyond ASCII
MAX_COUNT = 1_000  # RE2 rejects a higher repeat count

SYMBOLS = "\u2190"  # from here on, a single character has a meaning: arrows, dingbats, emoji
MIN_INFLECTED_CHARS = 4  # shorter words have no ending: `ios` and `bus` are no plurals
MIN_BASE_CHARS = 3  # letters that must remain without the ending
ENDINGS = (
    ("ing", MIN_BASE_CHARS),
    ("ed", MIN_BASE_CHARS),
    ("ment", 5),
)  # ending, and the letters that must remain
MIN_STEM_CHARS = 6  # of a stem that makes two words forms of one word: `general` is not `generate`

METACHARACTERS = ".*+?()[]{}^$\\"
BRACKETS = str.maketrans("()[]", "    ")
SEPARATORS = "\x1f\x1e\x1d"  # of packed fields, alternatives and pieces: clean() removes them from every text
GAP = "\0"  # replaces `.*` while a pattern is parsed: clean() removes this character from every text
# A pattern that fires on all of these would fire on everything.
NONSENSE = ("qophs vext blamp", "jurd woky fligz", "nymx cuts dib")


@record
class Note:
    """A problem with a pattern: a code for programs, a text that follows the pattern in a message, and a hint."""

    code: str
    text: str
    hint: str = "name the words of a task for which this memory is needed, such as: auth|login|security"


EMPTY_PART = Note("empty-alternative", "has an empty alternative, which is ignored")
TOO_WIDE = Note("wide-condition", "matches everything: it is not used")
BACKSPACE = Note("backspace", "contains a backspace: YAML reads \\b in double quotes as one; use single quotes")
TOO_LARGE = Note(
    "large-regex", "is a regex that takes too long to compile: it is not used", "use a smaller count than {1,60}"
)
NO_RE2 = Note("no-re2", "needs google-re2, which is not installed: it is matched as plain text", "install google-re2")
REGEX_HINT = "look-around and back-references are not supported; write alternatives: login|sign.?in"


@record
class Condition:
    """A parsed whenToUse pattern. All fields are plain values, so that an index can store them."""

    text: str
    form: str
    how: str = ""
    parts: tuple[tuple[str, ...], ...] = ()  # alternatives: pieces in order, globs, or specific stems
    phrase: str = ""  # text that also fires if a task contains it literally
    notes: tuple[Note, ...] = ()
    size: int = 0  # of a regex, in instructions


known: dict[str, Condition] = language_cache()  # cache; index/ahead.py adds conditions that were parsed before


def read_condition(pattern: str) -> Condition:
    """Return a parsed pattern. It never raises: a pattern that cannot be used is a refused condition with a note."""
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
    globs = tuple((glob,) for glob in globs_of(text))
    return Condition(text, GLOB, PATHS, globs, notes=note) if globs else _refused(text, *note, TOO_WIDE)


def pack(condition: Condition) -> str:
    """Return a condition as one string without its notes. An index stores it, because parsing is slower than firing."""
    parts = SEPARATORS[1].join(SEPARATORS[2].join(pieces) for pieces in condition.parts)
    size = str(condition.size)
    return SEPARATORS[0].join((condition.text, condition.form, condition.how, condition.phrase, size, parts))


def unpack(packed: str) -> Condition:
    """Return the condition in a string from `pack`."""
    text, form, how, phrase, size, parts = packed.split(SEPARATORS[0])
    pieces = (tuple(part.split(SEPARATORS[2])) for part in parts.split(SEPARATORS[1]) if part)
    return Condition(text, form, how, tuple(pieces), phrase, size=int(size))


def _refused(text: str, *notes: Note) -> Condition:
    return Condition(text, REFUSED, notes=notes)


def _read_pattern(text: str) -> Condition:
    """Parse alternatives, a phrase, or pieces with gaps between them. Other patterns are regexes for the engine."""
    signs = _has_signs(text)
    gapped = (text.replace(".*", GAP) if signs else text).replace("*", GAP)
    if signs and any(c in METACHARACTERS for c in gapped):
        return _read_regex(text)
    form = REGEX if signs else GLOB if GAP in gapped else ALTERNATIVES if "|" in gapped else PHRASE
    return _read_pieces(text, form, gapped)


def _read_pieces(text: str, form: str, gapped: str, notes: tuple[Note, ...] = ()) -> Condition:
    kept = []
    spelled = spell_out(gapped)
    for alternative in dict.fromkeys((gapped if spelled == gapped else f"{gapped}|{spelled}").lower().split("|")):
        pieces = _pieces(alternative.strip())
        if any(c.isalnum() or c > SYMBOLS for piece in pieces for c in piece) or len("".join(pieces)) > 1:
            kept.append(pieces)
        elif pieces or GAP in alternative:
            return _refused(text, TOO_WIDE)
        elif EMPTY_PART not in notes:
            notes = (*notes, EMPTY_PART)
    return Condition(text, form, PIECES, tuple(kept), notes=notes)


def _pieces(alternative: str) -> tuple[str, ...]:
    """Return the pieces between gaps. With a gap there are at least two; the last may be empty (see when.py)."""
    pieces = tuple(piece for piece in alternative.split(GAP) if piece.strip())
    return (*pieces, "") if len(pieces) == 1 and GAP in alternative else pieces


def parts_of(text: str) -> set[str]:
    """Return the words of a text in lower case, and the parts of words like `authToken`, `HTTPServer` and `python3`."""
    found = set(language().words(text))
    for word in {*text.translate(_apart).split()}:
        if not (word.islower() and word.isalpha()) and not word.isdecimal():
            found.update(_humps(word))
    return found


class _Apart(dict[int, str]):
    """A translation table that fills itself: letters and digits stay, every other character becomes a space."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = character if character.isalnum() else " "
        return self[code]


_apart = _Apart()


def _humps(word: str) -> list[str]:
    """Return the parts of a word in lower case, split at capitals (`authToken`) and between letters and digits."""
    parts, start = [], 0
    for at in range(1, len(word)):
        before, here, after = word[at - 1], word[at], word[at + 1 : at + 2]
        hump = here.isupper() and (before.islower() or (before.isupper() and after.islower()))
        if hump or before.isdigit() != here.isdigit():
            parts.append(word[start:at].lower())
            start = at
    return [*parts, word[start:].lower()]


def bases(word: str) -> tuple[str, ...]:
    """Return an English word and its possible base forms: `caches`, `cached` and `caching` are forms of `cache`."""
    if len(word) < MIN_INFLECTED_CHARS or not word.isascii():
        return (word,)
    if word.endswith(("ies", "ied")):
        return word, word[:-3] + "y"
    if word.endswith("s") and not word.endswith("ss"):
        return (word, word[:-1], word[:-2]) if word.endswith("es") else (word, word[:-1])
    for ending, least in ENDINGS:
        base = word.removesuffix(ending)
        if base != word and len(base) >= least and any(c in "aeiouy" for c in base):
            single = (base[:-1],) if base[-1] == base[-2] else ()
            return word, base, base + "e", *single
    return (word,)


def trigger(pieces: tuple[str, ...]) -> str:
    """Return a text that every task contains on which an alternative fires: the common start of a word's forms."""
    longest = max(pieces, key=len)
    if len(pieces) > 1 or not (longest.isascii() and longest.isalnum()):
        return longest
    forms, stem = bases(longest), language().stem(longest)
    short = next(
        (short for short, full in language().short_forms.items() if full == stem and full.startswith(short)), ""
    )
    stem = short or stem
    shortest = min(forms, key=len)
    while not all(form.startswith(shortest) for form in forms):
        shortest = shortest[:-1]
    if (short or len(stem) >= MIN_STEM_CHARS) and len(stem) < len(shortest):
        shortest = shortest[: len(stem)]
    return shortest[:-1] if len(shortest) > MIN_BASE_CHARS and shortest[-1] in "eiy" else shortest


def _has_signs(text: str) -> bool:
    """Return whether a text has an escape, a class, a group, an anchor or a quantifier: then it is a regex."""
    if "\\" in text or text.startswith("^") or text.endswith("$") or "|^" in text or "$|" in text:
        return True
    if 0 <= text.find("[") < text.rfind("]") or 0 <= text.find("(") < text.rfind(")"):
        return True
    return _has_quantifier(text)


def _prose(text: str) -> str:
    """Return a sentence without its brackets, unless the text has alternatives or a quantifier."""
    return text if "|" in text or _has_quantifier(text) else text.translate(BRACKETS)


def _has_quantifier(text: str) -> bool:
    return any(_quantifies(text, at) for at, c in enumerate(text) if at and c in "*+?{")


def _quantifies(text: str, at: int) -> bool:
    """Return whether the character at `at` is a quantifier. `c++`, `a+b` and `impl*auth` have none."""
    before = text[at - 1]
    if text[at] == "{":
        return text[at + 1 : at + 2].isdigit() and "}" in text[at:]
    return before in ".)]}" or (text[at] == "?" and before.isalnum())


def _read_regex(text: str) -> Condition:
    parts = [part for part in text.split("|") if part.strip()]
    notes = (EMPTY_PART,) if text.startswith("|") or text.endswith("|") or "||" in text else ()
    source = _widen("|".join(parts))
    size = regex_size(source)
    if size > MAX_REGEX_SIZE:
        return _refused(text, *notes, TOO_LARGE)
    regex, why = compiled(source)
    if regex is None:
        return _read_pieces(text, GLOB if "*" in text else PHRASE, text.replace("*", GAP), (*notes, *why))
    if regex.search("") or all(regex.search(probe) for probe in NONSENSE):
        return _refused(text, TOO_WIDE)
    return Condition(text, REGEX, ENGINE, ((source,),), text.lower(), notes, size)


def _widen(text: str) -> str:
    """Return the regex that a pattern stands for: a bare star becomes `.*`, a double plus becomes text."""
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


class Engine:
    """RE2 with a budget for one task, so that the regexes of a hostile repository cannot slow it down."""

    def __init__(self, work: int = MAX_ENGINE_WORK):
        self.left = work
        self.skipped = 0  # conditions that were not tested
        self._apart: Engine | None = None

    def apart(self) -> Engine:
        """Return the engine for conditions that nobody vouches for, which has its own budget."""
        self._apart = self._apart or Engine()
        return self._apart

    @property
    def untried(self) -> int:
        """Return how many conditions were not tested, in both engines."""
        return self.skipped + (self._apart.skipped if self._apart else 0)

    def finds(self, condition: Condition, text: str) -> bool:
        """Tell whether the regex of a condition matches a text. If the budget is used up, count it and return False."""
        cost = condition.size + len(text) // CHARS_PER_INSTRUCTION
        if cost > self.left:
            self.skipped += 1
            return False
        self.left -= cost
        regex, _ = compiled(condition.parts[0][0])
        return regex is not None and bool(regex.search(text))


_compiled: dict[str, tuple[Any, tuple[Note, ...]]] = {}


def compiled(source: str) -> tuple[Any, tuple[Note, ...]]:
    """Return RE2's pattern, or None and the reason. Python's `re` is never used: a pattern can make it run forever."""
    if source not in _compiled:
        if len(_compiled) >= MAX_COMPILED_PATTERNS:
            _compiled.clear()
        _compiled[source] = _try_compile(source)
    return _compiled[source]


def _try_compile(source: str) -> tuple[Any, tuple[Note, ...]]:
    try:
        import re2  # imported here: it takes 8 ms, and most conditions need no regex
    except ImportError:
        return None, (NO_RE2,)
    options = re2.Options()
    options.log_errors, options.max_mem, options.case_sensitive = False, MAX_RE2_BYTES, False
    options.never_capture = True  # groups would keep RE2 from using its fastest engine
    try:
        return re2.compile(source, options), ()
    except re2.error as failure:
        reason = failure.args[0] if failure.args else ""
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        said = f"is no regex RE2 can run ({reason}), so it is matched as plain text"
        return None, (Note("bad-regex", said, REGEX_HINT),)


def regex_size(source: str) -> int:
    """Return an estimate of RE2's instructions for a regex; for large repeats, it is never too low."""
    open_groups: list[int] = []
    size = last = at = 0  # size of the group so far, size of the last atom, position
    while at < len(source):
        sign = source[at]
        times, end = _repeats(source, at)
        if times:
            size += last * (times - 1) + 1
            last = last * times + 1
        elif sign == "(":
            open_groups.append(size)
            size = last = 0
        elif sign == ")" and open_groups:
            last = size + 1
            size = open_groups.pop() + last
        else:
            last, end = _atom(source, at)
            size += last
        at = end
    return size + sum(open_groups)


def _repeats(source: str, at: int) -> tuple[int, int]:
    """Return how often the quantifier at `at` copies an atom, and its end; 0 if there is no quantifier."""
    if source[at] in "*+?":
        return 1, at + 1
    close = source.find("}", at, at + 12) if source[at] == "{" else -1
    low, comma, high = source[at + 1 : close].partition(",") if close > 0 else ("", "", "")
    if not low.isdecimal() or (high and not high.isdecimal()):
        return 0, at + 1
    most = int(high) if high else int(low) + bool(comma)
    return min(max(most, 1), MAX_COUNT), close + 1


def _atom(source: str, at: int) -> tuple[int, int]:
    """Return the size of the character, escape or class that starts at `at`, and its end."""
    sign = source[at]
    if sign == "\\":
        return _escape(source, at)
    if sign == "[":
        end = _class_end(source, at)
        inside = source[at + 1 : end - 1]
        wide = inside.startswith("^") or not inside.isascii() or any(escape in inside for escape in WIDE_ESCAPES)
        unicode = inside.count("\\p") + inside.count("\\P")
        return UNICODE_CLASS * unicode + (WIDE_CLASS if wide else CLASS), end
    return ANY_CHARACTER if sign == "." or not sign.isascii() else LITERAL, at + 1


def _escape(source: str, at: int) -> tuple[int, int]:
    name, end = source[at + 1 : at + 2], at + 2
    if name in ("p", "P", "x"):
        close = source.find("}", end) if source[end : end + 1] == "{" else -1
        end = close + 1 if close > 0 else end + 1
    return UNICODE_CLASS if name in ("p", "P") else WIDE_CLASS if f"\\{name}" in WIDE_ESCAPES else CLASS, end


def _class_end(source: str, at: int) -> int:
    """Return the end of the class that starts at `at`. A bracket at its start, or an escaped one, does not close it."""
    at += 3 if source[at + 1 : at + 2] == "^" else 2 if source[at + 1 : at + 2] == "]" else 1
    while at < len(source) and source[at] != "]":
        named = source.find(":]", at) if source.startswith("[:", at) else -1
        at = named + 2 if named > 0 else at + (2 if source[at] == "\\" else 1)
    return min(at + 1, len(source))
