"""Stores of vectors outside the index's database: what they must do, how a search uses one, and the
package that provides one.

Documents, words and texts are always in the index's own database, so that words are found and ranked alike with every
store.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ...model.errors import IndexBroken, RawkoError, StoreAway
from ...model.filters import Filter, asked
from ...model.installed import how_to_add
from ...model.values import record
from .database import StoreHome, marks
from .sqlite import DEEP, FIRST, REST, Compared, Document, Hit, SqliteStore, filter_sql

if TYPE_CHECKING:
    import apsw

# what a search asks: with vectors inside, or outside (SplitStore)
SearchStore = SqliteStore
Row = dict[str, Any]
BlocksAfter = Callable[[int], tuple[str, list[Row]]]


class OutsideStore(Protocol):
    """Holds the vectors of passages. All data comes from files, so it may be lost at any time.

    Changes are visible after `commit`. The same tests run on all stores.
    `columns` names the facets that it can filter by (state/trust.py); a filter on another facet is passed as ids.
    `tells`: whether it keeps `Document.told` for other programs.
    """

    @property
    def columns(self) -> Collection[str]: ...

    @property
    def tells(self) -> bool: ...

    def put(self, documents: Sequence[Document]) -> None:
        """Store these memories, replacing their old documents and contextual vectors."""

    def drop(self, ids: Sequence[str]) -> None:
        """Remove these memories; ignore unknown ids."""

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        """Store the second tier's vectors of these memories' passages, in order; ignore unknown ids."""

    def flatten(self) -> None:
        """Empty the second tier."""

    def erase(self) -> None:
        """Remove everything."""

    def commit(self) -> None:
        """Commit all changes to disk; the catalogue commits after it."""

    def close(self) -> None:
        """Close everything; discard changes that were not committed."""

    def generation(self) -> str:
        """Return a name that changes after `erase`, and when the store has lost its data. Every question asks it first."""

    def held(self) -> dict[str, str]:
        """Return the memories that it holds, with the digests of their documents."""

    def nearest(
        self, vector: bytes, limit: int, only: Filter, tier: str = FIRST
    ) -> list[Hit]:
        """Return the passages closest to a vector of a tier (FIRST or DEEP), best first; the score is the cosine."""

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        """Return (id, vector) of every body passage, sorted by id and number, as int8 in the scale of the store."""

    def served(self) -> int:
        """Return the bytes that a server keeps for all its users; 0 if there is no server."""


class BaseStore(OutsideStore):
    """Subclass it to write a store."""

    tells = False

    def served(self) -> int:
        """Return 0: there is no server."""
        return 0


class CollectingStore(BaseStore):
    """Collects changes; `commit` calls `_write`, which a subclass implements, for all of them."""

    def __init__(self) -> None:
        self._discard()

    def _discard(self) -> None:
        self._changed: dict[str, Document | None] = {}  # None: dropped
        self._deep: dict[str, Sequence[bytes]] = {}
        self._is_erased = self._is_flat = False

    def put(self, documents: Sequence[Document]) -> None:
        self._changed |= {document.id: document for document in documents}

    def drop(self, ids: Sequence[str]) -> None:
        self._changed |= dict.fromkeys(ids)

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        self._deep |= vectors

    def flatten(self) -> None:
        self._deep = {}
        self._is_flat = True

    def erase(self) -> None:
        self._discard()
        self._is_erased = True

    def commit(self) -> None:
        if self._changed or self._deep or self._is_erased or self._is_flat:
            documents = [document for document in self._changed.values() if document]
            try:
                self._write(documents)
            finally:
                self._discard()

    def _write(self, documents: Sequence[Document]) -> None:
        """Make the collected changes; `documents` are those that were put."""
        raise NotImplementedError

    def close(self) -> None:
        self._discard()


@contextmanager
def _away_errors() -> Iterator[None]:
    try:
        yield
    except StoreAway:
        raise
    except RawkoError as failure:
        raise StoreAway(failure.message, failure.hint) from None


class LateStore:
    """A store outside that is opened by the first call of a method. All its errors are StoreAway errors."""

    def __init__(self, open: Callable[[], OutsideStore]):
        self._open = open
        self._store: OutsideStore | None = None

    def __getattr__(self, name: str) -> Any:
        with _away_errors():
            if self._store is None:
                self._store = self._open()
        value = getattr(self._store, name)
        return _away_errors()(value) if callable(value) else value

    def commit(self) -> None:
        """Commit all changes; a store that is not open has none."""
        if self._store is not None:
            with _away_errors():
                self._store.commit()

    def close(self) -> None:
        """Close the store; the next call of a method opens it again."""
        if self._store is not None:
            self._store.close()
            self._store = None


class SplitStore(SqliteStore):
    """Keeps documents and words in the index's database, and vectors in a store outside.

    `check` is called before each question to the store outside.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        outside: OutsideStore,
        check: Callable[[], None] = lambda: None,
    ):
        super().__init__(connection, 0)
        self.outside = outside
        self._check = check

    @property
    def tells(self) -> bool:  # type: ignore[override]
        """Return whether the store outside keeps `Document.told`."""
        return self.outside.tells

    def erase(self) -> None:
        """Create the tables in a new database, and empty the store outside."""
        super().erase()
        self.outside.erase()

    def put(self, documents: Sequence[Document]) -> None:
        super().put(documents)
        self.outside.put(documents)

    def drop(self, ids: Sequence[str]) -> None:
        super().drop(ids)
        self.outside.drop(ids)

    def _put_vectors(
        self, numbers: Sequence[int], vectors: Sequence[bytes], prefix: str = ""
    ) -> None:
        """Do nothing: the store outside has the vectors."""

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        super().deepen(vectors)
        self.outside.deepen(vectors)

    def flatten(self) -> None:
        super().flatten()
        self.outside.flatten()

    def nearest(
        self, vector: bytes, limit: int, only: Filter, tier: str = FIRST
    ) -> list[Hit]:
        self._check()
        if tier == REST or not {field.column for field, _ in asked(only)} <= {
            *self.outside.columns
        }:
            only = Filter(ids=self._inside_ids(only, tier) or ("",))
        hits = self.outside.nearest(
            vector, limit, only, DEEP if tier == DEEP else FIRST
        )
        ids = list({hit.id for hit in hits})
        sql = "SELECT d.id, p.number, p.field, p.alone FROM documents d JOIN passages p ON p.document = d.n"
        places = {
            (id, number): (field, bool(alone))
            for id, number, field, alone in self.db.execute(
                f"{sql} WHERE d.id IN {marks(ids)}", ids
            )
        }
        return [
            Hit(hit.id, hit.passage, hit.score, *places[hit.id, hit.passage])
            for hit in hits
            if (hit.id, hit.passage) in places
        ]

    def _inside_ids(self, only: Filter, tier: str) -> tuple[str, ...]:
        where, values = filter_sql(only)
        sql = f"SELECT id FROM documents d WHERE {where or 'true'}"
        if tier == REST:
            sql += " AND n IN (SELECT document FROM shallow)"
        return tuple(id for (id,) in self.db.execute(sql, values))

    def compared(
        self, vectors: Sequence[bytes], ids: Sequence[str], tier: str, most: int
    ) -> list[list[Compared]]:
        only = Filter(ids=tuple(ids))
        hits = (self.nearest(vector, most, only, tier) for vector in vectors)
        return [
            [(hit.id, hit.passage, hit.field, hit.score) for hit in own] for own in hits
        ]

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        self._check()
        if not {field.column for field, _ in asked(only)} <= {*self.outside.columns}:
            only = Filter(ids=self._inside_ids(only, FIRST) or ("",))
        return self.outside.vectors(only)


class StorePlugin:
    """A store that a package provides, as an entry point of the group `rawkomem.stores`: see docs/scale.md.

    Subclass it and declare an instance. Loading it must not load the engine: `open` does.
    """

    # the package of its engine; `store status` checks whether it is installed
    package = ""
    install = ""  # the command that installs the engine
    extra = ""  # the extra of rawkomem that installs the engine, if `install` is empty
    # whether it keeps its data in `home.folder` if the user has set no url
    local = True
    takes_url = False  # whether the user may set a url
    # whether it has the tables of RFC-0011: then `publish`, `migrate` and `rollback` work
    rfc_tables = False

    def how_to_install(self) -> str:
        """Return the command that installs the engine."""

        return self.install or how_to_add(self.extra)

    def open(self, home: StoreHome, dims: int) -> OutsideStore:
        """Open the store for vectors of `dims` dimensions. Raise ModuleNotFoundError if a package is missing."""
        raise NotImplementedError

    def publish(
        self,
        home: StoreHome,
        dims: int,
        memories: Mapping[str, Row],
        blocks_after: BlocksAfter,
        skills: Sequence[Row] | None,
        whole: bool,
    ) -> int:
        """Add to the tables of RFC-0011: columns of memories by id, missing blocks, and skills unless None.

        With `whole`, fill the tables again. Return how many memories have a row. `blocks_after` takes the number of
        blocks in the table, and returns the id of the last of them, if there is one, and the rows after it.
        """
        raise NotImplementedError

    def migrate(self, place: str) -> Migrated:
        """Migrate the tables at a folder or url from RFC-0011's schema V1 to V2."""
        raise NotImplementedError

    def rollback(self, place: str, anyway: bool) -> int:
        """Undo `migrate`, with `anyway` even if memories are lost; return how many memories remain."""
        raise NotImplementedError

    def place(self, home: StoreHome) -> str:
        """Return the folder or url of this repository's data."""
        return home.url or home.folder


@record
class Migrated:
    """The outcome of a migration of the tables of RFC-0011."""

    rows: int
    done: bool  # False: it was V2 already
    removed_backup: bool = False


# Shortens error messages of LanceDB: they quote the url, which can hold a key.

MAX_MESSAGE_CHARS = 200  # characters of LanceDB's message that are shown


def is_url(place: str) -> bool:
    """Return whether a LanceDB is in an object store, not in a folder."""
    return "://" in place


def lance_message(failure: Exception, place: str) -> str:
    """Return LanceDB's message in one line; for a url that could hold a key, only the type of the error."""
    if is_url(place) and ("@" in place or "?" in place):
        return type(failure).__name__
    said = str(failure).partition("\n")[0]
    return (said.replace(place, "your url") if is_url(place) else said)[
        :MAX_MESSAGE_CHARS
    ]


@contextmanager
def lance_errors(place: str) -> Iterator[str]:
    """Turn errors of LanceDB into IndexBroken errors of one line."""
    try:
        yield place
    except (RuntimeError, ValueError, OSError) as failure:
        message = f"the lancedb store failed: {lance_message(failure, place)}"
        where = "the url" if is_url(place) else place
        hint = f"check space and permissions; if files in {where} are damaged, remove them all"
        raise IndexBroken(message, hint) from None


class OneLineErrors:
    """Wraps a LanceDB store: errors of its engine become IndexBroken errors of one line."""

    def __init__(self, store: OutsideStore, place: str):
        self._store = store
        self._place = place

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._store, name)
        return lance_errors(self._place)(value) if callable(value) else value
