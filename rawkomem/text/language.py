"""Provide words, stems and function words of the language of memories and tasks. RAWKOMEM_LANGUAGE names it.

Its data is in `languages/<code>.py` and `learn/drafts/cues/<code>.py`. The search index uses FTS5's stems instead.
"""

from __future__ import annotations

import os

from ..model.errors import BadInput
from ..model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeVar

    from .stem import Stemmer

    T = TypeVar("T")

DEFAULT_LANGUAGE = "en"
VARIABLE = "RAWKOMEM_LANGUAGE"


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


@record
class Language:
    """A human language, as data."""

    code: str
    stop_words: frozenset[str]  # function words: never the subject, and never enough to fire a condition
    generic_words: frozenset[str]  # words of any task: by themselves they do not name a subject
    stemmer: Stemmer
    short_forms: Mapping[str, str] = {}  # stem of a short form → stem of the full word
    negations: frozenset[str] = frozenset()  # words, without apostrophes, that negate a statement
    openers: frozenset[str] = frozenset()  # first words of a condition that is a sentence
    exceptions: tuple[str, ...] = ()  # phrases that start the part of a condition that says when NOT to use a memory
    alternative: str = ""  # the word between two alternatives of a condition
    abbreviations: tuple[str, ...] = ()  # words with a full stop that does not end a sentence
    word_signs: str = ""  # characters besides letters, marks and digits that are part of a word

    def words(self, text: str) -> list[str]:
        """Return the lower-case words of a text, in order: runs of letters and digits of any script."""
        text = text.lower()
        if text.isascii():
            return text.encode().translate(_ascii(self.word_signs)).decode().split()
        from unicodedata import normalize

        text = normalize("NFC", text)
        return text.translate(_letters.setdefault(self.word_signs, _Letters(self.word_signs))).split()

    def terms(self, text: str) -> list[str]:
        """Return the search terms of a text, in order: its words, then the parts of its compound names.

        In a script without spaces, each two neighboring signs are a term. An emoji is a word.
        """
        if text.isascii():
            found = self.words(text)
        else:
            from .scripts.signs import terms_of  # tables that ASCII texts do not need

            found = terms_of(text, self.word_signs)
        if text == text.lower():
            return found
        from .scripts.compounds import humps

        return found + [part.lower() for part in humps(text)]

    def is_stop(self, word: str) -> bool:
        """Return whether a lower-case word is a function word."""
        return word in self.stop_words

    def content_words(self, text: str) -> list[str]:
        """Return the lower-case words of a text without function words, in order."""
        return [word for word in self.words(text) if word not in self.stop_words]

    def content_terms(self, text: str) -> list[str]:
        """Return the terms of a text without function words, in order."""
        found = [term for term in self.terms(text) if term not in self.stop_words]
        if text.isascii():
            return found
        from .scripts.function_words import FUNCTION_WORDS

        return [term for term in found if term not in FUNCTION_WORDS]

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
        if key not in _generic:
            _generic[key] = frozenset(self.stemmer(list(self.generic_words)))
        return _generic[key]


def _ascii(signs: str) -> bytes:
    """Return a byte table that does for ASCII what `_Letters` does for any text, but faster."""
    if signs not in _bytes:
        codes = (code if chr(code).isalnum() or chr(code) in signs else 32 for code in range(128))
        _bytes[signs] = bytes(codes) + bytes(128)
    return _bytes[signs]


class _Letters(dict[int, str]):
    """A translation table that fills itself: letters, digits, marks and `signs` stay, others become spaces."""

    def __init__(self, signs: str):
        self.signs = signs

    def __missing__(self, code: int) -> str:
        from unicodedata import category

        character = chr(code)
        kept = character.isalnum() or category(character)[0] == "M" or character in self.signs
        self[code] = character if kept else " "
        return self[code]


_letters: dict[str, _Letters] = {}  # word signs of a language → table
_bytes: dict[str, bytes] = {}  # word signs of a language → table for ASCII
_generic: dict[tuple[Stemmer, frozenset[str]], frozenset[str]] = {}
_in_use: list[Language] = []
_caches: list[dict[str, Any]] = []


def language() -> Language:
    """Return the language in use."""
    if not _in_use:
        use_language(os.environ.get(VARIABLE) or DEFAULT_LANGUAGE)
    return _in_use[0]


def language_code() -> str:
    """Return the code of the language in use, without loading its data."""
    return _in_use[0].code if _in_use else os.environ.get(VARIABLE) or DEFAULT_LANGUAGE


def use_language(chosen: str | Language) -> None:
    """Set the language in use, by its code or as a record. An unknown code raises BadInput and changes nothing."""
    spoken = read_language(chosen) if isinstance(chosen, str) else chosen
    for cache in _caches if _in_use and _in_use[0] is not spoken else ():
        cache.clear()
    _in_use[:] = [spoken]


def language_cache() -> dict[str, T]:
    """Return an empty dictionary to cache results that depend on the language. A change of language empties it."""
    _caches.append({})
    return _caches[-1]


def read_language(code: str) -> Language:
    """Return the language in `languages/<code>.py`. Raise BadInput for an unknown code."""
    if code not in known_languages():
        raise BadInput(f"unknown language {code[:20]!r}", f"set {VARIABLE} to one of {', '.join(known_languages())}")
    found: Language = __import__(f"{__package__}.languages.{code}", fromlist=["LANGUAGE"]).LANGUAGE
    return found


def known_languages() -> list[str]:
    """Return the codes of all supported languages."""
    names = os.listdir(os.path.join(os.path.dirname(__file__), "languages"))
    return sorted(name[:-3] for name in names if name.endswith(".py") and not name.startswith("_"))
