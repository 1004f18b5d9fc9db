"""Decides which scored memories are relevant enough to be injected, and says of each other one why it is not."""

from __future__ import annotations

from ..model.clock import DAY
from ..model.record import replace
from ..text.condition import PHRASE, WORDS
from ..text.language import language
from .limits import MAX_INJECTED, MIN_RELEVANCE
from .profiles import FIRED
from .reasons import Reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model.entry import Memory
    from .limits import Limits
    from .profiles import Profile
    from .question import Question
    from .score import Scored
    from .signals import Signals

MIN_SHARE_OF_BEST = 0.5  # of the best one's relevance that the others need
MIN_WORDS_RELEVANCE = 0.41  # where words of a sentence fired: such conditions are right four times in ten
MIN_PHRASE_RELEVANCE = 0.38  # … where a lone phrase occurs in a short task; alternatives, patterns and globs need none
MIN_TITLE_WORDS = 3  # of a title from which a task that holds them all means that memory, however it scores
MAX_VOTES_AGAINST = 2  # harmful votes more than helpful ones from which not even a condition brings a memory


def gate(scored: list[Scored], profile: Profile, limits: Limits, question: Question) -> list[Scored]:
    """Mark what must not be injected; what a person vouches for is compared with its like, so bait changes no bar."""
    best = _best_relevance(scored)
    best_vouched = _best_relevance([item for item in scored if not item.signals.unverified])
    gated = []
    for item in scored:
        named = is_named(item.memory.title, question.title_stems)
        out = _why_out(item, named, profile, best if item.signals.unverified else best_vouched, question)
        out = out or rests_on_withdrawn(item.signals) or held_back(item.memory, limits, question.at)
        gated.append(replace(item, is_named=named, out=out))
    return gated


def _best_relevance(items: Iterable[Scored]) -> float:
    return max((item.signals.relevance for item in [*items][:MAX_INJECTED]), default=0.0)


def is_named(title: str, asked: frozenset[str]) -> bool:
    """Return whether stems name a title: hold all of its words, if it has three or more, or are only the title."""
    found = frozenset(language().stems(title))
    return bool(found) and found <= asked and (len(found) >= MIN_TITLE_WORDS or found == asked)


def votes_against(memory: Memory) -> int:
    """Return how many more votes call a memory harmful than helpful."""
    return memory.harmful - memory.helpful


def withdrawn(memory: Memory) -> bool:
    """Return whether so many votes call a memory harmful that nothing brings it."""
    return votes_against(memory) >= MAX_VOTES_AGAINST


def _is_enough(signals: Signals, question: Question) -> bool:
    """Return whether the condition that fired suffices; a weak one must also be somewhat relevant."""
    fired = signals.fired
    if fired and (signals.is_faint or fired.how == WORDS):
        return signals.relevance >= MIN_WORDS_RELEVANCE
    if fired and fired.how == PHRASE:
        return question.is_long or signals.relevance >= MIN_PHRASE_RELEVANCE
    return bool(fired)


def _why_out(item: Scored, named: bool, profile: Profile, best: float, question: Question) -> Reason | None:
    signals, memory = item.signals, item.memory
    counts_votes = "feedback" in profile.demotions
    if counts_votes and withdrawn(memory):
        return Reason("withdrawn", (memory.harmful, memory.helpful))
    if profile.gate == FIRED:
        is_fired = _is_enough(signals, question) if signals.is_faint else signals.fired
        return None if is_fired else Reason("nothing-fired")
    if profile.min_similarity and signals.cosine < profile.min_similarity:
        return Reason("not-similar", (signals.cosine, profile.min_similarity))
    if named or signals.shares_phrase or _is_enough(signals, question):
        return None
    if counts_votes and votes_against(memory) > 0:
        return Reason("voted-harmful")
    if best < MIN_RELEVANCE:
        return Reason("nothing-relevant", (MIN_RELEVANCE, best))
    if signals.unverified and signals.relevance < MIN_RELEVANCE:  # it may not ride on another memory's relevance
        return Reason("unverified-irrelevant", (signals.relevance, MIN_RELEVANCE))
    if signals.relevance < MIN_SHARE_OF_BEST * best:
        return Reason("far-from-best", (signals.relevance, best))
    return None


def rests_on_withdrawn(signals: Signals) -> Reason | None:
    """Return why a memory is not injected that was made from one which was withdrawn."""
    source = next((source for source in signals.weak if source.holds_back), None)
    return Reason("weak-source", (source.id, source.why)) if source else None


def held_back(memory: Memory, limits: Limits, now: int) -> Reason | None:
    """Return why a lesson is not injected; None if it may be, and for any other kind of memory."""
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
