"""Keeps a repository open and injects repeatedly, as a server does; prints the times as JSON. `bench
speed` runs it as a process.
"""

from __future__ import annotations

import json
import sys
import time

from ..model.entries import Task
from ..repository import Repository

WARM_UP_CALLS = 5  # calls that fill caches and are not timed


def main(project: str, tasks: list[str], rounds: int) -> None:
    """Inject for every task in turn, each time with another number, so that no cached answer is used."""
    repository = Repository.open(project)
    times: list[float] = []
    for number in range(WARM_UP_CALLS + rounds):
        begun = time.perf_counter()
        repository.inject(Task(f"{tasks[number % len(tasks)]} {number}"))
        times.append((time.perf_counter() - begun) * 1000)
    times = sorted(times[WARM_UP_CALLS:])
    print(json.dumps({"p50": times[len(times) // 2], "p95": times[len(times) * 95 // 100]}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[3:], int(sys.argv[2]))
