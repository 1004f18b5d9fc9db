"""One warm process for all tests of a worker that break commands, and what each command leaves when nothing breaks."""

import pytest

from tests.torture.faults import Driver, what_once_leaves


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    made = Driver(tmp_path_factory.mktemp("faults"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def left(driver):
    """What each command leaves without a fault."""
    return what_once_leaves(driver)
