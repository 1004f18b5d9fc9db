"""The types of RFC-0011 §4.2. Names are Python's; `NAMES` is the one table that tells what the RFC calls them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from ..learn.heritage import HeritageChain
from ..model.errors import BadInput
from ..text.lesson import LessonContext

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HeritageChain", "LessonContext"]

# The RFC's name → ours. Whatever takes options takes either.
NAMES = {
    "enableYamo": "enable_yamo",
    "enableLLM": "enable_llm",
    "enableMemory": "enable_memory",
    "agentId": "agent_id",
    "llmProvider": "llm_provider",
    "llmModel": "llm_model",
    "llmApiKey": "llm_api_key",
    "llmMaxTokens": "llm_max_tokens",
    "skill_directories": "skill_directories",
    "dbDir": "db_dir",
    "enableWisdomDistillation": "enable_wisdom_distillation",
    "lessonMinConfidence": "lesson_min_confidence",
    "lessonRetentionDays": "lesson_retention_days",
    "enableHeritageTracking": "enable_heritage_tracking",
    "maxHeritageDepth": "max_heritage_depth",
    "useCache": "use_cache",
    "memoryType": "memory_type",
    "skillName": "skill_name",
    "includeLessons": "include_lessons",
    "errorPattern": "error_pattern",
    "preventativeRule": "preventative_rule",
    "applicableScope": "applicable_scope",
    "inverseLesson": "inverse_lesson",
    "intentChain": "intents",
    "minImportance": "min_importance",
    "maxLength": "max_length",
    "sessionId": "session_id",
    "toolsUsed": "tools_used",
    "filesInvolved": "files_involved",
    "interactionType": "interaction_type",
}
AGENT = "YAMO_AGENT"  # who does not say who they are

T = TypeVar("T")


@dataclass(frozen=True)
class MemoryMeshOptions:
    """How a mesh behaves."""

    enable_yamo: bool = True  # whether blocks are noted in the ledger
    enable_llm: bool = True  # whether reflect and synthesize ask a model, where one is set up
    enable_memory: bool = True  # whether anything is kept
    agent_id: str = AGENT
    llm_provider: str = ""  # openai, ollama or cohere; empty: as the user's config says
    llm_model: str = ""
    llm_api_key: str = ""
    llm_max_tokens: int = 0
    skill_directories: str | tuple[str, ...] = ()
    db_dir: str = ""  # the project; empty: the one of the current folder
    enable_wisdom_distillation: bool = False  # whether `init` runs a distillation cycle
    lesson_min_confidence: float = 0.7
    lesson_retention_days: int = 365
    enable_heritage_tracking: bool = False  # whether `add` keeps a chain that its metadata holds
    max_heritage_depth: int = 5


@dataclass(frozen=True)
class MemoryRecord:
    """A memory as the RFC sees it."""

    id: str
    content: str
    metadata: dict[str, Any]
    created_at: str


@dataclass(frozen=True)
class SearchResult(MemoryRecord):
    """One that was found. `score` ranks within this answer, the best has 1.0; `relevance` is absolute."""

    score: float = 0.0
    relevance: float = 0.0


@dataclass(frozen=True)
class LessonBlock:
    """A lesson, and its block for other programs."""

    lesson_id: str
    pattern_id: str
    severity: str
    preventative_rule: str
    rule_confidence: float
    applicable_scope: str
    wire_format: str
    memory_id: str


@dataclass(frozen=True)
class SkillRecord:
    """A skill that was taken in."""

    id: str
    name: str
    intent: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SkillResult(SkillRecord):
    """One that was listed or found."""

    score: float = 0.0
    reliability: float = 0.5


@dataclass(frozen=True)
class ReliabilityUpdate:
    """What became of a skill's reliability."""

    id: str
    reliability: float
    use_count: int


@dataclass(frozen=True)
class PruneResult:
    """How many skills were put away, and how many stay."""

    pruned_count: int
    total_remaining: int


@dataclass(frozen=True)
class SynthesisResult:
    """A skill that was proposed, or why there is none."""

    status: str
    analysis: str
    skill_id: str = ""
    skill_name: str = ""
    yamo_text: str = ""


@dataclass(frozen=True)
class MemoryStats:
    """What there is."""

    count: int
    total_skills: int
    uri: str
    is_connected: bool


@dataclass(frozen=True)
class CacheStats:
    """The cache of answers."""

    size: int
    max_size: int
    ttl_ms: int


@dataclass(frozen=True)
class HealthStatus:
    """Whether a context manager can do its work."""

    status: str  # healthy or unhealthy
    memories: int
    cache: CacheStats
    problem: str = ""


def read_fields(kind: type[T], given: Mapping[str, Any]) -> T:
    """A record by the RFC's names or ours; what is missing or unknown is told."""
    values = {NAMES.get(key, key): tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    try:
        return kind(**values)
    except TypeError as failure:
        told = str(failure).partition("() ")[2] or str(failure)
        raise BadInput(f"{kind.__name__}: {told}", "see docs/mesh.md") from None


def read_options(kind: type[T], given: Mapping[str, Any] | None, named: Mapping[str, Any]) -> T:
    """Options by the RFC's names or ours; one that nobody knows is a mistake worth naming."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, value in {**(given or {}), **named}.items():
        name = NAMES.get(key, key)
        if name not in known:
            raise BadInput(f"unknown option {key!r}", "one of " + ", ".join(known))
        values[name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)
