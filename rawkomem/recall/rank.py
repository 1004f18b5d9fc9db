"""Ranks candidates by a profile's factors, and says of each memory why it is in or out."""

from __future__ import annotations

import math

from ..model.record import record, replace
from ..text.language import language
from .candidates import Signals
from .factors import Context, Factor, factor
from .profiles import DOUBTS, PRODUCT, Profile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..model.entry import Memory

FLOOR = 0.43  # least relevance of the best memory to inject anything: 15 % of requests that nothing fits pass it
KEEP = 0.5  # the others need this share of the best one's relevance
SENTENCE_FLOOR = 0.41  # least relevance where words of a sentence fired: such conditions are right four times in ten
PHRASE_FLOOR = 0.38  # … where a lone phrase occurs in a short task; alternatives, patterns and globs need none
TELLING = 3  # words of a title from which a task that holds them all means that memory, however it scores
WITHDRAWN = 2  # harmful votes more than helpful ones from which even a condition that fires does not bring a memory
LONG = 40  # words of a task beyond which a phrase needs no relevance and a title is not named: it holds many words


@record
class Scored:
    """A memory with its score, the factors that make it up, and why it is not considered (empty when it is)."""

    memory: Memory
    signals: Signals
    score: float
    factors: tuple[Factor, ...]
    out: str = ""
    named: bool = False  # the task holds the words of its title


def out_of_use(memory: Memory, why: str) -> Scored:
    """A memory that no question finds, because it is not in use."""
    return Scored(memory, Signals(memory.id), 0.0, (), why)


def rank(
    candidates: Iterable[tuple[Memory, Signals]], profile: Profile, context: Context, accessed: Mapping[str, int]
) -> list[Scored]:
    """Score every candidate, the best first; ties keep a stable order."""
    scored = [_score(memory, signals, profile, context, accessed) for memory, signals in candidates]
    return sorted(scored, key=lambda item: (-item.score, item.memory.id))


def _score(memory: Memory, signals: Signals, profile: Profile, context: Context, accessed: Mapping[str, int]) -> Scored:
    own = replace(context, accessed=accessed.get(memory.id, 0))
    named = (*profile.weights, *((name, 1.0) for name in profile.demotions))
    computed = (factor(name, weight, memory, signals, own) for name, weight in named)
    factors = tuple(item for item in computed if item.why)
    return Scored(memory, _doubted(signals, factors, profile), combine(factors, profile), factors)


def _doubted(signals: Signals, factors: Iterable[Factor], profile: Profile) -> Signals:
    """The signals with the relevance that votes and disputes leave of it, where the profile lets them demote."""
    doubts = [min(1.0, item.value) for item in factors if item.name in DOUBTS and item.name in profile.demotions]
    return replace(signals, relevance=signals.relevance * math.prod(doubts)) if doubts else signals


def combine(factors: Iterable[Factor], profile: Profile) -> float:
    """The profile's formula."""
    factors = tuple(factors)
    if profile.combine == PRODUCT:
        score = 1.0
        for item in factors:
            score *= item.value**item.weight
        return score
    score = sum(item.value * item.weight for item in factors if item.name not in profile.demotions)
    for item in factors:
        score *= item.value if item.name in profile.demotions else 1.0
    return min(score, profile.most) if profile.most else score


def gate(scored: list[Scored], profile: Profile, limit: int, task: str) -> list[Scored]:
    """Mark what must not be injected: nothing fired and nothing relevant enough, by the profile's own rule.

    What a person vouches for is measured against its like alone: bait must not raise the bar for it, nor lower it.
    """
    best = _best(scored[:limit])
    vouched = _best([item for item in scored if not item.signals.unverified][:limit])
    length, asked = len(task.split()), content_stems(task)
    named = [replace(item, named=length <= LONG and is_named(item.memory.title, asked)) for item in scored]
    return [
        replace(item, out=_why_out(item, profile, best if item.signals.unverified else vouched, length))
        for item in named
    ]


def _best(items: Sequence[Scored]) -> float:
    return max((item.signals.relevance for item in items), default=0.0)


def content_stems(text: str) -> set[str]:
    """The stems of the words that carry a subject."""
    return set(language().stems(text))


def is_named(title: str, asked: set[str]) -> bool:
    """Whether a question names a title: holds all of its words, from three on, or is nothing but the title."""
    found = content_stems(title)
    if not found or not found <= asked:
        return False
    return len(found) >= TELLING or found == asked


def _fired(signals: Signals, length: int) -> bool:
    """Whether what fired suffices by itself; what is weak must also be somewhat relevant."""
    if signals.fired and (signals.faint or signals.fired.startswith("words:")):
        return signals.relevance >= SENTENCE_FLOOR
    if signals.fired.startswith("phrase"):
        return length > LONG or signals.relevance >= PHRASE_FLOOR
    return bool(signals.fired)


def votes_against(memory: Memory) -> int:
    """How many more votes call it harmful than helpful."""
    return memory.harmful - memory.helpful


def _why_out(item: Scored, profile: Profile, best: float, length: int) -> str:
    signals = item.signals
    against = votes_against(item.memory) if "feedback" in profile.demotions else 0
    if against >= WITHDRAWN:
        return f"voted harmful: {item.memory.harmful} votes, against {item.memory.helpful} for it"
    if profile.gate == "fired":
        faint = signals.faint and not _fired(signals, length)
        return "no whenToUse condition fired" if faint or not signals.fired else ""
    if profile.floor and signals.cosine < profile.floor:
        return f"similarity {signals.cosine:.2f} is below the profile's {profile.floor:g}"
    if item.named or _fired(signals, length):
        return ""
    if against > 0:
        return "voted harmful: similarity alone does not bring it"
    if best < FLOOR:
        return f"not relevant enough: nothing reaches the floor of {FLOOR:g} (the closest has {best:.2f})"
    if signals.unverified and signals.relevance < FLOOR:  # it may not ride on what another one is relevant for
        return f"relevance {signals.relevance:.2f} is below the floor of {FLOOR:g}, and it is unverified"
    if signals.relevance < KEEP * best:
        return f"relevance {signals.relevance:.2f} is below half of the best one's {best:.2f}"
    return ""
