"""A job in the background: detached, one at a time, with its errors in a log beside its lock."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rawkomem.files import background
from rawkomem.files.background import start_background
from rawkomem.files.layout import Layout
from rawkomem.files.private import lock

from tests.commands import ROOT

WORK = "import os, sys; print('errors', file=sys.stderr); open(sys.argv[-1], 'w').write(f'{os.getsid(0)} {sys.stdin.read()}')"


@pytest.fixture
def layout(project, monkeypatch) -> Layout:
    monkeypatch.setattr(background, "WORK", WORK)
    return Layout(str(project / ".rawko"))


def until_written(file: Path) -> str:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not (file.exists() and file.read_text()):
        time.sleep(0.02)
    return file.read_text()


@pytest.mark.parametrize("way", ["_spawn", "_popen"])
def test_a_job_runs_apart_and_leaves_a_log(way, layout, tmp_path, monkeypatch):
    monkeypatch.setattr(background, "_spawn", getattr(background, way))
    job, given, out = lock(layout, "sender"), tmp_path / "given", tmp_path / "out"
    given.write_text("said")
    with open(given, "rb") as stream:
        assert start_background(layout, job, "sinks", str(out), stdin=stream.fileno())
    session, said = until_written(out).split()
    assert said == "said" and int(session) != os.getsid(0)
    log = Path(layout.local, "sinks", "sender.log")
    assert f"start: sinks {out}\nerrors\n" in log.read_text() and log.stat().st_mode & 0o777 == 0o600


def test_one_at_a_time(layout, tmp_path):
    job, out = lock(layout, "sender"), tmp_path / "out"
    with lock(layout, "sender"):
        assert not start_background(layout, job, str(out))
        assert start_background(layout, job, str(out), queue=True)
    assert until_written(out)
    assert start_background(layout, job, str(tmp_path / "again")) and until_written(tmp_path / "again")


def test_ended_jobs_are_no_zombies(layout, tmp_path):
    for number in range(3):
        out = tmp_path / str(number)
        assert start_background(layout, lock(layout, "sender"), str(out)) and until_written(out)
        time.sleep(0.2)
    assert len(background._children) <= 2


UNWAITED = """
import os, select, sys
from rawkomem.files.background import do_unwaited
def work():
    select.select([], [], [], 1.5)
    print("in nobody's way")
    open(sys.argv[1], "w").write(str(os.getsid(0)))
do_unwaited(work)
print("answered", flush=True)
os._exit(0)
"""


def test_nobody_waits_for_what_a_copy_of_the_process_does(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-c", UNWAITED, str(out)]
    answer = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout  # until the pipe closes
    assert answer == "answered\n" and not out.exists()
    assert int(until_written(out)) != os.getsid(0)


def test_a_process_with_threads_makes_no_copy():
    done: list[int] = []
    background.do_unwaited(lambda: done.append(os.getpid()))
    assert done == [os.getpid()]


def test_a_log_has_no_control_characters(layout, tmp_path):
    out = tmp_path / "out"
    assert start_background(layout, lock(layout, "learner"), "\x1b]0;owned\x07\n2026 forged", str(out))
    assert until_written(out)
    first = Path(layout.local, "heard.log").read_text().splitlines()[0]
    assert first.isprintable() and first.endswith(f"2026 forged {out}")
