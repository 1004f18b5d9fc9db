"""Limits of search and injection. This module imports little, because every command imports it."""

from __future__ import annotations

from ..model.kinds import IMPORTANCE
from ..model.record import record

MAX_INJECTED = 5  # SPEC-0009
DEFAULT_RESULTS = 10  # of a search without a limit
MAX_UNVERIFIED = 1  # memories that no person vouches for, in one injection
MAX_SIMILAR = 3  # earlier tasks that a query returns (LLMos)
MIN_CONFIDENCE = 0.5  # probability of relevance that an injected memory needs
MIN_SIMILARITY = 0.3  # cosine of an earlier task (LLMos)
MIN_LESSON_CONFIDENCE = 0.7  # that an injected lesson needs (RFC-0011)
LESSON_DAYS = 365  # since a lesson was last confirmed; older lessons are not injected
BUDGET_TOKENS = 2_000  # of an injection; the model reads them again on every later turn

SPECIALTIES = {  # type of agent → tags that belong to it (SPEC-0009)
    "planner": ("planning", "structure", "analysis", "architecture"),
    "developer": ("implementation", "code", "patterns", "development"),
    "tester": ("testing", "validation", "quality", "tests"),
    "reviewer": ("review", "quality", "standards", "code-review"),
}


@record
class Limits:
    """The limits of an injection, and its default profile."""

    max_injected: int = MAX_INJECTED
    min_importance: str = IMPORTANCE[0]
    min_confidence: float = MIN_CONFIDENCE
    budget: int = BUDGET_TOKENS
    max_unverified: int = MAX_UNVERIFIED
    min_lesson_confidence: float = MIN_LESSON_CONFIDENCE
    lesson_days: int = LESSON_DAYS
    profile: str = ""  # used if the caller names none; empty: the default
