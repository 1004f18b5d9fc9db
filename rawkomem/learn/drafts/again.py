"""Find out whether a person said the same thing in two sessions, in different words. Such a draft is worth keeping."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from ...model.draft import CORRECTION, DECISION, PREFERENCE, RULE
from ...text.same import said_in
from .known import plain

if TYPE_CHECKING:
    from ...model.draft import Draft

PROMOTED_KINDS = (CORRECTION, RULE, PREFERENCE, DECISION)  # kinds in which a person says something without being asked
MIN_COSINE = 0.55  # of the vectors of two turns; their shared words decide (the limits below)
MIN_SHARED = 0.5  # share of the shorter turn's specific words that both turns contain
MIN_SHARED_WORDS = 2


def is_repeated(one: Draft, other: Draft) -> bool:
    """Tell whether two drafts hold exactly the same words. A program sends such text, not a person."""
    return plain(one.said) == plain(other.said)


def is_again(one: Draft, other: Draft, cosine: float) -> bool:
    """Tell whether two drafts of different sessions mean the same: shared words, equal numbers, negated alike."""
    if one.session == other.session or is_repeated(one, other):
        return False
    if one.kind not in PROMOTED_KINDS or other.kind not in PROMOTED_KINDS or cosine < MIN_COSINE:
        return False
    first, second = said_in(one.said), said_in(other.said)
    if first.numbers != second.numbers or bool(first.negations) != bool(second.negations):
        return False
    both, fewer = first.subject & second.subject, min(len(first.subject), len(second.subject))
    return len(both) >= MIN_SHARED_WORDS and len(both) >= MIN_SHARED * fewer


def cosine(one: bytes, other: bytes) -> float:
    """Return the cosine of two normalized vectors of 32-bit floats."""
    return sum(a * b for a, b in zip(array("f", one), array("f", other), strict=True))
