"""A team's server: twenty clones write and fifty readers ask at once. Nothing is lost, nothing is doubled.

Each writer and each reader is a store with connections of its own; writers are in four processes, readers in five. It
takes 20 seconds, with RAWKOMEM_FULL five minutes; `-s` shows the figures.
"""

import json
import os
import subprocess
import sys
import threading
import time

import pytest
from rawkomem.model.filters import Filter

from tests.commands import ENVIRONMENT, cases
from tests.conftest import ROOT
from tests.index.stores.store_contract import DIMS, document, vector

pytestmark = pytest.mark.stores

CLONES, READERS = 20, 50
WRITING_PROCESSES, READING_PROCESSES = 4, 5
SECONDS = cases(full=300, usual=8)
SHARED, OWN = 40, 40  # memories that all clones write, in versions of their own now and then; and those of one clone
BATCH = 8  # memories in a commit
PAUSE_S = 0.2  # seconds that a reader thinks


def write(url: str, clone: int, until: float) -> dict[str, str]:
    """Put and drop memories until then; return what the clone holds at last, with digests."""
    from rawkomem.index.stores.plugins import open_postgres

    store = open_postgres(url, "team", f"clone-{clone}", DIMS)
    held: dict[str, str] = {}
    step = 0
    while time.time() < until:
        names = [f"shared-{(step * BATCH + n) % SHARED}" for n in range(BATCH // 2)]
        names += [f"own-{clone}-{(step * BATCH + n) % OWN}" for n in range(BATCH // 2)]
        digests = {name: f"{step // 10}" if name.startswith("shared") else f"{clone} {step}" for name in names}
        store.put([document(id, f"{id} says {digest}", digest=digest) for id, digest in digests.items()])
        held |= digests
        if step % 5 == 4:
            store.drop(names[:1])
            del held[names[0]]
        store.commit()
        step += 1
    assert store.held() == held
    store.close()
    return held


def read(url: str, reader: int, until: float, times: list[float]) -> None:
    """Ask as one of the clones; no passage comes twice."""
    from rawkomem.index.stores.plugins import open_postgres

    store = open_postgres(url, "team", f"clone-{reader % CLONES}", DIMS)
    asked = 0
    while time.time() < until:
        began = time.perf_counter()
        store.generation()
        near = store.nearest(vector(f"own-{reader % CLONES}-{asked % OWN} says 1"), 10, Filter())
        times.append((time.perf_counter() - began) * 1000)
        assert len({(hit.id, hit.passage) for hit in near}) == len(near)
        asked += 1
        time.sleep(PAUSE_S)
    store.close()


def take_part(url: str, kind: str, numbers: list[int], until: float) -> dict:
    """Run the threads of one process; return what they did, and what failed."""
    done: dict = {"held": {}, "times": [], "failed": []}

    def work(number: int) -> None:
        try:
            if kind == "write":
                done["held"][str(number)] = write(url, number, until)
            else:
                read(url, number, until, done["times"])
        except BaseException as failure:
            done["failed"].append(f"{kind} {number}: {type(failure).__name__} {failure}")

    threads = [threading.Thread(target=work, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


RUN = """
import json, sys
import numpy
from rawkomem.index.stores.plugins import open_postgres
from tests.index.stores.test_postgres_crowd import take_part
print("ready", flush=True)
print(json.dumps(take_part(*json.loads(sys.argv[1]), float(sys.stdin.readline()))))
"""


def started(url: str, kind: str, numbers: range) -> subprocess.Popen:
    """A process that takes part as soon as it is told until when."""
    words = [sys.executable, "-c", RUN, json.dumps([url, kind, [*numbers]])]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env=ENVIRONMENT)


def _told(processes: list[subprocess.Popen], until: float) -> list[tuple[str, str]]:
    """What each process says, once all were told until when at the same time."""
    for process in processes:
        process.stdin.write(f"{until}\n")
        process.stdin.flush()
    return [process.communicate(timeout=SECONDS + 240) for process in processes]


def test_twenty_clones_write_and_fifty_readers_ask(database):
    import psycopg
    from rawkomem.index.stores.plugins import open_postgres

    open_postgres(database, "team", "first", DIMS).close()
    writing, reading = range(WRITING_PROCESSES), range(READING_PROCESSES)
    processes = [started(database, "write", range(n, CLONES, WRITING_PROCESSES)) for n in writing]
    processes += [started(database, "read", range(n, READERS, READING_PROCESSES)) for n in reading]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * len(processes)
    until = time.time() + SECONDS
    said = _told(processes, until)
    assert [process.returncode for process in processes] == [0] * len(processes), [error[-500:] for _, error in said]
    done = [json.loads(text) for text, _ in said]
    assert [failure for own in done for failure in own["failed"]] == []
    held = {f"clone-{n}": own for part in done for n, own in part["held"].items()}
    times = sorted(time for part in done for time in part["times"])
    assert len(held) == CLONES and len(times) >= READERS
    with psycopg.connect(database) as connection:
        ask = lambda sql: connection.execute(sql).fetchall()  # noqa: E731
        rows = ask("SELECT c.name, h.id, h.digest FROM rawkomem.holdings h JOIN rawkomem.clones c ON c.n = h.clone")
        assert sorted(rows) == sorted((clone, id, digest) for clone, own in held.items() for id, digest in own.items())
        versions = {(id, digest) for own in held.values() for id, digest in own.items()}
        assert ask("SELECT count(*), count(DISTINCT hash) FROM rawkomem.versions") == [(len(versions), len(versions))]
        for table, owner in (("passages", "version"), ("vectors", "owner"), ("bits", "owner")):
            counted = f"SELECT count(*), count(DISTINCT {owner}) FROM rawkomem.{table}"
            assert ask(counted) == [(len(versions), len(versions))], table
        assert ask("SELECT sum(passages) FROM rawkomem.clones") == [(len(rows),)]
        assert ask("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == [(0,)]
    p50, p95 = times[len(times) // 2], times[len(times) * 95 // 100]
    print(f"{SECONDS} s: {len(times)} questions, p50 {p50:.0f} ms, p95 {p95:.0f} ms, load {os.getloadavg()[0]:.1f}")
