"""whenToUse conditions: parses a pattern (alternatives, a phrase, a glob, a regex, a sentence), tests
whether it fires on a text, and says what is wrong with it.
"""

from __future__ import annotations

from ..model.values import TYPE_CHECKING, Problem, error, record, replace, warning
from .clean import clean, late_regex, spaced
from .language import language, language_cache, spell_out_names, spelled_out_names
from .paths import are_in_order, fits_glob, is_file_glob, paths_in, spell_out_glob

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


# Match conditions in natural language: do enough of a condition's specific words occur in a task?

MIN_SENTENCE_WORDS = 3  # with fewer words, a text without metacharacters is a phrase
MIN_SENTENCE_TERMS = 6  # … or with fewer pairs of signs, in a script without spaces


def is_sentence(text: str) -> bool:
    """Return whether a text without metacharacters is a sentence or clause, not a phrase to search for."""
    if "|" in text or _has_opener(text):
        return _has_opener(text)
    is_spaced = text.isascii() or len(text.split()) >= MIN_SENTENCE_WORDS
    words = text.split() if is_spaced else language().terms(text)
    return len(words) >= (MIN_SENTENCE_WORDS if is_spaced else MIN_SENTENCE_TERMS)


def condition_clauses(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the specific stems of each alternative of a condition, also with compound names split into words.

    "or" and commas separate alternatives only after words like "when": splitting all sentences halved the precision.
    """
    spelled = spell_out_names(text)
    return tuple(
        dict.fromkeys(
            [*_clauses(text), *(_clauses(spelled) if spelled != text else ())]
        )
    )


def _clauses(text: str) -> list[tuple[str, ...]]:
    lower = f" {text.lower()} "
    for exception in language().exceptions:
        lower = lower.partition(exception)[0] or lower
    parts = [lower]
    if _has_opener(text):
        either = f" {language().alternative} "
        lower = lower.replace("|", either)
        parts = (lower.replace(",", either) if either in lower else lower).split(either)
    return [
        stems for part in parts if (stems := tuple(dict.fromkeys(specific_stems(part))))
    ]


def specific_stems(text: str) -> list[str]:
    """Return the stems of the words that may name the subject of a text, in order."""
    return [root for _, root in _specific_words(language().content_terms(text), 2)]


def subject_text(text: str) -> str:
    """Return a text without function words, generic words and words of less than three letters."""
    return " ".join(subject_words(text))


def subject_words(text: str) -> list[str]:
    """Return the words of at least three letters that may name the subject of a text."""
    return [word for word, _ in _specific_words(language().content_words(text), 3)]


def _specific_words(words: list[str], min_letters: int) -> list[tuple[str, str]]:
    """Return each specific word with its stem. In scripts other than Latin, one sign can be a word."""
    kept = [word for word in words if len(word) >= min_letters or not word.isascii()]
    generic = language().generic_stems
    pairs = zip(kept, language().roots(kept), strict=True)
    return [(word, root) for word, root in pairs if root not in generic]


def words_with_stems(text: str, stems: frozenset[str]) -> str:
    """Return the words of a text that have one of these stems, as they are written."""
    words = language().terms(text)
    pairs = zip(words, language().roots(words), strict=True)
    return ", ".join(dict.fromkeys(word for word, root in pairs if root in stems))


def enough_stems(stems: int) -> int:
    """Return how many of a clause's specific words a task must contain: one of one, two of two or three, half of more.

    With one of two or three words, conditions fired wrongly five to ten times as often, for twice the hits.
    """
    return stems if stems < 3 else max(2, (stems + 1) // 2)


def condition_body(text: str) -> str:
    """Return a condition in lower case without its "when" or "when asked:", to match tasks that quote it."""
    lower = text.lower().rstrip(".?!")
    body = lower.partition(" ")[2].strip() if _has_opener(text) else lower
    return body.removeprefix("asked: ")


def _has_opener(text: str) -> bool:
    first, _, rest = text.partition(" ")
    return rest != "" and first.lower().strip(",:") in language().openers


# Parse a whenToUse pattern: alternatives, a phrase, a glob, a regex, a sentence, or a pattern that
# is refused.

MAX_PATTERN_CHARS = 256  # a longer condition is a mistake or an attack
# memory limit of one pattern, for its program and RE2's automaton
MAX_RE2_BYTES = 2 << 20
# 3,000 instructions, about 1 ms to compile; people's have about 50
MAX_PROGRAM_BYTES = 192 << 10
# instructions of all regexes of a memory; later regexes are refused
MAX_COMPILED = 2_000
# instructions that one task may cost in compiling and searching: 25 ms
MAX_ENGINE_WORK = 60_000
REGEX_WORK = 100  # instructions that RE2 compiles in the time that any regex costs
READING_WORK = 40  # instructions that RE2 compiles in the time of parsing any pattern
# characters × instructions that RE2 searches in the time of compiling one
STEPS_PER_INSTRUCTION = 600
MAX_KNOWN_CONDITIONS = 4_096  # size of the cache: enough for a batch of files
MAX_COMPILED_PATTERNS = 512  # size of the cache; hostile repositories have thousands

ALTERNATIVES = "alternatives"
GLOB = "glob"
REGEX = "regex"
LANGUAGE = "language"
PHRASE = "phrase"
REFUSED = "refused"
# how a condition is matched
PIECES = "pieces"
PATHS = "paths"
ENGINE = "engine"
WORDS = "words"

# from here on, a single character has a meaning: arrows, dingbats, emoji
SYMBOLS = "\u2190"
MIN_INFLECTED_CHARS = 4  # shorter words have no ending: `ios` and `bus` are no plurals
MIN_BASE_CHARS = 3  # letters that must remain without the ending
# ending → letters that remain
ENDINGS = {"ing": MIN_BASE_CHARS, "ed": MIN_BASE_CHARS, "ment": 5}
# of a stem that makes two words forms of one word: `general` is not `generate`
MIN_STEM_CHARS = 6

METACHARACTERS = ".*+?()[]{}^$\\"
BRACKETS = str.maketrans("()[]", "    ")
# of packed fields, alternatives and pieces: clean() removes them from every text
SEPARATORS = "\x1f\x1e\x1d"
WORD = late_regex(r"[^\W_]+")
REGEX_SIGN = late_regex(r"[\\()\[\]]|\A\^|\$\Z|\|\^|\$\|")
HUMPS = late_regex(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])"
)
# `c++`, `a+b` and `impl*auth` have none
QUANTIFIER = late_regex(r".\{(?=\d).*\}|[.)\]}][*+?]|[^\W_]\?| \?(?=\w)")
BARE_STAR = late_regex(r"(?<![.)\]}])(?<!\\.)\*")
DOUBLE_PLUS = late_regex(r"\+(?=\+)|(?<=\+)\+")
# replaces `.*` while a pattern is parsed: clean() removes this character from every text
GAP = "\0"
# A pattern that fires on all of these would fire on everything.
NONSENSE = ("qophs vext blamp", "jurd woky fligz", "nymx cuts dib")
NONSENSE_FILES = ("qophs.vext", "jurd/woky.fligz", "nymx/cuts/dib.b2")


@record
class Note:
    """A problem with a pattern: a code for programs, a text that follows the pattern in a message, and a hint."""

    code: str
    text: str
    hint: str = "name the words of a task for which this memory is needed, such as: auth|login|security"


EMPTY = Note("empty-condition", "is empty: it matches nothing")
TOO_LONG = Note(
    "long-condition", f"is longer than {MAX_PATTERN_CHARS} characters: it is not used"
)
EMPTY_PART = Note("empty-alternative", "has an empty alternative, which is ignored")
NO_WORD = Note("no-word", "has only a sign in place of a word: it is not used")
TOO_WIDE = Note("wide-condition", "matches everything: it is not used")
BACKSPACE = Note(
    "backspace",
    "contains a backspace: YAML reads \\b in double quotes as one; use single quotes",
)
TOO_LARGE = Note(
    "large-regex",
    "is a regex that takes too long to compile: it is not used",
    "use a smaller count than {1,60}",
)
TOO_MANY = Note(
    "many-regexes",
    "is a regex after others that take too long to compile together: it is not used",
    "join the regexes of the memory, or write plain alternatives",
)
NO_RE2 = Note(
    "no-re2",
    "needs google-re2, which is not installed: it is matched as plain text",
    "install google-re2",
)
RE2_LIMITS = ("pattern too large", "invalid repetition size")  # reasons of RE2
REGEX_HINT = "look-around and back-references are not supported; write alternatives: login|sign.?in"


@record
class Condition:
    """A parsed whenToUse pattern. All fields are plain values, so that an index can store them."""

    text: str
    form: str
    how: str = ""
    # alternatives: pieces in order, globs, or specific stems
    parts: tuple[tuple[str, ...], ...] = ()
    phrase: str = ""  # text that also fires if a task contains it literally
    notes: tuple[Note, ...] = ()
    size: int = 0  # of a regex, in instructions


# cache; index/ingest.py adds conditions that were parsed before
known_conditions: dict[str, Condition] = language_cache()


def read_condition(pattern: str) -> Condition:
    """Return a parsed pattern. It never raises: a pattern that cannot be used is a refused condition with a note."""
    if pattern not in known_conditions:
        if len(known_conditions) >= MAX_KNOWN_CONDITIONS:
            known_conditions.clear()
        known_conditions[pattern] = _read_new(pattern)
    return known_conditions[pattern]


def read_conditions(
    patterns: Iterable[str], engine: Engine | None = None
) -> list[Condition]:
    """Return the parsed patterns of one memory. Refuse the regexes after those that use up MAX_COMPILED.

    With the engine of a task, reading uses up its budget; the patterns after that are left out.
    """
    left = MAX_COMPILED
    conditions = []
    for pattern in patterns:
        if engine is not None and engine.left <= 0:
            break
        if left > 0:
            condition = read_condition(pattern)
        else:
            condition = _read_new(pattern, compiles=False)
        is_refused = TOO_LARGE in condition.notes or TOO_WIDE in condition.notes
        cost = MAX_COMPILED if is_refused else condition.size
        left -= cost
        if engine is not None:
            engine.left -= cost + READING_WORK
        conditions.append(condition)
    return conditions


def _read_new(pattern: str, compiles: bool = True) -> Condition:
    text = spaced(pattern)
    if not text.strip("|"):
        return _refused_condition(text, EMPTY)
    if len(text) > MAX_PATTERN_CHARS:
        return _refused_condition(text, TOO_LONG)
    sentence = text.rstrip(".?!")
    if (
        is_sentence(sentence)
        and not _has_signs(_prose(sentence))
        and "*" not in sentence
    ):
        condition = Condition(
            text, LANGUAGE, WORDS, condition_clauses(text), condition_body(text)
        )
    elif not is_file_glob(text):
        condition = _read_pattern(text, compiles)
    elif (globs := spell_out_glob(text)) and not any(
        all(fits_glob(glob, path) for path in NONSENSE_FILES) for glob in globs
    ):
        condition = Condition(text, GLOB, PATHS, tuple((glob,) for glob in globs))
    else:
        condition = _refused_condition(text, TOO_WIDE)
    if "\b" in pattern:
        return replace(condition, notes=(BACKSPACE, *condition.notes))
    return condition


def pack_condition(condition: Condition) -> str:
    """Return a condition as one string without its notes. An index stores it, because parsing is slower than firing."""
    parts = SEPARATORS[1].join(SEPARATORS[2].join(pieces) for pieces in condition.parts)
    size = str(condition.size)
    return SEPARATORS[0].join(
        (condition.text, condition.form, condition.how, condition.phrase, size, parts)
    )


def unpack_condition(packed: str) -> Condition:
    """Return the condition in a string from `pack`."""
    text, form, how, phrase, size, parts = packed.split(SEPARATORS[0])
    pieces = (
        tuple(part.split(SEPARATORS[2])) for part in parts.split(SEPARATORS[1]) if part
    )
    return Condition(text, form, how, tuple(pieces), phrase, size=int(size))


def known_condition(packed: str) -> Condition:
    """Return the condition in a string from `pack_condition`; cache it, so that `read_condition` need not parse it."""
    condition = unpack_condition(packed)
    if not _regex_notes(condition.text):
        known_conditions.setdefault(condition.text, condition)
    return condition


def _regex_notes(text: str) -> tuple[Note, ...]:
    if text.startswith("|") or text.endswith("|") or "||" in text:
        return (EMPTY_PART,)
    return ()


def _refused_condition(text: str, *notes: Note) -> Condition:
    return Condition(text, REFUSED, notes=notes)


def _read_pattern(text: str, compiles: bool) -> Condition:
    """Parse alternatives, a phrase, or pieces with gaps between them. Other patterns are regexes for the engine."""
    signs = _has_signs(text)
    gapped = (text.replace(".*", GAP) if signs else text).replace("*", GAP)
    if signs and any(c in METACHARACTERS for c in gapped):
        return _read_regex(text) if compiles else _refused_condition(text, TOO_MANY)
    if signs:
        form = REGEX
    elif GAP in gapped:
        form = GLOB
    elif "|" in gapped:
        form = ALTERNATIVES
    else:
        form = PHRASE
    return _read_pieces(text, form, gapped)


def _read_pieces(
    text: str, form: str, gapped: str, notes: tuple[Note, ...] = ()
) -> Condition:
    kept = []
    for alternative in dict.fromkeys(
        f"{gapped}|{spell_out_names(gapped)}".lower().split("|")
    ):
        pieces = tuple(
            piece for piece in alternative.strip().split(GAP) if piece.strip()
        )
        if len(pieces) == 1 and GAP in alternative:
            pieces = (*pieces, "")  # with a gap there are at least two
        signs = "".join(pieces)
        if len(signs) > 1 or signs.isalnum() or signs > SYMBOLS:
            kept.append(pieces)
        elif pieces or GAP in alternative:
            return _refused_condition(text, NO_WORD if pieces else TOO_WIDE)
        elif EMPTY_PART not in notes:
            notes = (*notes, EMPTY_PART)
    return Condition(text, form, PIECES, tuple(kept), notes=notes)


def word_parts(text: str) -> set[str]:
    """Return the words of a text in lower case, and the parts of words like `authToken`, `HTTPServer` and `python3`."""
    parts = set(language().words(text))
    for word in set(WORD.findall(text)):
        if not (word.islower() and word.isalpha()) and not word.isdecimal():
            parts.update(HUMPS.split(word.lower() if word.isupper() else word))
    return {part.lower() for part in parts}


def base_forms(word: str) -> tuple[str, ...]:
    """Return an English word and its possible base forms: `caches`, `cached` and `caching` are forms of `cache`."""
    if len(word) < MIN_INFLECTED_CHARS or not word.isascii():
        return (word,)
    if word.endswith(("ies", "ied")):
        return word, word[:-3] + "y"
    if word.endswith("s") and not word.endswith("ss"):
        if word.endswith("es"):
            return word, word[:-1], word[:-2]
        return word, word[:-1]
    for ending, least in ENDINGS.items():
        base = word.removesuffix(ending)
        if base != word and len(base) >= least and any(c in "aeiouy" for c in base):
            single = (base[:-1],) if base[-1] == base[-2] else ()
            return word, base, base + "e", *single
    return (word,)


def trigger_text(pieces: tuple[str, ...]) -> str:
    """Return a text that every task contains on which an alternative fires: the common start of a word's forms."""
    longest = max(pieces, key=len)
    if len(pieces) > 1 or not (longest.isascii() and longest.isalnum()):
        return longest
    stem = language().stem(longest)
    short_forms = language().short_forms.items()
    short = [one for one, full in short_forms if full == stem and full.startswith(one)]
    forms = [*base_forms(longest), *short]
    forms += [stem] if short or len(stem) >= MIN_STEM_CHARS else []
    start = min(forms, key=len)
    while not all(form.startswith(start) for form in forms):
        start = start[:-1]
    return start[:-1] if len(start) > MIN_BASE_CHARS and start[-1] in "eiy" else start


def _has_signs(text: str) -> bool:
    """Return whether a text has an escape, a class, a group, an anchor or a quantifier: then it is a regex."""
    return bool(REGEX_SIGN.search(text) or QUANTIFIER.search(text))


def _prose(text: str) -> str:
    """Return a sentence without its brackets, unless the text has alternatives or a quantifier."""
    return text if "|" in text or QUANTIFIER.search(text) else text.translate(BRACKETS)


def _read_regex(text: str) -> Condition:
    notes = _regex_notes(text)
    source = "|".join(part for part in text.split("|") if part.strip())
    # `a*` means `a.*`, `c++` is text
    source = DOUBLE_PLUS.sub(r"\\+", BARE_STAR.sub(".*", source))
    source = "|".join(map(_as_whole_words, _alternatives(source)))
    regex, why = _compile_regex(source, MAX_PROGRAM_BYTES)
    if TOO_LARGE in why:
        return _refused_condition(text, *notes, TOO_LARGE)
    if regex is None:
        return _read_pieces(
            text,
            GLOB if "*" in text else PHRASE,
            text.replace("*", GAP),
            (*notes, *why),
        )
    if regex.search("") or all(regex.search(probe) for probe in NONSENSE):
        return _refused_condition(text, TOO_WIDE)
    return Condition(
        text, REGEX, ENGINE, ((source,),), text.lower(), notes, regex.programsize
    )


def _alternatives(source: str) -> list[str]:
    """Return the alternatives of a regex that are in no group."""
    alternatives = []
    start = 0
    depth = 0
    in_class = False
    escaped = False
    for at, sign in enumerate(source):
        if escaped or sign == "\\":
            escaped = not escaped
        elif in_class or sign == "[":
            in_class = sign != "]"
        elif sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign == "|" and depth == 0:
            alternatives.append(source[start:at])
            start = at + 1
    return [*alternatives, source[start:]]


def _as_whole_words(part: str) -> str:
    """Return an alternative that matches whole words only; the last word may have an ending."""
    if not part.isascii():
        return part  # RE2 knows the limits of ASCII words only
    before = r"\b" if part[:1].isalnum() else ""
    is_word = part[-1:].isalnum() and part[-2:-1] != "\\"
    after = r"(?:s|es|d|ed|ing)?\b" if is_word else ""
    return f"{before}{part}{after}"


class Engine:
    """RE2 with a budget for one task, so that the regexes of a hostile repository cannot slow it down."""

    def __init__(self) -> None:
        self.left = MAX_ENGINE_WORK
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
        """Return whether the regex of a condition matches a text. If the budget is used up, count it and return False."""
        steps = condition.size * len(text) // STEPS_PER_INSTRUCTION
        cost = REGEX_WORK + condition.size + steps
        if cost > self.left:
            self.skipped += 1
            return False
        self.left -= cost
        regex, _ = compiled_regex(condition.parts[0][0])
        return regex is not None and bool(regex.search(text))


_compiled_regexes: dict[str, tuple[Any, tuple[Note, ...]]] = {}


def compiled_regex(source: str) -> tuple[Any, tuple[Note, ...]]:
    """Return RE2's pattern, or None and the reason. Python's `re` is never used: a pattern can make it run forever."""
    if source not in _compiled_regexes:
        if len(_compiled_regexes) >= MAX_COMPILED_PATTERNS:
            _compiled_regexes.clear()
        _compiled_regexes[source] = _compile_regex(source, MAX_RE2_BYTES)
    return _compiled_regexes[source]


def _compile_regex(source: str, max_bytes: int) -> tuple[Any, tuple[Note, ...]]:
    try:
        import re2  # imported here: it takes 8 ms, and most conditions need no regex
    except ImportError:
        return None, (NO_RE2,)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = max_bytes
    options.case_sensitive = False
    options.never_capture = True  # groups would keep RE2 from using its fastest engine
    try:
        return re2.compile(source, options), ()
    except re2.error as failure:
        reason = failure.args[0] if failure.args else ""
        if isinstance(reason, bytes):
            reason = reason.decode(errors="replace")
        if reason.startswith(RE2_LIMITS):
            return None, (TOO_LARGE,)
        text = f"is no regex RE2 can run ({reason}), so it is matched as plain text"
        return None, (Note("bad-regex", text, REGEX_HINT),)


# Test whether a whenToUse condition fires on a text, and find problems with conditions for
# `rawkomem check`.

MAX_PATTERNS = 32  # a memory with more conditions would fire on anything
MAX_TEXT_CHARS = 10_000  # of a task, from its start, which names its subject
# up to here are Latin, Greek and Cyrillic letters, whose scripts have spaces between words
LAST_SPACED = 0x52F
MAX_ENDING_CHARS = 3  # that a form of a word may add, in other languages than English
MAX_SHOWN_PATTERN_CHARS = 40  # of a pattern in a message
# Ways of firing, besides GLOB, PHRASE, REGEX and WORDS.
ALTERNATIVE = "alternative"
PATH = "path"
LINK = "link"
PASTED = "pasted"
FIRED_SENTENCES = {
    REGEX: "regex",
    WORDS: "words: {text}",
    LINK: "linked from {text}",
    PASTED: "in pasted text: {text}",
}
# All other ways of firing are described as "{how} {text!r}".
# Sentences without a common subject: a condition that fires on two of them fires on letters, not on a subject.
EVERYDAY_SENTENCES = (
    "several musicians travelled south for the winter festival",
    "his uncle repaired broken clocks inside a mountain village",
    "the gardener painted her wooden fence orange before breakfast",
    "they watched sailing boats drift beyond the quiet harbour",
)


COMMON_HINT = "name a subject instead"
# codes of notes about patterns that mean something else
UNUSABLE = ("bad-regex", "backspace")


@record
class Fired:
    """The part of a condition that fired: `how` is a code for programs, `text` is the part itself."""

    how: str
    text: str = ""

    @property
    def by_words(self) -> bool:
        """Return whether words of a sentence fired it, which says less than a pattern."""
        return self.how == WORDS

    @property
    def sentence(self) -> str:
        """Return a description for people."""
        return FIRED_SENTENCES.get(self.how, "{how} {text!r}").format(
            how=self.how, text=self.text
        )


@record
class Situation:
    """A clean text, split once for many conditions, and the engine that searches it for their regexes."""

    text: str
    # on one line; then each compound name, split into words, on its own line
    lower: str
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
    words = frozenset(base for word in word_parts(text) for base in base_forms(word))
    stems = frozenset(specific_stems(text))
    paths = tuple(paths_in(lower))
    names = "".join(f" \n {name}" for name in spelled_out_names(text)).lower()
    return Situation(
        text,
        " ".join(lower.split()) + names,
        lines,
        words,
        stems,
        paths,
        engine or Engine(),
    )


def match_condition(pattern: str, text: str) -> Fired | None:
    """Return the part of a pattern that fires on a text; None if no part does."""
    return fires(read_condition(pattern), situation_of(clean(text)))


def fires(condition: Condition, situation: Situation) -> Fired | None:
    """Return the part of a condition that fires in a situation; None if no part does."""
    if condition.form == REFUSED:
        return None
    if condition.how == PATHS:
        for (glob,) in condition.parts:
            for path in situation.paths:
                if fits_glob(glob, path):
                    return Fired(PATH, path)
        return None
    if condition.how == PIECES:
        return _pieces_fire(condition, situation)
    if condition.how == ENGINE and situation.engine.finds(condition, situation.text):
        return Fired(REGEX)
    if (
        condition.phrase.count(" ") + 1 >= MIN_SENTENCE_WORDS
        and condition.phrase in situation.lower
    ):
        return Fired(PHRASE, condition.phrase)  # the task quotes the whole condition
    for stems in condition.parts if condition.how == WORDS else ():
        shared = situation.stems.intersection(stems)
        if len(shared) >= enough_stems(len(stems)):
            return Fired(WORDS, words_with_stems(condition.text, shared))
    if condition.phrase in situation.lower:
        return Fired(PHRASE, condition.phrase)
    return None


def fires_on_subject(
    condition: Condition, situation: Situation, subject: Situation
) -> bool:
    """Return whether a condition fires on the subject of a situation, not on words or letters of any text."""
    if condition.how == PATHS:
        return bool(fires(condition, situation))
    return bool(fires(condition, subject)) and everyday_hits(condition) < 2


_everyday_situations: list[Situation] = []


def everyday_hits(condition: Condition) -> int:
    """Return how many of the EVERYDAY sentences a condition fires on."""
    _everyday_situations[:] = _everyday_situations or map(
        situation_of, EVERYDAY_SENTENCES
    )
    engine = Engine()
    return sum(
        bool(fires(condition, replace(sentence, engine=engine)))
        for sentence in _everyday_situations
    )


def condition_problems(patterns: Iterable[str], line: int = 1) -> list[Problem]:
    """Return the problems that `rawkomem check` reports about a memory's conditions."""
    given = list(patterns)
    problems = []
    if len(given) > MAX_PATTERNS:
        message = f"whenToUse has {len(given)} patterns: {MAX_PATTERNS} at most"
        hint = "join related words with | or keep the few that matter"
        problems.append(error("too-many-conditions", message, hint, line))
    given = given[:MAX_PATTERNS]
    for pattern, condition in zip(given, read_conditions(given), strict=True):
        shown = clean(pattern)[:MAX_SHOWN_PATTERN_CHARS]
        for note in condition.notes:
            message = f"whenToUse {shown!r} {note.text}"
            problems.append(warning(note.code, message, note.hint, line, quote=pattern))
    return problems


def why_unusable(pattern: str) -> Note | None:
    """Return why a pattern must not be stored: it would never fire, fire on everything, or mean something else.

    None if it may be stored.
    """
    condition = read_condition(pattern)
    if condition.form == REFUSED:
        return condition.notes[-1]
    return next((note for note in condition.notes if note.code in UNUSABLE), None)


def why_too_common(pattern: str) -> str:
    """Return a sentence if a pattern fires on words of nearly every task; else empty."""
    condition = read_condition(pattern)
    spoken = language()
    common = "the letters of any word" if everyday_hits(condition) > 1 else ""
    for pieces in condition.parts if condition.how == PIECES else ():
        words = spoken.words(" ".join(pieces))
        if len(words) != 1:
            continue
        if spoken.is_stop(words[0]) or spoken.stem(words[0]) in spoken.generic_stems:
            common = f"the word {words[0]!r}"
            break
    shown = clean(pattern)[:MAX_SHOWN_PATTERN_CHARS]
    if common:
        return f"whenToUse {shown!r} fires on nearly every task ({common})"
    return ""


def _pieces_fire(condition: Condition, situation: Situation) -> Fired | None:
    how = ALTERNATIVE if condition.form == ALTERNATIVES else condition.form
    for pieces in condition.parts:
        if len(pieces) == 1:
            fires_here = _word_fires(pieces[0], situation)
        else:
            fires_here = any(are_in_order(pieces, line) for line in situation.lines)
        if fires_here:
            return Fired(how, "*".join(pieces))
    return None


def _word_fires(piece: str, situation: Situation) -> bool:
    """Return whether a text contains a word or a phrase as whole words; the last word may have an ending."""
    if piece.isascii() and piece.isalnum():
        return not situation.words.isdisjoint(base_forms(piece)) or _is_stem(
            piece, situation
        )
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
    start = word[:MIN_BASE_CHARS]
    long = (stem for stem in situation.stems if len(stem) >= MIN_STEM_CHARS)
    near = [stem for stem in long if stem[:MIN_BASE_CHARS] == start]
    return bool(near) and language().roots([word])[0] in near


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
    if ascii:
        return ending in ("", "s", "es", "ed", "ing", "d")
    return len(ending) <= MAX_ENDING_CHARS
