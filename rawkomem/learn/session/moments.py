"""Finds the sentences of a turn that are worth remembering. Extractive: a sentence is kept as it was said.

High precision by design: what has no cue, asks, supposes, narrates or passes is skipped, and what is left must score.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...model.record import record
from ...text.overlap import specific
from ...text.prose import sentences
from .cues import KINDS, SPECIFIC, cues
from .turns import NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .turns import Turn

MIN_CHARACTERS, MAX_CHARACTERS = 18, 400  # of a sentence: a shorter one says nothing alone, a longer one is a listing
MIN_WORDS = 2  # telling words that a sentence needs
MIN_SCORE = 0.6  # of a sentence that is worth remembering
CUE_SCORE = 0.6  # for a cue
WORD_SCORE = 0.05  # for each telling word above the fewest, up to …
MAX_WORDS_SCORE = 0.1


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
    """Yield the moments of a turn, in order; what was passed over is counted by reason."""
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
    """Return why a sentence is nothing to remember, whatever it says; empty for one that may be."""
    if not MIN_CHARACTERS <= len(sentence) <= MAX_CHARACTERS or len(set(specific(sentence))) < MIN_WORDS:
        return "trivial"
    said = cues()
    skips = ["question"] if said.CUES["request"].search(sentence) else said.SKIPS
    return next((name for name in skips if said.SKIPS[name].search(sentence)), "")


def _under_way(sentence: str, after: str) -> bool:
    """Tell whether somebody is still at work on what a sentence tells: a fault that is named and about to be fixed."""
    said = cues()
    fault = said.CUES["fix"].search(sentence) and not said.REMEDY.search(sentence)
    return bool(fault and said.NARRATION.search(after))


def _spoken(text: str) -> str:
    """Return a text without what is quoted: its author did not say it."""
    return "\n".join("" if line.lstrip().startswith(">") else line for line in text.split("\n"))


def _moment(turn: Turn, sentence: str, before: str) -> Moment | None:
    kind = _kind(turn.role, sentence, before)
    if not kind:
        return None
    score, why = _score(sentence, kind)
    leads = before if cues().VAGUE.search(sentence) or cues().SHORT_NO.search(before) else ""
    return Moment(kind, sentence, score, why, leads, turn) if score >= MIN_SCORE else None


def _kind(role: str, sentence: str, before: str) -> str:
    """Return the kind that names a sentence: its first, or a correction where a mere "no" stands before it."""
    corrects = role in KINDS["correction"].roles and cues().SHORT_NO.search(before)
    otherwise = "correction" if corrects and cues().CONTRAST.search(sentence) else ""
    return next(kinds_of(sentence, role), otherwise)


def kinds_of(sentence: str, role: str) -> Iterator[str]:
    """Yield every kind that a sentence has a cue for, among those that this speaker can say."""
    for name, kind in KINDS.items():
        if role in (*kind.roles, NOBODY) and cues().CUES[name].search(sentence):
            yield name


def _score(sentence: str, kind: str) -> tuple[float, str]:
    """Return how sure it is that a sentence with a cue will be of use, and what that is made of."""
    words = len(set(specific(sentence)))
    parts = [
        (CUE_SCORE, f"says a {kind}"),
        (min(MAX_WORDS_SCORE, (words - MIN_WORDS) * WORD_SCORE), "telling words"),
        (0.1 if cues().REASON.search(sentence) else 0.0, "a reason"),
        (0.1 if cues().CONTRAST.search(sentence) else 0.0, "what it is not"),
        (0.1 if SPECIFIC.search(sentence) else 0.0, "names"),
        (-0.2 if kind != "correction" and cues().VAGUE.search(sentence) else 0.0, "vague"),
    ]
    why = ", ".join(name if amount > 0 else f"but {name}" for amount, name in parts if amount)
    return round(min(1.0, sum(amount for amount, _ in parts)), 2), why
