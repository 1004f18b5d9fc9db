"""Find earlier tasks that resemble a task, with their outcome and approach (the memory query of LLMos)."""

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
    """An earlier task that resembles the task in question."""

    goal: str
    similarity: float  # 0 … 1
    suggested_approach: str
    tools_used: tuple[str, ...]
    success: bool
    trace_id: str


def match_patterns(
    view: View, store: SearchStore, spaces: Spaces, text: str, limit: int, least: float
) -> tuple[PatternMatch, ...]:
    """Return earlier tasks with a similarity of at least `least`, most similar first. BadInput for invalid limits."""
    if limit < 1 or not 0 <= least <= 1:
        what = f"limit {limit} or min_similarity {least:g} is out of range"
        raise BadInput(what, "use a limit of at least 1, and a min_similarity from 0 to 1")
    question = question_of(text)
    (found,) = find(store, spaces, [question], view.stored)
    by_words = not any(signals.relevance for signals in found)  # the embedder has no vector for any of the words
    pairs = [(memory, signals.relevance) for signals in found if (memory := view.memory(signals.id))]
    scored = [(memory, share_of_words(question, goal_of(memory)) if by_words else near) for memory, near in pairs]
    similar = sorted((pair for pair in scored if pair[1] >= least), key=lambda pair: (-pair[1], pair[0].id))
    return tuple(pattern_of(memory, similarity) for memory, similarity in similar[:limit])


def share_of_words(question: Question, goal: str) -> float:
    """Return the share of the question's words that occur in the goal: the similarity if there are no vectors."""
    asked, goal = set(language().words(question.text)), goal.lower()
    return sum(word in goal for word in asked) / len(asked) if asked else 0.0


def pattern_of(memory: Memory, similarity: float) -> PatternMatch:
    """Return a memory as a PatternMatch of LLMos; fields that it does not have stay empty."""
    return PatternMatch(
        goal=goal_of(memory),
        similarity=round(max(0.0, min(1.0, similarity)), 4),
        suggested_approach=approach_of(memory),
        tools_used=tools_of(memory),
        success=outcome_of(memory) in SUCCESS,
        trace_id=said(memory, ("trace_id", "experience_id")) or memory.id,
    )
