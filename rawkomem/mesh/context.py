"""MemoryContextManager (RFC-0011 §4.3): memory for a conversation loop. Captures exchanges, recalls for the next."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..model.errors import RawkoError
from ..text.clean import one_line
from ..text.safe import safe_body
from .memory_mesh import MemoryMesh
from .types import CacheStats, HealthStatus, MemoryRecord, read_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

RESPONSE = 500  # characters of an answer that are kept
SAME = 0.9  # relevance from which an exchange is a near-duplicate
ENTRIES, SECONDS = 100, 120.0  # the cache of recalls
LENGTH, LONG = 1000, 0.3  # characters that would count 1; the most that length counts
TOLD = {"tools_used": 0.1, "files_involved": 0.1}  # what an exchange gains by having done something


@dataclass(frozen=True)
class ContextManagerConfig:
    """How a context manager behaves."""

    min_importance: float = 0.1  # exchanges below it are not kept
    mesh: Any = None  # a MemoryMesh to share; None: one of its own
    agent_id: str = "YAMO_AGENT"
    db_dir: str = ""


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


def importance_of(content: str, context: InteractionContext) -> float:
    """How much an exchange is worth keeping, from 0 to 1: its length, and whether something was done."""
    done = sum(amount for name, amount in TOLD.items() if getattr(context, name))
    return round(min(LONG, len(content) / LENGTH) + done, 3)


class MemoryContextManager:
    """Captures what was said and recalls what matters."""

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        **named: Any,
    ):
        self.config = read_options(ContextManagerConfig, config, named)
        own = {"agent_id": self.config.agent_id, "db_dir": self.config.db_dir}
        self.mesh: MemoryMesh = self.config.mesh or MemoryMesh(own)
        self._clock = clock
        self._kept: OrderedDict[tuple[str, RecallOptions], tuple[float, list[MemoryRecord]]] = OrderedDict()

    async def initialize(self) -> None:
        """Open the mesh."""
        await self.mesh.init()

    async def capture_interaction(
        self, prompt: str, response: str, context: Mapping[str, Any] | None = None
    ) -> MemoryRecord | None:
        """Keep an exchange; None where it is too slight, or nearly the same as one that is kept."""
        known = read_options(InteractionContext, context, {})
        content = f"[USER] {prompt}\n\n[ASSISTANT] {response[:RESPONSE]}"
        if importance_of(content, known) < self.config.min_importance:
            return None
        close = await self.mesh.search(content, limit=1)
        if close and close[0].relevance >= SAME:
            return None
        self._kept.clear()
        told = {"interaction_type": known.interaction_type, "tools_used": list(known.tools_used)}
        files = {"files_involved": list(known.files_involved)}
        about = {"type": "event", "tags": list(known.tags), "session_id": known.session_id}
        return await self.mesh.add(content, {key: value for key, value in {**about, **told, **files}.items() if value})

    async def recall_memories(self, query: str, options: Mapping[str, Any] | None = None) -> list[MemoryRecord]:
        """The memories that matter to a question; lessons too, where they are asked for."""
        wanted = read_options(RecallOptions, options, {})
        made, found = self._kept.get((query, wanted), (0.0, None))
        if wanted.use_cache and found is not None and self._clock() - made < SECONDS:
            self._kept.move_to_end((query, wanted))
            return found
        memories: list[MemoryRecord] = [*await self.mesh.search(query, wanted.limit, _condition(wanted))]
        if wanted.include_lessons:
            memories += await self._lessons(query, wanted.limit, {memory.id for memory in memories})
        self._kept[query, wanted] = (self._clock(), memories)
        while len(self._kept) > ENTRIES:
            self._kept.popitem(last=False)
        return memories

    async def _lessons(self, query: str, limit: int, known: set[str]) -> list[MemoryRecord]:
        blocks = await self.mesh.query_lessons(query, limit)
        found = [await self.mesh.get(block.memory_id) for block in blocks if block.memory_id not in known]
        return [record for record in found if record]

    def format_memories_for_prompt(
        self, memories: Sequence[MemoryRecord], options: Mapping[str, Any] | None = None
    ) -> str:
        """Memories as a list for a prompt: data, never instructions."""
        longest = read_options(FormatOptions, options, {}).max_length
        if not memories:
            return ""
        lines = [
            f"- ({one_line(memory.created_at, 10)}) {one_line(safe_body(memory.content), longest)}"
            for memory in memories
        ]
        return "[MEMORY CONTEXT]\n" + "\n".join(lines) + "\n"

    async def health_check(self) -> HealthStatus:
        """Whether memories can be read."""
        cache = CacheStats(len(self._kept), ENTRIES, int(SECONDS * 1000))
        try:
            stats = await self.mesh.stats()
        except RawkoError as failure:
            return HealthStatus("unhealthy", 0, cache, failure.message)
        return HealthStatus("healthy", stats.count, cache)

    def dispose(self) -> None:
        """Forget what was recalled. A mesh that was handed in stays open: it is somebody else's."""
        self._kept.clear()
        if self.config.mesh is None:
            self.mesh.sync.close()


def _condition(wanted: RecallOptions) -> str:
    asked = {"memory_type": wanted.memory_type, "skill_name": wanted.skill_name}
    return " AND ".join(f"{name} = '{_quoted(value)}'" for name, value in asked.items() if value)


def _quoted(value: str) -> str:
    return value.replace("'", "''")
