"""The object that the facade and all parts of the library share: one repository's files, settings and
index. Parts are loaded on first use, because every search imports this file.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock  # `threading` is slow to import
from functools import cached_property

from ..embed.embedder import AUTO_PROVIDER
from ..embed.providers import open_deep_embedder, open_embedder
from ..files.git_folder import find_git
from ..files.layout import Layout, personal_root
from ..files.records import open_intents
from ..index.authors import Authors
from ..index.catalogue import Catalogue, Row, known_memory, memory_of
from ..index.index import Index, View, fill_behind
from ..index.stores.database import (
    BROKEN,
    MEMORY,
    SQLITE,
    DatabaseError,
    catalogue_path,
    checked_store,
    memory_path,
    open_store,
)
from ..model.entries import Entry, Memory, Plan
from ..model.errors import (
    BadInput,
    Busy,
    IndexBroken,
    NotFound,
    RawkoError,
    Refused,
    Unwritable,
    WrittenUnseen,
)
from ..model.filters import DEFAULT_FILTER, Filter, filter_text
from ..model.values import HELD_BACK, TYPE_CHECKING, Problem, now, replace
from ..recall.signals import DEFAULT_RESULTS, Spaces
from ..state.trust import PERSON, SAID, UNKNOWN
from ..text.clean import one_line
from .settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any, Concatenate, ParamSpec, TypeVar

    from ..files.append import Written
    from ..files.session_records import Access
    from ..git.citations import CitationChecks, Cited
    from ..index.ingest import Folding, Vouching
    from ..index.neighbors import Neighbors
    from ..index.stores.protocol import OutsideStore
    from ..recall.scoring import Scored
    from ..recall.search import Answer, Found
    from ..state.fold import FoldTogether
    from ..state.history import HistoryStep
    from . import Repository

    P = ParamSpec("P")
    T = TypeVar("T")


def lazy(place: str, doc: str) -> Any:
    """Return an attribute that, when first read, makes an instance of a class of this package: `skills.Skills`."""
    module, _, name = f"{__package__}.{place}".rpartition(".")

    def make(repository: Repository) -> Any:
        __import__(module)
        return getattr(sys.modules[module], name)(repository)

    make.__doc__ = doc
    return cached_property(make)


class Wing:
    """Base class: a part of the library for one repository, loaded on first use."""

    def __init__(self, repository: Repository):
        self._repo = repository
        self._core = repository.core
        self._layout = repository.layout


LIST_ALL = "run 'rawkomem list' to see all memories"
MAX_WARNING_CHARS = 2_000  # of a warning with control characters
MAX_QUESTIONS = 100  # per call
MAX_CANDIDATES = 5  # memories that an error lists for an ambiguous name


def warn_on_stderr(message: str) -> None:
    """Print a warning as one line on stderr; the default for `warn`."""
    if not message.isprintable():  # it may quote names from an untrusted repository
        message = one_line(message, MAX_WARNING_CHARS)
    print(f"rawkomem: {message}", file=sys.stderr)


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in parts of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


class Core:
    """One repository's files, settings and index. All reads of the index and all writes go through it."""

    def __init__(
        self,
        layout: Layout,
        warn: Callable[[str], None],
        via: str = "",
        adjust: Callable[[Settings], Settings] | None = None,
        store: str = "",
        layers: bool = False,
    ):
        self.layout = layout
        # whether recall also searches the user's other layers
        self.with_layers = layers
        # default origin of written entries; see files/machine_records.py. Only hosts/person.py makes it a person's.
        self.via = ""
        self.heard_person = (
            False  # whether a host's transcript shows what is written now
        )
        self.via = self.claimed(via)
        self.agent = ""  # default agent of a question, for the ledger
        # threads may share a repository; a read may write, and a write reads
        self._one_at_a_time = RLock()
        self._is_reading = False
        self.is_closed = False
        self.warn = warn
        self._store_name = store and checked_store(store)  # overrides the settings
        self.index = Index(
            layout,
            lambda: open_embedder(
                self.settings.embedder, self.warn, self.index.made_with
            ),
            warn,
            lambda: open_deep_embedder(self.settings.embedder),
            self._open_store,
            self._locate,
            lambda: self.settings.identities if self.settings.commits else None,
        )
        self._settings: Settings | None = None
        self._adjust = adjust  # changes the settings for one host program
        self.finishing = False
        # whether the next write belongs to the same change; see `as_one_change`
        self.joins = False
        self.change = ""  # the name of that change
        # cores of the other layers, after a recall opened them
        self.others: list[Core] = []
        # ids written by this command, or by this call of a server
        self.written: tuple[str, ...] = ()
        # ids written that follow_tables has not published yet
        self.unpublished: tuple[str, ...] = ()
        # id → changed paths; finished by this process
        self.finished_purges: dict[str, Sequence[str]] = {}
        self.finish_purges()

    def claimed(self, via: str) -> str:
        """Return the origin that a program may claim; that a person typed or said a text counts as unknown."""
        is_said = via == SAID and not self.heard_person
        return UNKNOWN if via == PERSON != self.via or is_said else via

    @property
    def settings(self) -> Settings:
        """Return the settings of this repository for this user."""
        if self._settings is None:
            loaded = load_settings(self.layout, self.warn, self._store_name)
            self._settings = self._adjust(loaded) if self._adjust else loaded
        return self._settings

    @property
    def catalogue(self) -> Catalogue:
        """Return the tables of files, entries and memories. Use it only inside `read`."""
        return self.index.catalogue

    @property
    def is_layered(self) -> bool:
        """Return whether recall also uses the user's own memories or shared repositories."""
        return self.with_layers and (
            os.path.isdir(personal_root()) or bool(self.settings.sources)
        )

    def _open_store(self, dims: int) -> OutsideStore | None:
        if self.settings.store.name in (SQLITE, MEMORY):
            return None

        from ..index.stores.protocol import LateStore  # few users have another store

        def open() -> OutsideStore:
            self.index.check_lost()
            wait_s = self.index.store_wait_s
            return open_store(self.layout, self.settings.store, dims, wait_s)

        return LateStore(open)

    def _locate(self) -> str:
        """Return the path of the index database."""
        name = self.settings.store.name
        return memory_path() if name == MEMORY else catalogue_path(self.layout, name)

    def close(self) -> None:
        """Close the index; reads and writes raise Refused from now on."""
        self.is_closed = True
        self.index.close()

    def finish_purges(self) -> None:
        """Finish interrupted purges. Called before every read and write."""
        if self.is_closed:
            raise Refused("this Repository is closed", "open another one")
        if self.finishing or not open_intents(self.layout):
            return
        from .purging import finish_purges

        self.finishing = True
        try:
            self.finished_purges |= finish_purges(self)
        finally:
            self.finishing = False

    def write(
        self,
        plan: Plan | Callable[[], Plan],
        via: str = "",
        given_ids: Collection[str] | None = None,
    ) -> Sequence[Written]:
        """Write a plan, or the plan that a function decides under the write lock; see `writing.write`."""
        from .writing import write

        with self._one_at_a_time:
            return write(self, plan, via, given_ids)

    def append(
        self,
        decide: Callable[Concatenate[Memory, P], Plan],
        name: str,
        *about: P.args,
        **options: P.kwargs,
    ) -> Written:
        """Append the change of one memory that `decide` plans under the write lock; return its first entry."""
        return self.write(lambda: decide(self.get(name), *about, **options))[0]

    def follow(self) -> None:
        """Update the index after a write. A failure is only a warning, because the entries are on disk."""
        self.index.expect_changes()
        try:
            self.index.refresh()
            self.index.follow_commits()
        except (RawkoError, OSError, DatabaseError) as failure:
            self.warn(f"written, but the index is not up to date: {failure}")
            return
        self.follow_tables()

    def follow_tables(self, *ids: str) -> None:
        """Publish the written memories and `ids` to the tables of RFC-0011, if the store has them; see mesh_tables.py."""
        ids = (*dict.fromkeys((*self.unpublished, *ids)),)
        self.unpublished = ()
        if self.settings.store.name in (SQLITE, MEMORY) or self.index.is_store_lost:
            return
        from .mesh_tables import has_tables, publish_new

        try:
            if has_tables(self):
                publish_new(self, ids)
        except (RawkoError, OSError, DatabaseError) as failure:
            self.warn(
                f"written, but the tables for other programs are not up to date: {failure}"
            )

    def waits_for_review(self, entry: Entry) -> bool:
        """Return whether a change that was just written is only a proposal; False if the index cannot be read.

        A decision of an agent about proposals counts as one, too, if they still wait.
        """
        from ..state.fold import ACCEPTS, DECLINES
        from ..state.plans import NAME_SEPARATOR, ids_in

        decided = (*ids_in(entry, ACCEPTS), *ids_in(entry, DECLINES))
        names = {entry.id, *(name.rpartition(NAME_SEPARATOR)[0] for name in decided)}
        try:
            return not names.isdisjoint(self.get(entry.about).proposed)
        except (RawkoError, OSError, DatabaseError):
            return False

    # Reads of the up-to-date index

    def read(self, ask: Callable[[], T]) -> T:
        """Run `ask` on the updated index.

        Repeat it if git authorship changed meanwhile, or after the index was broken and rebuilt. If the index fails
        after this command wrote entries, raise WrittenUnseen, which says that they are stored. A read inside a read uses
        the same state of the index.
        """
        with self._one_at_a_time:
            if self._is_reading:
                return ask()
            self.finish_purges()
            self._is_reading = True
            try:
                return self._read(ask)
            finally:
                self._is_reading = False

    def _read(self, ask: Callable[[], T]) -> T:
        try:
            try:
                return self._answer(ask)
            except BROKEN as failure:
                self.warn(f"the index cannot be read ({failure}): rebuilding it")
            self.index.discard()
            try:
                return self._answer(ask)
            except DatabaseError as failure:
                message = f"the index cannot be read: {failure}"
                raise IndexBroken(message, "run 'rawkomem doctor'") from None
        except (Unwritable, Busy, IndexBroken, OSError, DatabaseError) as failure:
            if not self.written:
                raise
            message = f"written ({', '.join(self.written)}), but the index is not up to date: {failure}"
            hint = "the next command updates the index; run 'rawkomem doctor' to find the cause"
            raise WrittenUnseen(self.written, message, hint) from None

    def _answer(self, ask: Callable[[], T]) -> T:
        answer = self.index.answer(ask)
        return self.index.answer(ask) if self.index.follow_commits() else answer

    def look(
        self,
        texts: Sequence[str],
        limit: int = DEFAULT_RESULTS,
        only: Filter | None = None,
        profile: str = "",
        least: float = 0.0,
    ) -> Sequence[Answer]:
        """Search for several texts without logging them in the ledger. The program uses this for its own questions."""
        if len(texts) > MAX_QUESTIONS:
            raise BadInput(
                f"{len(texts)} questions in one call are too many",
                f"ask at most {MAX_QUESTIONS}",
            )
        from ..recall.search import search  # an injection does not need it

        def ask() -> Sequence[Answer]:
            view = self.view(only)
            store = self.index.store
            spaces = self.spaces()
            return search(view, store, spaces, texts, limit, profile, least)

        return self.read(ask)

    def holds(self, id: str) -> bool:
        """Return whether this repository has a memory, or had it until this process finished its interrupted purge."""
        return (
            id in self.finished_purges
            or self.read(lambda: self.catalogue.row(id)) is not None
        )

    def rows(self, only: Filter | None = None) -> Sequence[Row]:
        """Return the rows of all memories that pass a filter, last changed first."""
        return self.read(lambda: self.view(only).rows())

    def page(self, only: Filter | None, limit: int) -> tuple[Sequence[Row], int]:
        """Return the first `limit` rows (0: all) that pass a filter, last changed first, and the number of all of them."""
        return self.read(lambda: self.view(only).page(limit))

    def get(self, name: str) -> Memory:
        """Return the memory with an id, a part of one, a file stem or a title."""
        return self.read(lambda: memory_of(self.catalogue.doc(self.resolve(name))))

    def get_many(self, names: Sequence[str]) -> Sequence[Memory]:
        """Return the memories with these names, in this order, without duplicates."""
        return self.read(lambda: self.whole(dict.fromkeys(map(self.resolve, names))))

    def find(self, id: str) -> Memory | None:
        """Return the memory with an id, or None. Call it only inside `read`."""
        return known_memory(self.catalogue, id)

    def known(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return those memories of some ids that exist."""
        names = [*ids]
        memories = self.read(lambda: [self.find(id) for id in names])
        return {memory.id: memory for memory in memories if memory}

    def all(self) -> Sequence[Memory]:
        """Return every memory of any status."""
        return self.read(lambda: [memory_of(doc) for doc in self.catalogue.docs()])

    def inside(self, only: Filter | None) -> Sequence[Memory]:
        """Return the whole memories that pass a filter, last changed first."""
        return self.read(lambda: self.whole(row.id for row in self.view(only).rows()))

    def inside_with(self, holds: str) -> list[Memory]:
        """Return the memories in use that may cite code (`CITES`), or are made from others. Call it only inside `read`."""
        ids = self.catalogue.with_key(holds)
        rows = self.view(None).rows() if ids else ()
        return self.whole(row.id for row in rows if row.id in ids)

    def whole(self, ids: Iterable[str]) -> list[Memory]:
        """Return the memories with these ids, which must exist. Call it only inside `read`."""
        return [memory_of(self.catalogue.doc(id)) for id in ids]

    def with_access(self, memories: Iterable[Memory]) -> list[tuple[Memory, Access]]:
        """Return each memory with its uses on this machine."""
        from ..files.session_records import Access, accesses

        used = accesses(self.layout)
        return [(memory, used.get(memory.id, Access())) for memory in memories]

    def neighbors(self, ids: Sequence[str] = ()) -> Neighbors:
        """Return the vectors of these memories, or of all, to find pairs that are close in meaning."""
        from ..index.neighbors import Neighbors

        only = Filter(ids=tuple(ids))
        return Neighbors(self.read(lambda: self.index.store.vectors(only)))

    def near(
        self, text: str, limit: int, only: Filter | None = None
    ) -> list[tuple[Memory, float]]:
        """Return the memories that are most similar to a text, with their relevance."""
        hits = self.look([text], limit, only)[0].found
        return [(self.get(item.row.id), item.relevance) for item in hits]

    def entries(self, id: str) -> Sequence[Entry]:
        """Return every entry about a memory. Call it only inside `read`."""
        return self._folding().entries_about(id)

    def texts(self, id: str) -> set[str]:
        """Return every text that a memory had, or that was proposed for it."""
        return {entry.body for entry in self.read(lambda: self.entries(id))}

    def history(self, name: str) -> Sequence[HistoryStep]:
        """Return every entry about a memory, in order, with the changes that it made."""
        from ..state.history import history

        return self.read(lambda: history(self._effective(name), self.vouching()))

    def counts_last(self, name: str) -> bool:
        """Return whether the last change of a memory counts."""
        from ..state.history import counts_last

        return self.read(lambda: counts_last(self._effective(name), self.vouching()))

    def _effective(self, name: str) -> Sequence[Entry]:
        """Return the entries about a memory; those that lose to another memory have no effect."""
        id = self.resolve(name)
        together = self.together()
        together.memory(id)
        return together.entries(id)

    def together(self) -> FoldTogether:
        """Return what folds memories that supersede one another. Call it only inside `read`."""
        return self._folding().together()

    def vouching(self, strict: bool = False) -> Vouching | None:
        """Return a function: whether a person vouches for an entry; None if nobody vouches. Call it inside `read`."""
        from ..index.ingest import vouching_of

        return vouching_of(self.layout, self.catalogue.db, strict)

    def is_vouching(self) -> bool:
        """Return whether a person vouches for any memory."""
        return self.read(
            lambda: (vouches := self.vouching()) is not None and vouches.is_on
        )

    def _folding(self) -> Folding:
        from ..index.ingest import Folding

        return Folding(self.catalogue, self.vouching())

    def view(self, only: Filter | None, strict: bool = False) -> View:
        """Return a view of the memories that pass a filter; parts of entity names are accepted.

        With `strict`, only commits and reviews vouch for a memory's text.
        """

        only = only or DEFAULT_FILTER
        if only.entities:
            from ..index.summaries import resolved_entities

            only = replace(
                only,
                entities=resolved_entities(only.entities, self.catalogue, self.warn),
            )
        return View(self.layout, self.catalogue, only, self.authors, strict)

    def spaces(self) -> Spaces:
        """Return the vector spaces that questions are embedded in."""
        return Spaces(self.index.embedder, self.index.deep(), {}, self.index.scale())

    def authors(self) -> Authors | None:
        """Return the git authorship of memories; None without git, or if the user's settings turn it off."""
        if not self.settings.commits or find_git(self.layout.project) is None:
            return None
        return Authors(self.index, self.settings.identities)

    def hidden_authors(self) -> list[Problem]:
        """Return a Problem if git hides who committed memories; see `Authors.problems`."""
        authors = self.authors()
        return self.read(authors.problems) if authors else []

    def citing(self) -> Callable[[Memory], tuple[Cited, ...]]:
        """Return a function that checks a memory's citations of code. It loads nothing until a memory cites code."""
        code: CitationChecks | None = None

        def cited(memory: Memory) -> tuple[Cited, ...]:
            nonlocal code
            if "cites" not in memory.extra:
                return ()
            if code is None:
                from ..git.citations import CitationChecks

                code = CitationChecks(self.layout)
            return code.of(memory.extra)

        return cited

    def resolve(self, name: str) -> str:
        """Return the id for a name; raise NotFound or, for several matches, BadInput. Call it only inside `read`."""
        ids = self.catalogue.resolve(name) if name.strip() else ()
        if not ids:
            from ..files.archive import bundle_holding

            bundle = bundle_holding(self.layout, name)
            restoring = f"run 'rawkomem tidy retention restore {name}' to restore it from {bundle}"
            raise NotFound(f"no memory {name!r}", restoring if bundle else LIST_ALL)
        if len(ids) > 1:
            from ..text.safe import safe_title  # loads `re`

            rows = filter(None, map(self.catalogue.row, ids[:MAX_CANDIDATES]))
            some = [
                row.id
                if row.status in HELD_BACK
                else f"{row.id} ({one_line(safe_title(row.title), 60)})"
                for row in rows
            ]
            some += ["…"] if len(ids) > MAX_CANDIDATES else []
            message = f"{name!r} matches {len(ids)} memories: {'; '.join(some)}"
            raise BadInput(message, "use more of the id or of the title")
        return ids[0]

    # The log of questions

    def note_answers(
        self,
        asked: Sequence[tuple[str, Sequence[Found | Scored]]],
        limit: int,
        only: Filter | None,
        agent: str = "",
    ) -> None:
        """Log each question and its results in the ledger."""
        rows = []
        for question, hits in asked:
            best = (hits[0].score, hits[0].signals.relevance) if hits else (0.0, 0.0)
            rows.append((question, len(hits), *best))
        self.note_recalls(rows, limit, filter_text(only) if only else "", agent)

    def note_recalls(
        self,
        told: Sequence[tuple[str, int, float, float]],
        limit: int,
        filter: str,
        agent: str = "",
    ) -> None:
        """Log (question, results, best score, best relevance) in the ledger, unless the settings turn that off."""
        if self.settings.ledger != "on":
            return
        from ..files.journal import note_recalls, recall_row

        at = now()
        by = agent or self.agent
        rows = [recall_row(at, by, one[0], limit, filter, *one[1:]) for one in told]
        note_recalls(self.layout, rows, self.settings.ledger_days)

    # Background work that a command may start

    def deepen_in_background(self) -> bool:
        """Start a process that computes missing contextual vectors, of this layer or else of another.

        Return whether one was started. A user has at most one such process.
        """
        # another process cannot reach that store
        reachable = self.settings.store.name != MEMORY
        if self.has_deep_vectors and reachable and fill_behind(self.index):
            return True
        return any(other.deepen_in_background() for other in self.others)

    @property
    def has_deep_vectors(self) -> bool:
        """Return whether the settings ask for contextual vectors besides the static ones."""
        return self.settings.embedder.provider == AUTO_PROVIDER

    def wake_sinks(self) -> None:
        """Start a process that sends queued events to the user's webhook, if one is configured."""
        if self.settings.sinks.webhook.url:
            from ..exchange.sinks import wake_sender

            wake_sender(self.layout)
