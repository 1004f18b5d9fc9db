"""Provide the memory mesh of RFC-0011 over a Repository: SyncMemoryMesh, MemoryMesh with `await`, and
the context manager.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from threading import Lock, Thread
from typing import Any, Concatenate, ParamSpec, TypeVar

from ...files.installation import plan_start, write_start
from ...files.layout import FOLDER, Layout, find_layout, read_stream
from ...files.replace import refuse_exit
from ...files.session_records import accesses, note_use
from ...format.mesh_fields import LessonContext as Lesson
from ...format.mesh_fields import extra_from_metadata
from ...model.entries import LESSON, Memory
from ...model.errors import BadInput, NotFound, RawkoError, Refused, check_known
from ...model.filters import DEFAULT_FILTER
from ...model.user_settings import LlmSettings
from ...model.values import CREATES, filled, now, replace
from ...recall.render import labels_by_id, mark_text, redact_marked
from ...recall.search import Found, best_results
from ...recall.signals import filter_of
from ...redaction.find import redact
from ...repository import Repository
from ...repository.experience import DRAFTED, WAITING
from ...repository.settings import Settings
from ...state.changes import MAX_LEVELS, plan_heritage
from ...state.changes import HeritageChain as Heritage
from ...state.fold import new_memory
from ...text.language import NEAR_DUPLICATE
from ...text.safe import safe_line
from . import records
from .records import (
    DEFAULT_AGENT,
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
    block_of,
    checked_metadata,
    entry_of,
    format_results,
    lesson_id_of,
    name_of,
    read_options,
    record_of,
    reflection_of,
    skill_record_of,
    skill_result_of,
    value,
)


@contextmanager
def naming_file(file: str) -> Iterator[None]:
    """Add the file's name to any error; the hint stays."""
    try:
        yield
    except RawkoError as failure:
        raise BadInput(f"{file}: {failure.message}", failure.hint) from failure
    except OSError as failure:
        raise BadInput(f"{file}: {failure.strerror or failure}") from failure


def read_text(file: str) -> str:
    """Return the whole text of a file."""
    with open(file, "rb") as stream:
        return read_stream(stream, "the file")


# OpenAI-compatible endpoints of the providers that the RFC names.
PROVIDERS = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://localhost:11434/v1",
    "cohere": "https://api.cohere.ai/compatibility/v1",
}
SKILL_FILES = (".yamo", ".md")


# since the answer was made, no matter how often it is used (RFC-0011)
TIME_TO_LIVE_S = 300.0
MAX_ANSWERS = 500  # RFC-0011; when full, the least recently used answer is dropped


class AnswerCache:
    """An LRU cache with an absolute time to live. It is emptied when the index changes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self._made_from: object = None
        self._kept: dict[Hashable, tuple[float, object]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Remove every answer."""
        self._kept.clear()

    def get(self, key: Hashable, made_from: object = None) -> Any:
        """Return the cached answer; None if there is none or it is too old. A new `made_from` empties the cache."""
        if made_from != self._made_from:
            self.clear()
            self._made_from = made_from
        made, answer = self._kept.pop(key, (0.0, None))
        if answer is None or self.clock() - made >= TIME_TO_LIVE_S:
            return None
        self._kept[key] = (made, answer)
        return answer

    def put(self, key: Hashable, answer: object) -> None:
        """Cache an answer."""
        if len(self._kept) >= MAX_ANSWERS:
            self._kept.pop(next(iter(self._kept)), None)
        self._kept[key] = (self.clock(), answer)


def open_mesh_repository(options: MemoryMeshOptions) -> Repository:
    """Return the repository with the options applied. On failure it is closed again."""
    given = options.skill_directories
    folders = [given] if isinstance(given, str) and given else [*given]
    for folder in folders:
        if not os.path.isdir(folder):
            raise BadInput(
                f"no folder {folder}", "create it, or correct skill_directories"
            )
    layout, there = layout_of(options)
    if not there:
        write_start(plan_start(layout.project))
    repository = Repository(
        layout,
        via="agent",
        adjust=lambda settings: _adjusted_settings(settings, options),
    )
    repository.core.agent = name_of(options.agent_id)
    if not options.enable_memory:
        return repository
    try:
        for folder in folders:
            _ingest_folder(repository, folder)
        # the option asks to store lessons with a rule without a review (RFC-0011 §8.2)
        if options.enable_wisdom_distillation:
            for draft, what in repository.lessons.distill().found:
                if what in (DRAFTED, WAITING):
                    by = repository.core.agent
                    repository.drafts.keep(draft.id, by=by, via="distilled")
    except BaseException:
        repository.close()
        raise
    return repository


def layout_of(options: MemoryMeshOptions) -> tuple[Layout, bool]:
    """Return where the repository is or would be, and whether it exists."""
    start = options.db_dir or os.getcwd()
    try:
        return find_layout(start), True
    except NotFound:
        return Layout(os.path.join(os.path.abspath(start), FOLDER)), False


def _ingest_folder(repository: Repository, folder: str) -> None:
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(SKILL_FILES) and os.path.isfile(path):
            with naming_file(path):
                refuse_exit(path, folder)
                repository.skills.ingest(
                    read_text(path), path, repository.core.agent, via="agent"
                )


def _adjusted_settings(settings: Settings, options: MemoryMeshOptions) -> Settings:
    """Return the user's settings, overridden by the options."""
    confidence = options.lesson_min_confidence
    days = options.lesson_retention_days
    return replace(
        settings,
        ledger=settings.ledger if options.enable_yamo else "off",
        llm=_llm_settings(settings.llm, options)
        if options.enable_llm
        else LlmSettings(),
        min_lesson_confidence=settings.min_lesson_confidence
        if confidence is None
        else confidence,
        lesson_days=settings.lesson_days if days is None else days,
    )


def _llm_settings(llm: LlmSettings, options: MemoryMeshOptions) -> LlmSettings:
    if options.llm_provider:
        llm = LlmSettings(
            endpoint=PROVIDERS[options.llm_provider], key_env="", timeout=llm.timeout
        )
    return replace(
        llm,
        model=options.llm_model or llm.model,
        key=options.llm_api_key or llm.key,
        max_tokens=options.llm_max_tokens or llm.max_tokens,
    )


P = ParamSpec("P")
T = TypeVar("T")
Given = Mapping[str, Any]
CANDIDATES_PER_RESULT = 2  # RFC-0011 §5.1: twice as many candidates as results
ONLY_MEMORIES = replace(
    DEFAULT_FILTER, kinds=tuple(kind for kind in CREATES if kind != "skill")
)
LESSON_ORDER = "severity desc"  # the order of lessons that the RFC requires (§8.2)


def _publishes(
    method: Callable[Concatenate[SyncMemoryMesh, P], T],
) -> Callable[Concatenate[SyncMemoryMesh, P], T]:
    """Wrap a method so that the tables of RFC-0011 hold its writes when it returns."""

    @wraps(method)
    def published(self: SyncMemoryMesh, /, *arguments: P.args, **named: P.kwargs) -> T:
        answer = method(self, *arguments, **named)
        if self.options.enable_memory:
            self.repository.core.follow_tables()
        return answer

    return published


class SyncMemoryMesh:
    """A memory mesh over the repository of a project. `read_options` says in which forms options may be passed."""

    def __init__(self, options: MemoryMeshOptions | Given | None = None, **named: Any):
        self.options = read_options(MemoryMeshOptions, options, named)
        provider = self.options.llm_provider
        depth = self.options.max_heritage_depth
        if provider:
            check_known("provider", provider, PROVIDERS)
        if depth < 1:
            raise BadInput(
                f"max_heritage_depth is {depth}",
                "use at least 1; to store no heritage, leave enable_heritage_tracking off",
            )
        self._repository: Repository | None = None
        self._answers = AnswerCache()

    def init(self) -> None:
        """Open the repository, or create one if there is none. Models are loaded when first needed."""
        if self._repository is None:
            self._repository = open_mesh_repository(self.options)

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
    def _writable(self) -> Repository:
        """Return the repository. Raises Refused if `enable_memory` is off."""
        if not self.options.enable_memory:
            hint = "open the mesh with enable_memory=True"
            raise Refused("memory is switched off", hint)
        return self.repository

    @property
    def _by(self) -> str:
        return name_of(self.options.agent_id)

    @_publishes
    def add(self, content: str, metadata: Given | None = None) -> MemoryRecord:
        """Store a memory and return it, or return the stored memory that already says the same."""
        entry = entry_of(
            content, {} if metadata is None else metadata, self.options.agent_id
        )
        heritage = self.options.enable_heritage_tracking and (metadata or {}).get(
            "heritage_chain"
        )
        chain = self._chain(heritage) if heritage else None
        if chain:
            # raises errors of the chain before anything is written
            plan_heritage(new_memory(entry), chain)
        if not self.options.enable_memory:
            return record_of(new_memory(replace(entry, at=now())))
        memory, new = records.store_unless_known(self.repository, entry)
        if new and chain:
            self._inherit(memory.id, chain)
            memory = self.repository.get(memory.id)
        return record_of(memory)

    ingest = add

    def get(self, id: str) -> MemoryRecord | None:
        """Return one memory, or None if the id is unknown."""
        memory = self._memory(id)
        return self._records([memory])[0] if memory else None

    def get_all(
        self, /, options: GetAllOptions | Given | None = None, **named: Any
    ) -> list[MemoryRecord]:
        """Return all active memories, last changed first."""
        limit = read_options(GetAllOptions, options, named).limit
        rows = self.repository.list(ONLY_MEMORIES)
        return self._records(
            self.repository.get_many([row.id for row in rows[: limit or None]])
        )

    def _records(
        self, memories: Sequence[Memory], counted: bool = True
    ) -> list[MemoryRecord]:
        """Return memories as records, with labels in repositories where people vouch for memories.

        With `counted`, the records hold how often this machine used each memory.
        """
        labels = labels_by_id(self.repository.beliefs.all(), memories)
        used = accesses(self.repository.layout) if counted else {}
        return [
            record_of(memory, labels.get(memory.id, ()), used.get(memory.id))
            for memory in memories
        ]

    @_publishes
    def delete(self, id: str) -> bool:
        """Delete a memory by appending a tombstone; its text stays in the file.

        Return whether it is deleted. If a person vouches for it, the deletion waits until a person accepts it.
        """
        memory = self._memory(id)
        if memory is None:
            raise NotFound(f"Record not found: {id}", "")
        written = self._writable.delete(memory.id, by=self._by)
        return not self.repository.core.waits_for_review(written.entry)

    def search(
        self, /, query: str, options: SearchOptions | Given | None = None, **named: Any
    ) -> list[SearchResult]:
        """Return the memories that fit a question best, by reciprocal rank fusion of words and meaning (§5.1)."""
        wanted = read_options(SearchOptions, options, named)
        limit = wanted.limit
        only = replace(filter_of(filter=wanted.filter), kinds=ONLY_MEMORIES.kinds)
        core = self.repository.core
        candidates = CANDIDATES_PER_RESULT * limit
        version = core.read(lambda: core.index.catalogue.meta().get("swept"))
        question = (query, candidates, only)
        results = self._answers.get(question, version) if wanted.use_cache else None
        if results is None:
            results = core.look([query], candidates, only)[0].found
            self._answers.put(question, results)
        ranked = best_results(
            sorted(results, key=lambda item: item.row.id),
            limit,
            lambda item: item.signals.ranks,
        )
        best = (ranked[0].signals.ranks, ranked[0].relevance) if ranked else (0.0, 0.0)
        self.repository.core.note_recalls(
            [(query, len(ranked), *best)], limit, wanted.filter
        )
        if ranked and self.options.enable_memory:
            ids = tuple(item.row.id for item in ranked)
            note_use(self.repository.layout, now(), "", 0, ids)
            self.repository.core.follow_tables(*ids)
        return self._results(ranked)

    def likeness(self, content: str) -> float:
        """Return how similar the closest memory is to a text, from 0 to 1. This is not counted as a recall."""
        only = replace(DEFAULT_FILTER, kinds=("memory",))
        results = self.repository.core.look([content], 1, only)[0].found
        return max((item.relevance for item in results), default=0.0)

    def _results(self, ranked: Sequence[Found]) -> list[SearchResult]:
        """Return results whose scores are relative to the best one, which has 1.0."""
        best = ranked[0].signals.ranks or 1.0 if ranked else 1.0
        records = self._records(
            self.repository.get_many([item.row.id for item in ranked]), counted=False
        )
        return [
            SearchResult(
                **vars(record),
                score=round(item.signals.ranks / best, 2),
                relevance=round(item.relevance, 4),
            )
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

    @_publishes
    def reflect(
        self, /, options: ReflectOptions | Given | None = None, **named: Any
    ) -> ReflectionResult:
        """Reflect on memories (§3.4). With a model, store and return a reflection; without, return its prompt."""
        wanted = read_options(ReflectOptions, options, named)
        llm = wanted.generate and self.repository.settings.llm.any
        shape = self.repository.skills.reflect(
            wanted.topic, wanted.lookback, llm, self._dry, self._by
        )
        return reflection_of(shape)

    @_publishes
    def synthesize(
        self, /, options: SynthesisOptions | Given | None = None, **named: Any
    ) -> SynthesisResult:
        """Propose a skill from learnings. It is not used until a person reviews it."""
        topic = read_options(SynthesisOptions, options, named).topic
        synthesis = self.repository.skills.synthesize(
            topic, self.repository.settings.llm.any, self._dry, self._by
        )[0]
        return SynthesisResult(
            synthesis.status,
            synthesis.analysis,
            synthesis.skill_id,
            synthesis.skill_name,
            synthesis.yamo_text,
        )

    @property
    def _dry(self) -> bool:
        """Return whether results are only returned, not stored."""
        return not self.options.enable_memory

    @_publishes
    def distill_lesson(self, context: LessonContext | Given) -> LessonBlock:
        """Store a lesson (§8.3), or return the stored lesson of the same pattern if it is at least as confident."""
        lesson_context = Lesson(**vars(read_options(LessonContext, context)))
        lesson, _ = self._writable.lessons.learn(lesson_context, self._by, via="agent")
        return block_of(lesson)

    def query_lessons(
        self,
        /,
        query: str = "",
        options: QueryOptions | Given | None = None,
        **named: Any,
    ) -> list[LessonBlock]:
        """Return active lessons, most severe first."""
        wanted = read_options(QueryOptions, options, named)
        if " ".join(wanted.order_by.lower().split()) != LESSON_ORDER:
            raise BadInput(
                f"unknown order {wanted.order_by!r}",
                f"use {QueryOptions.order_by!r}, the only order",
            )
        return [*map(block_of, self.repository.lessons.search(query, wanted.limit))]

    @_publishes
    def insert_heritage(self, memory_id: str, heritage: HeritageChain | Given) -> None:
        """Record the chain of intents that led to a memory."""
        chain = self._chain(heritage)
        memory = self._memory(memory_id)
        self._inherit(memory.id if memory else memory_id, chain)

    def get_memories_by_pattern(self, pattern_id: str) -> list[MemoryRecord]:
        """Return the lessons of a pattern, then other memories whose metadata names it."""
        rows = self.repository.list(filter=f"lesson_pattern_id = {_quoted(pattern_id)}")
        ordered = sorted(rows, key=lambda row: row.kind != LESSON)
        return self._records(self.repository.get_many([row.id for row in ordered]))

    def _inherit(self, id: str, chain: Heritage) -> None:
        self._writable.lessons.inherit(
            id, chain.intents, chain.hypotheses, chain.rationales, self._by
        )

    def _chain(self, heritage: HeritageChain | Given) -> Heritage:
        """Return the last levels of a chain, at most as many as are stored."""
        chain = read_options(HeritageChain, heritage)
        deepest = min(self.options.max_heritage_depth, MAX_LEVELS)
        parts = (chain.intent_chain, chain.hypotheses, chain.rationales)
        if not all(
            isinstance(part, tuple) and all(isinstance(text, str) for text in part)
            for part in parts
        ):
            raise BadInput(
                "a heritage must consist of lists of texts",
                'example: {"intentChain": ["ship weekly"]}',
            )
        return Heritage(*(part[-deepest:] for part in parts))

    @_publishes
    def ingest_skill(
        self, yamo_text: str, metadata: Given | None = None, source_file_path: str = ""
    ) -> SkillRecord:
        """Add a skill and return it, or return the identical stored skill."""
        extra = extra_from_metadata(
            checked_metadata({} if metadata is None else metadata)
        )
        skill = self._writable.skills.ingest(
            yamo_text, source_file_path, self._by, "agent", extra
        )
        return skill_record_of(self.repository.skills.get(skill.id))

    def search_skills(
        self, /, query: str, options: SkillOptions | Given | None = None, **named: Any
    ) -> list[SkillResult]:
        """Return the skills that fit a question best (§5.3)."""
        limit = read_options(SkillOptions, options, named).limit
        matches = self.repository.skills.search(query, limit)
        return [skill_result_of(match.skill, match.score) for match in matches]

    def list_skills(
        self, /, options: SkillOptions | Given | None = None, **named: Any
    ) -> list[SkillResult]:
        """Return skills, most reliable first."""
        limit = read_options(SkillOptions, options, named).limit
        return [*map(skill_result_of, self.repository.skills.list(limit))]

    @_publishes
    def update_skill_reliability(self, id: str, success: bool) -> ReliabilityUpdate:
        """Record whether a use of a skill succeeded; return its new reliability."""
        skill = self._writable.skills.feedback(id, success, by=self._by)
        return ReliabilityUpdate(skill.memory.id, skill.reliability, skill.uses)

    @_publishes
    def prune_skills(self, threshold: float = 0.3) -> PruneResult:
        """Archive skills whose reliability is below a threshold; return how many."""
        pruned = self.repository.skills.prune(threshold, self._dry, self._by)
        return PruneResult(len(pruned.skills), pruned.remaining)

    def stats(self) -> MemoryStats:
        """Return counts. Creates no repository: if there is none, `is_connected` is False."""
        layout, there = layout_of(self.options)
        if self._repository is None and not there:
            return MemoryStats(0, 0, layout.root, False)
        rows = self.repository.list()
        skills = sum(row.kind == "skill" for row in rows)
        return MemoryStats(
            len(rows) - skills, skills, self.repository.layout.root, True
        )

    def clear_cache(self) -> None:
        """Clear the cache of answers."""
        self._answers.clear()

    def get_cache_stats(self) -> CacheStats:
        """Return how many answers are cached."""
        return CacheStats(len(self._answers), MAX_ANSWERS, int(TIME_TO_LIVE_S * 1000))

    def format_results(self, results: Sequence[SearchResult]) -> str:
        """Return results as text for a prompt (§9.2)."""
        return format_results(results)


def _awaited(
    call: Callable[Concatenate[SyncMemoryMesh, P], T],
) -> Callable[Concatenate[MemoryMesh, P], Coroutine[Any, Any, T]]:
    """Return a method of MemoryMesh that runs a method of SyncMemoryMesh in a thread."""

    @wraps(call)
    async def method(self: MemoryMesh, /, *arguments: P.args, **named: P.kwargs) -> T:
        return await asyncio.to_thread(
            self.alone, lambda: call(self.sync, *arguments, **named)
        )

    return method


class MemoryMesh:
    """A memory mesh over the repository of a project; see SyncMemoryMesh for each method.

    `close` waits for the call that is running. A call after `close` opens the repository again.
    """

    def __init__(
        self, options: MemoryMeshOptions | Mapping[str, Any] | None = None, **named: Any
    ):
        self.sync = SyncMemoryMesh(options, **named)
        self._lock = Lock()

    def alone(self, call: Callable[[], T]) -> T:
        """Run a call while no other call of this mesh runs."""
        with self._lock:
            return call()

    def dispose(self) -> None:
        """Start closing, and return without waiting."""
        Thread(target=self.alone, args=(self.sync.close,), name="memory-mesh").start()

    init = _awaited(SyncMemoryMesh.init)
    close = _awaited(SyncMemoryMesh.close)
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

    # Not awaitable (RFC-0011 §4.1): these three do not wait for a running call.

    def clear_cache(self) -> None:
        """Clear the cache of answers."""
        self.sync.clear_cache()

    def get_cache_stats(self) -> CacheStats:
        """Return how many answers are cached."""
        return self.sync.get_cache_stats()

    def format_results(self, results: Sequence[SearchResult]) -> str:
        """Return results as text for a prompt (§9.2)."""
        return format_results(results)


MAX_RESPONSE_CHARS = 500  # of a response that are stored
# importance by length, up to the share
FULL_LENGTH_CHARS = 1000
MAX_LENGTH_SHARE = 0.3
ACTION_SHARE = 0.1  # added to the importance if tools are named, and if files are named


@value
class ContextManagerConfig:
    """Options of a context manager."""

    min_importance: float = 0.1  # less important exchanges are not stored
    mesh: MemoryMesh | None = None  # a mesh to share; None: open a new one
    agent_id: str = DEFAULT_AGENT
    db_dir: str = ""


def importance_of(content: str, context: InteractionContext) -> float:
    """Return the importance of an exchange from 0 to 1, by its length and by whether it names tools or files."""
    length = min(MAX_LENGTH_SHARE, len(content) / FULL_LENGTH_CHARS)
    actions = bool(context.tools_used) + bool(context.files_involved)
    return round(length + ACTION_SHARE * actions, 3)


class MemoryContextManager:
    """Stores exchanges of a conversation and recalls relevant memories."""

    def __init__(
        self, config: ContextManagerConfig | Given | None = None, **named: Any
    ):
        self.config = read_options(ContextManagerConfig, config, named)
        own = {"agent_id": self.config.agent_id, "db_dir": self.config.db_dir}
        self._mesh = self.config.mesh or MemoryMesh(own)
        self._disposed = False

    @property
    def mesh(self) -> MemoryMesh:
        """Return the mesh. Raises Refused after dispose()."""
        if self._disposed:
            raise Refused(
                "the context manager is disposed", "call initialize() to open it again"
            )
        return self._mesh

    async def initialize(self) -> None:
        """Open the mesh."""
        self._disposed = False
        await self.mesh.init()

    async def capture_interaction(
        self,
        prompt: str,
        response: str,
        context: InteractionContext | Given | None = None,
    ) -> MemoryRecord | None:
        """Store an exchange. Returns None if it is not important enough, or nearly identical to a stored memory."""
        exchange = read_options(InteractionContext, context)
        content = f"[USER] {redact(prompt)}\n\n[ASSISTANT] {redact(response)[:MAX_RESPONSE_CHARS]}"
        if importance_of(content, exchange) < self.config.min_importance:
            return None
        if await self.mesh.likeness(content) >= NEAR_DUPLICATE.min_cosine:
            return None
        facts = {
            key: [*one] if isinstance(one, tuple) else one
            for key, one in vars(exchange).items()
        }
        return await self.mesh.add(content, filled({"type": "event", **facts}))

    async def recall_memories(
        self, query: str, options: RecallOptions | Given | None = None
    ) -> list[MemoryRecord]:
        """Return the memories that are relevant to a question; with `include_lessons`, also lessons."""
        wanted = read_options(RecallOptions, options)
        columns = {"memory_type": wanted.memory_type, "skill_name": wanted.skill_name}
        condition = " AND ".join(
            f"{key} = {_quoted(one)}" for key, one in columns.items() if one
        )
        memories: list[MemoryRecord] = [
            *await self.mesh.search(
                query, limit=wanted.limit, filter=condition, use_cache=wanted.use_cache
            )
        ]
        if wanted.include_lessons:
            ids = {memory.id for memory in memories}
            for block in await self.mesh.query_lessons(query, limit=wanted.limit):
                if block.lesson_id not in ids:
                    lesson = await self.mesh.get(block.lesson_id)
                    memories += [lesson] if lesson else []
        return memories

    def format_memories_for_prompt(
        self,
        memories: Sequence[MemoryRecord],
        options: FormatOptions | Given | None = None,
    ) -> str:
        """Return memories as a list for a prompt, marked as data."""
        longest = read_options(FormatOptions, options).max_length
        if not memories:
            return ""
        lines = []
        for memory in memories:
            facts = ", ".join((memory.created_at[:10], *memory.labels))
            lines.append(
                f"- ({facts}) {mark_text(safe_line(memory.content, longest))}\n"
            )
        return redact_marked("[MEMORY CONTEXT]\n" + "".join(lines))

    async def health_check(self) -> HealthStatus:
        """Return whether memories can be read. Creates no repository, and opens none after dispose()."""
        cache = self._mesh.get_cache_stats()
        problem = ""
        count = 0
        try:
            stats = await self.mesh.stats()
            count = stats.count
            if not stats.is_connected:
                problem = f"no repository at {stats.uri}"
        except RawkoError as failure:
            problem = failure.message
        return HealthStatus(
            "unhealthy" if problem else "healthy", count, cache, problem
        )

    def dispose(self) -> None:
        """Close the mesh unless the caller passed it in."""
        self._disposed = True
        if self.config.mesh is None:
            self._mesh.dispose()


def _quoted(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"
