"""The PostgreSQL search store: one index for a team, fed from many clones of many repositories.

Each version of a memory is stored once, and a clone holds the versions that are in its own files (sql/0001_index.sql).
So a clone's answers match its files, and it cannot change the answers of another clone. See docs/postgres.md. Changes
are collected until a question or a commit, then written in one transaction. After a lost connection they are written
again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..ahead import Ahead
from ..documents import BATCH_FILES, FIRST, REST
from . import asking, writing
from .rows import COLUMNS, storable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import psycopg

    from ....model.filters import Filter
    from ..documents import Document, Hit
    from .asking import Frequent, Kept, Place
    from .connection import Connections
    from .writing import Clone

    Connection = psycopg.Connection[Any]
    Change = Callable[[Connection, Clone], None]

T = TypeVar("T")

MAX_EXACT_PASSAGES = 10_000  # up to this many passages are all compared: some 20 ms, and exact
HUGE_PASSAGES = 20_000  # with more passages, frequent words are ignored
FETCHED_TEXTS = 30  # hits per question whose texts are fetched in one query: more than most answers show
# A GIN index collects new rows in a list, which each search scans until the rows are moved into the index.
SORT_IN = (
    "SELECT gin_clean_pending_list(oid) FROM pg_class WHERE relname IN ('words_tokens', 'arounds_tokens_idx')"
    " AND relnamespace = current_schema()::regnamespace AND pg_has_role(relowner, 'USAGE')"
)
ANALYZE_AFTER_CHANGES = 1_000  # changed memories after which the planner's statistics are updated
ANALYZED_TABLES = "repositories, clones, holdings, versions, passages, vectors, deep_vectors, words, arounds"


class PostgresStore:
    """Implements OutsideStore, which documents the methods, for one clone of a repository."""

    columns = COLUMNS
    tells = True  # the views of neolata's tables show `Document.told`

    def __init__(self, connections: Connections, repository: str, clone: str, dims: int):
        self.dims = dims
        self._connections = connections
        self._names = repository, clone
        self._changes: list[Change] = []  # since the last commit
        self._applied = 0  # how many of them the writer has made
        self._writer: Connection | None = None  # in a transaction that holds the repository's lock
        self._small: dict[tuple[Filter, str], bool] = {}  # (filter, tier) → whether all inside are compared
        self._kept: Kept = {}
        self._frequent: Frequent | None = None
        self._hits: set[Place] = set()  # recent hits, whose texts are fetched together
        self._texts: dict[Place, str] = {}
        self._ahead: Ahead[list[Hit]] = Ahead()
        self._put = self._unsettled = 0  # memories put since the last commit; since the last ANALYZE
        try:
            self._us = connections.run(self._join)
        except BaseException:
            connections.close()
            raise

    def _join(self, connection: Connection) -> Clone:
        """Return this clone; add it to the database if it is missing."""
        found = writing.find_clone(connection, *self._names)
        if found and found.recent:
            return found
        with connection.transaction():
            return writing.lock_clone(connection, *self._names)

    # Writing

    def put(self, documents: Sequence[Document]) -> None:
        if documents:
            self._put += len(documents)
            self._change(partial(writing.put, documents=documents))

    def drop(self, ids: Sequence[str]) -> None:
        if ids:
            self._change(partial(writing.drop, ids=ids))

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        if vectors:
            self._put += len(vectors)
            self._change(partial(writing.deepen, vectors=vectors))

    def flatten(self) -> None:
        self._change(writing.flatten)

    def erase(self) -> None:
        """Remove everything that this clone holds."""
        self._changes.clear()
        self._abandon()
        self._put = 0
        self._change(writing.erase)

    def commit(self) -> None:
        if not self._changes:
            return
        self._retried(self._commit)
        put, self._put = self._put, 0
        self._unsettled += put
        if put < BATCH_FILES:
            self._settle()

    def _commit(self) -> None:
        self._written().execute("COMMIT")
        self._changes.clear()
        self._abandon()

    def _change(self, change: Change) -> None:
        self._small.clear()
        self._forget_texts()
        self._changes.append(change)

    def _written(self) -> Connection:
        """Return the writer's connection, on which every change has been made."""
        if self._writer is None:
            self._writer = self._connections.take()
            self._writer.execute("BEGIN")
            self._writer.execute(f"SET LOCAL statement_timeout = {writing.WRITE_TIMEOUT_MS}")
            self._us = writing.lock_clone(self._writer, *self._names)
        while self._applied < len(self._changes):
            self._changes[self._applied](self._writer, self._us)
            self._applied += 1
        return self._writer

    def _abandon(self) -> None:
        """Return the writer to the pool. Its uncommitted changes are rolled back; the next writer makes them again."""
        if self._writer is not None:
            self._connections.give_back(self._writer)
        self._writer, self._applied = None, 0

    def _retried(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, with retries; discard all changes if it fails in the end."""
        try:
            return self._connections.retried(work, undo=self._abandon)
        except BaseException:
            self._abandon()
            self._changes.clear()
            self._put = 0
            raise

    def _settle(self) -> None:
        """Move new words into their indexes after a sync, and update statistics if much has changed."""
        self._connections.run(lambda connection: connection.execute(SORT_IN))
        if self._unsettled >= ANALYZE_AFTER_CHANGES:
            self._unsettled, self._frequent = 0, None
            self._connections.run(lambda connection: connection.execute(f"ANALYZE {ANALYZED_TABLES}"))
            self.generation()

    def close(self) -> None:
        """Close all connections; discard changes that were not committed."""
        self._changes.clear()
        self._abandon()
        self._ahead.close()
        self._connections.close()

    # Asking

    def _ask(self, question: Callable[[Connection, Clone], T]) -> T:
        """Return what a question returns, including changes that are not committed."""
        if self._changes:
            return self._retried(lambda: question(self._written(), self._us))
        return self._connections.run(lambda connection: question(connection, self._us))

    def nearest(self, vector: bytes, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        if not limit:
            return []
        exact = tier == REST or self._compares_all(only, tier)
        ask = partial(asking.nearest, vector=vector, limit=limit, only=only, tier=tier, exact=exact, kept=self._kept)
        return self._found(ask)

    def _compares_all(self, only: Filter, tier: str) -> bool:
        """Tell whether so few passages are inside the filter that all of them are compared."""
        if self._us.passages <= MAX_EXACT_PASSAGES:
            return True
        if (only, tier) not in self._small:
            more = partial(asking.has_more_passages, only=only, most=MAX_EXACT_PASSAGES)
            self._small[only, tier] = not self._ask(more)
        return self._small[only, tier]

    def expect(self, words: Sequence[str], limit: int, only: Filter) -> None:
        """Start both questions of a search for words, so that the server works while this process compares vectors.

        A process that asks once does not: it would wait for further connections.
        """
        if self._kept and not self._changes and self._us.passages > HUGE_PASSAGES:
            for around in (False, True):
                key = (tuple(words), limit, only, around)
                ask = partial(self._by_words(*key), us=self._us)
                self._ahead.start(key, partial(self._connections.run, ask))  # not by the writer: one thread has it

    def matching(self, words: Sequence[str], limit: int, only: Filter, around: bool = False) -> list[Hit]:
        key = (tuple(words), limit, only, around)
        if started := self._ahead.take(key):
            return self._noted(started())
        return self._found(self._by_words(*key))

    def _by_words(self, words: tuple[str, ...], limit: int, only: Filter, around: bool) -> partial[list[Hit]]:
        frequent = self._frequent_words() if self._us.passages > HUGE_PASSAGES else None
        return partial(asking.matching, words=words, limit=limit, only=only, around=around, frequent=frequent)

    def _frequent_words(self) -> Frequent:
        if self._frequent is None:
            self._frequent = self._ask(asking.frequent_words)
        return self._frequent

    def _found(self, question: Callable[[Connection, Clone], list[Hit]]) -> list[Hit]:
        """Return what a question finds; remember the passages, whose texts are needed next."""
        return self._noted(self._ask(question))

    def _noted(self, found: list[Hit]) -> list[Hit]:
        self._hits.update((hit.id, hit.passage) for hit in found[:FETCHED_TEXTS])
        return found

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        return self._ask(partial(asking.vectors, only=only))

    def passage(self, id: str, number: int) -> str:
        """Return the text of one passage; fetch the texts of all recent hits at once."""
        place = (storable(id), number)
        if place not in self._texts:
            self._texts |= self._ask(partial(asking.texts, places={*self._hits, place}))
            self._hits.clear()
        return self._texts.get(place, "")

    def shallow(self, limit: int) -> list[str]:
        return self._ask(partial(asking.shallow, limit=limit))

    def depth(self) -> tuple[int, int]:
        return self._ask(asking.depth)

    def held(self) -> dict[str, str]:
        return self._ask(asking.held)

    def served(self) -> int:
        """Return the bytes of all tables and their indexes, of all clones."""
        return self._ask(asking.size)

    def _forget_texts(self) -> None:
        self._ahead.discard()
        self._hits.clear()
        self._texts.clear()

    def generation(self) -> str:
        """Return the generation; clear the texts cached for the last question."""
        self._forget_texts()
        if self._changes:
            self._us = self._retried(lambda: self._join(self._written()))
        else:
            self._us = self._connections.run(self._join)
        return f"postgres {self._us.generation}"
