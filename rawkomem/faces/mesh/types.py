"""Define the types of RFC-0011 §4.2: results of the API, and two arguments (LessonContext, HeritageChain)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class MemoryRecord:
    """A memory in the form of the RFC."""

    id: str
    content: str
    metadata: dict[str, Any]
    created_at: str
    labels: tuple[str, ...] = field(default=(), kw_only=True, compare=False)  # set in repositories where people vouch


@dataclass(frozen=True)
class SearchResult(MemoryRecord):
    """A search result. `score` is relative to the best result, which has 1.0; `relevance` is absolute."""

    score: float = 0.0
    relevance: float = 0.0


@dataclass(frozen=True)
class LessonContext:
    """A lesson before it is stored: the failure, and the rule that prevents it."""

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
    """A stored lesson and its wire block. `lesson_id` and `memory_id` differ only in their prefix."""

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
    """The intents that led to a memory, the first cause first, with a hypothesis and a reason for each."""

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
    """The reliability of a skill after feedback, and how often it was used."""

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
    """A reflection. Without a model: the prompt for a reflection, and no `id`."""

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
    """A proposed skill, or the reason why none was proposed."""

    status: str
    analysis: str
    skill_id: str = ""
    skill_name: str = ""
    yamo_text: str = ""


@dataclass(frozen=True)
class MemoryStats:
    """Counts of memories and skills, and whether a repository is open."""

    count: int
    total_skills: int
    uri: str
    is_connected: bool


@dataclass(frozen=True)
class CacheStats:
    """Size and limits of the cache."""

    size: int
    max_size: int
    ttl_ms: int


@dataclass(frozen=True)
class HealthStatus:
    """The result of a context manager's health check."""

    status: str  # healthy or unhealthy
    memories: int
    cache: CacheStats
    problem: str = ""
