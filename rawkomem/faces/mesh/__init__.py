"""Implement RFC-0011 as a thin adapter over Repository, without its own store or scorer.

options.py, types.py     arguments and results of the API
records.py, render.py    memories as records, and as text for a prompt
opening.py, storing.py   open a repository from options; store a memory unless it is known
memory_mesh.py           the API without `await`; awaitable.py adds `await`
context.py, cli.py       the context manager for conversations; the command line
"""

from .awaitable import MemoryMesh
from .context import ContextManagerConfig, MemoryContextManager
from .memory_mesh import SyncMemoryMesh
from .options import (
    FormatOptions,
    GetAllOptions,
    InteractionContext,
    MemoryMeshOptions,
    QueryOptions,
    RecallOptions,
    ReflectOptions,
    SearchOptions,
    SkillOptions,
    SynthesisOptions,
)
from .types import (
    CacheStats,
    HealthStatus,
    HeritageChain,
    LessonBlock,
    LessonContext,
    MemoryRecord,
    MemoryStats,
    PruneResult,
    ReflectionResult,
    ReliabilityUpdate,
    SearchResult,
    SkillRecord,
    SkillResult,
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
