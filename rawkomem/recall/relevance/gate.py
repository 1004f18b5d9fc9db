"""Decide which scored memories are relevant enough to be injected, and give the reason for each of the others."""

from __future__ import annotations

from ...model.clock import DAY
from ...model.kinds import IMPORTANCE
from ...model.record import replace
from ...text.condition import WORDS
from ...text.language import language
from ...text.when import PASTED, RECENT
from ..profiles import FIRED
from ..reasons import Reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.entry import Memory
    from ..limits import Limits
    from ..profiles import Profile
    from ..question import Question
    from ..score import Scored
    from ..signals import Signals

CRITICAL = IMPORTANCE[-1]  # always included if its condition fires (SPEC-0009)
MIN_TITLE_WORDS = 3  # if a task contains all words of such a title, it means that memory, whatever its score
MAX_VOTES_AGAINST = 2  # harmful minus helpful votes from which a memory is never injected


def gate(scored: list[Scored], profile: Profile, limits: Limits, question: Question) -> list[Scored]:
    """Mark the items that must not be injected with the reason. Each item is judged independently of the others."""
    gated = []
    for item in scored:
        named = is_named(item.memory.title, question.title_stems)
        out = _why_out(item, named, profile, limits)
        out = out or rests_on_withdrawn(item.signals) or held_back(item.memory, limits, question.at)
        gated.append(replace(item, is_named=named, out=out))
    return gated


def is_named(title: str, asked: frozenset[str]) -> bool:
    """Return whether a task's stems contain all words of a title of three or more words, or equal the title's."""
    found = frozenset(language().stems(title))
    return bool(found) and found <= asked and (len(found) >= MIN_TITLE_WORDS or found == asked)


def votes_against(memory: Memory) -> int:
    """Return the number of harmful votes minus the number of helpful ones."""
    return memory.harmful - memory.helpful


def withdrawn(memory: Memory) -> bool:
    """Return whether a memory has so many harmful votes that it is never injected."""
    return votes_against(memory) >= MAX_VOTES_AGAINST


def has_fired(signals: Signals) -> bool:
    """Return whether a condition fired in the request itself, on more than words that any task contains."""
    fired = signals.fired
    return fired is not None and fired.how not in (PASTED, RECENT) and not signals.is_faint


def is_sure(signals: Signals) -> bool:
    """Return whether a condition fired as a pattern, not by some words of a sentence."""
    return has_fired(signals) and signals.fired is not None and signals.fired.how != WORDS


def _why_out(item: Scored, named: bool, profile: Profile, limits: Limits) -> Reason | None:
    signals, memory = item.signals, item.memory
    counts_votes = "feedback" in profile.demotions
    if counts_votes and withdrawn(memory):
        return Reason("withdrawn", (memory.harmful, memory.helpful))
    if profile.gate == FIRED:
        return None if has_fired(signals) else Reason("nothing-fired")
    if profile.min_similarity and signals.cosine < profile.min_similarity:
        return Reason("not-similar", (signals.cosine, profile.min_similarity))
    if (
        named
        or (signals.shares_phrase and not signals.is_faint)
        or (memory.importance == CRITICAL and is_sure(signals))
    ):
        return None
    if counts_votes and votes_against(memory) > 0 and not has_fired(signals):
        return Reason("voted-harmful")
    if signals.confidence < limits.min_confidence:
        return Reason("not-confident", (signals.confidence, limits.min_confidence))
    return None


def rests_on_withdrawn(signals: Signals) -> Reason | None:
    """Return the reason if a memory was made from a withdrawn one and must not be injected; else None."""
    source = next((source for source in signals.weak if source.holds_back), None)
    return Reason("weak-source", (source.id, source.why)) if source else None


def held_back(memory: Memory, limits: Limits, now: int) -> Reason | None:
    """Return why a lesson is not injected; None if it may be injected, and for other kinds of memories."""
    if memory.kind != "lesson":
        return None
    said = str(memory.extra.get("ruleConfidence", ""))
    try:
        unsure = float(said) < limits.min_lesson_confidence
    except ValueError:
        unsure = False
    if unsure:
        return Reason("unsure-lesson", (said, limits.min_lesson_confidence))
    seen = max(memory.created, memory.last_observed)
    age = (now - seen) // DAY
    return Reason("old-lesson", (age, limits.lesson_days)) if seen and age >= limits.lesson_days else None
