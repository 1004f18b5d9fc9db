"""RFC-0011, as other programs know it: a thin adapter over Repository, without a store or a scorer of its own."""

from .context import MemoryContextManager
from .memory_mesh import MemoryMesh, SyncMemoryMesh
from .types import (
    CacheStats,
    HealthStatus,
    HeritageChain,
    LessonBlock,
    LessonContext,
    MemoryMeshOptions,
    MemoryRecord,
    MemoryStats,
    PruneResult,
    ReliabilityUpdate,
    SearchResult,
    SkillRecord,
    SkillResult,
    SynthesisResult,
)

__all__ = [
    "CacheStats",
    "HealthStatus",
    "HeritageChain",
    "LessonBlock",
    "LessonContext",
    "MemoryContextManager",
    "MemoryMesh",
    "MemoryMeshOptions",
    "MemoryRecord",
    "MemoryStats",
    "PruneResult",
    "ReliabilityUpdate",
    "SearchResult",
    "SkillRecord",
    "SkillResult",
    "SyncMemoryMesh",
    "SynthesisResult",
]
