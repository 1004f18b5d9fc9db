"""Read the options of RFC-0011 §4.2 and §4.3, given as a dataclass, a mapping or keywords.

Names are Python's; `RFC_NAMES` is the one table of the RFC's names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar

from ...model.errors import BadInput

_NAMES = """
    enableYamo enableLLM enableMemory agentId llmProvider llmModel llmApiKey llmMaxTokens skill_directories dbDir
    enableWisdomDistillation lessonMinConfidence lessonRetentionDays enableHeritageTracking maxHeritageDepth useCache
    orderBy memoryType skillName includeLessons errorPattern preventativeRule applicableScope inverseLesson intentChain
    minImportance maxLength sessionId toolsUsed filesInvolved interactionType
"""
# The RFC's name → ours. Whatever takes options takes either.
RFC_NAMES = {name: re.sub("(?<=[a-z])[A-Z]+", lambda part: "_" + part[0].lower(), name) for name in _NAMES.split()}
DEFAULT_AGENT = "YAMO_AGENT"  # who does not say who they are
DEFAULT_LIMIT = 10  # results where nobody says how many

T = TypeVar("T")


@dataclass(frozen=True)
class MemoryMeshOptions:
    """Options of a mesh."""

    enable_yamo: bool = True  # whether blocks are noted in the ledger
    enable_llm: bool = True  # whether reflect and synthesize ask a model, where one is set up
    enable_memory: bool = True  # whether anything is kept
    agent_id: str = DEFAULT_AGENT
    llm_provider: str = ""  # openai, ollama or cohere; empty: as the user's config says
    llm_model: str = ""
    llm_api_key: str = field(default="", repr=False)
    llm_max_tokens: int = 0
    skill_directories: str | tuple[str, ...] = ()
    db_dir: str = ""  # the project; empty: the one of the current folder
    enable_wisdom_distillation: bool = False  # whether `init` runs a distillation cycle
    lesson_min_confidence: float | None = None  # None, here and below: as the user's config says, else the RFC's 0.7
    lesson_retention_days: int | None = None  # … and 365
    enable_heritage_tracking: bool = False  # whether `add` keeps a chain that its metadata holds
    max_heritage_depth: int = 5  # files keep no more


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search."""

    limit: int = DEFAULT_LIMIT
    filter: str = ""  # a condition, see docs/recall.md
    use_cache: bool = True


@dataclass(frozen=True)
class GetAllOptions:
    """How many memories to list; 0 lists all."""

    limit: int = 0


@dataclass(frozen=True)
class SkillOptions:
    """How many skills to list or find."""

    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True)
class QueryOptions:
    """Which lessons to return."""

    limit: int = DEFAULT_LIMIT
    order_by: str = "severity DESC"  # the one order there is


@dataclass(frozen=True)
class ReflectOptions:
    """What to reflect on."""

    topic: str = ""
    lookback: int = 10
    generate: bool = True  # whether a model is asked, where one is set up


@dataclass(frozen=True)
class SynthesisOptions:
    """What a skill is to be about."""

    topic: str = ""


@dataclass(frozen=True)
class InteractionContext:
    """What is known about an exchange."""

    session_id: str = ""
    tools_used: tuple[str, ...] = ()
    files_involved: tuple[str, ...] = ()
    interaction_type: str = "llm_response"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecallOptions:
    """What to recall."""

    limit: int = 5
    use_cache: bool = True
    memory_type: str = ""
    skill_name: str = ""
    include_lessons: bool = False


@dataclass(frozen=True)
class FormatOptions:
    """How memories are written into a prompt."""

    max_length: int = 500  # characters of each


def read_options(kind: type[T], given: object = None, named: Mapping[str, Any] | None = None) -> T:
    """Return options from the RFC's names or ours. Raises an error that names an unknown or missing option."""
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, value in {**_as_mapping(kind, given), **(named or {})}.items():
        name = RFC_NAMES.get(key, key)
        if name not in known:
            raise BadInput(f"{kind.__name__}: unknown option {key!r}", "one of " + ", ".join(known))
        if value is not None:
            values[name] = tuple(value) if isinstance(value, list) else value
    for name, one in known.items():
        if name not in values and one.default is MISSING:
            raise BadInput(f"{kind.__name__}: {name!r} is missing", "see 'rawkomem docs mesh'")
    return kind(**values)


def _as_mapping(kind: type, given: object) -> Mapping[str, Any]:
    if given is None:
        return {}
    if isinstance(given, kind):
        return vars(given)
    if not isinstance(given, Mapping):
        raise BadInput(f"{kind.__name__}: {type(given).__name__} given", 'give an object, such as {"limit": 5}')
    return given


def checked_limit(limit: object, least: int = 1) -> int:
    """Validate and return a number of results."""
    if not isinstance(limit, int) or limit < least:
        raise BadInput(f"a limit of {limit!r}", f"give a whole number, at least {least}")
    return limit
