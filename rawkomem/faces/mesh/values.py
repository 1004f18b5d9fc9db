"""Declare the arguments and results of the API of RFC-0011 §4.2 and §4.3.

The fields have Python names; `our_name` turns the RFC's names into them. Both are accepted everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

from ...model.errors import BadInput
from ...model.values import ACTIVE

CAPITALS = re.compile("(?<=[a-z])[A-Z]+")
DEFAULT_AGENT = "YAMO_AGENT"  # the agent id of callers that pass none
DEFAULT_LIMIT = 10  # results

T = TypeVar("T")


def our_name(name: str) -> str:
    """Return the Python name of an option: agent_id for agentId."""
    return CAPITALS.sub(lambda part: "_" + part[0].lower(), name)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Turn an annotated class into an immutable dataclass."""
    return dataclass(frozen=True)(cls)


@value
class MemoryMeshOptions:
    """Options of a mesh."""

    enable_yamo: bool = True  # whether blocks are logged in the ledger
    # whether reflect and synthesize ask a model, if one is configured
    enable_llm: bool = True
    enable_memory: bool = True  # whether anything is stored
    agent_id: str = DEFAULT_AGENT
    llm_provider: str = ""  # openai, ollama or cohere; empty: the user's setting
    llm_model: str = ""
    llm_api_key: str = field(default="", repr=False)
    llm_max_tokens: int = 0
    skill_directories: str | tuple[str, ...] = ()
    db_dir: str = ""  # a folder of the project; empty: the current folder
    enable_wisdom_distillation: bool = False  # whether `init` runs a distillation cycle
    # None: the user's setting, by default 0.7 as in the RFC
    lesson_min_confidence: float | None = None
    # None: the user's setting, by default 365 as in the RFC
    lesson_retention_days: int | None = None
    # whether `add` stores the heritage chain in its metadata
    enable_heritage_tracking: bool = False
    max_heritage_depth: int = 5  # also the limit of the file format


@value
class SearchOptions:
    """Options of a search."""

    limit: int = DEFAULT_LIMIT
    filter: str = ""  # a condition, see docs/recall.md
    use_cache: bool = True


@value
class GetAllOptions:
    """Options of get_all; a limit of 0 lists all memories."""

    limit: int = 0


@value
class SkillOptions:
    """Options of search_skills and list_skills."""

    limit: int = DEFAULT_LIMIT


@value
class QueryOptions:
    """Options of query_lessons."""

    limit: int = DEFAULT_LIMIT
    order_by: str = "severity DESC"  # the only order


@value
class ReflectOptions:
    """Options of reflect."""

    topic: str = ""
    lookback: int = 10  # memories
    generate: bool = True  # whether to ask a model, if one is configured


@value
class SynthesisOptions:
    """Options of synthesize."""

    topic: str = ""


@value
class InteractionContext:
    """Facts about an exchange that capture_interaction stores."""

    session_id: str = ""
    tools_used: tuple[str, ...] = ()
    files_involved: tuple[str, ...] = ()
    interaction_type: str = "llm_response"
    tags: tuple[str, ...] = ()


@value
class RecallOptions:
    """Options of recall_memories."""

    limit: int = 5
    use_cache: bool = True
    memory_type: str = ""
    skill_name: str = ""
    include_lessons: bool = False


@value
class FormatOptions:
    """Options of format_memories_for_prompt."""

    max_length: int = 500  # characters of each memory


def read_options(
    kind: type[T], given: object = None, named: Mapping[str, Any] | None = None
) -> T:
    """Return options from the RFC's names or ours. Raises BadInput for an unknown or missing option, or a wrong limit."""
    if isinstance(given, kind):
        given = vars(given)
    if not isinstance(given, Mapping | None):
        raise BadInput(
            f"{kind.__name__} must be a mapping or keywords, not {type(given).__name__}",
            'example: {"limit": 5}',
        )
    options = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, value in {**(given or {}), **(named or {})}.items():
        name = our_name(key)
        if name not in options:
            raise BadInput(
                f"{kind.__name__}: unknown option {key!r}",
                "one of " + ", ".join(options),
            )
        if value is not None:
            values[name] = tuple(value) if isinstance(value, list) else value
        if name == "limit" and value is not None:
            least = 1 if options[name].default else 0
            if not isinstance(value, int) or value < least:
                hint = f"use a whole number of at least {least}"
                raise BadInput(f"limit must not be {value!r}", hint)
    for name, one in options.items():
        if name not in values and one.default is MISSING:
            raise BadInput(
                f"{kind.__name__}: {name!r} is missing", "see 'rawkomem docs mesh'"
            )
    return kind(**values)


# Results, and two arguments: LessonContext and HeritageChain.


@value
class MemoryRecord:
    """A memory in the form of the RFC."""

    id: str
    content: str
    metadata: dict[str, Any]
    created_at: str
    # set in repositories where people vouch
    labels: tuple[str, ...] = field(default=(), kw_only=True, compare=False)
    status: str = field(default=ACTIVE, kw_only=True, compare=False)


@value
class SearchResult(MemoryRecord):
    """A search result. `score` is relative to the best result, which has 1.0; `relevance` is absolute."""

    score: float = 0.0
    relevance: float = 0.0


@value
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


@value
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


@value
class HeritageChain:
    """The intents that led to a memory, the first cause first, with a hypothesis and a reason for each."""

    intent_chain: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    rationales: tuple[str, ...] = ()


@value
class SkillRecord:
    """A skill that was added."""

    id: str
    name: str
    intent: str
    metadata: dict[str, Any] = field(default_factory=dict)


@value
class SkillResult(SkillRecord):
    """A skill that was listed or found."""

    score: float = 0.0
    reliability: float = 0.5


@value
class ReliabilityUpdate:
    """The reliability of a skill after feedback, and how often it was used."""

    id: str
    reliability: float
    use_count: int


@value
class PruneResult:
    """How many skills were archived, and how many remain."""

    pruned_count: int
    total_remaining: int


@value
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


@value
class SynthesisResult:
    """A proposed skill, or the reason why none was proposed."""

    status: str
    analysis: str
    skill_id: str = ""
    skill_name: str = ""
    yamo_text: str = ""


@value
class MemoryStats:
    """Counts of memories and skills, and whether a repository is open."""

    count: int
    total_skills: int
    uri: str
    is_connected: bool


@value
class CacheStats:
    """Size and limits of the cache."""

    size: int
    max_size: int
    ttl_ms: int


@value
class HealthStatus:
    """The result of a context manager's health check."""

    status: str  # healthy or unhealthy
    memories: int
    cache: CacheStats
    problem: str = ""
