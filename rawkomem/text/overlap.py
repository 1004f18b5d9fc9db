"""Match conditions in natural language: do enough of a condition's specific words occur in a task?"""

from __future__ import annotations

from .language import language
from .scripts.compounds import spell_out

MIN_SENTENCE_WORDS = 3  # with fewer words, a text without metacharacters is a phrase
MIN_SENTENCE_TERMS = 6  # … or with fewer pairs of signs, in a script without spaces


def is_language(text: str) -> bool:
    """Return whether a text without metacharacters is a sentence or clause, not a phrase to search for."""
    parts = text.split()
    if _opens(text) or (len(parts) >= MIN_SENTENCE_WORDS and "|" not in text):
        return True
    return not text.isascii() and "|" not in text and len(language().terms(text)) >= MIN_SENTENCE_TERMS


def clauses(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the specific stems of each alternative of a condition, also with compound names split into words.

    "or" and commas separate alternatives only after words like "when": splitting all sentences halved the precision.
    """
    spelled = spell_out(text)
    return tuple(dict.fromkeys([*_clauses(text), *(_clauses(spelled) if spelled != text else ())]))


def _clauses(text: str) -> list[tuple[str, ...]]:
    lower = f" {text.lower()} "
    for exception in language().exceptions:
        lower = lower.partition(exception)[0] or lower
    if _opens(text):
        either = f" {language().alternative} "
        lower = lower.replace("|", either)
        lower = lower.replace(",", either) if either in lower else lower
        parts = lower.split(either)
    else:
        parts = [lower]
    found = (tuple(dict.fromkeys(specific(part))) for part in parts)
    return [stems for stems in found if stems]


def specific(text: str) -> list[str]:
    """Return the stems of the words that may name the subject of a text, in order."""
    return [root for _, root in _specific(language().content_terms(text), 2)]


def subject(text: str) -> str:
    """Return a text without function words, generic words and words of less than three letters."""
    return " ".join(subject_words(text))


def subject_words(text: str) -> list[str]:
    """Return the words of at least three letters that may name the subject of a text."""
    return [word for word, _ in _specific(language().content_words(text), 3)]


def _specific(words: list[str], min_letters: int) -> list[tuple[str, str]]:
    """Return each specific word with its stem. In scripts other than Latin, one sign can be a word."""
    spoken = language()
    kept = [word for word in words if len(word) >= min_letters or not word.isascii()]
    generic = spoken.generic_stems
    return [(word, root) for word, root in zip(kept, spoken.roots(kept), strict=True) if root not in generic]


def named(text: str, stems: frozenset[str]) -> str:
    """Return the words of a text that have one of these stems, as they are written."""
    words = language().terms(text)
    pairs = zip(words, language().roots(words), strict=True)
    return ", ".join(dict.fromkeys(word for word, root in pairs if root in stems))


def enough(stems: int) -> int:
    """Return how many of a clause's specific words a task must contain: one of one, two of two or three, half of more.

    With one of two or three words, conditions fired wrongly five to ten times as often, for twice the hits.
    """
    return stems if stems < 3 else max(2, (stems + 1) // 2)


def body(text: str) -> str:
    """Return a condition in lower case without its "when", to match tasks that quote it."""
    lower = text.lower().rstrip(".?!")
    return lower.partition(" ")[2].strip() if _opens(text) else lower


def _opens(text: str) -> bool:
    first, _, rest = text.partition(" ")
    return rest != "" and first.lower().strip(",:") in language().openers
