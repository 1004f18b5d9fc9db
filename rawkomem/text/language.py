"""The language of memories and tasks, which RAWKOMEM_LANGUAGE names: its words, stems and function words.

Its data is in `languages/<code>.py` and `learn/drafts/cues/<code>.py`; the search index uses FTS5's stems instead.
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
    """Return the words of a listing."""
    return frozenset(text.split())


@record
class Language:
    """A human language, as data."""

    code: str
    stop_words: frozenset[str]  # function words: they carry no subject and never make a condition fire
    generic_words: frozenset[str]  # words that any task may hold: alone they say nothing about its subject
    stemmer: Stemmer
    short_forms: Mapping[str, str] = {}  # stem of a short form → stem of the full word
    negations: frozenset[str] = frozenset()  # words without apostrophes that turn a statement into its opposite
    openers: frozenset[str] = frozenset()  # first words of a condition that is a sentence
    exceptions: tuple[str, ...] = ()  # phrases after which a condition says when NOT to use a memory
    alternative: str = ""  # the word between two alternatives of a condition
    abbreviations: tuple[str, ...] = ()  # which end in a full stop and do not end a sentence
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
        """Return what a text is looked up by, in order: its words, then the parts of its compound names.

        A run of a script without spaces counts as each two neighboring signs, an emoji as a word.
        """
        if text.isascii():
            found = self.words(text)
        else:
            from .scripts.signs import terms_of  # tables that most questions do without

            found = terms_of(text, self.word_signs)
        if text == text.lower():
            return found
        from .scripts.compounds import humps

        return found + [part.lower() for part in humps(text)]

    def is_stop(self, word: str) -> bool:
        """Return whether a lower-case word is a function word."""
        return word in self.stop_words

    def content_words(self, text: str) -> list[str]:
        """Return the lower-case words of a text that are no function words, in order."""
        return [word for word in self.words(text) if word not in self.stop_words]

    def content_terms(self, text: str) -> list[str]:
        """Return the terms of a text that are no function words, in order."""
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
        """Return the stem of each lower-case word; a usual short form has the stem of its full word."""
        return [self.short_forms.get(stem, stem) for stem in self.stemmer(words)]

    @property
    def generic_stems(self) -> frozenset[str]:
        """Return the stems of the generic words."""
        key = self.stemmer, self.generic_words
        if key not in _generic:
            _generic[key] = frozenset(self.stemmer(list(self.generic_words)))
        return _generic[key]


def _ascii(signs: str) -> bytes:
    """Return the table of bytes for ASCII that `_Letters` is for any text: quicker, and without `unicodedata`."""
    if signs not in _bytes:
        codes = (code if chr(code).isalnum() or chr(code) in signs else 32 for code in range(128))
        _bytes[signs] = bytes(codes) + bytes(128)
    return _bytes[signs]


class _Letters(dict[int, str]):
    """A translation table that fills itself: letters, digits, marks and a language's signs stay, others are spaces."""

    def __init__(self, signs: str):
        self.signs = signs

    def __missing__(self, code: int) -> str:
        from unicodedata import category

        character = chr(code)
        kept = character.isalnum() or category(character)[0] == "M" or character in self.signs
        self[code] = character if kept else " "
        return self[code]


_letters: dict[str, _Letters] = {}  # by a language's signs
_bytes: dict[str, bytes] = {}  # the same for ASCII
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
    """Use a language, given as a record or by its code. An unknown code raises BadInput and changes nothing."""
    spoken = read_language(chosen) if isinstance(chosen, str) else chosen
    for cache in _caches if _in_use and _in_use[0] is not spoken else ():
        cache.clear()
    _in_use[:] = [spoken]


def language_cache() -> dict[str, T]:
    """Return an empty dictionary for what follows from a text and the language: a change of language empties it."""
    _caches.append({})
    return _caches[-1]


def read_language(code: str) -> Language:
    """Return the language of a code, from `languages/<code>.py`."""
    if code not in known_languages():
        raise BadInput(f"unknown language {code[:20]!r}", f"set {VARIABLE} to one of {', '.join(known_languages())}")
    found: Language = __import__(f"{__package__}.languages.{code}", fromlist=["LANGUAGE"]).LANGUAGE
    return found


def known_languages() -> list[str]:
    """Return the codes of the languages that rawkomem has data for."""
    names = os.listdir(os.path.join(os.path.dirname(__file__), "languages"))
    return sorted(name[:-3] for name in names if name.endswith(".py") and not name.startswith("_"))
