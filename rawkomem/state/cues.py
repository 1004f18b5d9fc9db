"""The words that reveal a contradiction between two sentences, from the file cues.json: one table for each human language.

To add a language, add a table with the fields of `Cues`; a string is a list of words.
"""

from __future__ import annotations

import json
import os
import re
from functools import cached_property

from ..model.values import TYPE_CHECKING, record
from ..text.language import known_languages, language, read_language, word_set

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

with open(
    os.path.join(os.path.dirname(__file__), "cues.json"), encoding="utf-8"
) as _file:
    DATA = json.load(_file)

# unit → what it measures, size
UNITS: dict[str, tuple[str, float]] = DATA["units"]
LATIN_WORD = "[a-z0-9_.+%#/-]*[a-z0-9%]"


@record
class Cues:
    """The words of one language, in lower case."""

    known: frozenset[str]  # words that identify the language
    function_words: frozenset[str]  # they are not compared
    negations: frozenset[str]
    # a second one makes a sentence positive again: "never … without"
    reversing: frozenset[str]
    # what follows in the clause says when a sentence holds
    conditions: frozenset[str]
    limits: frozenset[str]  # function words that are compared
    # compared together with the next word: "from staging"
    relations: frozenset[str]
    choosing: frozenset[str]  # verbs whose object is a choice
    # verbs whose object, or subject after `links`, is no longer used
    rejecting: frozenset[str]
    replacing: frozenset[str]  # what follows is not used
    # after a choice or a comma: what follows is not used
    instead: frozenset[str]
    bounds: frozenset[str]  # words that end an object
    # words in sentences that allow other choices, too
    adding: frozenset[str]
    # words after which a sentence only gives a reason
    reasons: frozenset[str]
    units: frozenset[str]  # a number before or after one is a value
    # a number after one is a value, if it ends an object
    ranks: frozenset[str]
    rank_endings: frozenset[str]  # of a compound word, like "log-level"
    links: frozenset[str]  # words before a state: "is enabled", "to true"
    # a verb after one orders nothing: "to enable …"
    purposes: frozenset[str]
    # opposites: "+" or "-" and their common stem, which may be empty
    states: dict[str, str]
    orders: dict[str, str]  # verbs that start or end a clause
    measures: dict[str, str]  # word → key of UNITS
    numerals: list[str]  # words for 1, 2, 3 …
    phrases: dict[str, str]  # replaced before a sentence is split into words
    link_distance: int = 3  # words from a link to its state
    stemmer: Callable[[list[str]], list[str]] = list  # returns the stem of each word
    signs_per_word: int = 1  # more in a script without spaces

    @property
    def is_unspaced(self) -> bool:
        """Return whether the language is written without spaces."""
        return self.signs_per_word > 1

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return what a text without spaces consists of: known words, Latin words and signs."""
        longest_first = sorted(self.known, key=len, reverse=True)
        return re.compile("|".join((*longest_first, LATIN_WORD, r"\S")))

    def words(self, text: str) -> list[str]:
        """Return the words of a lower-case text, in order."""
        for phrase, word in self.phrases.items():
            text = text.replace(phrase, word)
        return self.pattern.findall(text) if self.is_unspaced else text.split()


# fields whose words identify a language; words like "limit" and "version" are in many languages
IDENTIFYING = (
    "function_words", "negations", "conditions", "choosing", "rejecting", "replacing", "bounds", "adding", "reasons",
    "links", "numerals", "measures", "states", "orders",
)  # fmt: skip


def _read_cues(code: str, table: dict[str, Any]) -> Cues:
    """Return the cues of a language. If `languages/<code>.py` exists, its function words and stems are used."""
    fields: dict[str, Any] = {
        name: word_set(value) if isinstance(value, str) else value
        for name, value in table.items()
    }
    fields["measures"] |= DATA["symbols"]
    fields["numerals"] = table["numerals"].split()
    if code in known_languages():
        spoken = read_language(code)
        fields |= {"function_words": spoken.stop_words, "stemmer": spoken.roots}
    known = frozenset(word for name in IDENTIFYING for word in fields[name])
    if "signs_per_word" in table:
        known |= fields["units"] | fields["ranks"]
    return Cues(known, **fields)


CUES: dict[str, Cues] = {
    code: _read_cues(code, table) for code, table in DATA["languages"].items()
}


def language_of(text: str) -> str:
    """Return the language that most words of a text belong to; English if no language is recognized."""
    text = text.lower()
    spaced = language().words(text)
    counts = {}
    for code, cues in CUES.items():
        is_unspaced = cues.is_unspaced and not text.isascii()
        words = cues.words(text) if is_unspaced else spaced
        counts[code] = len(cues.known.intersection(words))
    return max(CUES, key=counts.__getitem__)
