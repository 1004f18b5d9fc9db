"""The LLMos memory query: which earlier tasks resemble this one, how they went, and how they were done."""

from __future__ import annotations

from ..model.errors import BadInput
from ..model.record import record
from ..state.run import SUCCESS, approach_of, goal_of, outcome_of, said, tools_of
from ..text.language import language
from .question import question_of
from .signals import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..index.stores.protocol import SearchStore
    from ..index.views.view import View
    from ..model.entry import Memory
    from .question import Question
    from .signals import Spaces


@record
class PatternMatch:
    """An earlier task that resembles the one at hand."""

    goal: str
    similarity: float  # 0 … 1
    suggested_approach: str
    tools_used: tuple[str, ...]
    success: bool
    trace_id: str


def match_patterns(
    view: View, store: SearchStore, spaces: Spaces, text: str, limit: int, least: float
) -> tuple[PatternMatch, ...]:
    """Return the memories that resemble a task by at least so much, the most similar first."""
    if limit < 1 or not 0 <= least <= 1:
        raise BadInput(f"limit {limit}, min_similarity {least:g}", "limit is at least 1, min_similarity from 0 to 1")
    question = question_of(text)
    (found,) = find(store, spaces, [question], view.stored)
    by_words = not any(signals.relevance for signals in found)  # the embedder knows none of the words
    pairs = [(memory, signals.relevance) for signals in found if (memory := view.memory(signals.id))]
    scored = [(memory, share_of_words(question, goal_of(memory)) if by_words else near) for memory, near in pairs]
    similar = sorted((pair for pair in scored if pair[1] >= least), key=lambda pair: (-pair[1], pair[0].id))
    return tuple(pattern_of(memory, similarity) for memory, similarity in similar[:limit])


def share_of_words(question: Question, goal: str) -> float:
    """Return the share of the question's words that occur in the goal: the similarity where no vector can tell."""
    asked, goal = set(language().words(question.text)), goal.lower()
    return sum(word in goal for word in asked) / len(asked) if asked else 0.0


def pattern_of(memory: Memory, similarity: float) -> PatternMatch:
    """Return a memory as the seed's PatternMatch; a field that it does not give stays empty."""
    return PatternMatch(
        goal=goal_of(memory),
        similarity=round(max(0.0, min(1.0, similarity)), 4),
        suggested_approach=approach_of(memory),
        tools_used=tools_of(memory),
        success=outcome_of(memory) in SUCCESS,
        trace_id=said(memory, ("trace_id", "experience_id")) or memory.id,
    )
