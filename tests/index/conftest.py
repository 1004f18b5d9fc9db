"""A PostgreSQL server for the tests of its store: one for each worker, started when first asked for."""

from itertools import count

import pytest

from tests.index.stores.postgres_server import Server, start_server

_numbers = count(1)


@pytest.fixture(scope="session")
def server():
    started = start_server()
    yield started
    started.stop()


@pytest.fixture
def database(server: Server) -> str:
    """The URL of a fresh database."""
    return server.new_database(f"fresh_{next(_numbers)}")


@pytest.fixture(scope="session")
def shared_database(server: Server) -> str:
    """The URL of a database that tests share; each with a repository of its own."""
    return server.new_database("shared")
