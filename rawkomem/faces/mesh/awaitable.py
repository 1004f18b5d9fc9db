"""Provide MemoryMesh: SyncMemoryMesh with awaitable methods, which run one after the other in one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar

from .memory_mesh import SyncMemoryMesh
from .options import MemoryMeshOptions
from .render import format_results
from .types import CacheStats, SearchResult

P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
    call: Callable[Concatenate[SyncMemoryMesh, P], T],
) -> Callable[Concatenate[MemoryMesh, P], Coroutine[Any, Any, T]]:
    """Return a method of MemoryMesh that runs a method of SyncMemoryMesh in the thread of the mesh."""

    @wraps(call)
    async def method(self: MemoryMesh, /, *arguments: P.args, **named: P.kwargs) -> T:
        return await asyncio.wrap_future(self._submit(lambda: call(self.sync, *arguments, **named)))

    return method


class MemoryMesh:
    """A memory mesh over the repository of a project; see SyncMemoryMesh for each method."""

    def __init__(self, options: MemoryMeshOptions | Mapping[str, Any] | None = None, **named: Any):
        self.sync = SyncMemoryMesh(options, **named)
        self._thread: ThreadPoolExecutor | None = None  # None before the first call and after `close`
        self._one = Lock()  # after `close`, a call starts a new thread while the old thread may still be closing

    def _submit(self, call: Callable[[], T]) -> Future[T]:
        def alone() -> T:
            with self._one:
                return call()

        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memory-mesh")
        return self._thread.submit(alone)

    init = _awaited(SyncMemoryMesh.init)

    async def close(self) -> None:
        """Wait for all earlier calls, then close as SyncMemoryMesh.close does."""
        if self._thread is not None:
            await asyncio.shield(asyncio.wrap_future(self._close_behind()))

    def dispose(self) -> None:
        """Start closing, and return without waiting."""
        if self._thread is not None:
            self._close_behind()

    def _close_behind(self) -> Future[None]:
        closed = self._submit(self.sync.close)
        assert self._thread is not None
        self._thread.shutdown(wait=False)
        self._thread = None
        return closed

    add = _awaited(SyncMemoryMesh.add)
    ingest = _awaited(SyncMemoryMesh.ingest)
    get = _awaited(SyncMemoryMesh.get)
    get_all = _awaited(SyncMemoryMesh.get_all)
    delete = _awaited(SyncMemoryMesh.delete)
    search = _awaited(SyncMemoryMesh.search)
    likeness = _awaited(SyncMemoryMesh.likeness)
    reflect = _awaited(SyncMemoryMesh.reflect)
    synthesize = _awaited(SyncMemoryMesh.synthesize)
    distill_lesson = _awaited(SyncMemoryMesh.distill_lesson)
    query_lessons = _awaited(SyncMemoryMesh.query_lessons)
    insert_heritage = _awaited(SyncMemoryMesh.insert_heritage)
    get_memories_by_pattern = _awaited(SyncMemoryMesh.get_memories_by_pattern)
    ingest_skill = _awaited(SyncMemoryMesh.ingest_skill)
    search_skills = _awaited(SyncMemoryMesh.search_skills)
    list_skills = _awaited(SyncMemoryMesh.list_skills)
    update_skill_reliability = _awaited(SyncMemoryMesh.update_skill_reliability)
    prune_skills = _awaited(SyncMemoryMesh.prune_skills)
    stats = _awaited(SyncMemoryMesh.stats)
    version = _awaited(SyncMemoryMesh.version)

    # Not awaitable (RFC-0011 §4.1): these three do not run in the thread.

    def clear_cache(self) -> None:
        """Clear the cache of answers."""
        self.sync.clear_cache()

    def get_cache_stats(self) -> CacheStats:
        """Return how many answers are cached."""
        return self.sync.get_cache_stats()

    def format_results(self, results: Sequence[SearchResult]) -> str:
        """Return results as text for a prompt (§9.2)."""
        return format_results(results)
