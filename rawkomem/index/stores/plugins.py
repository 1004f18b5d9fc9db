"""The stores of this package as plug-ins: LanceDB (extra `lancedb`) and PostgreSQL (extra `postgres`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from math import inf
from typing import Any, cast

from ...model.errors import BadInput, IndexBroken
from .database import StoreHome
from .protocol import (
    BlocksAfter,
    Migrated,
    OneLineErrors,
    OutsideStore,
    Row,
    StorePlugin,
    lance_errors,
)

# The LanceDB store as a plug-in, which needs the extra `lancedb`.


class LancePlugin(StorePlugin):
    """LanceDB in a folder beside the index, or in an object store."""

    package = "lancedb"
    extra = "lancedb"
    takes_url = True
    rfc_tables = True

    def place(self, home: StoreHome) -> str:
        """Return the folder beside the index, or this clone's folder below the user's url."""
        if home.url:
            return f"{home.url.rstrip('/')}/{home.repository}/{home.clone}"
        return home.folder

    def open(self, home: StoreHome, dims: int) -> OutsideStore:
        """Open the store. Errors of LanceDB become IndexBroken errors of one line."""
        from .lance.store import LanceStore

        place = self.place(home)
        return cast("OutsideStore", OneLineErrors(LanceStore(place, dims), place))

    def publish(
        self,
        home: StoreHome,
        dims: int,
        memories: Mapping[str, Row],
        blocks_after: BlocksAfter,
        skills: Sequence[Row] | None,
        whole: bool,
    ) -> int:
        """Fill the tables of RFC-0011 with the data that the search store does not hold."""
        from .lance.tables import publish

        with lance_errors(self.place(home)) as place:
            return publish(place, dims, memories, blocks_after, skills, whole)

    def migrate(self, place: str) -> Migrated:
        """Migrate memory_entries from V1 to V2."""
        with self._connected(place) as db:
            from .lance.tables import migrate_entries

            return migrate_entries(db, datetime.now(UTC))

    def rollback(self, place: str, anyway: bool) -> int:
        """Undo `migrate`, while its backup exists."""
        with self._connected(place) as db:
            from .lance.tables import rollback_entries

            return rollback_entries(db, anyway)

    @contextmanager
    def _connected(self, place: str) -> Iterator[Any]:
        """Open a database that the user named; turn errors of LanceDB into BadInput."""
        try:
            import lancedb
        except ModuleNotFoundError:
            hint = f"run: {self.how_to_install()}"
            raise BadInput("this needs the package lancedb", hint) from None
        try:
            with lance_errors(place):
                yield lancedb.connect(place)
        except IndexBroken as failure:
            raise BadInput(failure.message, "check its folder or url") from None


LANCEDB = LancePlugin()


# The PostgreSQL store as a plug-in, which needs the extra `postgres`.


class PostgresPlugin(StorePlugin):
    """PostgreSQL with pgvector, shared by a team."""

    package = "psycopg"
    extra = "postgres"
    local = False
    takes_url = True

    def open(self, home: StoreHome, dims: int) -> OutsideStore:
        """Open the store of this clone of the repository in the user's database."""
        if not home.url:
            raise BadInput(
                "the postgres store has no url",
                "run 'rawkomem index store use postgres --url-env NAME'",
            )
        return open_postgres(home.url, home.repository, home.clone, dims, home.wait_s)


def open_postgres(
    url: str, repository: str, clone: str, dims: int, wait_s: float = inf
) -> OutsideStore:
    """Open the store of one clone of a repository in the database of a URL, for vectors of `dims` dimensions."""
    try:
        from .postgres.server import Link
        from .postgres.store import PostgresStore
    except ImportError:
        raise BadInput(
            "the postgres store needs psycopg", f"run: {POSTGRES.how_to_install()}"
        ) from None
    return PostgresStore(Link(url, wait_s), repository, clone, dims)


POSTGRES = PostgresPlugin()
