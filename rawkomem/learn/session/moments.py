"""Finds the sentences of a turn that are worth remembering. Extractive: a sentence is kept as it was said.

High precision by design: what has no cue, asks, supposes, narrates or passes is skipped, and what is left must score.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...model.record import record
from ...text.overlap import specific
from ...text.prose import sentences
from . import cues
from .turns import NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .turns import Turn

SHORTEST, LONGEST = 18, 400  # characters of a sentence: below it says nothing by itself, above it is a listing
FEW = 2  # telling words that a sentence needs
ENOUGH = 0.6  # a score from which on a sentence is worth remembering
BASE = 0.6
KNOWN_WORDS = 0.05  # for each telling word above the fewest, up to …
MOST_WORDS = 0.1


@record
class Moment:
    """A sentence worth remembering: what kind of thing it is, how sure that is (0 to 1), and why."""

    kind: str
    text: str
    score: float
    why: str
    before: str = ""  # the sentence it answers or continues, where it needs one
    turn: Turn | None = None


def moments_in(turn: Turn, skipped: Counter[str]) -> Iterator[Moment]:
    """The moments of a turn, in order; what was passed over is counted by reason."""
    before = ""
    spoken = sentences(_spoken(turn.text).replace("’", "'"))  # cues are written with plain apostrophes
    for sentence, after in zip(spoken, [*spoken[1:], ""], strict=False):
        reason = why_not(sentence) or ("passing" if _under_way(sentence, after) else "")
        found = None if reason else _moment(turn, sentence, before)
        if found:
            yield found
        elif reason:
            skipped[reason] += 1
        before = sentence


def why_not(sentence: str) -> str:
    """Why a sentence is nothing to remember, whatever it says; empty for one that may be."""
    if not SHORTEST <= len(sentence) <= LONGEST or len(set(specific(sentence))) < FEW:
        return "trivial"
    skips = ["question"] if cues.CUES["request"].search(sentence) else cues.SKIPS
    return next((name for name in skips if cues.SKIPS[name].search(sentence)), "")


def _under_way(sentence: str, after: str) -> bool:
    """Whether somebody is still at work on what a sentence tells: a fault that is named, and about to be mended."""
    return bool(cues.CUES["fix"].search(sentence) and not cues.REMEDY.search(sentence) and cues.NARRATION.search(after))


def _spoken(text: str) -> str:
    """A text without what is quoted: its author did not say it."""
    return "\n".join("" if line.lstrip().startswith(">") else line for line in text.split("\n"))


def _moment(turn: Turn, sentence: str, before: str) -> Moment | None:
    kind = _kind(turn.role, sentence, before)
    if not kind:
        return None
    score, why = _score(sentence, kind)
    leads = before if cues.VAGUE.search(sentence) or cues.SHORT_NO.search(before) else ""
    return Moment(kind, sentence, score, why, leads, turn) if score >= ENOUGH else None


def _kind(role: str, sentence: str, before: str) -> str:
    """The kind that names a sentence: its first, or a correction where a mere "no" stands before it."""
    corrects = role in cues.KINDS["correction"].roles and cues.SHORT_NO.search(before)
    otherwise = "correction" if corrects and cues.CONTRAST.search(sentence) else ""
    return next(kinds_of(sentence, role), otherwise)


def kinds_of(sentence: str, role: str) -> Iterator[str]:
    """Every kind that a sentence has a cue for, among those that this speaker can say."""
    for name, kind in cues.KINDS.items():
        if role in (*kind.roles, NOBODY) and cues.CUES[name].search(sentence):
            yield name


def _score(sentence: str, kind: str) -> tuple[float, str]:
    """How sure it is that a sentence with a cue will be of use, and what that is made of."""
    words = len(set(specific(sentence)))
    parts = [
        (BASE, f"says a {kind}"),
        (min(MOST_WORDS, (words - FEW) * KNOWN_WORDS), "telling words"),
        (0.1 if cues.REASON.search(sentence) else 0.0, "a reason"),
        (0.1 if cues.CONTRAST.search(sentence) else 0.0, "what it is not"),
        (0.1 if cues.SPECIFIC.search(sentence) else 0.0, "names"),
        (-0.2 if kind != "correction" and cues.VAGUE.search(sentence) else 0.0, "vague"),
    ]
    why = ", ".join(name if amount > 0 else f"but {name}" for amount, name in parts if amount)
    return round(min(1.0, sum(amount for amount, _ in parts)), 2), why
