"""Compare search stores on the same made-up memories of 1 to 4 kB: time to fill, warm searches, size. See docs/scale.md.

    .venv/bin/python tools/measure_stores.py MEMORIES STORE...

A warm search is a search in a process that stays open. Set RAWKOMEM_<STORE>_URL to the URL of a database that exists
only for this measurement. Prints JSON.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from rawkomem.bench.speed import (
    TIMED_CALLS,
    WARM_UP_CALLS,
    call_times,
    embedder,
    make_repository,
    queries,
)
from rawkomem.index.stores.database import MEMORY
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository
from rawkomem.repository.machine import store_size

SHOWN_FILES = 5_000  # a fill shows its progress after as many files


@dataclass(frozen=True)
class Scale:
    """The figures of one store."""

    store: str
    memories: int
    passages: int
    fill_s: float
    fill_cpu_s: float  # of this process and its children, not of a server
    p50_ms: float
    p95_ms: float
    cpu_ms: float  # CPU time of a search, of the same processes
    mb: float
    # of the machine in the last minute, when searches were measured: 1 for each busy core
    load: float


def measure_stores(
    memories: int, stores: Sequence[str], say: Callable[[str], None]
) -> list[Scale]:
    """Measure all stores on one made-up repository."""
    with (
        tempfile.TemporaryDirectory(prefix="rawkomem-bench-") as project,
        embedder("static"),
    ):
        say(f"writing {memories} memories of 1 to 4 kB")
        make_repository(project, memories)
        return [_measure_store(project, memories, store, say) for store in stores]


def _measure_store(
    project: str, memories: int, name: str, say: Callable[[str], None]
) -> Scale:
    repository = Repository.open(project, warn=lambda message: None, store=name)
    try:
        index = repository.core.index
        index.store_wait_s = math.inf  # to erase 100,000 memories takes minutes
        # opened first: loading packages is not part of indexing
        outside = index.outside()
        began = time.monotonic()
        before = _cpu_s()
        index.sync(
            lambda done, total: (
                None if done % SHOWN_FILES else say(f"{name}: {done} of {total} files")
            )
        )
        fill_s = time.monotonic() - began
        fill_cpu_s = _cpu_s() - before
        say(f"{name}: filled in {fill_s:.1f} s, {fill_cpu_s:.1f} s of CPU time")
        before = _cpu_s()
        p50_ms, p95_ms = call_times(repository.search, queries())
        cpu_ms = (_cpu_s() - before) * 1000 / (WARM_UP_CALLS + TIMED_CALLS)
        stored = store_size(repository.layout, name) + (
            outside.served() if outside else 0
        )
        row = Scale(
            store=name,
            memories=memories,
            passages=len(index.store.vectors(Filter())),
            fill_s=fill_s,
            fill_cpu_s=fill_cpu_s,
            p50_ms=p50_ms,
            p95_ms=p95_ms,
            cpu_ms=cpu_ms,
            mb=0.0 if name == MEMORY else stored / 1e6,
            load=os.getloadavg()[0],
        )
        if outside:  # on a server; other data is deleted with the folder
            outside.erase()
            outside.commit()
    finally:
        repository.close()
    say(f"{name}: p50 {row.p50_ms:.0f} ms, p95 {row.p95_ms:.0f} ms, {row.mb:.0f} MB")
    return row


def _cpu_s() -> float:
    """Return the CPU time so far of this process and its children."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


if __name__ == "__main__":
    rows = measure_stores(
        int(sys.argv[1]), sys.argv[2:], lambda line: print(line, file=sys.stderr)
    )
    print(json.dumps([asdict(row) for row in rows], indent=2))
