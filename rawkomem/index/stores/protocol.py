"""What a search store does, and what a package that provides a store declares. One contract tests all stores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ...model.filters import Filter
from ...model.record import record
from .documents import FIRST, Document, Hit

if TYPE_CHECKING:
    from ..open_store import StoreHome

Row = dict[str, Any]
Missing = Callable[[int], tuple[str, list[Row]] | None]


class SearchStore(Protocol):
    """Holds passages with their vectors. Everything in it comes from files: it may be lost at any time.

    `columns` names the facets that it compares (state/facets.py); a filter on another facet arrives as ids. A store may
    also have `expect(words, limit, only)`: a search calls it before `nearest`, then `matching` with the same arguments.
    """

    @property
    def columns(self) -> Collection[str]: ...

    def put(self, documents: Sequence[Document]) -> None:
        """Store these memories, replacing what was held of them."""

    def drop(self, ids: Sequence[str]) -> None:
        """Remove these memories; unknown ids are fine."""

    def nearest(self, vector: bytes, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        """Return the passages closest to a vector of this tier, best first, with their cosine."""

    def matching(self, words: Sequence[str], limit: int, only: Filter, around: bool = False) -> list[Hit]:
        """Return the passages that hold any of these words, or stand beside them with `around`; best BM25 first."""

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        """Return (id, vector) of every body passage, by id and place, as int8 in the scale of the store."""

    def passage(self, id: str, number: int) -> str:
        """Return the text of one passage; empty when unknown."""

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        """Put the second tier's vectors of these memories' passages, in order; unknown ids are fine."""

    def shallow(self, limit: int) -> list[str]:
        """Return some memories that the second tier does not hold."""

    def depth(self) -> tuple[int, int]:
        """Return how many memories the second tier holds, and how many there are."""

    def flatten(self) -> None:
        """Empty the second tier."""

    def erase(self) -> None:
        """Remove everything."""


class OutsideStore(SearchStore, Protocol):
    """A store that is not in the index's own database: it has a lifetime, and transactions, of its own."""

    def generation(self) -> str:
        """Return a name that changes after `erase`, and when what the store held was lost."""

    def held(self) -> dict[str, str]:
        """Return the memories that it holds, with the digests they were put with."""

    def served(self) -> int:
        """Return the bytes that a server keeps for all who share it; 0 where there is no server."""

    def commit(self) -> None:
        """Write all that was put and dropped to disk; the catalogue commits after it."""

    def close(self) -> None:
        """Close everything; discard what was not committed."""


class StorePlugin:
    """A store that a package provides, as an entry point of the group `rawkomem.stores`: see docs/scale.md.

    Subclass it and declare an instance. Loading it must not load the engine: `open` does.
    """

    package = ""  # the package of its engine, by which `store status` sees whether that is installed
    install = ""  # the command that installs the engine
    extra = ""  # the extra of rawkomem that brings the engine, where `install` is empty
    local = True  # whether it keeps its data in `home.folder` where the user gave no url
    takes_url = False  # whether the user may give it a url
    rfc_tables = False  # whether it has the tables of RFC-0011: then `publish`, `migrate` and `rollback` work

    def how_to_install(self) -> str:
        """Return the command that installs the engine."""
        from ...model.installed import how_to_add

        return self.install or how_to_add(self.extra)

    def open(self, home: StoreHome, dims: int) -> OutsideStore:
        """Open the store for vectors of so many dimensions. A missing package may raise ModuleNotFoundError."""
        raise NotImplementedError

    def publish(
        self, home: StoreHome, dims: int, memories: Mapping[str, Row], blocks: Sequence[Row], skills: Sequence[Row]
    ) -> int:
        """Fill the tables of RFC-0011; `memories` are columns by id. Return how many memories have a row."""
        raise NotImplementedError

    def publish_new(
        self, home: StoreHome, dims: int, memories: Mapping[str, Row], missing: Missing, skills: Sequence[Row] | None
    ) -> bool:
        """Add what is new: columns of these memories, missing blocks, and skills unless None.

        `missing` takes how many blocks the table has, and returns the id of the last of them with the rows behind it,
        or None. Return False if the table does not go on there: then `publish` is called.
        """
        return False

    def migrate(self, place: str) -> Migrated:
        """Bring the tables at a folder or url from RFC-0011's schema V1 to V2."""
        raise NotImplementedError

    def rollback(self, place: str, anyway: bool) -> int:
        """Undo `migrate`, with `anyway` even if memories are lost; return how many memories there are then."""
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
