"""Provide MemoryMesh: SyncMemoryMesh with awaitable methods, run one after the other in one thread."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from .memory_mesh import SyncMemoryMesh
from .options import (
    GetAllOptions,
    MemoryMeshOptions,
    QueryOptions,
    ReflectOptions,
    SearchOptions,
    SkillOptions,
    SynthesisOptions,
)
from .render import format_results
from .types import (
    CacheStats,
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future
    from typing import ParamSpec

    P = ParamSpec("P")
    Given = Mapping[str, Any]

T = TypeVar("T")


class MemoryMesh:
    """A memory mesh over the repository of a project; see SyncMemoryMesh for each method."""

    def __init__(self, options: MemoryMeshOptions | Given | None = None, **named: Any):
        self.sync = SyncMemoryMesh(options, **named)
        self._thread: ThreadPoolExecutor | None = None  # from the first call to the next close
        self._one = Lock()  # a call after `close` has a new thread, while the old one may still be closing

    async def _run(self, call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        return await asyncio.wrap_future(self._submit(lambda: call(*arguments, **named)))

    def _submit(self, call: Callable[[], T]) -> Future[T]:
        def alone() -> T:
            with self._one:
                return call()

        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memory-mesh")
        return self._thread.submit(alone)

    # Lifecycle

    async def init(self) -> None:
        """As SyncMemoryMesh.init."""
        await self._run(self.sync.init)

    async def close(self) -> None:
        """Close as SyncMemoryMesh.close does, after all earlier calls are done."""
        if self._thread is not None:
            await asyncio.shield(asyncio.wrap_future(self._close_behind()))

    def dispose(self) -> None:
        """Close without waiting for it."""
        if self._thread is not None:
            self._close_behind()

    def _close_behind(self) -> Future[None]:
        closed = self._submit(self.sync.close)
        assert self._thread is not None
        self._thread.shutdown(wait=False)
        self._thread = None
        return closed

    # Memories

    async def add(self, content: str, metadata: Given | None = None) -> MemoryRecord:
        """As SyncMemoryMesh.add."""
        return await self._run(self.sync.add, content, metadata)

    async def ingest(self, content: str, metadata: Given | None = None) -> MemoryRecord:
        """As SyncMemoryMesh.ingest."""
        return await self._run(self.sync.ingest, content, metadata)

    async def get(self, id: str) -> MemoryRecord | None:
        """As SyncMemoryMesh.get."""
        return await self._run(self.sync.get, id)

    async def get_all(self, options: GetAllOptions | Given | None = None, **named: Any) -> list[MemoryRecord]:
        """As SyncMemoryMesh.get_all."""
        return await self._run(self.sync.get_all, options, **named)

    async def delete(self, id: str) -> None:
        """As SyncMemoryMesh.delete."""
        await self._run(self.sync.delete, id)

    async def search(
        self, query: str, options: SearchOptions | Given | None = None, **named: Any
    ) -> list[SearchResult]:
        """As SyncMemoryMesh.search."""
        return await self._run(self.sync.search, query, options, **named)

    async def likeness(self, content: str) -> float:
        """As SyncMemoryMesh.likeness."""
        return await self._run(self.sync.likeness, content)

    # Reflection and synthesis

    async def reflect(self, options: ReflectOptions | Given | None = None, **named: Any) -> ReflectionResult:
        """As SyncMemoryMesh.reflect."""
        return await self._run(self.sync.reflect, options, **named)

    async def synthesize(self, options: SynthesisOptions | Given | None = None, **named: Any) -> SynthesisResult:
        """As SyncMemoryMesh.synthesize."""
        return await self._run(self.sync.synthesize, options, **named)

    # Lessons

    async def distill_lesson(self, context: LessonContext | Given) -> LessonBlock:
        """As SyncMemoryMesh.distill_lesson."""
        return await self._run(self.sync.distill_lesson, context)

    async def query_lessons(
        self, query: str = "", options: QueryOptions | Given | None = None, **named: Any
    ) -> list[LessonBlock]:
        """As SyncMemoryMesh.query_lessons."""
        return await self._run(self.sync.query_lessons, query, options, **named)

    async def insert_heritage(self, memory_id: str, heritage: HeritageChain | Given) -> None:
        """As SyncMemoryMesh.insert_heritage."""
        await self._run(self.sync.insert_heritage, memory_id, heritage)

    async def get_memories_by_pattern(self, pattern_id: str) -> list[MemoryRecord]:
        """As SyncMemoryMesh.get_memories_by_pattern."""
        return await self._run(self.sync.get_memories_by_pattern, pattern_id)

    # Skills

    async def ingest_skill(
        self, yamo_text: str, metadata: Given | None = None, source_file_path: str = ""
    ) -> SkillRecord:
        """As SyncMemoryMesh.ingest_skill."""
        return await self._run(self.sync.ingest_skill, yamo_text, metadata, source_file_path)

    async def search_skills(
        self, query: str, options: SkillOptions | Given | None = None, **named: Any
    ) -> list[SkillResult]:
        """As SyncMemoryMesh.search_skills."""
        return await self._run(self.sync.search_skills, query, options, **named)

    async def list_skills(self, options: SkillOptions | Given | None = None, **named: Any) -> list[SkillResult]:
        """As SyncMemoryMesh.list_skills."""
        return await self._run(self.sync.list_skills, options, **named)

    async def update_skill_reliability(self, id: str, success: bool) -> ReliabilityUpdate:
        """As SyncMemoryMesh.update_skill_reliability."""
        return await self._run(self.sync.update_skill_reliability, id, success)

    async def prune_skills(self, threshold: float = 0.3) -> PruneResult:
        """As SyncMemoryMesh.prune_skills."""
        return await self._run(self.sync.prune_skills, threshold)

    # Diagnostics

    async def stats(self) -> MemoryStats:
        """As SyncMemoryMesh.stats."""
        return await self._run(self.sync.stats)

    async def version(self) -> object:
        """As SyncMemoryMesh.version."""
        return await self._run(self.sync.version)

    def clear_cache(self) -> None:
        """Clear the cache as SyncMemoryMesh.clear_cache does. Not awaitable (§4.1), like the next two;

        waits for no other call.
        """
        self.sync.clear_cache()

    def get_cache_stats(self) -> CacheStats:
        """As SyncMemoryMesh.get_cache_stats."""
        return self.sync.get_cache_stats()

    def format_results(self, results: Sequence[SearchResult]) -> str:
        """As SyncMemoryMesh.format_results."""
        return format_results(results)
