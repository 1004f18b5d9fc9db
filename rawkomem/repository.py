"""Repository: the library's front door. Wiring only: each method makes one or two calls into the layers below.

Modules that only writing, checking or parsing need are imported inside the methods that use them: a cold search answers
in the time that importing them would take.
"""

from __future__ import annotations

import sys

from .embed.chain import open_embedder
from .files.layout import Layout, find_layout
from .index.documents import Filter
from .index.index import BROKEN, Index, SyncReport
from .model.errors import BadInput, IndexBroken, NotFound
from .model.kinds import ACTIVE, IMPORTANCE
from .model.record import replace
from .recall.filters import DEFAULT
from .recall.limits import LEAST_SIMILAR, SIMILAR, Limits
from .recall.search import LIMIT, Answer, Found, search
from .settings import Settings, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from typing import TypeVar

    from .embed.protocol import Embedder
    from .files.append import Written
    from .files.check import Checked
    from .files.usage import Access
    from .index.catalogue import Row
    from .index.stats import Stats
    from .index.status import Status
    from .index.view import View
    from .model.entry import Entry, Memory, Plan
    from .recall.cache import AnswerCache
    from .recall.inject import Injection, Sources, Task
    from .recall.patterns import PatternMatch
    from .recall.prompt import Prompt
    from .recall.rank import Scored

    T = TypeVar("T")

QUESTIONS = 100  # at once: more is a job, not a question


def warn_on_stderr(message: str) -> None:
    """The default for warnings: one line on stderr."""
    print(f"rawkomem: {message}", file=sys.stderr)


class Repository:
    """A project's memories: files in `.rawko/` and the index that follows them."""

    def __init__(self, layout: Layout, warn: Callable[[str], None] = warn_on_stderr):
        self.layout = layout
        self.warn = warn
        self.index = Index(layout, self._open_embedder, warn)
        self._settings: Settings | None = None
        self._cache: AnswerCache | None = None
        self._asked = False

    @classmethod
    def open(cls, start: str = "", warn: Callable[[str], None] = warn_on_stderr) -> Repository:
        """The repository of a folder or of one of its parents."""
        return cls(find_layout(start), warn)

    @property
    def settings(self) -> Settings:
        """Settings of this repository for this user."""
        if self._settings is None:
            self._settings = load_settings(self.layout, self.warn)
        return self._settings

    def _open_embedder(self) -> Embedder:
        return open_embedder(self.settings.embedder, self.warn)

    def close(self) -> None:
        """Let go of the index."""
        self.index.close()

    # Reading

    def search(self, text: str, limit: int = LIMIT, only: Filter | None = None) -> Sequence[Found]:
        """The memories that fit a question best, best first."""
        return [*self.search_many([text], limit, only)[0].found]

    def search_many(self, texts: Sequence[str], limit: int = LIMIT, only: Filter | None = None) -> Sequence[Answer]:
        """The same for many questions, answered from one state of the index and embedded in one go."""
        if len(texts) > QUESTIONS:
            raise BadInput(f"{len(texts)} questions at once", f"ask at most {QUESTIONS}")

        def find() -> Sequence[Answer]:
            return search(self._view(only), self.index.store, self.index.embedder, texts, limit)

        return self._answer(find, ("search", tuple(texts), limit, only))

    def query(
        self,
        text: str,
        limit: int = SIMILAR,
        min_similarity: float = LEAST_SIMILAR,
        time_window: tuple[str, str] = ("", ""),
        only: Filter | None = None,
    ) -> Sequence[PatternMatch]:
        """Earlier tasks that resemble this one (LLMos): traces and experiences, unless a filter names other kinds."""
        from .recall.filters import window
        from .recall.patterns import TASKS, match_patterns

        only = window(only or replace(DEFAULT, kinds=TASKS), *time_window)

        def find() -> Sequence[PatternMatch]:
            return match_patterns(self._view(only), self.index.store, self.index.embedder, text, limit, min_similarity)

        return self._answer(find, ("query", text, limit, min_similarity, only))

    def list(self, only: Filter | None = None) -> Sequence[Row]:
        """All memories that pass a filter, the last changed first."""
        return self._answer(lambda: self._view(only).rows())

    def stats(self, only: Filter | None = None) -> Stats:
        """Counts over the memories that `list` shows with the same filter."""
        from .index.stats import stats

        return self._answer(lambda: stats(self._view(only)))

    def accesses(self) -> Mapping[str, Access]:
        """How often, and when last, each memory was injected on this machine."""
        from .files.usage import accesses

        return accesses(self.layout)

    def _view(self, only: Filter | None) -> View:
        """Memories through a filter; its entities may be given by parts of their names."""
        from .index.view import View

        only = only or DEFAULT
        if only.entities:
            from .index.entities import resolved

            only = replace(only, entities=resolved(only.entities, self.index.catalogue, self.warn))
        return View(self.layout, self.index.catalogue, only)

    def get(self, name: str) -> Memory:
        """The memory of an id, of the start of one, or of a file stem."""
        from .index.lists import memory_of

        def find() -> Memory:
            return memory_of(self.index.catalogue.doc(self._resolve(name)))

        return self._answer(find)

    def _resolve(self, name: str) -> str:
        ids = self.index.catalogue.resolve(name)
        if not ids:
            raise NotFound(f"no memory {name!r}", "'rawkomem list' shows them all")
        if len(ids) > 1:
            raise BadInput(f"{name!r} may be {', '.join(ids[:5])}", "give more of the id")
        return ids[0]

    def _answer(self, ask: Callable[[], T], key: Hashable = None) -> T:
        """Answer from a fresh index; one that turns out to be broken is made anew and asked once more."""
        try:
            return self._ask(ask, key)
        except BROKEN as failure:
            self.warn(f"the index cannot be read ({failure}): making it anew")
            self.index.discard()
        try:
            return self._ask(ask, key)
        except BROKEN as failure:
            raise IndexBroken(f"the index cannot be read: {failure}", "run 'rawkomem doctor'") from None

    def _ask(self, ask: Callable[[], T], key: Hashable) -> T:
        """An answer with a key is kept for a while. A command asks once: the cache begins with the second question."""
        self.index.refresh()
        if key and self._asked:
            return self._cached(ask, key)
        self._asked = self._asked or bool(key)
        return self._read(ask)

    def _cached(self, ask: Callable[[], T], key: Hashable) -> T:
        from .index.database import first
        from .recall.cache import AnswerCache

        if self._cache is None:
            self._cache = AnswerCache()
        database = self.index.reading()
        (version,) = first(database, "PRAGMA data_version")  # differs after every commit of another connection
        answer = self._cache.get(key, (database, version))
        if answer is None:
            answer = self._read(ask)
            self._cache.put(key, answer)
        return answer  # type: ignore[return-value]

    def _read(self, ask: Callable[[], T]) -> T:
        database = self.index.reading()
        database.execute("BEGIN")
        try:
            return ask()
        finally:
            database.execute("ROLLBACK")

    # Injecting

    def inject(
        self,
        task: Task,
        profile: str = "",
        form: str = "rawko",
        most: int = 0,
        least_importance: str = "",
        budget: int = 0,
        only: Filter | None = None,
    ) -> Injection:
        """The few memories that belong into the prompt of a task; zero and empty mean: the agent's setting.

        A filter narrows them down further; only what is active and valid is ever injected.
        """
        from .recall.inject import inject

        limits = self.settings.limits(task.agent)
        limits = Limits(most or limits.most, least_importance or limits.least_importance, budget or limits.budget)
        if limits.least_importance not in IMPORTANCE:
            raise BadInput(f"unknown importance {limits.least_importance!r}", "one of " + ", ".join(IMPORTANCE))
        only = replace(only or DEFAULT, statuses=(ACTIVE,), current=True)
        return self._answer(lambda: inject(self._sources(only), task, profile, limits, form))

    def prompt_for(self, task: Task, base_prompt: str, profile: str = "", form: str = "rawko") -> Prompt:
        """What an orchestrator calls before a run: the prompt with the memories for the task; counted as a use."""
        from .recall.prompt import with_memories

        injection = self.inject(task, profile, form)
        self.note_use(injection, task.session)
        return with_memories(base_prompt, injection)

    def explain(self, name: str, task: Task, profile: str = "") -> tuple[Scored, bool]:
        """How a memory scores for a task, and whether it would be injected."""
        injection = self.inject(task, profile)
        id = self.get(name).id
        for item in (*injection.items, *injection.left_out):
            if item.memory.id == id:
                return item, not item.out
        raise NotFound(f"{id} shares neither words nor meaning nor a condition with this task", "reword its whenToUse")

    def note_use(self, injection: Injection, session: str) -> None:
        """Count an injection in the local usage file."""
        from .files.usage import note_use
        from .model.clock import now

        if injection.items:
            note_use(self.layout, now(), session, injection.tokens, [item.memory.id for item in injection.items])

    def _sources(self, only: Filter) -> Sources:
        from .files.usage import last_access
        from .index.conditions import fired_by
        from .recall.inject import Sources

        view = self._view(only)

        def fired(task: str) -> dict[str, str]:
            found = {id: part for id, (_, part) in fired_by(view.catalogue.db, task).items()}
            return view.past.fired(found, task) if only.as_of else found

        return Sources(view, self.index.store, self.index.embedder, fired, lambda: last_access(self.layout))

    # Writing

    def add(self, entry: Entry) -> Written:
        """Store a new memory; secrets are redacted, the entry gets an id and a time if it has none."""
        from .state.decide import plan_add

        return self._write(plan_add(entry))[0]

    def amend(self, name: str, entry: Entry) -> Written:
        """Append an entry that changes what a memory says."""
        from .state.decide import plan_amend

        return self._write(plan_amend(self.get(name), entry))[0]

    def delete(self, name: str, reason: str = "", by: str = "") -> Written:
        """Append a tombstone; the text stays in the file and in history."""
        from .state.decide import plan_delete

        return self._write(plan_delete(self.get(name), reason, by))[0]

    def _write(self, plan: Plan) -> Sequence[Written]:
        from .files.append import write_plan

        self._forget_answers()
        return write_plan(self.layout, plan)

    def _forget_answers(self) -> None:
        if self._cache is not None:
            self._cache.clear()

    def purge(self, name: str) -> Sequence[str]:
        """Rewrite files without any entry about this memory. Returns the paths that changed.

        The index is made anew, not updated: freed pages of a database still hold what was in them.
        """
        from .files.purge import purge

        memory = self.get(name)
        paths = sorted(self.index.catalogue.paths_about(memory.id))
        changed = purge(self.layout, memory.id, paths)
        self._forget_answers()
        self.index.discard()
        self.index.sync()
        return changed

    # Keeping

    def sync(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Bring the index up to date with the files."""
        return self.index.refresh(progress)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Make the index anew from the files."""
        return self.index.sync(progress, rebuild=True)

    def status(self) -> Status:
        """Files against index, proven by hashes."""
        from .index.status import status

        return status(self.index)

    def check(self) -> Sequence[Checked]:
        """What is wrong with each file."""
        from .files.check import check_repository

        return check_repository(self.layout)
