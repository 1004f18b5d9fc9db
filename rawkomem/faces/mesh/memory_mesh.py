"""Provide the public API of RFC-0011 §4.1 without `await`; awaitable.py adds `await`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ...files.local.usage import accesses, note_use
from ...format.lesson import LessonContext as Lesson
from ...format.mesh_metadata import extra_of
from ...model.clock import now
from ...model.entry import Memory
from ...model.errors import BadInput, NotFound
from ...model.record import replace
from ...recall.cache import MAX_ANSWERS, TIME_TO_LIVE_S
from ...recall.filters import filter_of
from ...recall.search import Found, first_of
from ...recall.show.labels import labels_by_id
from ...repository import Repository
from ...state.changes.heritage import MAX_LEVELS, plan_heritage
from ...state.changes.heritage import HeritageChain as Heritage
from ...state.fold import created
from . import storing
from .opening import checked, layout_of, open_repository
from .options import (
    GetAllOptions,
    MemoryMeshOptions,
    QueryOptions,
    ReflectOptions,
    SearchOptions,
    SkillOptions,
    SynthesisOptions,
    checked_limit,
    read_options,
)
from .records import (
    block_of,
    checked_metadata,
    entry_of,
    lesson_id_of,
    name_of,
    record_of,
    reflection_of,
    skill_record_of,
    skill_result_of,
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

P = ParamSpec("P")
T = TypeVar("T")
Given = Mapping[str, Any]
CANDIDATES_PER_RESULT = 2  # RFC-0011 §5.1: twice as many candidates as results
LESSON_ORDER = "severity desc"  # the order of lessons that the RFC requires (§8.2)


def _publishes(method: Callable[P, T]) -> Callable[P, T]:
    """Wrap a method so that the tables of RFC-0011 hold its writes and recalls when it returns."""

    @wraps(method)
    def followed(*given: P.args, **named: P.kwargs) -> T:
        answer = method(*given, **named)
        mesh = given[0]
        assert isinstance(mesh, SyncMemoryMesh)
        if mesh.options.enable_memory:
            mesh.repository.core.follow_tables(*mesh.recalled)
            mesh.recalled = ()
        return answer

    return followed


class SyncMemoryMesh:
    """A memory mesh over the repository of a project. Options may be passed in every form that options.py reads."""

    def __init__(self, options: MemoryMeshOptions | Given | None = None, **named: Any):
        self.options = checked(read_options(MemoryMeshOptions, options, named))
        self._repository: Repository | None = None
        self.recalled: tuple[str, ...] = ()  # ids that the running search found, for _publishes

    # Lifecycle

    def init(self) -> None:
        """Open the repository, or create one if there is none. Models are loaded when first needed."""
        if self._repository is None:
            self._repository = open_repository(self.options)

    def close(self) -> None:
        """Close the repository. Closing twice has no further effect; the next call opens the repository again."""
        if self._repository is not None:
            self._repository.close()
            self._repository = None

    @property
    def repository(self) -> Repository:
        """Return the repository, and open it on first use."""
        self.init()
        assert self._repository is not None
        return self._repository

    @property
    def _by(self) -> str:
        return name_of(self.options.agent_id)

    # Memories

    @_publishes
    def add(self, content: str, metadata: Given | None = None) -> MemoryRecord:
        """Store a memory and return it, or return the stored memory that already says the same."""
        entry = entry_of(content, {} if metadata is None else metadata, self.options.agent_id)
        chain = self._chain_in(metadata or {})
        if chain:
            plan_heritage(created(entry), chain)  # raises errors of the chain before anything is written
        if not self.options.enable_memory:
            return record_of(created(replace(entry, at=now())))
        memory, new = storing.store(self.repository, entry)
        if new and chain:
            self.repository.lessons.inherit(memory.id, chain.intents, chain.hypotheses, chain.rationales, self._by)
            memory = self.repository.get(memory.id)
        return record_of(memory)

    def ingest(self, content: str, metadata: Given | None = None) -> MemoryRecord:
        """Store a memory, as `add` does."""
        return self.add(content, metadata)

    def get(self, id: str) -> MemoryRecord | None:
        """Return one memory, or None if the id is unknown."""
        memory = self._memory(id)
        return self._records([memory])[0] if memory else None

    def get_all(self, /, options: GetAllOptions | Given | None = None, **named: Any) -> list[MemoryRecord]:
        """Return all active memories, last changed first."""
        limit = checked_limit(read_options(GetAllOptions, options, named).limit, least=0)
        rows = self.repository.list()
        return self._records(self.repository.get_many([row.id for row in rows[: limit or None]]))

    def _records(self, memories: Sequence[Memory], counted: bool = True) -> list[MemoryRecord]:
        """Return memories as records, with labels in repositories where people vouch for memories.

        With `counted`, the records hold how often this machine used each memory.
        """
        labels = labels_by_id(self.repository.beliefs.all(), memories)
        used = accesses(self.repository.layout) if counted else {}
        return [record_of(memory, labels.get(memory.id, ()), used.get(memory.id)) for memory in memories]

    @_publishes
    def delete(self, id: str) -> None:
        """Delete a memory by appending a tombstone; its text stays in the file."""
        memory = self._memory(id)
        if memory is None:
            raise NotFound(f"Record not found: {id}", "run 'memory-mesh search QUERY' to find ids")
        self.repository.delete(memory.id, by=self._by)

    @_publishes
    def search(self, /, query: str, options: SearchOptions | Given | None = None, **named: Any) -> list[SearchResult]:
        """Return the memories that fit a question best, by reciprocal rank fusion of words and meaning (§5.1)."""
        asked = read_options(SearchOptions, options, named)
        limit = checked_limit(asked.limit)
        only = filter_of(filter=asked.filter)
        found = self.repository.core.look([query], CANDIDATES_PER_RESULT * limit, only, cached=asked.use_cache)[0].found
        ranked = first_of(sorted(found, key=lambda item: item.row.id), limit, lambda item: item.signals.ranks)
        best = (ranked[0].signals.ranks, ranked[0].relevance) if ranked else (0.0, 0.0)
        self.repository.core.note_recalls([(query, len(ranked), *best)], limit, asked.filter)
        if ranked and self.options.enable_memory:
            self.recalled = tuple(item.row.id for item in ranked)
            note_use(self.repository.layout, now(), "", 0, self.recalled)
        return self._results(ranked)

    def likeness(self, content: str) -> float:
        """Return how similar the closest memory is to a text, from 0 to 1. This is not counted as a recall."""
        return storing.likeness(self.repository, content)

    def _results(self, ranked: Sequence[Found]) -> list[SearchResult]:
        """Return results whose scores are relative to the best one, which has 1.0."""
        best = ranked[0].signals.ranks or 1.0 if ranked else 1.0
        records = self._records(self.repository.get_many([item.row.id for item in ranked]), counted=False)
        return [
            SearchResult(**vars(record), score=round(item.signals.ranks / best, 2), relevance=round(item.relevance, 4))
            for item, record in zip(ranked, records, strict=True)
        ]

    def _memory(self, id: str) -> Memory | None:
        """Return the memory with exactly this id, or the lesson with this memory id; None if deleted or unknown."""
        for name in (id, lesson_id_of(id)):
            try:
                memory = self.repository.get(name)
            except (NotFound, BadInput):
                continue
            if memory.id == name and memory.status != "deleted":
                return memory
        return None

    # Reflection and synthesis

    @_publishes
    def reflect(self, /, options: ReflectOptions | Given | None = None, **named: Any) -> ReflectionResult:
        """Reflect on memories (§3.4). With a model, store and return a reflection; without, return its prompt."""
        asked = read_options(ReflectOptions, options, named)
        llm = asked.generate and self.repository.settings.llm.any
        shape = self.repository.skills.reflect(asked.topic, asked.lookback, llm, self._dry, self._by)
        return reflection_of(shape)

    @_publishes
    def synthesize(self, /, options: SynthesisOptions | Given | None = None, **named: Any) -> SynthesisResult:
        """Propose a skill from learnings. It is not used until a person reviews it."""
        topic = read_options(SynthesisOptions, options, named).topic
        made = self.repository.skills.synthesize(topic, self.repository.settings.llm.any, self._dry, self._by)[0]
        return SynthesisResult(made.status, made.analysis, made.skill_id, made.skill_name, made.yamo_text)

    @property
    def _dry(self) -> bool:
        """Tell whether results are only returned, not stored."""
        return not self.options.enable_memory

    # Lessons

    @_publishes
    def distill_lesson(self, context: LessonContext | Given) -> LessonBlock:
        """Store a lesson (§8.3), or return the stored lesson of the same pattern if it is at least as confident."""
        told = Lesson(**vars(read_options(LessonContext, context)))
        lesson, _ = self.repository.lessons.learn(told, self._by, via="agent")
        return block_of(lesson)

    def query_lessons(
        self, /, query: str = "", options: QueryOptions | Given | None = None, **named: Any
    ) -> list[LessonBlock]:
        """Return active lessons, most severe first."""
        asked = read_options(QueryOptions, options, named)
        if " ".join(asked.order_by.lower().split()) != LESSON_ORDER:
            raise BadInput(f"unknown order {asked.order_by!r}", f"use {QueryOptions.order_by!r}, the only order")
        return [block_of(lesson) for lesson in self.repository.lessons.search(query, checked_limit(asked.limit))]

    @_publishes
    def insert_heritage(self, memory_id: str, heritage: HeritageChain | Given) -> None:
        """Record the chain of intents that led to a memory."""
        chain, memory = self._chain(heritage), self._memory(memory_id)
        id = memory.id if memory else memory_id
        self.repository.lessons.inherit(id, chain.intents, chain.hypotheses, chain.rationales, self._by)

    def get_memories_by_pattern(self, pattern_id: str) -> list[MemoryRecord]:
        """Return the lessons of a pattern, then other memories whose metadata names it."""
        ids = [lesson.id for lesson in self.repository.lessons.by_pattern(pattern_id)]
        named = self.repository.list(filter=f"lesson_pattern_id = '{pattern_id.replace(chr(39), chr(39) * 2)}'")
        return self._records(self.repository.get_many([*ids, *(row.id for row in named if row.id not in ids)]))

    def _chain_in(self, metadata: Given) -> Heritage | None:
        """Return the heritage chain in a memory's metadata; None if there is none or chains are not stored."""
        chain = metadata.get("heritage_chain") if self.options.enable_heritage_tracking else None
        return self._chain(chain) if chain else None

    def _chain(self, heritage: HeritageChain | Given) -> Heritage:
        """Return the last levels of a chain, at most as many as are stored."""
        chain = read_options(HeritageChain, heritage)
        deepest = min(self.options.max_heritage_depth, MAX_LEVELS)
        parts = (chain.intent_chain, chain.hypotheses, chain.rationales)
        if not all(isinstance(part, tuple) and all(isinstance(text, str) for text in part) for part in parts):
            raise BadInput("a heritage must consist of lists of texts", 'example: {"intentChain": ["ship weekly"]}')
        return Heritage(*(part[-deepest:] for part in parts))

    # Skills

    @_publishes
    def ingest_skill(self, yamo_text: str, metadata: Given | None = None, source_file_path: str = "") -> SkillRecord:
        """Add a skill and return it, or return the identical stored skill."""
        extra = extra_of(checked_metadata({} if metadata is None else metadata))
        made = self.repository.skills.ingest(yamo_text, source_file_path, self._by, "agent", extra)
        return skill_record_of(self.repository.skills.get(made.id))

    def search_skills(
        self, /, query: str, options: SkillOptions | Given | None = None, **named: Any
    ) -> list[SkillResult]:
        """Return the skills that fit a question best (§5.3)."""
        limit = checked_limit(read_options(SkillOptions, options, named).limit)
        return [skill_result_of(match.skill, match.score) for match in self.repository.skills.search(query, limit)]

    def list_skills(self, /, options: SkillOptions | Given | None = None, **named: Any) -> list[SkillResult]:
        """Return skills, most reliable first."""
        limit = checked_limit(read_options(SkillOptions, options, named).limit)
        return [skill_result_of(skill) for skill in self.repository.skills.list(limit)]

    @_publishes
    def update_skill_reliability(self, id: str, success: bool) -> ReliabilityUpdate:
        """Record whether a use of a skill succeeded; return its new reliability."""
        skill = self.repository.skills.feedback(id, success, by=self._by)
        return ReliabilityUpdate(skill.memory.id, skill.reliability, skill.uses)

    @_publishes
    def prune_skills(self, threshold: float = 0.3) -> PruneResult:
        """Archive skills whose reliability is below a threshold; return how many."""
        pruned = self.repository.skills.prune(threshold, self._dry, self._by)
        return PruneResult(len(pruned.skills), pruned.remaining)

    # Diagnostics

    def stats(self) -> MemoryStats:
        """Return counts. Creates no repository: if there is none, `is_connected` is False."""
        layout, there = layout_of(self.options)
        if self._repository is None and not there:
            return MemoryStats(0, 0, layout.root, False)
        rows = self.repository.list()
        skills = sum(row.kind == "skill" for row in rows)
        return MemoryStats(len(rows) - skills, skills, self.repository.layout.root, True)

    def version(self) -> object:
        """Return a value that changes whenever memories change."""
        repository = self.repository
        return repository.core.read(lambda: repository.core.index.catalogue.meta().get("listing"))

    def clear_cache(self) -> None:
        """Clear the cache of answers."""
        if self._repository is not None:
            self._repository.core.forget_answers()

    def get_cache_stats(self) -> CacheStats:
        """Return how many answers are cached."""
        kept = self._repository.core.kept_answers if self._repository is not None else 0
        return CacheStats(kept, MAX_ANSWERS, int(TIME_TO_LIVE_S * 1000))

    def format_results(self, results: Sequence[SearchResult]) -> str:
        """Return results as text for a prompt (§9.2)."""
        return format_results(results)
