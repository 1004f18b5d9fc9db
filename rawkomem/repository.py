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
from .model.kinds import ACTIVE, DRAFT, IMPORTANCE, STATUSES
from .model.record import record
from .recall.candidates import gather
from .recall.limits import Limits
from .settings import Settings, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from .embed.protocol import Embedder
    from .files.append import Written
    from .files.check import Checked
    from .index.catalogue import Row
    from .index.status import Status
    from .model.entry import Entry, Memory, Plan
    from .recall.inject import Injection, Sources, Task
    from .recall.rank import Scored
    from .state.graph import Graph

    T = TypeVar("T")

LIMIT = 10  # search results when nobody says how many
READABLE = (ACTIVE, DRAFT, "conflicted")  # what a search shows by default; the rest is history


@record
class Found:
    """A search result: the memory's columns, its score, its absolute relevance and the passage that matched."""

    row: Row
    score: float
    relevance: float
    text: str


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
        only = only or Filter(statuses=READABLE)
        return self._answer(lambda: self._search(text, limit, only))

    def _search(self, text: str, limit: int, only: Filter) -> Sequence[Found]:
        catalogue, store = self.index.catalogue, self.index.store
        found = []
        for signals in gather(store, self.index.embedder, text, only)[:limit]:
            row = catalogue.row(signals.id)
            if row:
                found.append(Found(row, signals.score, signals.relevance, store.passage(signals.id, signals.passage)))
        return found

    def list(self, only: Filter | None = None) -> Sequence[Row]:
        """All memories that pass a filter, the last changed first."""
        from .index.lists import passes

        only = only or Filter(statuses=READABLE)
        return self._answer(lambda: [row for row in self.index.catalogue.all() if passes(row, self._tags(row), only)])

    def _tags(self, row: Row) -> Sequence[str]:
        from .index.lists import tags_in

        return tags_in(self.index.catalogue.doc(row.id))

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
        from .index.lists import named_entities

        return self._answer(lambda: named_entities(self.index.catalogue.docs(), READABLE))

    def _resolve(self, name: str) -> str:
        ids = self.index.catalogue.resolve(name)
        if not ids:
            raise NotFound(f"no memory {name!r}", "'rawkomem list' shows them all")
        if len(ids) > 1:
            raise BadInput(f"{name!r} may be {', '.join(ids[:5])}", "give more of the id")
        return ids[0]

    def _answer(self, ask: Callable[[], T]) -> T:
        """Answer from a fresh index; one that turns out to be broken is made anew and asked once more."""
        try:
            return self._ask(ask)
        except BROKEN as failure:
            self.warn(f"the index cannot be read ({failure}): making it anew")
            self.index.discard()
        try:
            return self._ask(ask)
        except BROKEN as failure:
            raise IndexBroken(f"the index cannot be read: {failure}", "run 'rawkomem doctor'") from None

    def _ask(self, ask: Callable[[], T]) -> T:
        self.index.refresh()
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
    ) -> Injection:
        """The few memories that belong into the prompt of a task; zero and empty mean: the agent's setting."""
        from .recall.inject import inject

        limits = self.settings.limits(task.agent)
        limits = Limits(most or limits.most, least_importance or limits.least_importance, budget or limits.budget)
        if limits.least_importance not in IMPORTANCE:
            raise BadInput(f"unknown importance {limits.least_importance!r}", "one of " + ", ".join(IMPORTANCE))
        return self._answer(lambda: inject(self._sources(), task, profile, limits, form, Filter(statuses=(ACTIVE,))))

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

    def _sources(self) -> Sources:
        from .files.usage import last_access
        from .index.conditions import fired_by
        from .index.lists import memory_of
        from .recall.inject import Sources

        catalogue = self.index.catalogue

        def fired(task: str) -> dict[str, str]:
            return {id: part for id, (_, part) in fired_by(catalogue.db, task).items()}

        def memory(id: str) -> Memory | None:
            doc = catalogue.doc(id)
            return memory_of(doc) if doc else None

        return Sources(self.index.store, self.index.embedder, fired, memory, lambda: last_access(self.layout))

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

    def link(self, name: str, other: str, type: str = "related", by: str = "") -> Sequence[Written]:
        """Append a link from one memory to another."""
        from .state.link import plan_link

        return self.write(plan_link(self.get(name), self.get(other), type, by))

    def unlink(self, name: str, other: str, type: str = "", by: str = "") -> Sequence[Written]:
        """Take back the links between two memories, of one type or all."""
        from .state.link import plan_unlink

        return self.write(plan_unlink(self.get(name), self.get(other), type, by))

    def write(self, plan: Plan) -> Sequence[Written]:
        """Carry out a plan."""
        return self._write(plan)

    def _write(self, plan: Plan) -> Sequence[Written]:
        from .files.append import write_plan

        return write_plan(self.layout, plan)

    def purge(self, name: str) -> Sequence[str]:
        """Rewrite files without any entry about this memory. Returns the paths that changed.

        The index is made anew, not updated: freed pages of a database still hold what was in them.
        """
        from .files.purge import purge

        memory = self.get(name)
        paths = sorted(self.index.catalogue.paths_about(memory.id))
        changed = purge(self.layout, memory.id, paths)
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


def filter_of(
    kinds: Sequence[str] = (),
    tags: Sequence[str] = (),
    importance: str = "",
    include: Sequence[str] = (),
) -> Filter:
    """A Filter from the words of a face; says which word is wrong."""
    if importance and importance not in IMPORTANCE:
        raise BadInput(f"unknown importance {importance!r}", "one of " + ", ".join(IMPORTANCE))
    wrong = [status for status in include if status not in (*STATUSES, "all")]
    if wrong:
        raise BadInput(f"unknown status {wrong[0]!r}", "one of " + ", ".join((*STATUSES, "all")))
    statuses = () if "all" in include else tuple(dict.fromkeys((*READABLE, *include)))
    least = IMPORTANCE.index(importance) if importance else 0
    return Filter(kinds=tuple(kinds), statuses=statuses, tags=tuple(tags), importance=least)
