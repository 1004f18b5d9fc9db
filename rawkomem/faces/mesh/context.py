"""Provide MemoryContextManager (RFC-0011 §4.3): it stores exchanges of a conversation and recalls memories."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...model.errors import RawkoError, Refused
from ...recall.cache import AnswerCache
from ...recall.show.frame import finish, held
from ...redaction.find import redact
from ...text.clean import one_line
from ...text.safe import safe_line
from ...text.same import NEAR_DUPLICATE
from .awaitable import MemoryMesh
from .options import DEFAULT_AGENT, FormatOptions, InteractionContext, RecallOptions, read_options
from .types import CacheStats, HealthStatus, MemoryRecord

Given = Mapping[str, Any]
MAX_RESPONSE_CHARS = 500  # of a response that are stored
MAX_CACHED_RECALLS, CACHE_LIFE_S = 100, 120.0
FULL_LENGTH_CHARS, MAX_LENGTH_SHARE = 1000, 0.3  # importance by length: chars / FULL_LENGTH_CHARS, up to the share
ACTION_SHARES = {"tools_used": 0.1, "files_involved": 0.1}  # added to the importance if tools or files are named


@dataclass(frozen=True)
class ContextManagerConfig:
    """Options of a context manager."""

    min_importance: float = 0.1  # less important exchanges are not stored
    mesh: MemoryMesh | None = None  # a mesh to share; None: open a new one
    agent_id: str = DEFAULT_AGENT
    db_dir: str = ""


def importance_of(content: str, context: InteractionContext) -> float:
    """Return the importance of an exchange from 0 to 1, by its length and by whether it names tools or files."""
    done = sum(amount for name, amount in ACTION_SHARES.items() if getattr(context, name))
    return round(min(MAX_LENGTH_SHARE, len(content) / FULL_LENGTH_CHARS) + done, 3)


class MemoryContextManager:
    """Stores exchanges of a conversation and recalls relevant memories."""

    def __init__(
        self,
        config: ContextManagerConfig | Given | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        **named: Any,
    ):
        self.config = read_options(ContextManagerConfig, config, named)
        own = {"agent_id": self.config.agent_id, "db_dir": self.config.db_dir}
        self._mesh = self.config.mesh or MemoryMesh(own)
        self._kept = AnswerCache(clock, MAX_CACHED_RECALLS, CACHE_LIFE_S)
        self._disposed = False

    @property
    def mesh(self) -> MemoryMesh:
        """Return the mesh. Raises Refused after dispose()."""
        if self._disposed:
            raise Refused("the context manager is disposed", "call initialize() to open it again")
        return self._mesh

    async def initialize(self) -> None:
        """Open the mesh."""
        self._disposed = False
        await self.mesh.init()

    async def capture_interaction(
        self, prompt: str, response: str, context: InteractionContext | Given | None = None
    ) -> MemoryRecord | None:
        """Store an exchange. Returns None if it is not important enough, or nearly identical to a stored memory."""
        known = read_options(InteractionContext, context)
        content = f"[USER] {redact(prompt)}\n\n[ASSISTANT] {redact(response)[:MAX_RESPONSE_CHARS]}"
        if importance_of(content, known) < self.config.min_importance:
            return None
        if await self.mesh.likeness(content) >= NEAR_DUPLICATE.min_cosine:
            return None
        told = {"interaction_type": known.interaction_type, "tools_used": list(known.tools_used)}
        files = {"files_involved": list(known.files_involved)}
        about = {"type": "event", "tags": list(known.tags), "session_id": known.session_id}
        return await self.mesh.add(content, {key: value for key, value in {**about, **told, **files}.items() if value})

    async def recall_memories(self, query: str, options: RecallOptions | Given | None = None) -> list[MemoryRecord]:
        """Return the memories that are relevant to a question; with `include_lessons`, also lessons."""
        wanted = read_options(RecallOptions, options)
        key = query, wanted, await self.mesh.version()  # a cached answer is valid until a memory changes
        kept = self._kept.get(key)
        if wanted.use_cache and kept is not None:
            return [*cast("Sequence[MemoryRecord]", kept)]
        found = await self.mesh.search(query, limit=wanted.limit, filter=_condition(wanted), use_cache=wanted.use_cache)
        memories: list[MemoryRecord] = [*found]
        if wanted.include_lessons:
            memories += await self._lessons(query, wanted.limit, {memory.id for memory in memories})
        self._kept.put(key, tuple(memories))
        return memories

    async def _lessons(self, query: str, limit: int, known: set[str]) -> list[MemoryRecord]:
        blocks = await self.mesh.query_lessons(query, limit=limit)
        found = [await self.mesh.get(block.lesson_id) for block in blocks if block.lesson_id not in known]
        return [record for record in found if record]

    def format_memories_for_prompt(
        self, memories: Sequence[MemoryRecord], options: FormatOptions | Given | None = None
    ) -> str:
        """Return memories as a list for a prompt, marked as data."""
        longest = read_options(FormatOptions, options).max_length
        if not memories:
            return ""
        lines = []
        for memory in memories:
            known = ", ".join((one_line(memory.created_at, 10), *memory.labels))
            lines.append(f"- ({known}) {held(safe_line(memory.content, longest))}\n")
        return finish("[MEMORY CONTEXT]\n" + "".join(lines))

    async def health_check(self) -> HealthStatus:
        """Return whether memories can be read. Creates no repository, and opens none after dispose()."""
        cache = CacheStats(len(self._kept), MAX_CACHED_RECALLS, int(CACHE_LIFE_S * 1000))
        try:
            stats = await self.mesh.stats()
        except RawkoError as failure:
            return HealthStatus("unhealthy", 0, cache, failure.message)
        if not stats.is_connected:
            return HealthStatus("unhealthy", 0, cache, f"no repository at {stats.uri}")
        return HealthStatus("healthy", stats.count, cache)

    def dispose(self) -> None:
        """Clear the cache, and close the mesh unless the caller passed it in."""
        self._kept.clear()
        self._disposed = True
        if self.config.mesh is None:
            self._mesh.dispose()


def _condition(wanted: RecallOptions) -> str:
    asked = {"memory_type": wanted.memory_type, "skill_name": wanted.skill_name}
    return " AND ".join(f"{name} = '{_quoted(value)}'" for name, value in asked.items() if value)


def _quoted(value: str) -> str:
    return value.replace("'", "''")
