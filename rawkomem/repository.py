"""Repository: the library's front door. Wiring only: each method makes one or two calls into the layers below.

Modules that only writing, checking or parsing need are imported inside the methods that use them: a cold search answers
in the time that importing them would take.
"""

from __future__ import annotations

import sys

from .embed.chain import AUTO, open_deep, open_embedder
from .files.layout import Layout, find_layout
from .index.documents import Filter
from .index.index import BROKEN, Index, SyncReport
from .model.errors import BadInput, IndexBroken, NotFound, RawkoError
from .model.kinds import ACTIVE, IMPORTANCE
from .model.record import replace
from .recall.candidates import Spaces
from .recall.filters import DEFAULT, READABLE
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
    from .files.citations import Citations, Cited
    from .files.usage import Access
    from .index.authors import Authors
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
    from .sinks.tell import SinkStatus
    from .sinks.webhook import Flushed
    from .state.graph import Graph
    from .state.trust import Trust

    T = TypeVar("T")

QUESTIONS = 100  # at once: more is a job, not a question


def _asks_trust(only: Filter | None) -> bool:
    return only is not None and only.trust > 0


def warn_on_stderr(message: str) -> None:
    """The default for warnings: one line on stderr."""
    print(f"rawkomem: {message}", file=sys.stderr)


class Repository:
    """A project's memories: files in `.rawko/` and the index that follows them."""

    def __init__(self, layout: Layout, warn: Callable[[str], None] = warn_on_stderr, via: str = ""):
        self.layout = layout
        self.via = via  # how what is written through here arrives, where a call does not say; see files/arrivals.py
        self.warn = warn
        self.index = Index(layout, self._open_embedder, warn, lambda: open_deep(self.settings.embedder))
        self._settings: Settings | None = None
        self._cache: AnswerCache | None = None
        self._asked = False

    @classmethod
    def open(cls, start: str = "", warn: Callable[[str], None] = warn_on_stderr, via: str = "") -> Repository:
        """The repository of a folder or of one of its parents."""
        return cls(find_layout(start), warn, via)

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
            return search(self._view(only), self.index.store, self._spaces(), texts, limit)

        return self._answer(find, ("search", tuple(texts), limit, only), believing=_asks_trust(only))

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
            return match_patterns(self._view(only), self.index.store, self._spaces(), text, limit, min_similarity)

        return self._answer(find, ("query", text, limit, min_similarity, only), believing=_asks_trust(only))

    def list(self, only: Filter | None = None) -> Sequence[Row]:
        """All memories that pass a filter, the last changed first."""
        return self._answer(lambda: self._view(only).rows(), believing=_asks_trust(only))

    def stats(self, only: Filter | None = None) -> Stats:
        """Counts over the memories that `list` shows with the same filter."""
        from .index.stats import stats

        return self._answer(lambda: stats(self._view(only)), believing=_asks_trust(only))

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
        return View(self.layout, self.index.catalogue, only, self._authors)

    def get(self, name: str) -> Memory:
        """The memory of an id, of the start of one, or of a file stem."""
        from .index.lists import memory_of

        def find() -> Memory:
            return memory_of(self.index.catalogue.doc(self._resolve(name)))

        return self._answer(find)

    def get_all(self, names: Sequence[str]) -> Sequence[Memory]:
        """The memories of several names, in their order, each once."""
        from .index.lists import memory_of

        def find() -> Sequence[Memory]:
            ids = dict.fromkeys(self._resolve(name) for name in names)
            return [memory_of(self.index.catalogue.doc(id)) for id in ids]

        return self._answer(find)

    def graph(self, statuses: tuple[str, ...] = READABLE, similar: float = 0.0, similar_to: str = "") -> Graph:
        """Memories and what connects them; above zero, `similar` also connects those at least that similar."""
        from .index.graph import load_graph

        index = self.index
        return self._answer(lambda: load_graph(index.catalogue, index.store, statuses, similar, self.warn, similar_to))

    def entities(self) -> Mapping[str, Sequence[str]]:
        """Every entity that readable memories name, with the ids of those memories."""
        from .index.entities import named_entities

        return self._answer(lambda: named_entities(self.index.catalogue, READABLE))

    def _resolve(self, name: str) -> str:
        ids = self.index.catalogue.resolve(name)
        if not ids:
            raise NotFound(f"no memory {name!r}", "'rawkomem list' shows them all")
        if len(ids) > 1:
            raise BadInput(f"{name!r} may be {', '.join(ids[:5])}", "give more of the id")
        return ids[0]

    def _answer(self, ask: Callable[[], T], key: Hashable = None, believing: bool = False) -> T:
        """Answer from a fresh index. One that depends on who committed what is given again where that changed since."""
        answer = self._asked_once(self._keeping(ask, key) if key else ask)
        authors = self._authors() if believing else None
        return self._asked_once(ask) if authors and authors.refresh() else answer

    def _asked_once(self, ask: Callable[[], T]) -> T:
        """An index that turns out to be broken is made anew and asked once more."""
        try:
            return self.index.answer(ask)
        except BROKEN as failure:
            self.warn(f"the index cannot be read ({failure}): making it anew")
            self.index.discard()
        try:
            return self.index.answer(ask)
        except BROKEN as failure:
            raise IndexBroken(f"the index cannot be read: {failure}", "run 'rawkomem doctor'") from None

    def _keeping(self, ask: Callable[[], T], key: Hashable) -> Callable[[], T]:
        """An answer with a key is kept for a while. A command asks once: the cache begins with the second question."""
        if not self._asked:
            self._asked = True
            return ask
        return lambda: self._cached(ask, key)

    def _cached(self, ask: Callable[[], T], key: Hashable) -> T:
        from .index.database import first
        from .recall.cache import AnswerCache

        if self._cache is None:
            self._cache = AnswerCache()
        database = self.index.reading()
        (version,) = first(database, "PRAGMA data_version")  # differs after every commit of another connection
        answer = self._cache.get(key, (database, version))
        if answer is None:
            answer = ask()
            self._cache.put(key, answer)
        return answer  # type: ignore[return-value]

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
        strict: bool = False,
    ) -> Injection:
        """The few memories that belong into the prompt of a task; zero and empty mean: the agent's setting.

        A filter narrows them down further; only what is active and valid is ever injected; with `strict`, only what a
        person vouches for.
        """
        from .recall.inject import inject

        limits = self.settings.limits(task.agent)
        unverified = 0 if strict else limits.unverified
        least = least_importance or limits.least_importance
        limits = Limits(most or limits.most, least, budget or limits.budget, unverified)
        if limits.least_importance not in IMPORTANCE:
            raise BadInput(f"unknown importance {limits.least_importance!r}", "one of " + ", ".join(IMPORTANCE))
        only = replace(only or DEFAULT, statuses=(ACTIVE,), current=True)
        return self._answer(lambda: inject(self._sources(only, strict), task, profile, limits, form), believing=True)

    def prompt_for(
        self, task: Task, base_prompt: str, profile: str = "", form: str = "rawko", strict: bool = False
    ) -> Prompt:
        """What an orchestrator calls before a run: the prompt with the memories for the task; counted as a use."""
        from .recall.prompt import with_memories

        injection = self.inject(task, profile, form, strict=strict)
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

    def _sources(self, only: Filter, strict: bool) -> Sources:
        from .files.usage import last_access
        from .index.conditions import fired_by
        from .recall.inject import Sources

        view = self._view(only)

        def fired(task: str) -> dict[str, str]:
            found = {id: part for id, (_, part) in fired_by(view.catalogue.db, task).items()}
            return view.past.fired(found, task) if only.as_of else found

        def accessed() -> dict[str, int]:
            return last_access(self.layout)

        authors = None if strict else view.authors
        doubting = strict or (authors is not None and authors.names_a_person())
        return Sources(view, self.index.store, self._spaces(), fired, accessed, self._citing(), doubting)

    def _spaces(self) -> Spaces:
        return Spaces(self.index.embedder, self.index.deep())

    # Believing

    def trust(self, memory: Memory) -> float:
        """How far a memory is believed, from 0 to 1."""
        return self.trust_parts(memory).value

    def trust_parts(self, memory: Memory) -> Trust:
        """The same with what it is made of, and whether a person vouches for the memory."""
        return self._answer(lambda: self._view(None).believed.trust(memory), believing=True)

    def _authors(self) -> Authors | None:
        """Who committed what; None without git, or where the user does not want it to count."""
        from .files.gitdir import find_git

        if not self.settings.commits or find_git(self.layout.root) is None:
            return None
        from .index.authors import Authors

        return Authors(self.index, self.settings.identities)

    # Citing code

    def _citing(self) -> Callable[[Memory], tuple[Cited, ...]]:
        """How it stands with what a memory cites. Loads nothing and reads nothing until one cites something."""
        looked: list[Citations] = []

        def cited(memory: Memory) -> tuple[Cited, ...]:
            if "cites" not in memory.extra:
                return ()
            if not looked:
                from .files.citations import Citations

                looked.append(Citations(self.layout))
            return looked[0].of(memory.extra)

        return cited

    def cited(self, memory: Memory) -> Sequence[Cited]:
        """How it stands with each place in the code that a memory cites."""
        return self._citing()(memory)

    def citation(self, place: str) -> Cited:
        """A citation of a place in the project (`path`, `path#symbol`, `path:10-20`) as it is now."""
        from .files.citations import Citations
        from .text.cite import read_citation

        return Citations(self.layout).now(read_citation(place))

    def cite(self, name: str, places: Sequence[str], by: str = "") -> Written:
        """Append an entry that makes a memory cite these places as they are now."""
        from .state.decide import plan_cite

        citations = [self.citation(place).citation for place in places]
        return self._write(plan_cite(self.get(name), citations, by))[0]

    def all_cited(self) -> Sequence[tuple[Memory, Sequence[Cited]]]:
        """Every memory that cites code and is in use, and how it stands with each citation."""
        from .index.lists import memory_of

        rows = self.list()
        docs = self._answer(lambda: [doc for row in rows if '"cites"' in (doc := self.index.catalogue.doc(row.id))])
        found = [(memory, self.cited(memory)) for memory in map(memory_of, docs)]
        return [(memory, cited) for memory, cited in found if cited]

    # Writing

    def add(self, entry: Entry, via: str = "") -> Written:
        """Store a new memory; secrets are redacted, the entry gets an id and a time if it has none.

        `via` tells how it arrived: see `write`.
        """
        from .state.decide import plan_add

        return self._write(plan_add(entry), via)[0]

    def amend(self, name: str, entry: Entry, via: str = "") -> Written:
        """Append an entry that changes what a memory says."""
        from .state.decide import plan_amend

        return self._write(plan_amend(self.get(name), entry), via)[0]

    def delete(self, name: str, reason: str = "", by: str = "") -> Written:
        """Append a tombstone; the text stays in the file and in history."""
        from .state.decide import plan_delete

        return self._write(plan_delete(self.get(name), reason, by))[0]

    def link(self, name: str, other: str, type: str = "related", by: str = "") -> Sequence[Written]:
        """Append a link from one memory to another."""
        from .state.link import plan_link

        return self.write(plan_link(self.get(name), self.get(other), type, by))

    def unlink(self, name: str, other: str, type: str = "", by: str = "") -> Sequence[Written]:
        """Take back the links between two memories, of one type or all."""
        from .state.link import plan_unlink

        return self.write(plan_unlink(self.get(name), self.get(other), type, by))

    def write(self, plan: Plan, via: str = "") -> Sequence[Written]:
        """Carry out a plan. `via` tells how it arrived: person, agent, import, distilled, or a source class."""
        return self._write(plan, via)

    def _write(self, plan: Plan, via: str = "") -> Sequence[Written]:
        from .files.append import write_plan
        from .files.arrivals import note_arrivals
        from .state.trust import ARRIVALS, BASES

        via = via or self.via
        if via and via not in (*ARRIVALS, *BASES):
            raise BadInput(f"unknown way to arrive: {via!r}", "one of " + ", ".join((*ARRIVALS, *BASES)))
        self._forget_answers()
        self.index.expect_changes()
        written = write_plan(self.layout, plan)
        if via:
            note_arrivals(self.layout, [item.entry.id for item in written], via)
        self._tell_sinks(plan, written)
        return written

    def _tell_sinks(self, plan: Plan, written: Sequence[Written]) -> None:
        """The entries are on disk: whatever is wrong from here on is a warning."""
        try:
            sinks = self.settings.sinks
        except RawkoError as failure:
            self.warn(f"sinks not told: {failure.message}")
            return
        if sinks.any:
            from .sinks.tell import tell_sinks

            tell_sinks(self.layout, sinks, plan.why, [item.entry for item in written], self.warn)

    def _forget_answers(self) -> None:
        if self._cache is not None:
            self._cache.clear()

    def purge(self, name: str) -> Sequence[str]:
        """Rewrite files without any entry about this memory. Returns the paths that changed.

        The index is made anew, not updated: freed pages of a database still hold what was in them.
        """
        from .files.purge import purge
        from .index.deep import forget_vectors
        from .sinks.tell import forget

        memory = self.get(name)
        paths = sorted(self.index.catalogue.paths_about(memory.id))
        changed = purge(self.layout, memory.id, paths)
        forget(self.layout, memory.id)
        self._forget_answers()
        self.index.discard()
        forget_vectors(self.index)
        self.index.sync()
        return changed

    # Keeping

    def sync(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Bring the index up to date with the files, and with who committed them: the next injection need not."""
        report = self.index.refresh(progress)
        authors = self._authors()
        if authors:
            authors.refresh()
        return report

    def deepen(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Fill in the contextual vectors that are missing: minutes for a thousand memories. Returns how many it did."""
        from .index.deep import deepen

        return deepen(self.index, progress)

    def deepen_behind(self) -> bool:
        """Leave a worker behind that does so; whether one was started."""
        from .index.behind import fill_behind

        return self.settings.embedder.provider == AUTO and fill_behind(self.index)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Make the index anew from the files."""
        return self.index.sync(progress, rebuild=True)

    def status(self) -> Status:
        """Files against index, proven by hashes."""
        from .index.status import status

        return status(self.index)

    # Sinks

    def sinks(self) -> Sequence[SinkStatus]:
        """How each sink of the user stands."""
        from .sinks.tell import sink_statuses

        return sink_statuses(self.layout, self.settings.sinks)

    def flush_sinks(self, due_only: bool = False) -> Flushed:
        """Send what waits for the webhook, now and in this process."""
        from .sinks.webhook import Flushed, flush, open_client

        webhook = self.settings.sinks.webhook
        if not webhook.url:
            return Flushed(0, 0, 0)
        return flush(self.layout, open_client(webhook), self.warn, due_only)

    def wake_sinks(self) -> None:
        """Start a sender in the background where something is due."""
        if self.settings.sinks.webhook.url:
            from .sinks.worker import wake_sender

            wake_sender(self.layout)

    def check(self) -> Sequence[Checked]:
        """What is wrong with each file."""
        from .files.check import check_repository

        return check_repository(self.layout)
