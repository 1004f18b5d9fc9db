"""Times calls in one process. As a program, it keeps a repository open and injects repeatedly, as a server
does, and prints the times as JSON; `bench speed` runs it as a process.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from ..model.entries import Task
from ..repository import Repository

WARM_UP_CALLS = 5  # calls that fill caches and are not timed
TIMED_CALLS = 60


def call_times(call: Callable[[str], object], texts: list[str]) -> tuple[float, float]:
    """Return median and 95th percentile of a call in milliseconds.

    Each text gets another number each time, so that no cached answer is used.
    """
    times = []
    for number in range(WARM_UP_CALLS + TIMED_CALLS):
        begun = time.perf_counter()
        call(f"{texts[number % len(texts)]} {number}")
        times.append((time.perf_counter() - begun) * 1000)
    times = sorted(times[WARM_UP_CALLS:])
    return times[len(times) // 2], times[len(times) * 95 // 100]


if __name__ == "__main__":
    repository = Repository.open(sys.argv[1])
    p50, p95 = call_times(lambda text: repository.inject(Task(text)), sys.argv[2:])
    print(json.dumps({"p50": p50, "p95": p95}))
