"""Define the types of RFC-0011 §4.2 that callers get, and two that they pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class MemoryRecord:
    """A memory as the RFC sees it."""

    id: str
    content: str
    metadata: dict[str, Any]
    created_at: str
    labels: tuple[str, ...] = field(default=(), kw_only=True, compare=False)  # where people vouch: if anybody does


@dataclass(frozen=True)
class SearchResult(MemoryRecord):
    """A search result. `score` ranks within one answer, the best has 1.0; `relevance` is absolute."""

    score: float = 0.0
    relevance: float = 0.0


@dataclass(frozen=True)
class LessonContext:
    """What went wrong, and what to do from now on."""

    situation: str
    error_pattern: str
    oversight: str
    fix: str
    preventative_rule: str
    severity: str  # critical, high, medium or low
    applicable_scope: str
    inverse_lesson: str = ""
    confidence: float = 0.7


@dataclass(frozen=True)
class LessonBlock:
    """A lesson and its wire block. The lesson and its memory have the same id."""

    lesson_id: str
    pattern_id: str
    severity: str
    preventative_rule: str
    rule_confidence: float
    applicable_scope: str
    wire_format: str
    memory_id: str


@dataclass(frozen=True)
class HeritageChain:
    """Intents in order, the first cause first, with hypotheses and reasons at each level."""

    intent_chain: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    rationales: tuple[str, ...] = ()


@dataclass(frozen=True)
class SkillRecord:
    """A skill that was added."""

    id: str
    name: str
    intent: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SkillResult(SkillRecord):
    """A skill that was listed or found."""

    score: float = 0.0
    reliability: float = 0.5


@dataclass(frozen=True)
class ReliabilityUpdate:
    """The reliability of a skill before and after."""

    id: str
    reliability: float
    use_count: int


@dataclass(frozen=True)
class PruneResult:
    """How many skills were archived, and how many remain."""

    pruned_count: int
    total_remaining: int


@dataclass(frozen=True)
class ReflectionResult:
    """A reflection; without a model, the prompt for one and no `id`."""

    topic: str
    source_memory_count: int
    context: str = ""
    prompt: str = ""
    id: str = ""
    reflection: str = ""
    confidence: float = 0.0
    yamo_block: str = ""
    created_at: str = ""


@dataclass(frozen=True)
class SynthesisResult:
    """A proposed skill, or why there is none."""

    status: str
    analysis: str
    skill_id: str = ""
    skill_name: str = ""
    yamo_text: str = ""


@dataclass(frozen=True)
class MemoryStats:
    """Counts."""

    count: int
    total_skills: int
    uri: str
    is_connected: bool


@dataclass(frozen=True)
class CacheStats:
    """Figures of the cache."""

    size: int
    max_size: int
    ttl_ms: int


@dataclass(frozen=True)
class HealthStatus:
    """Whether a context manager works."""

    status: str  # healthy or unhealthy
    memories: int
    cache: CacheStats
    problem: str = ""
