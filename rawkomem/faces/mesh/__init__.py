"""RFC-0011, as other programs know it: a thin adapter over Repository, without a store or a scorer of its own.

options.py, types.py     what callers say, and what they get
records.py, render.py    memories as records, and as text for a prompt
opening.py, storing.py   from options to a repository; a memory, stored once
memory_mesh.py           the API: awaitable.py has it to await, context.py for a conversation, cli.py as commands
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
