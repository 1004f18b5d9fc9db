"""Each thing that a command asks of the disk fails once: nothing acknowledged is lost, nothing is doubled, nothing leaks."""

import random

import pytest

from tests.commands import cases
from tests.torture.faults import COMMANDS, Case, Driver, what_once_leaves

pytestmark = pytest.mark.slow

HOWS = ("ENOSPC", "EIO", "EACCES", "kill")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    made = Driver(tmp_path_factory.mktemp("faults"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def left(driver):
    """What each command leaves without a fault."""
    return what_once_leaves(driver)


def torture(driver, left, name: str, how: str, points: list[int]) -> int:
    """Run a command once for each point; return how many met their fault."""
    met = 0
    for at in points:
        case = Case(driver, name, left[name][0])
        done = case.run(at=at, how=how)
        met += bool(done["hit"]) or done["code"] == -9
        case.check(done)
    return met


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_at_every_point(driver, left, name, how):
    count = left[name][1]
    points = sorted(random.Random(f"slow {name} {how}").sample(range(1, count + 1), min(count, cases(count, 5))))
    met = torture(driver, left, name, how, points)
    print(f"{name} {how}: {met} of {len(points)} points met their fault")
    assert met >= len(points) / 4  # the first run, which counts, also makes the private file
