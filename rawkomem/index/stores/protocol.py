"""The interfaces of a search store and of a package that provides one, and what stores without FTS5
share: its tokens, its BM25, short errors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, cast

import apsw

from ...model.errors import IndexBroken
from ...model.filters import Filter
from ...model.installed import how_to_add
from ...model.values import record
from .database import StoreHome
from .sqlite import CATEGORIES, FIRST, Compared, Document, Hit, Holders, searched

# The interfaces of a search store, and of a package that provides one. The same tests run on all
# stores.

Row = dict[str, Any]
Missing = Callable[[int], tuple[str, list[Row]] | None]


class SearchStore(Protocol):
    """Holds passages with their vectors. All data comes from files, so it may be lost at any time.

    `columns` names the facets that it can filter by (state/trust.py); a filter on another facet is passed as ids.
    `tells`: whether it keeps `Document.told` for other programs.
    """

    @property
    def columns(self) -> Collection[str]: ...

    @property
    def tells(self) -> bool: ...

    def put(self, documents: Sequence[Document]) -> None:
        """Store these memories, replacing their old documents."""

    def drop(self, ids: Sequence[str]) -> None:
        """Remove these memories; ignore unknown ids."""

    def nearest(self, vector: bytes, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        """Return the passages closest to a vector of this tier, best first, with their cosine."""

    def matching(
        self, words: Sequence[str], limit: int, only: Filter, around: bool = False
    ) -> list[Hit]:
        """Return the passages that contain any of these words, with `around` also in surroundings; best BM25 first."""

    def expect(self, words: Sequence[str], limit: int, only: Filter) -> None:
        """Prepare for `matching` with these arguments; a search calls this before `nearest`."""

    def compared(
        self, vectors: Sequence[bytes], ids: Sequence[str], tier: str, most: int
    ) -> Sequence[Sequence[Compared]]:
        """Return for each vector its cosines with up to `most` passages of these memories, unsorted."""

    def holders(
        self, words: Sequence[str], most: int, only: Filter, among: Sequence[str]
    ) -> dict[str, Holders]:
        """Return for each word how many memories contain it (at most `most`), and which of these are in `among`."""

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        """Return (id, vector) of every body passage, sorted by id and number, as int8 in the scale of the store."""

    def passage(self, id: str, number: int) -> str:
        """Return the text of one passage; empty when unknown."""

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        """Store the second tier's vectors of these memories' passages, in order; ignore unknown ids."""

    def shallow(self, limit: int) -> list[str]:
        """Return up to `limit` memories that the second tier does not hold."""

    def depth(self) -> tuple[int, int]:
        """Return how many memories the second tier holds, and how many there are."""

    def flatten(self) -> None:
        """Empty the second tier."""

    def erase(self) -> None:
        """Remove everything."""


class OutsideStore(SearchStore, Protocol):
    """A store outside the index's own database, with its own lifetime and transactions."""

    def generation(self) -> str:
        """Return a name that changes after `erase`, and when the store has lost its data."""

    def held(self) -> dict[str, str]:
        """Return the memories that it holds, with the digests of their documents."""

    def served(self) -> int:
        """Return the bytes that a server keeps for all its users; 0 if there is no server."""

    def commit(self) -> None:
        """Commit all changes to disk; the catalogue commits after it."""

    def close(self) -> None:
        """Close everything; discard changes that were not committed."""


class BaseStore(OutsideStore):
    """Subclass it to write a store: it answers the questions for which most engines have no faster way."""

    tells = False

    def expect(self, words: Sequence[str], limit: int, only: Filter) -> None:
        """Do nothing."""

    def compared(
        self, vectors: Sequence[bytes], ids: Sequence[str], tier: str, most: int
    ) -> Sequence[Sequence[Compared]]:
        """Ask for the nearest passages of these memories, once for each vector."""
        hits = (self.nearest(vector, most, Filter(ids=tuple(ids)), tier) for vector in vectors)
        return [[(hit.id, hit.passage, hit.field, hit.score) for hit in own] for own in hits]

    def holders(
        self, words: Sequence[str], most: int, only: Filter, among: Sequence[str]
    ) -> dict[str, Holders]:
        """Ask for the matching passages of each word."""
        found = {word: {hit.id for hit in self.matching([word], most, only)} for word in words}
        return {word: (len(ids), frozenset(ids.intersection(among))) for word, ids in found.items()}

    def served(self) -> int:
        """Return 0: there is no server."""
        return 0


class StorePlugin:
    """A store that a package provides, as an entry point of the group `rawkomem.stores`: see docs/scale.md.

    Subclass it and declare an instance. Loading it must not load the engine: `open` does.
    """

    package = ""  # the package of its engine; `store status` checks whether it is installed
    install = ""  # the command that installs the engine
    extra = ""  # the extra of rawkomem that installs the engine, if `install` is empty
    local = True  # whether it keeps its data in `home.folder` if the user has set no url
    takes_url = False  # whether the user may set a url
    rfc_tables = False  # whether it has the tables of RFC-0011: then `publish`, `migrate` and `rollback` work

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
        blocks: Sequence[Row],
        skills: Sequence[Row],
    ) -> int:
        """Fill the tables of RFC-0011; `memories` are columns by id. Return how many memories have a row."""
        raise NotImplementedError

    def publish_new(
        self,
        home: StoreHome,
        dims: int,
        memories: Mapping[str, Row],
        missing: Missing,
        skills: Sequence[Row] | None,
    ) -> bool:
        """Add new data: columns of these memories, missing blocks, and skills unless None.

        `missing` takes the number of blocks in the table, and returns the id of the last of them and the rows after
        it, or None. Return False if the table does not have that block: then the caller calls `publish`.
        """
        return False

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


# Computes the tokens and BM25 scores of SQLite's FTS5 for stores that have no FTS5.
#
# Texts are split by the tokenizer of the SQLite store, so that every store finds and ranks the
# same words.

K1, B = 1.2, 0.75  # fixed in FTS5's bm25()
MAX_TOKEN_BYTES = 32_768  # FTS5 ignores the rest of a longer token
BREAK = ""  # separates the columns of a row; no term equals it, so that no phrase matches across columns


@cache
def _tokenizer() -> apsw.FTS5Tokenizer:
    return apsw.Connection(":memory:").fts5_tokenizer(
        "porter", ["unicode61", "categories", CATEGORIES]
    )


def terms_of_text(text: str) -> list[str]:
    """Return the stems of a text, in order, as the tokenizer of the SQLite store makes them."""
    options = {"include_offsets": False, "include_colocated": False}
    text = searched(text)
    found = cast(
        "list[str]", _tokenizer()(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, **options)
    )
    if 4 * len(text) <= MAX_TOKEN_BYTES:
        return found
    return [term.encode()[:MAX_TOKEN_BYTES].decode(errors="ignore") for term in found]


def row_terms(*columns: str) -> list[str]:
    """Return the terms of all columns of a row, with a BREAK between two columns."""
    joined = terms_of_text(columns[0])
    for column in columns[1:]:
        joined += [BREAK, *terms_of_text(column)]
    return joined


def token_count(row: Sequence[str]) -> int:
    """Return how many tokens a row has."""
    return len(row) - row.count(BREAK)


def phrases_of(words: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the phrases of a query: a word is one term, or several where the tokenizer splits it."""
    return [phrase for word in words if (phrase := tuple(terms_of_text(word.replace('"', ""))))]


def occurrences(phrase: Sequence[str], row: Sequence[str]) -> int:
    """Return how often a phrase occurs in a row of terms."""
    if len(phrase) == 1:
        return row.count(phrase[0])
    wanted = list(phrase)
    starts = (at for at, term in enumerate(row) if term == wanted[0])
    return sum(1 for at in starts if list(row[at : at + len(wanted)]) == wanted)


# Shortens error messages of LanceDB: they quote the url, which can hold a key.

MAX_MESSAGE_CHARS = 200  # characters of LanceDB's message that are shown


def is_url(place: str) -> bool:
    """Tell whether a LanceDB is in an object store, not in a folder."""
    return "://" in place


def lance_message(failure: Exception, place: str) -> str:
    """Return LanceDB's message in one line; for a url that could hold a key, only the type of the error."""
    if is_url(place) and ("@" in place or "?" in place):
        return type(failure).__name__
    said = str(failure).partition("\n")[0]
    return (said.replace(place, "your url") if is_url(place) else said)[:MAX_MESSAGE_CHARS]


class OneLineErrors:
    """Wraps a LanceDB store: errors of its engine become IndexBroken errors of one line."""

    def __init__(self, store: OutsideStore, place: str):
        self._store = store
        self._place = place

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)

        def guarded(*arguments: Any, **named: Any) -> Any:
            try:
                return call(*arguments, **named)
            except (RuntimeError, ValueError, OSError) as failure:
                said = f"the lancedb store failed: {lance_message(failure, self._place)}"
                raise IndexBroken(said, "try again, or run 'rawkomem index rebuild'") from None

        return guarded if callable(call) else call
