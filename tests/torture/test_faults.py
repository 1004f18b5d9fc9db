"""Each thing that a command asks of the disk fails once: nothing acknowledged is lost, nothing is doubled, nothing leaks."""

import random

import pytest

from tests.commands import cases
from tests.torture.faults import COMMANDS, Case

pytestmark = pytest.mark.slow

HOWS = ("ENOSPC", "EIO", "EACCES", "kill")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_at_every_point(driver, left, name, how):
    count = left[name][1]
    points = sorted(random.Random(f"slow {name} {how}").sample(range(1, count + 1), min(count, cases(count, 5))))
    met = 0
    for at in points:
        case = Case(driver, name, left[name][0])
        done = case.run(at=at, how=how)
        met += bool(done["hit"]) or done["code"] == -9
        case.check(done)
    print(f"{name} {how}: {met} of {len(points)} points met their fault")
    assert met >= len(points) / 4  # the first run, which counts, also makes the private file
