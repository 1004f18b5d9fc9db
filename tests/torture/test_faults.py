"""Each thing that a command asks of the disk fails once: nothing acknowledged is lost, nothing is doubled, nothing leaks."""

from __future__ import annotations

import os
import random

import pytest

from tests.commands import FULL, cases
from tests.torture.faults import COMMANDS, Case, Driver, what_once_leaves

HOWS = ("ENOSPC", "EIO", "EACCES", "kill")
# Every command with every kind of fault, ordered so that every second pair has all commands and all kinds.
PAIRS = [(name, HOWS[(n + turn) % len(HOWS)]) for n, name in enumerate(COMMANDS) for turn in range(len(HOWS))]
CASES = int(os.environ.get("RAWKOMEM_FAULTS", "2"))  # of each command and each kind of fault in the default lane


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


@pytest.mark.parametrize(("name", "how"), [pair for n, pair in enumerate(PAIRS) if FULL or n % 2 == 0])
def test_a_fault_at_some_points(driver, left, name, how):
    count = left[name][1]
    points = sorted(random.Random(f"{name} {how}").sample(range(1, count + 1), min(CASES, count)))
    assert torture(driver, left, name, how, points) >= len(points) / 2


@pytest.mark.slow
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_at_every_point(driver, left, name, how):
    count = left[name][1]
    points = sorted(random.Random(f"slow {name} {how}").sample(range(1, count + 1), min(count, cases(count, 8))))
    met = torture(driver, left, name, how, points)
    print(f"{name} {how}: {met} of {len(points)} points met their fault")
    assert met >= len(points) / 2
