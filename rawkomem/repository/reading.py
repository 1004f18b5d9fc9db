"""Asking: whatever reads the index, once that is fresh. The first part of Repository: see __init__.py."""

from __future__ import annotations

import sys

from ..embed.chain import open_deep, open_embedder
from ..files.layout import Layout
from ..index.index import BROKEN, Index
from ..index.open_store import MEMORY, SQLITE, catalogue_path, checked
from ..index.stores.database import memory_path
from ..model.errors import BadInput, IndexBroken, NotFound
from ..model.filters import DEFAULT, READABLE, Filter, as_text
from ..model.record import replace
from ..recall.limits import LEAST_SIMILAR, SIMILAR
from ..recall.search import DEFAULT_RESULTS, Answer, Found, search
from ..recall.signals import Spaces
from ..settings import Settings, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from typing import TypeVar

    from ..embed.protocol import Embedder
    from ..files.local.usage import Access
    from ..git.citations import Citations, Cited
    from ..index.catalogue import Row
    from ..index.stores.protocol import OutsideStore
    from ..index.views.authors import Authors
    from ..index.views.believed import Believed
    from ..index.views.past import Past
    from ..index.views.stats import Stats
    from ..index.views.view import View
    from ..model.entry import Memory
    from ..recall.cache import AnswerCache
    from ..recall.patterns import PatternMatch
    from ..recall.score import Scored
    from ..state.belief.trust import Trust
    from ..state.graph.graph import Graph
    from ..state.history import Step

    T = TypeVar("T")

LIST_ALL = "'rawkomem list' shows them all"
QUESTIONS = 100  # at once: more is a job, not a question


def _asks_trust(only: Filter | None) -> bool:
    return only is not None and only.trust > 0


def warn_on_stderr(message: str) -> None:
    """The default for warnings: one line on stderr."""
    print(f"rawkomem: {message}", file=sys.stderr)


class Reading:
    """Memories as they stand: searched, listed, looked at."""

    def __init__(
        self,
        layout: Layout,
        warn: Callable[[str], None] = warn_on_stderr,
        via: str = "",
        adjust: Callable[[Settings], Settings] | None = None,
        store: str = "",
    ):
        self.layout = layout
        self.via = (
            via  # how what is written through here arrives, where a call does not say; see files/local/arrivals.py
        )
        self.agent = ""  # who asks, where a question does not say: so recalls stand in the ledger
        self.warn = warn
        self._chosen = store and checked(store)  # goes before the settings
        self.index = Index(
            layout, self._open_embedder, warn, lambda: open_deep(self.settings.embedder), self._open_store, self._locate
        )
        self._settings: Settings | None = None
        self._adjust = adjust  # settings as the host program wants them
        self._cache: AnswerCache | None = None
        self._asked = False

    @property
    def settings(self) -> Settings:
        """Settings of this repository for this user."""
        if self._settings is None:
            loaded = load_settings(self.layout, self.warn)
            loaded = replace(loaded, store=loaded.store.named(self._chosen or loaded.store.name))
            self._settings = self._adjust(loaded) if self._adjust else loaded
        return self._settings

    def _open_embedder(self) -> Embedder:
        return open_embedder(self.settings.embedder, self.warn)

    def _open_store(self, dims: int) -> OutsideStore | None:
        if self.settings.store.name in (SQLITE, MEMORY):
            return None
        from ..index.open_store import open_store

        return open_store(self.layout, self.settings.store, dims)

    def _locate(self) -> str:
        """Return the path of the index database."""
        name = self.settings.store.name
        return memory_path() if name == MEMORY else catalogue_path(self.layout, name)

    def close(self) -> None:
        """Let go of the index."""
        self.index.close()

    # Finding

    def search(self, text: str, limit: int = DEFAULT_RESULTS, only: Filter | None = None) -> Sequence[Found]:
        """The memories that fit a question best, best first."""
        return [*self.search_many([text], limit, only)[0].found]

    def search_many(
        self, texts: Sequence[str], limit: int = DEFAULT_RESULTS, only: Filter | None = None
    ) -> Sequence[Answer]:
        """The same for many questions, answered from one state of the index and embedded in one go."""
        answers = self.look(texts, limit, only)
        self._note_recalls([(answer.question, answer.found) for answer in answers], limit, only)
        return answers

    def look(
        self, texts: Sequence[str], limit: int = DEFAULT_RESULTS, only: Filter | None = None, cached: bool = True
    ) -> Sequence[Answer]:
        """The same for the program's own questions, which are nobody's recall and not in the ledger."""
        if len(texts) > QUESTIONS:
            raise BadInput(f"{len(texts)} questions at once", f"ask at most {QUESTIONS}")

        def find() -> Sequence[Answer]:
            return search(self._view(only), self.index.store, self._spaces(), texts, limit)

        key = ("search", tuple(texts), limit, only) if cached else None
        return self._answer(find, key, believing=_asks_trust(only))

    def query(
        self,
        text: str,
        limit: int = SIMILAR,
        min_similarity: float = LEAST_SIMILAR,
        time_window: tuple[str, str] = ("", ""),
        only: Filter | None = None,
    ) -> Sequence[PatternMatch]:
        """Earlier tasks that resemble this one (LLMos): traces and experiences, unless a filter names other kinds."""
        from ..model.kinds import RECORDED
        from ..recall.filters import window
        from ..recall.patterns import match_patterns

        only = window(only or replace(DEFAULT, kinds=RECORDED), *time_window)

        def find() -> Sequence[PatternMatch]:
            return match_patterns(self._view(only), self.index.store, self._spaces(), text, limit, min_similarity)

        return self._answer(find, ("query", text, limit, min_similarity, only), believing=_asks_trust(only))

    def _note_recalls(
        self,
        asked: Sequence[tuple[str, Sequence[Found | Scored]]],
        limit: int,
        only: Filter | None,
        agent: str = "",
    ) -> None:
        """Tell the ledger how each question was answered."""
        scores = [(found[0].score, found[0].signals.relevance) if found else (0.0, 0.0) for _, found in asked]
        told = [(question, len(found), *best) for (question, found), best in zip(asked, scores, strict=True)]
        self.note_recalls(told, limit, as_text(only) if only else "", agent)

    def note_recalls(
        self, told: Sequence[tuple[str, int, float, float]], limit: int, filter: str, agent: str = ""
    ) -> None:
        """Leave a line for each question to the ledger, unless the user does not want that.

        A question comes with the number of its results, the best score, and how relevant that one is.
        """
        if self.settings.ledger != "on":
            return
        from ..files.local.ledger.recalled import note_recalls, recall_line
        from ..model.clock import now

        at, by = now(), agent or self.agent
        lines = (
            recall_line(at, by, question, limit, filter, results, score, relevance)
            for question, results, score, relevance in told
        )
        note_recalls(self.layout, lines)

    # Lists and single memories

    def list(self, only: Filter | None = None) -> Sequence[Row]:
        """All memories that pass a filter, the last changed first."""
        return self._answer(lambda: self._view(only).rows(), believing=_asks_trust(only))

    def stats(self, only: Filter | None = None) -> Stats:
        """Counts over the memories that `list` shows with the same filter."""
        from ..index.views.stats import stats

        return self._answer(lambda: stats(self._view(only)), believing=_asks_trust(only))

    def accesses(self) -> Mapping[str, Access]:
        """How often, and when last, each memory was injected on this machine."""
        from ..files.local.usage import accesses

        return accesses(self.layout)

    def get(self, name: str, as_of: int = 0) -> Memory:
        """The memory of an id, of the start of one, or of a file stem; as it stood at a time, if one is given."""
        from ..index.lists import memory_of

        def find() -> Memory:
            id = self._resolve(name)
            memory = self._past(as_of).memory(id) if as_of else memory_of(self.index.catalogue.doc(id))
            if memory is None:
                raise NotFound(f"{id} was not known then", "'rawkomem history' tells when it was stored")
            return memory

        return self._answer(find)

    def get_all(self, names: Sequence[str]) -> Sequence[Memory]:
        """The memories of several names, in their order, each once."""
        from ..index.lists import memory_of

        def find() -> Sequence[Memory]:
            ids = dict.fromkeys(self._resolve(name) for name in names)
            return [memory_of(self.index.catalogue.doc(id)) for id in ids]

        return self._answer(find)

    def history(self, name: str) -> Sequence[Step]:
        """Everything that was said about a memory, in order, and what each entry changed."""
        from ..state.history import history

        return self._answer(lambda: history(self._past().entries_about(self._resolve(name))))

    def graph(self, statuses: tuple[str, ...] = READABLE, similar: float = 0.0, similar_to: str = "") -> Graph:
        """Memories and what connects them; above zero, `similar` also connects those at least that similar."""
        from ..index.views.graph import load_graph

        index = self.index
        return self._answer(lambda: load_graph(index.catalogue, index.store, statuses, similar, self.warn, similar_to))

    def entities(self) -> Mapping[str, Sequence[str]]:
        """Every entity that readable memories name, with the ids of those memories."""
        from ..index.views.entities import named_entities

        return self._answer(lambda: named_entities(self.index.catalogue, READABLE))

    # Believing

    def trust(self, memory: Memory) -> float:
        """How far a memory is believed, from 0 to 1."""
        return self.trust_parts(memory).value

    def trust_parts(self, memory: Memory) -> Trust:
        """The same with what it is made of, and whether a person vouches for the memory."""
        return self._answer(lambda: self._view(None).believed.trust(memory), believing=True)

    def believing(self) -> Believed:
        """Standing and trust of many memories, as they are now."""
        return self._answer(lambda: self._view(None).believed, believing=True)

    def _authors(self) -> Authors | None:
        """Who committed what; None without git, or where the user does not want it to count."""
        from ..git.head import find_git

        if not self.settings.commits or find_git(self.layout.root) is None:
            return None
        from ..index.views.authors import Authors

        return Authors(self.index, self.settings.identities)

    # Code that memories cite

    def cited(self, memory: Memory) -> Sequence[Cited]:
        """How it stands with each place in the code that a memory cites."""
        return self._citing()(memory)

    def citation(self, place: str) -> Cited:
        """A citation of a place in the project (`path`, `path#symbol`, `path:10-20`) as it is now."""
        from ..format.citation import read_citation
        from ..git.citations import Citations

        return Citations(self.layout).now(read_citation(place))

    def all_cited(self) -> Sequence[tuple[Memory, Sequence[Cited]]]:
        """Every memory that cites code and is in use, and how it stands with each citation."""
        from ..index.lists import memory_of

        rows = self.list()
        docs = self._answer(lambda: [doc for row in rows if '"cites"' in (doc := self.index.catalogue.doc(row.id))])
        found = [(memory, self.cited(memory)) for memory in map(memory_of, docs)]
        return [(memory, cited) for memory, cited in found if cited]

    def _citing(self) -> Callable[[Memory], tuple[Cited, ...]]:
        """How it stands with what a memory cites. Loads nothing and reads nothing until one cites something."""
        looked: list[Citations] = []

        def cited(memory: Memory) -> tuple[Cited, ...]:
            if "cites" not in memory.extra:
                return ()
            if not looked:
                from ..git.citations import Citations

                looked.append(Citations(self.layout))
            return looked[0].of(memory.extra)

        return cited

    # Asking a fresh index

    def read(self, ask: Callable[[], T]) -> T:
        """Whatever a question to the index gives, once that is fresh: for decisions that look at everything."""
        return self._answer(ask)

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
        from ..index.stores.database import first
        from ..recall.cache import AnswerCache

        if self._cache is None:
            self._cache = AnswerCache()
        database = self.index.reading()
        (version,) = first(database, "PRAGMA data_version")  # differs after every commit of another connection
        answer = self._cache.get(key, (database, version))
        if answer is None:
            answer = ask()
            self._cache.put(key, answer)
        return answer  # type: ignore[return-value]

    def forget_answers(self) -> None:
        """Empty the cache of answers."""
        if self._cache is not None:
            self._cache.clear()

    @property
    def kept_answers(self) -> int:
        """How many answers the cache holds."""
        return len(self._cache) if self._cache is not None else 0

    def _view(self, only: Filter | None) -> View:
        """Memories through a filter; its entities may be given by parts of their names."""
        from ..index.views.view import View

        only = only or DEFAULT
        if only.entities:
            from ..index.views.entities import resolved

            only = replace(only, entities=resolved(only.entities, self.index.catalogue, self.warn))
        return View(self.layout, self.index.catalogue, only, self._authors, self.index.columns)

    def _spaces(self) -> Spaces:
        return Spaces(self.index.embedder, self.index.deep())

    def _resolve(self, name: str) -> str:
        ids = self.index.catalogue.resolve(name)
        if not ids:
            raise NotFound(f"no memory {name!r}", self._where(name))
        if len(ids) > 1:
            raise BadInput(f"{name!r} may be {', '.join(ids[:5])}", "give more of the id")
        return ids[0]

    def _where(self, name: str) -> str:
        """What to do about a name that is none: it may lie in a compressed month of the archive."""
        from ..files.bundle import holding

        folder = holding(self.layout, name)
        return f"'rawkomem retention restore {name}' takes it out of {folder}.tar.gz" if folder else LIST_ALL

    def _find(self, id: str) -> Memory | None:
        from ..index.lists import memory_of

        doc = self.index.catalogue.doc(id)
        return memory_of(doc) if doc else None

    def _past(self, at: int = 0) -> Past:
        from ..index.views.past import Past

        return Past(self.layout, self.index.catalogue, at)
