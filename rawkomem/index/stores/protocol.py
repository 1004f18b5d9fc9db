"""What a search store does, and what a package brings that provides one. SQLite and all plug-ins pass one contract."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ...model.filters import Filter
from ...model.record import record
from .documents import FIRST, Document, Hit

if TYPE_CHECKING:
    from ..open_store import StoreHome

Row = dict[str, Any]


class SearchStore(Protocol):
    """Holds passages with their vectors. Everything in it comes from files: it may be lost at any time.

    `columns` names the facets that it compares (state/facets.py). Where a filter asks for another one, the store gets
    the ids of the memories that pass instead: a small store may name `id` alone.
    """

    @property
    def columns(self) -> Collection[str]: ...

    def put(self, documents: Sequence[Document]) -> None:
        """Store these memories, replacing what was held of them."""

    def drop(self, ids: Sequence[str]) -> None:
        """Forget these memories; unknown ids are fine."""

    def nearest(self, vector: bytes, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        """The passages closest to a vector of this tier, best first, with their cosine."""

    def matching(self, words: Sequence[str], limit: int, only: Filter, around: bool = False) -> list[Hit]:
        """The passages that hold any of these words, or stand beside them with `around`; best first by BM25."""

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        """(id, vector) of every body passage, by id and place; as int8 in whatever scale the store keeps them."""

    def passage(self, id: str, number: int) -> str:
        """The text of one passage."""

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        """Put the second tier's vectors of these memories' passages, in order; unknown ids are fine."""

    def shallow(self, limit: int) -> list[str]:
        """Some memories that the second tier does not hold."""

    def depth(self) -> tuple[int, int]:
        """How many memories the second tier holds, and how many there are."""

    def flatten(self) -> None:
        """Forget the second tier."""

    def erase(self) -> None:
        """Forget everything."""


class OutsideStore(SearchStore, Protocol):
    """A store that is not in the index's own database: it has a life, and transactions, of its own."""

    def generation(self) -> str:
        """Which of its lives it is in: another one after `erase`, and when what it held was lost."""

    def held(self) -> dict[str, str]:
        """The memories that it holds, with the digests they were put with."""

    def served(self) -> int:
        """Bytes that a server keeps for it and for all who share it; 0 where there is none."""

    def commit(self) -> None:
        """Have all that was put and dropped on disk: the catalogue is about to say so."""

    def close(self) -> None:
        """Let go of whatever it holds open; what was not committed is as if it had never been put."""


class StorePlugin:
    """A store that a package brings: what an entry point of the group `rawkomem.stores` refers to, see docs/scale.md.

    Subclass it and give the entry point an instance. Loading it must not load the engine: `open` does.
    """

    package = ""  # the package of its engine, by which `store status` sees whether that is installed
    install = ""  # the command that installs the engine
    local = True  # whether it keeps its data in `home.folder` where the user gave no url
    takes_url = False  # whether the user may give it a url
    rfc_tables = False  # whether it has the tables of RFC-0011: then `publish`, `migrate` and `rollback` work

    def open(self, home: StoreHome, dims: int) -> OutsideStore:
        """Open the store for vectors of so many dimensions. A missing package may raise ModuleNotFoundError."""
        raise NotImplementedError

    def publish(
        self, home: StoreHome, dims: int, memories: Mapping[str, Row], blocks: Sequence[Row], skills: Sequence[Row]
    ) -> int:
        """Fill the tables of RFC-0011; `memories` are columns by id. Returns how many memories have a row."""
        raise NotImplementedError

    def migrate(self, place: str) -> Migrated:
        """Bring the tables at a folder or url from RFC-0011's schema V1 to V2."""
        raise NotImplementedError

    def rollback(self, place: str, anyway: bool) -> int:
        """Undo `migrate`, even if that loses memories with `anyway`; returns how many memories there are then."""
        raise NotImplementedError

    def place(self, home: StoreHome) -> str:
        """Return the folder or url of this repository's data."""
        return home.url or home.folder


@record
class Migrated:
    """What a migration of the tables of RFC-0011 did."""

    rows: int
    done: bool  # False: it was V2 already
    removed_backup: bool = False
