"""Whether two texts say the same, at named levels: vectors propose; words, numbers and negations decide.

For vectors, "at most 60" and "at most 600" differ by less than two wordings of either.
"""

from __future__ import annotations

from ..model.record import record
from .language import language

EDGES = '.,;:!?()[]{}"`*_'  # characters around a word that say nothing about the number in it
MIN_SUBJECT_WORDS = 2  # specific words that a subject needs: one shared word is no subject
RELATED_COSINE = 0.6  # from which two texts have to do with each other (neolata); below SIMILAR
MAX_COMPARED_CHARS = 20_000  # of each text, when a prompt waits for whether one is a copy of the other


@record
class Level:
    """How close two texts must be, in meaning (where a cosine is known) and in words."""

    min_cosine: float
    min_shared: float  # share of the words of both texts that both have
    subject_only: bool = False  # compare specific words, as a share of the shorter text's; numbers may differ


DUPLICATE = Level(0.95, 0.9)  # one may take the other's place (cosine: neolata, RFC-0011)
NEAR_DUPLICATE = Level(0.9, 0.8)  # one confirms the other and adds nothing; below 0.8, sibling functions are "the same"
SIMILAR = Level(0.8, 0.6, subject_only=True)  # both are about one subject, and one may be a newer version of the other


@record
class Said:
    """What a text says: the stems of its content words, its numbers, and its negations."""

    stems: frozenset[str]
    numbers: frozenset[str]
    negations: frozenset[str]

    @property
    def subject(self) -> frozenset[str]:
        """Return the stems without those that any text may hold."""
        return self.stems - language().generic_stems


def said_in(text: str) -> Said:
    """Return what a text says; a text without content words counts by all its words."""
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
    """Return whether two texts say the same at a level. Give the cosine of their vectors where it is known."""
    if cosine < level.min_cosine or shared(one, other, level.subject_only) < level.min_shared:
        return False
    return level.subject_only or (one.numbers, one.negations) == (other.numbers, other.negations)


def shared(one: Said, other: Said, subject_only: bool = False) -> float:
    """Return the share of words that two texts have in common: of both, or of the shorter one's subject."""
    if not subject_only:
        return len(one.stems & other.stems) / max(1, len(one.stems | other.stems))
    fewer = min(len(one.subject), len(other.subject))
    return len(one.subject & other.subject) / fewer if fewer >= MIN_SUBJECT_WORDS else 0.0


def is_identical(one: str, other: str) -> bool:
    """Return whether two texts are equal but for case and white space."""
    return identity(one) == identity(other)


def identity(text: str) -> str:
    """Return a text in lower case with single spaces: the same for identical texts."""
    return " ".join(text.lower().split())


def is_copy(one: str, other: str) -> bool:
    """Tell whether one text is the other with a few words changed, perhaps on purpose: a planted copy changes facts."""
    words, others = (set(language().words(text[:MAX_COMPARED_CHARS])) for text in (one, other))
    return len(words & others) >= DUPLICATE.min_shared * max(1, len(words | others))
