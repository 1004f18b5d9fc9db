"""Decide whether two texts say the same, at named levels. Vectors propose; words, numbers and negations decide.

Vectors are not enough: the vectors of "at most 60" and "at most 600" are closer than those of two wordings of either.
"""

from __future__ import annotations

from ..model.record import record
from .language import language

EDGES = '.,;:!?()[]{}"`*_'  # characters around a word that are not part of a number in it
MIN_SUBJECT_WORDS = 2  # that a subject needs: one shared word is not enough
RELATED_COSINE = 0.6  # from this cosine on, two texts are related (neolata); below SIMILAR
MAX_COMPARED_CHARS = 20_000  # of each text, when copies are searched while a prompt waits


@record
class Level:
    """How close two texts must be, in words and, if a cosine is known, in meaning."""

    min_cosine: float
    min_shared: float  # share of all words of the two texts that are in both
    subject_only: bool = False  # compare only specific words, relative to the shorter text; numbers may differ


DUPLICATE = Level(0.95, 0.9)  # one can replace the other (cosine: neolata, RFC-0011)
NEAR_DUPLICATE = Level(0.9, 0.8)  # one confirms the other; below 0.8, texts on sibling functions would match
SIMILAR = Level(0.8, 0.6, subject_only=True)  # both have one subject; one may be a newer version of the other


@record
class Said:
    """The stems of a text's content words, its numbers, and its negations."""

    stems: frozenset[str]
    numbers: frozenset[str]
    negations: frozenset[str]

    @property
    def subject(self) -> frozenset[str]:
        """Return the stems without those of generic words."""
        return self.stems - language().generic_stems


def said_in(text: str) -> Said:
    """Return the stems, numbers and negations of a text. Without content words, all its words are used."""
    spoken = language()
    words = spoken.content_words(text) or spoken.words(text) or [text.strip()]
    return Said(frozenset(spoken.roots(words)), *facts_in(text))


def facts_in(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the numbers and the negations in a text."""
    said = text.replace("'", "").replace("’", "").lower()
    odd = (word.strip(EDGES) for word in set(said.split()) if not word.isalpha())
    numbers = frozenset(word for word in odd if any(c.isdigit() for c in word))
    return numbers, language().negations.intersection(language().words(said))


def says_same(one: Said, other: Said, level: Level, cosine: float = 1.0) -> bool:
    """Return whether two texts say the same at a level. Pass the cosine of their vectors if it is known."""
    if cosine < level.min_cosine or shared(one, other, level.subject_only) < level.min_shared:
        return False
    return level.subject_only or (one.numbers, one.negations) == (other.numbers, other.negations)


def shared(one: Said, other: Said, subject_only: bool = False) -> float:
    """Return the share of common words: of all words of both texts, or of the shorter one's subject."""
    if not subject_only:
        return len(one.stems & other.stems) / max(1, len(one.stems | other.stems))
    fewer = min(len(one.subject), len(other.subject))
    return len(one.subject & other.subject) / fewer if fewer >= MIN_SUBJECT_WORDS else 0.0


def is_identical(one: str, other: str) -> bool:
    """Return whether two texts are equal except for case and white space."""
    return identity(one) == identity(other)


def identity(text: str) -> str:
    """Return a text in lower case with single spaces, to compare texts."""
    return " ".join(text.lower().split())


def is_copy(one: str, other: str) -> bool:
    """Tell whether one text is the other with a few words changed. Numbers may differ: a planted copy changes facts."""
    words, others = (set(language().words(text[:MAX_COMPARED_CHARS])) for text in (one, other))
    return len(words & others) >= DUPLICATE.min_shared * max(1, len(words | others))
