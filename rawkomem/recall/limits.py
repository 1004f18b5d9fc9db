"""How much may be injected, and for whom: light enough for every command to import."""

from __future__ import annotations

from ..model.kinds import IMPORTANCE
from ..model.record import record

MAX_INJECTED = 5  # SPEC-0009
DEFAULT_RESULTS = 10  # of a search, when nobody says how many
MAX_UNVERIFIED = 1  # memories that no person vouches for, where people vouch for any
MAX_SIMILAR = 3  # LLMos: earlier tasks a query gives
MIN_CONFIDENCE = 0.5  # that a memory is relevant, to inject it
MIN_SIMILARITY = 0.3  # … and how similar they are at least
MIN_LESSON_CONFIDENCE = 0.7  # RFC-0011: least confidence of a lesson that is injected
LESSON_DAYS = 365  # … and how long it is kept
BUDGET_TOKENS = 2_000  # tokens: injected text is read again on every later turn

SPECIALTIES = {  # SPEC-0009: agents, and the tags that belong to their type
    "planner": ("planning", "structure", "analysis", "architecture"),
    "developer": ("implementation", "code", "patterns", "development"),
    "tester": ("testing", "validation", "quality", "tests"),
    "reviewer": ("review", "quality", "standards", "code-review"),
}


@record
class Limits:
    """How much may be injected, and by which profile."""

    max_injected: int = MAX_INJECTED
    min_importance: str = IMPORTANCE[0]
    min_confidence: float = MIN_CONFIDENCE
    budget: int = BUDGET_TOKENS
    max_unverified: int = MAX_UNVERIFIED
    min_lesson_confidence: float = MIN_LESSON_CONFIDENCE
    lesson_days: int = LESSON_DAYS
    profile: str = ""  # how to score, where nobody says; empty: the default
