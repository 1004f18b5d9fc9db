"""The search store in PostgreSQL, which needs the extra `postgres`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....model.errors import BadInput

if TYPE_CHECKING:
    from ..protocol import OutsideStore


def open_postgres(url: str, repository: str, clone: str, dims: int) -> OutsideStore:
    """The store of one clone of a repository in the database of a URL, for vectors of so many dimensions."""
    try:
        from .connection import Connections
        from .schema import configure, prepare
        from .store import PostgresStore
    except ImportError:
        raise BadInput("the postgres store needs psycopg", "pip install 'rawkomem[postgres]'") from None
    return PostgresStore(Connections(url, prepare, configure), repository, clone, dims)
