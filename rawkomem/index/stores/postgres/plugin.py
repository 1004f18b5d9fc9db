"""The PostgreSQL store as a plug-in, which needs the extra `postgres`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....model.errors import BadInput
from ..protocol import StorePlugin

if TYPE_CHECKING:
    from ...open_store import StoreHome
    from ..protocol import OutsideStore


class PostgresPlugin(StorePlugin):
    """PostgreSQL with pgvector, shared by a team."""

    package = "psycopg"
    extra = "postgres"
    local = False
    takes_url = True

    def open(self, home: StoreHome, dims: int) -> OutsideStore:
        """Open the store of this clone of the repository in the user's database."""
        if not home.url:
            raise BadInput("the postgres store has no url", "run 'rawkomem store use postgres --url-env NAME'")
        return open_postgres(home.url, home.repository, home.clone, dims)


def open_postgres(url: str, repository: str, clone: str, dims: int) -> OutsideStore:
    """Open the store of one clone of a repository in the database of a URL, for vectors of `dims` dimensions."""
    try:
        from .connection import Connections
        from .schema import configure, prepare
        from .store import PostgresStore
    except ImportError:
        raise BadInput("the postgres store needs psycopg", f"run: {PLUGIN.how_to_install()}") from None
    return PostgresStore(Connections(url, prepare, configure), repository, clone, dims)


PLUGIN = PostgresPlugin()
