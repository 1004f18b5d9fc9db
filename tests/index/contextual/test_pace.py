"""Background work stays in the background: one core, lowest priority, aside under load."""

import os
import shutil
import subprocess
import sys

import pytest
from rawkomem.files.journal import BACKGROUND_VARIABLE, MARK, WORK, is_background
from rawkomem.index import contextual
from rawkomem.index.contextual import MAX_WORK_S, deepen
from rawkomem.index.index import worker_lock
from rawkomem.index.ingest import vectors_of
from rawkomem.index.status import MACHINE_BUSY, why_wait
from rawkomem.repository import Repository

from tests.commands import ENVIRONMENT, ROOT

MEMORIES = 6


class Machine:
    """A machine of two cores with a load and a clock of its own."""

    def __init__(self, monkeypatch):
        self.load, self.now, self.cores = 0.0, 0.0, 2
        monkeypatch.setattr(os, "getloadavg", lambda: (self.ask_load(), 0.0, 0.0))
        monkeypatch.setattr(os, "cpu_count", lambda: self.cores)
        monkeypatch.setattr(contextual, "time", self)

    def ask_load(self) -> float:
        return self.load

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def machine(monkeypatch) -> Machine:
    return Machine(monkeypatch)


@pytest.fixture
def filled(monkeypatch, project, memories):
    """A repository whose memories have no contextual vectors yet, and get them two at a time."""
    monkeypatch.setattr(contextual, "BATCH_MEMORIES", 2)
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "auto")
    for number in range(MEMORIES):
        text = f"Service {number} restarts on port {8000 + number} after its nightly check."
        (memories / f"m{number}.md").write_text(f"---\ntitle: Service {number}\n---\n\n{text}\n")
    opened = Repository.open(str(project), warn=lambda message: None)
    opened.sync()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("load", "cores", "why"), [(0.2, 2, ""), (1.4, 2, ""), (1.6, 2, MACHINE_BUSY), (5.0, 8, ""), (0.6, 1, MACHINE_BUSY)]
)
def test_others_come_first(machine, load, cores, why):
    machine.load, machine.cores = load, cores
    assert why_wait() == why


def test_its_own_load_is_not_that_of_others(machine):
    machine.load, machine.cores = 1.0, 1
    assert why_wait(worked=True) == ""
    machine.load = 2.0
    assert why_wait(worked=True) == MACHINE_BUSY


def test_it_waits_under_load_and_goes_on_later(filled, machine):
    machine.load = 9.0
    ticks: list[int] = []

    def sleep(seconds: float) -> None:
        machine.now += seconds
        ticks.append(filled.store.status().deep)
        machine.load = 9.0 if len(ticks) < 3 else 0.0

    machine.sleep = sleep
    assert deepen(filled.core.index, waits=True) == MEMORIES
    assert ticks == [0, 0, 0]


def test_it_stops_between_two_batches_and_ends_where_the_load_stays(filled, machine):
    seen: list[int] = []

    def progress(made: int, total: int) -> None:
        seen.append(made)
        machine.load = 9.0

    done = deepen(filled.core.index, progress, waits=True)
    assert 0 < done < MEMORIES and seen == [done]
    assert machine.now >= MAX_WORK_S
    assert filled.store.status().deep == done
    assert deepen(filled.core.index) == MEMORIES - done
    assert filled.store.status().deep_seconds_left == 0


def test_status_tells_how_far_it_is(filled, rawkomem, machine):
    asked: list[int] = []

    def load() -> float:
        asked.append(1)
        return 0.0 if len(asked) == 1 else 9.0

    machine.ask_load = load
    deepen(filled.core.index, waits=True)
    assert "contextual vectors: 2 of 6" in rawkomem("status").stdout


def test_it_works_for_a_limited_time(filled, machine, monkeypatch):
    def progress(made: int, total: int) -> None:
        machine.now += MAX_WORK_S

    assert deepen(filled.core.index, progress, waits=True) == 2
    assert deepen(filled.core.index, waits=True) == MEMORIES - 2


@pytest.mark.parametrize("moment", ["while it waits", "between batches", "while it computes"])
def test_it_ends_when_its_folder_is_deleted(filled, project, machine, monkeypatch, moment):
    def vanish(*_: object) -> None:
        shutil.rmtree(project / ".rawko" / "local")

    if moment == "while it waits":
        machine.load, machine.sleep = 9.0, vanish
    elif moment == "while it computes":
        monkeypatch.setattr(contextual, "vectors_of", lambda *given: (vectors_of(*given), vanish())[0])
    done = deepen(filled.core.index, vanish if moment == "between batches" else None, waits=True)
    assert done == (2 if moment == "between batches" else 0) and not (project / ".rawko" / "local").exists()


def test_a_user_has_one_worker_for_all_repositories(filled, project, tmp_path, monkeypatch):
    shutil.copytree(project / ".rawko" / "memories", tmp_path / "other" / ".rawko" / "memories")
    started: list[str] = []
    monkeypatch.setattr("rawkomem.files.journal._spawn", lambda command, *_: started.append(command[5]))
    with Repository.open(str(tmp_path / "other"), warn=lambda message: None) as other:
        other.sync()
        with worker_lock():
            os.utime(worker_lock().path, (0, 0))
            assert not filled.core.deepen_in_background() and not other.core.deepen_in_background()
            monkeypatch.setenv(BACKGROUND_VARIABLE, MARK)
            assert filled.store.deepen() == 0, "a second worker has nothing to do"
        assert filled.core.deepen_in_background() and not other.core.deepen_in_background()
        os.utime(worker_lock().path, (0, 0))
        assert other.core.deepen_in_background()
    assert started == [filled.layout.root, str(tmp_path / "other" / ".rawko")]


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="for want of priorities: not on Windows")
def test_the_worker_has_the_lowest_priority_and_one_thread():
    check = WORK.replace("from rawkomem.faces.cli import run; sys.exit(run(sys.argv[1:]))", "")
    check += "from rawkomem.embed.blas import workers"
    check += "; print(os.getpriority(os.PRIO_PROCESS, 0), workers(), os.environ['OMP_NUM_THREADS'])"
    environment = {**ENVIRONMENT, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", check], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["19", "1", "1"]
    assert not is_background()
