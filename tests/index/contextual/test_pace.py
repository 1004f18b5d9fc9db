"""Background work stays in the background: one core, lowest priority, aside under load and on battery."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from rawkomem.files.journal import BACKGROUND_VARIABLE, MARK, WORK, is_background, steps_aside
from rawkomem.index.contextual import deepen
from rawkomem.index.status import MACHINE_BUSY, MAX_WAIT_S, ON_BATTERY, Pace, on_battery
from rawkomem.repository import Repository

from tests.commands import ENVIRONMENT, ROOT

MEMORIES = 40


class Machine:
    """A machine with a load, a battery and a clock of its own."""

    def __init__(self, load: float = 0.0, battery: bool = False):
        self.load, self.battery, self.now, self.slept = load, battery, 0.0, 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds

    def pace(self, cores: int = 2) -> Pace:
        return Pace(lambda: self.load, lambda: self.battery, cores, lambda: self.now, self.sleep)


@pytest.fixture
def filled(monkeypatch, project, memories):
    """A repository whose memories have no contextual vectors yet."""
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "auto")
    for number in range(MEMORIES):
        text = f"Service {number} restarts on port {8000 + number} after its nightly check. " * 6
        (memories / f"m{number}.md").write_text(f"---\ntitle: Service {number}\n---\n\n{text}\n")
    opened = Repository.open(str(project), warn=lambda message: None)
    opened.sync()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("load", "cores", "why"), [(0.2, 2, ""), (1.4, 2, ""), (1.6, 2, MACHINE_BUSY), (5.0, 8, ""), (0.6, 1, MACHINE_BUSY)]
)
def test_others_come_first(load, cores, why):
    assert Machine(load).pace(cores).why_wait(worked=False) == why


def test_its_own_load_is_not_that_of_others():
    machine = Machine(load=0.0)
    pace = machine.pace(cores=1)
    machine.now, machine.load = 300.0, 1.0
    assert pace.why_wait() == ""
    machine.now, machine.load = 600.0, 2.0
    assert pace.why_wait() == MACHINE_BUSY


def test_a_battery_is_not_emptied(tmp_path):
    assert Machine(battery=True).pace().why_wait() == ON_BATTERY
    for name, said in {"AC": {"type": "Mains"}, "BAT0": {"type": "Battery", "status": "Charging"}}.items():
        (tmp_path / name).mkdir()
        for about, text in said.items():
            (tmp_path / name / about).write_text(f"{text}\n")
    assert not on_battery(str(tmp_path))
    (tmp_path / "BAT0" / "status").write_text("Discharging\n")
    assert on_battery(str(tmp_path))
    (tmp_path / "BAT0" / "scope").write_text("Device\n")
    assert not on_battery(str(tmp_path)) and not on_battery(str(tmp_path / "none"))


def test_it_waits_under_load_and_goes_on_later(filled):
    machine = Machine(load=9.0)
    ticks: list[int] = []

    def sleep(seconds: float) -> None:
        Machine.sleep(machine, seconds)
        ticks.append(filled.store.status().deep)
        machine.load = 9.0 if len(ticks) < 3 else 0.0

    machine.sleep = sleep  # type: ignore[method-assign]
    assert deepen(filled.core.index, pace=machine.pace()) == MEMORIES
    assert ticks == [0, 0, 0]


def test_it_stops_between_two_batches_and_ends_where_the_load_stays(filled):
    machine = Machine()
    seen: list[int] = []

    def load() -> float:
        return 9.0 if seen else 0.0

    pace = Pace(load, lambda: False, 2, lambda: machine.now, machine.sleep)
    done = deepen(filled.core.index, lambda made, total: seen.append(made), pace)
    assert 0 < done < MEMORIES and seen == [done]
    assert machine.slept >= MAX_WAIT_S
    status = filled.store.status()
    assert status.deep == done and status.deep_seconds_left > 0
    assert deepen(filled.core.index) == MEMORIES - done
    assert filled.store.status().deep_seconds_left == 0


def test_status_tells_how_far_it_is(filled, rawkomem):
    deepen(filled.core.index, pace=_after_one_batch())
    said = rawkomem("status").stdout
    assert "contextual vectors: 16 of 40, about 1 minute" in said


def _after_one_batch() -> Pace:
    machine, asked = Machine(), []

    def load() -> float:
        asked.append(1)
        return 0.0 if len(asked) == 1 else 9.0

    return Pace(load, lambda: False, 2, lambda: machine.now, machine.sleep)


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="for want of priorities: not on Windows")
def test_the_worker_has_the_lowest_priority_and_one_thread():
    check = WORK.replace("from rawkomem.faces.cli import run; sys.exit(run(sys.argv[1:]))", "")
    check += "from rawkomem.embed.blas import workers; from rawkomem.files.journal import yield_disk; yield_disk()"
    check += "; print(os.getpriority(os.PRIO_PROCESS, 0), workers(), os.environ['OMP_NUM_THREADS'])"
    environment = {**ENVIRONMENT, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", check], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["19", "1", "1"]
    assert not is_background()


@pytest.mark.time
@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: [0])(0)) < 2, reason="for want of a second core")
def test_a_run_in_the_background_takes_one_core(filled, monkeypatch):
    monkeypatch.setenv(BACKGROUND_VARIABLE, MARK)
    assert is_background() and steps_aside()
    before, started = time.process_time(), time.monotonic()
    assert deepen(filled.core.index) == MEMORIES
    assert time.process_time() - before <= 1.05 * (time.monotonic() - started)
