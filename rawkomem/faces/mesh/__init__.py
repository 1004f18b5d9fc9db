"""Implement RFC-0011 as a thin adapter over Repository, without its own store or scorer.

`api`: Provide the memory mesh of RFC-0011 over a Repository: SyncMemoryMesh, MemoryMesh with `await`, and the context manager
`cli`: Run `memory-mesh`: the Zero-JSON command line of RFC-0011 §9, with its exact output
`records`: Declare the arguments and results of the API; turn content and metadata into entries, memories into records, and results into text for a prompt; store unless known
"""

from .api import ContextManagerConfig, MemoryContextManager, MemoryMesh, SyncMemoryMesh
from .records import (
    CacheStats,
    FormatOptions,
    GetAllOptions,
    HealthStatus,
    HeritageChain,
    InteractionContext,
    LessonBlock,
    LessonContext,
    MemoryMeshOptions,
    MemoryRecord,
    MemoryStats,
    PruneResult,
    QueryOptions,
    RecallOptions,
    ReflectionResult,
    ReflectOptions,
    ReliabilityUpdate,
    SearchOptions,
    SearchResult,
    SkillOptions,
    SkillRecord,
    SkillResult,
    SynthesisOptions,
    SynthesisResult,
)

__all__ = [
    "CacheStats",
    "ContextManagerConfig",
    "FormatOptions",
    "GetAllOptions",
    "HealthStatus",
    "HeritageChain",
    "InteractionContext",
    "LessonBlock",
    "LessonContext",
    "MemoryContextManager",
    "MemoryMesh",
    "MemoryMeshOptions",
    "MemoryRecord",
    "MemoryStats",
    "PruneResult",
    "QueryOptions",
    "RecallOptions",
    "ReflectOptions",
    "ReflectionResult",
    "ReliabilityUpdate",
    "SearchOptions",
    "SearchResult",
    "SkillOptions",
    "SkillRecord",
    "SkillResult",
    "SyncMemoryMesh",
    "SynthesisOptions",
    "SynthesisResult",
]
