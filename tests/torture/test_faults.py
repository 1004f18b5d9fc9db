"""Each thing that a command asks of the disk fails once: nothing acknowledged is lost, nothing is doubled, nothing leaks."""

from __future__ import annotations

import os
import random

import pytest

from tests.torture.faults import COMMANDS, Case, Driver, prepare, what_once_leaves

HOWS = ("ENOSPC", "EIO", "EACCES", "kill")
CASES = int(os.environ.get("RAWKOMEM_FAULTS", "2"))  # of each command and each kind of fault in the default lane


@pytest.fixture(scope="module")
def driver():
    made = Driver()
    yield made
    made.close()


@pytest.fixture(scope="module")
def known(driver, tmp_path_factory):
    """The repository to start from, and what each command leaves in it."""
    folder = tmp_path_factory.mktemp("faults")
    prepare(folder / "start")
    return folder / "start", what_once_leaves(driver, folder / "start", folder)


def torture(driver, known, folder, name: str, how: str, points: list[int]) -> int:
    """Run a command once for each point; return how many met their fault."""
    start, left = known
    met = 0
    for at in points:
        case = Case(driver, start, folder / str(at), name, left[name][0])
        done = case.run(at=at, how=how)
        met += bool(done["hit"]) or done["code"] == -9
        case.check(done)
    return met


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_at_some_points(driver, known, tmp_path, name, how):
    count = known[1][name][1]
    points = sorted(random.Random(f"{name} {how}").sample(range(1, count + 1), min(CASES, count)))
    assert torture(driver, known, tmp_path, name, how, points) >= len(points) / 2


@pytest.mark.slow
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_at_every_point(driver, known, tmp_path, name, how):
    count = known[1][name][1]
    met = torture(driver, known, tmp_path, name, how, list(range(1, count + 1)))
    print(f"{name} {how}: {met} of {count} points met their fault")
    assert met >= count / 2
