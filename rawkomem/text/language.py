"""Words, stems and function words of the language of memories and tasks (RAWKOMEM_LANGUAGE names it),
compound names split into words, and whether two texts say the same.

The data of a language is in `languages/<code>.py`. The search index uses FTS5's stems instead.
"""

from __future__ import annotations

import os

from ..model.errors import BadInput
from ..model.values import TYPE_CHECKING, record
from .clean import late_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T")

    Stemmer = Callable[[Sequence[str]], list[str]]


# Reduce words to stems: English with SQLite's FTS5, other languages by removing endings.

_fts5: list[Any] = []  # FTS5's tokenizer, after its first use


def porter_stems(words: Sequence[str]) -> list[str]:
    """Return the Porter stems of lower-case words, by FTS5 as in the index. Words that are not ASCII stay unchanged."""
    plain = [word for word in words if word.isascii() and word.isalnum()]
    import apsw  # imported here: a command that needs no stems must not load SQLite

    if not _fts5:
        _fts5.append(apsw.Connection(":memory:").fts5_tokenizer("porter", ["ascii"]))
    tokens: list[str] = _fts5[0](
        " ".join(plain).encode(),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    stems = iter(tokens)
    return [
        next(stems) if word.isascii() and word.isalnum() else word for word in words
    ]


def ending_stemmer(
    ends: Sequence[str], min_letters: int, folded: Mapping[str, str] | None = None
) -> Stemmer:
    """Return a stemmer that replaces letters by `folded` and removes the first ending that leaves `min_letters`."""
    table = str.maketrans(dict(folded or {}))

    def stem(word: str) -> str:
        word = word.translate(table)
        fits = (
            end
            for end in ends
            if word.endswith(end) and len(word) - len(end) >= min_letters
        )
        return word.removesuffix(next(fits, ""))

    return lambda words: [stem(word) for word in words]


# Split compound names into words: `invoiceTotal`, `HTTPServer`, `parse_json` and `dry-run` are two
# words each.

MAX_NAME_CHARS = 100  # longer runs of letters are not names
# different names of a text that are split: each needs a search in the whole text
MAX_NAMES = 100
MIN_PART_CHARS = 2  # so `iOS` and `eBay` are not split
JOINTS = "_-"
# invoice|Total, HTTP|Server
HUMP = late_regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
HUMPED_NAME = late_regex(r"(?<![^\W_])(?:[A-Z]{2,}[a-z]|[A-Z]*[a-z0-9]+[A-Z])[^\W_]*")
COMPOUND_NAME = late_regex(
    r"(?<![\w-])[\w-]*(?:[^\W_][_-]+[^\W_]|[a-z0-9][A-Z]|[A-Z]{2}[a-z])[\w-]*"
)


def hump_parts(text: str) -> list[str]:
    """Return the parts of names with inner capitals in a text, in order: `invoiceTotal` → invoice, Total."""
    others = [word for word in text.split() if not word.islower()]
    capital = " ".join(word for word in others if word[1:] != word[1:].lower())
    candidates = HUMPED_NAME.findall(capital) if capital else ()
    names = [name for name in candidates if len(name) <= MAX_NAME_CHARS]
    return [part for name in names for part in _at_capitals(name)]


def spelled_out_names(text: str) -> list[str]:
    """Return the compound names in a text, each split into words with spaces."""
    return [words for name in _compound_names(text) if (words := _spelled_out(name))]


def spell_out_names(text: str) -> str:
    """Return a text with its compound names split into words."""
    for name in [*dict.fromkeys(_compound_names(text))][:MAX_NAMES]:
        text = text.replace(name, _spelled_out(name) or name)
    return text


def _compound_names(text: str) -> list[str]:
    """Return the words of a text that may be compound: with a capital or a joint inside."""
    names = [name.strip(JOINTS) for name in COMPOUND_NAME.findall(text)]
    return [name for name in names if len(name) <= MAX_NAME_CHARS]


def _spelled_out(name: str) -> str:
    """Return the words of a compound name with spaces; empty if it is not compound."""
    joined = name.replace("-", "_").split("_")
    words = [word for part in joined if part for word in _at_capitals(part) or [part]]
    if len(words) < 2 or min(map(len, words)) < MIN_PART_CHARS:
        return ""
    return " ".join(words)


def _at_capitals(name: str) -> list[str]:
    """Return the parts of a name, split at capital letters; none if it has fewer than two parts."""
    if name.isupper() or not name.isascii():
        return []
    parts = HUMP.split(name)
    return parts if len(parts) > 1 and min(map(len, parts)) >= MIN_PART_CHARS else []


DEFAULT_LANGUAGE = "en"
LANGUAGE_VARIABLE = "RAWKOMEM_LANGUAGE"


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


@record
class Language:
    """A human language, as data."""

    code: str
    # function words: never the subject, and never enough to fire a condition
    stop_words: frozenset[str]
    # words of any task: by themselves they do not name a subject
    generic_words: frozenset[str]
    stemmer: Stemmer
    short_forms: Mapping[str, str] = {}  # stem of a short form → stem of the full word
    # words, without apostrophes, that negate a statement
    negations: frozenset[str] = frozenset()
    # first words of a condition that is a sentence
    openers: frozenset[str] = frozenset()
    # phrases that start the part of a condition that says when NOT to use a memory
    exceptions: tuple[str, ...] = ()
    alternative: str = ""  # the word between two alternatives of a condition
    # words with a full stop that does not end a sentence
    abbreviations: tuple[str, ...] = ()

    def words(self, text: str) -> list[str]:
        """Return the lower-case words of a text, in order: runs of letters and digits of any script."""
        text = text.lower()
        if text.isascii():
            return text.encode().translate(ASCII_WORDS).decode().split()
        from .scripts import words_of  # tables that ASCII texts do not need

        return words_of(text)

    def terms(self, text: str) -> list[str]:
        """Return the search terms of a text, in order: its words, then the parts of its compound names.

        In a script without spaces, each two neighboring signs are a term. An emoji is a word.
        """
        if text.isascii():
            words = self.words(text)
        else:
            from .scripts import terms_of  # tables that ASCII texts do not need

            words = terms_of(text)
        if text == text.lower():
            return words
        return words + [part.lower() for part in hump_parts(text)]

    def is_stop(self, word: str) -> bool:
        """Return whether a lower-case word is a function word."""
        return word in self.stop_words

    def content_words(self, text: str) -> list[str]:
        """Return the lower-case words of a text without function words, in order."""
        return [word for word in self.words(text) if word not in self.stop_words]

    def content_terms(self, text: str) -> list[str]:
        """Return the terms of a text without function words, in order."""
        terms = [term for term in self.terms(text) if term not in self.stop_words]
        if text.isascii():
            return terms
        from .scripts import FUNCTION_WORDS

        return [term for term in terms if term not in FUNCTION_WORDS]

    def stem(self, word: str) -> str:
        """Return the stem of a lower-case word."""
        return self.stemmer((word,))[0]

    def stems(self, text: str) -> list[str]:
        """Return the stems of a text's content terms, in order."""
        return self.stemmer(self.content_terms(text))

    def roots(self, words: list[str]) -> list[str]:
        """Return the stem of each lower-case word; for a common short form, the stem of the full word."""
        return [self.short_forms.get(stem, stem) for stem in self.stemmer(words)]

    @property
    def generic_stems(self) -> frozenset[str]:
        """Return the stems of the generic words."""
        key = self.stemmer, self.generic_words
        if key not in _stems:
            _stems[key] = frozenset(self.stemmer(list(self.generic_words)))
        return _stems[key]


_stems: dict[tuple[Stemmer, frozenset[str]], frozenset[str]] = {}


# Letters and digits stay, all else becomes a space.
ASCII_WORDS = bytes(code if chr(code).isalnum() else 32 for code in range(128)) + bytes(
    128
)


_in_use: list[Language] = []
_caches: list[dict[str, Any]] = []


def language() -> Language:
    """Return the language in use."""
    if not _in_use:
        use_language(os.environ.get(LANGUAGE_VARIABLE) or DEFAULT_LANGUAGE)
    return _in_use[0]


def language_code() -> str:
    """Return the code of the language in use, without loading its data."""
    if _in_use:
        return _in_use[0].code
    return os.environ.get(LANGUAGE_VARIABLE) or DEFAULT_LANGUAGE


def use_language(chosen: str | Language) -> None:
    """Set the language in use, by its code or as a record. An unknown code raises BadInput and changes nothing."""
    spoken = read_language(chosen) if isinstance(chosen, str) else chosen
    for results in _caches if _in_use and _in_use[0] is not spoken else ():
        results.clear()
    _in_use[:] = [spoken]


def language_cache() -> dict[str, T]:
    """Return an empty dictionary to cache results that depend on the language. A change of language empties it."""
    _caches.append({})
    return _caches[-1]


def read_language(code: str) -> Language:
    """Return the language in `languages/<code>.py`. Raise BadInput for an unknown code."""
    if code not in known_languages():
        raise BadInput(
            f"unknown language {code[:20]!r}",
            f"set {LANGUAGE_VARIABLE} to one of {', '.join(known_languages())}",
        )
    spoken: Language = __import__(
        f"{__package__}.languages.{code}", fromlist=["LANGUAGE"]
    ).LANGUAGE
    return spoken


def known_languages() -> list[str]:
    """Return the codes of all supported languages."""
    names = os.listdir(os.path.join(os.path.dirname(__file__), "languages"))
    return sorted(
        name[:-3] for name in names if name.endswith(".py") and not name.startswith("_")
    )


# Decide whether two texts say the same, at named levels. Vectors propose; words, numbers and
# negations decide.
#
# Vectors are not enough: the vectors of "at most 60" and "at most 600" are closer than those of
# two wordings of either.

# characters around a word that are not part of a number in it
WORD_EDGES = '.,;:!?()[]{}"`*_'
MIN_SUBJECT_WORDS = 2  # that a subject needs: one shared word is not enough
# from this cosine on, two texts are related (neolata); below SIMILAR
RELATED_COSINE = 0.6
# of each text, when copies are searched while a prompt waits
MAX_COMPARED_CHARS = 20_000


@record
class SamenessLevel:
    """How close two texts must be, in words and, if a cosine is known, in meaning."""

    min_cosine: float
    min_shared: float  # share of all words of the two texts that are in both
    # compare only specific words, relative to the shorter text; numbers may differ
    subject_only: bool = False


# one can replace the other (cosine: neolata, RFC-0011)
DUPLICATE = SamenessLevel(0.95, 0.9)
# one confirms the other; below 0.8, texts on sibling functions would match
NEAR_DUPLICATE = SamenessLevel(0.9, 0.8)
# both have one subject; one may be a newer version of the other
SIMILAR = SamenessLevel(0.8, 0.6, subject_only=True)


@record
class ContentWords:
    """The stems of a text's content words, its numbers, and its negations."""

    stems: frozenset[str]
    numbers: frozenset[str]
    negations: frozenset[str]

    @property
    def subject(self) -> frozenset[str]:
        """Return the stems without those of generic words."""
        return self.stems - language().generic_stems


def statement_of(text: str) -> ContentWords:
    """Return the stems, numbers and negations of a text. Without content words, all its words are used."""
    spoken = language()
    words = spoken.content_words(text) or spoken.words(text) or [text.strip()]
    return ContentWords(frozenset(spoken.roots(words)), *numbers_and_negations(text))


def numbers_and_negations(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the numbers and the negations in a text."""
    lower = text.replace("'", "").replace("’", "").lower()
    odd = (word.strip(WORD_EDGES) for word in set(lower.split()) if not word.isalpha())
    numbers = frozenset(word for word in odd if any(c.isdigit() for c in word))
    return numbers, language().negations.intersection(language().words(lower))


def says_same(
    one: ContentWords, other: ContentWords, level: SamenessLevel, cosine: float = 1.0
) -> bool:
    """Return whether two texts say the same at a level. Pass the cosine of their vectors if it is known."""
    if (
        cosine < level.min_cosine
        or shared_words(one, other, level.subject_only) < level.min_shared
    ):
        return False
    return level.subject_only or (one.numbers, one.negations) == (
        other.numbers,
        other.negations,
    )


def shared_words(
    one: ContentWords, other: ContentWords, subject_only: bool = False
) -> float:
    """Return the share of common words: of all words of both texts, or of the shorter one's subject."""
    if not subject_only:
        return len(one.stems & other.stems) / max(1, len(one.stems | other.stems))
    fewer = min(len(one.subject), len(other.subject))
    if fewer >= MIN_SUBJECT_WORDS:
        return len(one.subject & other.subject) / fewer
    return 0.0


def is_identical(one: str, other: str) -> bool:
    """Return whether two texts are equal except for case and white space."""
    return identity(one) == identity(other)


def identity(text: str) -> str:
    """Return a text in lower case with single spaces, to compare texts."""
    return " ".join(text.lower().split())


def is_copy(one: str, other: str) -> bool:
    """Return whether one text is the other with a few words changed. Numbers may differ: a planted copy changes facts."""
    words, others = (
        set(language().words(text[:MAX_COMPARED_CHARS])) for text in (one, other)
    )
    return len(words & others) >= DUPLICATE.min_shared * max(1, len(words | others))
