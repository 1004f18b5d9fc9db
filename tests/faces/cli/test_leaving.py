"""A hot command leaves at once, and nothing that it owes is lost: output, exit code, what waits for the end."""

import shlex
import sys

import pytest

from tests.commands import START, run_process
from tests.torture.helpers import memory

LEAVE = "from rawkomem.faces.cli import leave;"


@pytest.fixture
def filled(rawkomem, memories):
    (memories / "a.md").write_text(memory("Apple", "About apples."))
    rawkomem("sync")
    return rawkomem


def ended(code: str, folder) -> tuple[int, str, str]:
    done = run_process([sys.executable, "-c", LEAVE + code], input="", cwd=folder, env={})
    return done.returncode, done.stdout, done.stderr


def test_what_was_printed_before_a_failure_comes_out(tmp_path):
    said = "import sys; sys.stdout.write('said'); sys.stderr.write('failed'); leave(3)"
    assert ended(said, tmp_path) == (3, "said", "failed")


def test_what_waits_for_the_end_is_done(tmp_path):
    assert ended("import atexit; atexit.register(print, 'at the end'); leave(4)", tmp_path) == (4, "at the end\n", "")
    slow = "import threading; threading.Timer(0.05, print, ['the other thread']).start(); leave(0)"
    assert ended(slow, tmp_path) == (0, "the other thread\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("streams", "code", "said"), [("2>&-", 0, "Apple"), ("| head -c 1", 0, " "), ("2>&1", 0, "Apple")]
)
def test_streams_that_end_early(filled, streams, code, said):
    line = f"{shlex.join([*START, 'search', 'apples'])} {streams}"
    done = run_process(["sh", "-c", line], input="", cwd=filled.folder, env={})
    assert (done.returncode, done.stderr) == (code, "") and said in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk_is_told(filled):
    line = f"{shlex.join([*START, 'search', 'apples'])} > /dev/full"
    done = run_process(["sh", "-c", line], input="", cwd=filled.folder, env={})
    assert done.returncode == 1 and "No space left on device" in done.stderr
