"""The public API of RFC-0011 §4.1: `SyncMemoryMesh` does the work, `MemoryMesh` is the same with methods to await."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from ..files.layout import find_layout
from ..files.start import plan_start, write_start
from ..files.usage import note_use
from ..index.documents import Filter
from ..learn.config import LlmSettings
from ..model.clock import now
from ..model.errors import BadInput, NotFound
from ..model.record import replace
from ..operations import lessons, skills
from ..recall.cache import ENTRIES, SECONDS
from ..recall.filters import DEFAULT, filter_of
from ..repository import Repository
from ..state.dedupe import SAME, same_facts
from ..state.fold import created
from .records import entry_of, record_of
from .render import format_results
from .types import (
    AGENT,
    CacheStats,
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
    read_fields,
    read_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import ParamSpec

    from ..learn.lesson import Lesson
    from ..learn.skill import Skill
    from ..model.entry import Entry, Memory
    from ..settings import Settings

    P = ParamSpec("P")

T = TypeVar("T")

LIMIT = 10
WIDER = 2  # RFC-0011 §5.1: twice as many candidates as results
CLOSE = 5  # memories that a new one is compared with
# OpenAI-compatible addresses of the providers that the RFC names.
PROVIDERS = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://localhost:11434/v1",
    "cohere": "https://api.cohere.ai/compatibility/v1",
}
SKILL_FILES = (".yamo", ".md")


class SyncMemoryMesh:
    """A memory mesh over the repository of a project."""

    def __init__(self, options: MemoryMeshOptions | Mapping[str, Any] | None = None, **named: Any):
        if isinstance(options, MemoryMeshOptions):
            options = vars(options)
        self.options = read_options(MemoryMeshOptions, options, named)
        if self.options.llm_provider and self.options.llm_provider not in PROVIDERS:
            raise BadInput(f"unknown provider {self.options.llm_provider!r}", "one of " + ", ".join(PROVIDERS))
        self._repository: Repository | None = None

    # Lifecycle

    def init(self) -> None:
        """Open the repository, or make one where there is none; models are loaded when they are first needed."""
        if self._repository is not None:
            return
        start = self.options.db_dir or os.getcwd()
        try:
            layout = find_layout(start)
        except NotFound:
            write_start(plan_start(start))
            layout = find_layout(start)
        self._repository = Repository(layout, via="agent", adjust=self._adjusted)
        for folder in self._skill_folders():
            self._ingest_folder(folder)
        if self.options.enable_wisdom_distillation:
            lessons.distill(self._repository, by=self._by)

    def close(self) -> None:
        """Let go of everything."""
        if self._repository is not None:
            self._repository.close()
            self._repository = None

    @property
    def repository(self) -> Repository:
        """What this is a face of; opened on first use."""
        if self._repository is None:
            self.init()
        assert self._repository is not None
        return self._repository

    @property
    def _by(self) -> str:
        return "" if self.options.agent_id == AGENT else self.options.agent_id

    def _adjusted(self, settings: Settings) -> Settings:
        """The user's settings with what the options say instead."""
        options = self.options
        ledger = settings.ledger if options.enable_yamo else "off"
        lesson = (options.lesson_min_confidence, options.lesson_retention_days)
        return replace(settings, ledger=ledger, lessons=lesson, llm=self._llm(settings.llm))

    def _llm(self, llm: LlmSettings) -> LlmSettings:
        options = self.options
        if not options.enable_llm:
            return LlmSettings()
        if options.llm_provider:
            llm = LlmSettings(endpoint=PROVIDERS[options.llm_provider], key_env="", timeout=llm.timeout)
        given = {"model": options.llm_model, "key": options.llm_api_key, "max_tokens": options.llm_max_tokens}
        return replace(llm, **{name: value for name, value in given.items() if value})

    # Memories

    def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> MemoryRecord:
        """Store a memory; one that says the same already is returned instead."""
        entry = entry_of(content, {} if metadata is None else metadata, self.options.agent_id)
        if not self.options.enable_memory:
            return record_of(created(replace(entry, at=now())))
        known = self._same(entry)
        if known:
            return record_of(known)
        id = self.repository.add(entry).entry.id
        chain = self._chain(metadata or {})
        if chain:
            lessons.inherit(self.repository, id, chain, self._by)
        return record_of(self.repository.get(id))

    def ingest(self, content: str, metadata: Mapping[str, Any] | None = None) -> MemoryRecord:
        """The same as `add`."""
        return self.add(content, metadata)

    def get(self, id: str) -> MemoryRecord | None:
        """One memory; None where there is none of this id."""
        memory = self._memory(id)
        return record_of(memory) if memory else None

    def get_all(self, limit: int = 0) -> list[MemoryRecord]:
        """All memories in use, the last changed first."""
        rows = self.repository.list()
        return [record_of(memory) for memory in self.repository.get_all([row.id for row in rows[: limit or None]])]

    def delete(self, id: str) -> None:
        """Delete a memory: a tombstone is appended, its text stays in the file."""
        memory = self._memory(id)
        if memory is None:
            raise NotFound(f"Record not found: {id}", "'memory-mesh search' finds ids")
        self.repository.delete(memory.id, by=self._by)

    def search(
        self, query: str, limit: int = LIMIT, filter: str = "", use_cache: bool = True, **rfc: Any
    ) -> list[SearchResult]:
        """The memories that fit a question best, by reciprocal ranks of words and of meaning (§5.1)."""
        use_cache = _only(rfc, "useCache", use_cache)
        if limit < 1:
            raise BadInput(f"a limit of {limit}", "give at least 1")
        if not use_cache:
            self.clear_cache()
        return self._found(query, limit, filter_of(filter=filter))

    def _found(self, query: str, limit: int, only: Filter) -> list[SearchResult]:
        found = self.repository.search(query, WIDER * limit, only)
        ranked = sorted(found, key=lambda item: (-item.signals.ranks, item.row.id))[:limit]
        best = max((item.signals.ranks for item in ranked), default=0.0) or 1.0
        memories = {memory.id: memory for memory in self.repository.get_all([item.row.id for item in ranked])}
        results = []
        for item in ranked:
            record = record_of(memories[item.row.id])
            score = round(item.signals.ranks / best, 2)
            results.append(SearchResult(**vars(record), score=score, relevance=round(item.relevance, 4)))
        if results:
            note_use(self.repository.layout, now(), "", 0, [result.id for result in results])
        return results

    def _memory(self, id: str) -> Memory | None:
        """The memory of exactly this id, unless it was deleted."""
        try:
            memory = self.repository.get(id)
        except (NotFound, BadInput):
            return None
        return memory if memory.id == id and memory.status != "deleted" else None

    def _same(self, entry: Entry) -> Memory | None:
        """A memory in use that says the same: word for word, or as close as duplicates are, with the same facts."""
        new = created(entry)
        for item in self.repository.look([entry.body[:2000]], CLOSE, replace(DEFAULT, kinds=("memory",)))[0].found:
            known = self.repository.get(item.row.id)
            if known.body == entry.body or (item.relevance >= SAME and same_facts(new, known)):
                return known
        return None

    def _chain(self, metadata: Mapping[str, Any]) -> HeritageChain | None:
        chain = metadata.get("heritage_chain") if self.options.enable_heritage_tracking else None
        return self._read_chain(chain) if chain else None

    # Reflection and synthesis

    def reflect(self, topic: str = "", lookback: int = 10, generate: bool = True) -> dict[str, Any]:
        """What memories say together (§3.4): with a model a reflection that is kept, else the prompt for one."""
        llm = generate and bool(self.repository.settings.llm.endpoint or self.repository.settings.llm.command)
        return skills.reflect(self.repository, topic, lookback, llm=llm, by=self._by)

    def synthesize(self, topic: str = "") -> SynthesisResult:
        """Propose a skill from what was learned; inert until reviewed."""
        llm = bool(self.repository.settings.llm.endpoint or self.repository.settings.llm.command)
        made = skills.synthesize(self.repository, topic, llm=llm, by=self._by)[0]
        return SynthesisResult(made.status, made.analysis, made.skill_id, made.skill_name, made.yamo_text)

    # Lessons

    def distill_lesson(self, context: LessonContext | Mapping[str, Any]) -> LessonBlock:
        """Store a lesson (§8.3); one of its pattern that is as sure is returned instead."""
        if not isinstance(context, LessonContext):
            context = read_fields(LessonContext, context)
        lesson, _ = lessons.learn(self.repository, context, self._by, via="agent")
        return _block(lesson)

    def query_lessons(self, query: str = "", limit: int = LIMIT, **rfc: Any) -> list[LessonBlock]:
        """Lessons in use, the gravest first."""
        _only(rfc, "orderBy", "")
        return [_block(lesson) for lesson in lessons.query(self.repository, query, limit)]

    def insert_heritage(self, memory_id: str, heritage: HeritageChain | Mapping[str, Any]) -> None:
        """Give a memory the chain of intents that led to it."""
        lessons.inherit(self.repository, memory_id, self._read_chain(heritage), self._by)

    def _read_chain(self, heritage: HeritageChain | Mapping[str, Any]) -> HeritageChain:
        chain = heritage if isinstance(heritage, HeritageChain) else read_fields(HeritageChain, heritage)
        deepest = self.options.max_heritage_depth
        parts = (chain.intents, chain.hypotheses, chain.rationales)
        return HeritageChain(*(tuple(part)[-deepest:] for part in parts))

    def get_memories_by_pattern(self, pattern_id: str) -> list[MemoryRecord]:
        """The lessons of a pattern."""
        ids = [lesson.id for lesson in lessons.by_pattern(self.repository, pattern_id)]
        return [record_of(memory) for memory in self.repository.get_all(ids)]

    # Skills

    def ingest_skill(
        self, yamo_text: str, metadata: Mapping[str, Any] | None = None, source_file_path: str = ""
    ) -> SkillRecord:
        """Take in a skill."""
        made = skills.ingest(self.repository, yamo_text, source_file_path, self._by, via="agent")
        skill = skills.show(self.repository, made.id)
        return SkillRecord(made.id, made.name, skill.field("intent"), {**_skill_metadata(skill), **(metadata or {})})

    def search_skills(self, query: str, limit: int = LIMIT) -> list[SkillResult]:
        """The skills that fit a question best (§5.3)."""
        return [_skill(match.skill, match.score) for match in skills.search(self.repository, query, limit)]

    def list_skills(self, limit: int = LIMIT) -> list[SkillResult]:
        """Skills, the most reliable first."""
        return [_skill(skill, 0.0) for skill in skills.list_all(self.repository, limit)]

    def update_skill_reliability(self, id: str, success: bool) -> ReliabilityUpdate:
        """Tell how a use of a skill went."""
        skill = skills.feedback(self.repository, id, success, by=self._by)
        return ReliabilityUpdate(skill.memory.id, skill.reliability, skill.uses)

    def prune_skills(self, threshold: float = 0.3) -> PruneResult:
        """Put away the skills that proved unreliable."""
        pruned = skills.prune(self.repository, threshold, by=self._by)
        return PruneResult(len(pruned.skills), pruned.remaining)

    def _skill_folders(self) -> Sequence[str]:
        given = self.options.skill_directories
        return [given] if isinstance(given, str) and given else [*given]

    def _ingest_folder(self, folder: str) -> None:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if name.endswith(SKILL_FILES) and os.path.isfile(path):
                with open(path, encoding="utf-8") as stream:
                    self.ingest_skill(stream.read(), source_file_path=path)

    # Diagnostics

    def stats(self) -> MemoryStats:
        """What there is."""
        rows = self.repository.list()
        skills = sum(row.kind == "skill" for row in rows)
        return MemoryStats(len(rows) - skills, skills, self.repository.layout.root, True)

    def clear_cache(self) -> None:
        """Forget the answers of the last minutes."""
        self.repository.forget_answers()

    def get_cache_stats(self) -> CacheStats:
        """How many answers are kept."""
        return CacheStats(self.repository.kept_answers, ENTRIES, int(SECONDS * 1000))

    def format_results(self, results: Sequence[SearchResult]) -> str:
        """Results for a prompt (§9.2)."""
        return format_results(results)


class MemoryMesh:
    """The same, with methods to await: they run one after the other in a thread of their own."""

    def __init__(self, options: MemoryMeshOptions | Mapping[str, Any] | None = None, **named: Any):
        self.sync = SyncMemoryMesh(options, **named)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memory-mesh")

    async def _run(self, call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: call(*arguments, **named))

    async def init(self) -> None:
        """As SyncMemoryMesh.init."""
        await self._run(self.sync.init)

    async def close(self) -> None:
        """As SyncMemoryMesh.close."""
        await self._run(self.sync.close)
        self._thread.shutdown(wait=False)

    async def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> MemoryRecord:
        """As SyncMemoryMesh.add."""
        return await self._run(self.sync.add, content, metadata)

    async def ingest(self, content: str, metadata: Mapping[str, Any] | None = None) -> MemoryRecord:
        """As SyncMemoryMesh.ingest."""
        return await self._run(self.sync.ingest, content, metadata)

    async def get(self, id: str) -> MemoryRecord | None:
        """As SyncMemoryMesh.get."""
        return await self._run(self.sync.get, id)

    async def get_all(self, limit: int = 0) -> list[MemoryRecord]:
        """As SyncMemoryMesh.get_all."""
        return await self._run(self.sync.get_all, limit)

    async def delete(self, id: str) -> None:
        """As SyncMemoryMesh.delete."""
        await self._run(self.sync.delete, id)

    async def search(
        self, query: str, limit: int = LIMIT, filter: str = "", use_cache: bool = True, **rfc: Any
    ) -> list[SearchResult]:
        """As SyncMemoryMesh.search."""
        return await self._run(self.sync.search, query, limit, filter, use_cache, **rfc)

    async def reflect(self, topic: str = "", lookback: int = 10, generate: bool = True) -> dict[str, Any]:
        """As SyncMemoryMesh.reflect."""
        return await self._run(self.sync.reflect, topic, lookback, generate)

    async def synthesize(self, topic: str = "") -> SynthesisResult:
        """As SyncMemoryMesh.synthesize."""
        return await self._run(self.sync.synthesize, topic)

    async def distill_lesson(self, context: LessonContext | Mapping[str, Any]) -> LessonBlock:
        """As SyncMemoryMesh.distill_lesson."""
        return await self._run(self.sync.distill_lesson, context)

    async def query_lessons(self, query: str = "", limit: int = LIMIT, **rfc: Any) -> list[LessonBlock]:
        """As SyncMemoryMesh.query_lessons."""
        return await self._run(self.sync.query_lessons, query, limit, **rfc)

    async def insert_heritage(self, memory_id: str, heritage: HeritageChain | Mapping[str, Any]) -> None:
        """As SyncMemoryMesh.insert_heritage."""
        await self._run(self.sync.insert_heritage, memory_id, heritage)

    async def get_memories_by_pattern(self, pattern_id: str) -> list[MemoryRecord]:
        """As SyncMemoryMesh.get_memories_by_pattern."""
        return await self._run(self.sync.get_memories_by_pattern, pattern_id)

    async def ingest_skill(
        self, yamo_text: str, metadata: Mapping[str, Any] | None = None, source_file_path: str = ""
    ) -> SkillRecord:
        """As SyncMemoryMesh.ingest_skill."""
        return await self._run(self.sync.ingest_skill, yamo_text, metadata, source_file_path)

    async def search_skills(self, query: str, limit: int = LIMIT) -> list[SkillResult]:
        """As SyncMemoryMesh.search_skills."""
        return await self._run(self.sync.search_skills, query, limit)

    async def list_skills(self, limit: int = LIMIT) -> list[SkillResult]:
        """As SyncMemoryMesh.list_skills."""
        return await self._run(self.sync.list_skills, limit)

    async def update_skill_reliability(self, id: str, success: bool) -> ReliabilityUpdate:
        """As SyncMemoryMesh.update_skill_reliability."""
        return await self._run(self.sync.update_skill_reliability, id, success)

    async def prune_skills(self, threshold: float = 0.3) -> PruneResult:
        """As SyncMemoryMesh.prune_skills."""
        return await self._run(self.sync.prune_skills, threshold)

    async def stats(self) -> MemoryStats:
        """As SyncMemoryMesh.stats."""
        return await self._run(self.sync.stats)

    def clear_cache(self) -> None:
        """As SyncMemoryMesh.clear_cache; like the next two, not to await (§4.1)."""
        self._thread.submit(self.sync.clear_cache).result()

    def get_cache_stats(self) -> CacheStats:
        """As SyncMemoryMesh.get_cache_stats."""
        return self._thread.submit(self.sync.get_cache_stats).result()

    def format_results(self, results: Sequence[SearchResult]) -> str:
        """As SyncMemoryMesh.format_results."""
        return format_results(results)


def _only(rfc: Mapping[str, Any], name: str, otherwise: Any) -> Any:
    """The one option that may also be given by the RFC's name."""
    unknown = [key for key in rfc if key != name]
    if unknown:
        raise BadInput(f"unknown option {unknown[0]!r}", f"besides the named ones: {name}")
    return rfc.get(name, otherwise)


def _block(lesson: Lesson) -> LessonBlock:
    context = lesson.context
    return LessonBlock(
        lesson.id,
        lesson.pattern_id,
        context.severity,
        context.preventative_rule,
        context.confidence,
        context.applicable_scope,
        lesson.wire,
        lesson.id,
    )


def _skill(skill: Skill, score: float) -> SkillResult:
    memory = skill.memory
    found = _skill_metadata(skill)
    return SkillResult(memory.id, memory.title, skill.field("intent"), found, round(score, 2), skill.reliability)


def _skill_metadata(skill: Skill) -> dict[str, Any]:
    return {"reliability": skill.reliability, "use_count": skill.uses, "tags": list(skill.memory.tags)}
