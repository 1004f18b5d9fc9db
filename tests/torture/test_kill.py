"""kill -9 at any moment: nothing that was acknowledged is lost, nothing torn is served, the index mends itself."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest
from rawkomem.files.installation import plan_start, write_start
from rawkomem.files.layout import Layout, sweep
from rawkomem.files.reading import read_file

from tests.commands import ENVIRONMENT, cases
from tests.torture.faults import COMMANDS, Case
from tests.torture.helpers import assert_equals_rebuild, index_of

# Appends and syncs in a loop; each line on stdout acknowledges an append that has returned.
CHILD = """
import sys
from rawkomem.model.entries import Entry
from rawkomem.repository import Repository

repository = Repository.open(sys.argv[1], warn=lambda message: None)
round, sizes = int(sys.argv[2]), (10, 200, 16_000, 50)
repository.core.index.refresh()
print("ready", flush=True)
for number in range(1_000_000):
    mark = f"{round}-{number}"
    words = " ".join(["word"] * (sizes[number % 4] // 5))
    title = "Shared" if number % 2 else f"Own {round}"
    written = repository.add(Entry(title=title, body=f"begin {mark} {words} end {mark}", by="torture"))
    print(written.entry.id, mark, flush=True)
    if number % 3 == 0:
        repository.core.index.refresh()
    if number % 7 == 6:
        repository.amend(written.entry.id, Entry(body=f"begin {mark} amended end {mark}", by="torture"))
    if number % 5 == 1 and round % 4 == 3:
        repository.store.rebuild()
"""
WHOLE = re.compile(r"begin (\S+) .*end \1", re.DOTALL)


def kill_once(folder: str, round: int, source: random.Random) -> dict[str, str]:
    """Start the child, kill it after a while; what it acknowledged until then, id → mark."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, folder, str(round)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    assert child.stdout.readline() == "ready\n", child.stderr.read()
    first = child.stdout.readline() if source.random() < 0.8 else ""
    time.sleep(source.uniform(0, 0.3))
    child.send_signal(signal.SIGKILL)
    out, err = child.communicate()
    assert child.returncode == -signal.SIGKILL, err
    return dict(line.split() for line in (first + out).splitlines(keepends=True) if line.endswith("\n"))


def served(layout: Layout) -> dict[str, str]:
    """id → body of every entry in the files; each must be whole."""
    found = {}
    for path in sweep(layout).paths:
        reading = read_file(layout.path(path), path)
        assert reading.verdict != "quarantine", (path, reading.problems)
        for entry in reading.entries:
            assert not entry.draft and WHOLE.fullmatch(entry.body), (path, entry.line, entry.body[-80:])
            assert entry.id not in found
            found[entry.id] = entry.body
    return found


def torture(project, kills: int, source: random.Random) -> int:
    """Kill so many children in one repository; how many appends they acknowledged."""
    write_start(plan_start(str(project)))
    layout, acknowledged = Layout(str(project / ".rawko")), {}
    for round in range(kills):
        acknowledged |= kill_once(str(project), round, source)
        if round % 5 == 4 or round == kills - 1:
            index = index_of(layout)
            index.refresh()
            found = served(layout)
            lost = [id for id, mark in acknowledged.items() if f"begin {mark} " not in found.get(id, "")]
            assert lost == [], f"{len(lost)} of {len(acknowledged)} acknowledged entries are lost"
            assert_equals_rebuild(index)
    leftovers = os.listdir(os.path.join(layout.local, "tmp"))
    assert len(leftovers) <= 1, "each writer removes what the killed one before it left behind"
    return len(acknowledged)


def torture_in_many(folder, kills: int, seed: int) -> None:
    """In repositories of 15 kills each, so that checking them stays cheap."""
    source, done = random.Random(seed), 0
    for start in range(0, kills, 15):
        done += torture(folder / str(start), min(15, kills - start), source)
    assert done >= kills / 2, "the children were killed before they did anything"
    print(f"{kills} kills, {done} appends acknowledged, none lost, none torn")


KILLS = int(os.environ.get("RAWKOMEM_KILLS") or cases(100, 10))  # of commands in the slow lane


def test_kills(tmp_path):
    torture_in_many(tmp_path, 2, seed=1)


@pytest.mark.slow
def test_kills_of_all_commands(driver, left):
    """Any command, at any moment: the next one works, a retry leaves what one run leaves, a purged text is nowhere.

    Kills at the points that a command passes are in test_faults.py; these come in between, also in code written in C.
    """
    source, killed, rounds = random.Random(4), 0, 0
    took = {name: seconds for name, (_, _, seconds) in left.items()}
    while killed < KILLS:
        name = source.choice([*COMMANDS])
        case = Case(driver, name, left[name][0])
        done = case.run(kill_after_s=source.uniform(0, took[name]))
        if done["code"] == 0:
            took[name] = min(took[name], done["took"])
        killed += done["code"] == -signal.SIGKILL
        rounds += 1
        case.check(done)
        assert rounds < 3 * KILLS + 20, "most commands ended before they were killed"
    print(f"{killed} kills in {rounds} runs")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_many_kills(tmp_path, seed):
    torture_in_many(tmp_path, cases(150, 15), seed)
