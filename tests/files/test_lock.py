"""One holder at a time, over processes and threads; nobody holds a lock after death."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from rawkomem.files.private import Lock
from rawkomem.model.errors import Busy, Unwritable

from tests.conftest import ROOT
from tests.files.plain_user import run_plain

HOLD = """
import sys, time
from rawkomem.files.private import Lock
with Lock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock; killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_taken_lock_is_busy_loses_no_descriptor_and_is_free_once_its_holder_is_killed(tmp_path, holder):
    with pytest.raises(Busy, match="another process holds"), Lock(str(tmp_path / "lock"), wait_s=0.2):
        pass
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(50):
        assert not Lock(str(tmp_path / "lock")).acquire(0)
        with Lock(str(tmp_path / "other")):
            pass
    assert not before or len(os.listdir("/proc/self/fd")) == before
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with Lock(str(tmp_path / "lock"), wait_s=1):
        pass


def test_a_lock_is_given_back_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), Lock(str(tmp_path / "lock")):
        raise ZeroDivisionError
    with Lock(str(tmp_path / "lock"), wait_s=0):
        pass


def test_threads_exclude_each_other(tmp_path):
    inside, most = [], []

    def work():
        for _ in range(20):
            with Lock(str(tmp_path / "lock")):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 120 and max(most) == 1


def test_a_lock_file_deleted_while_held_excludes_all_the_same(tmp_path):
    """`local/` is safe to delete at any time: who gets the lock afterwards must share it with later comers."""
    path = str(tmp_path / "lock")
    first, second, third = Lock(path), Lock(path), Lock(path)
    assert first.acquire(0)
    waiting = threading.Thread(target=lambda: second.acquire(5))
    waiting.start()
    time.sleep(0.05)
    os.unlink(path)
    first.release()
    waiting.join()
    assert second.stream and not third.acquire(0.1)
    second.release()
    assert third.acquire(0)
    third.release()


def test_a_folder_that_is_missing_is_made(tmp_path):
    with Lock(str(tmp_path / "deep" / "er" / "lock")):
        assert (tmp_path / "deep" / "er" / "lock").exists()


def test_a_read_only_folder_is_told(tmp_path):
    tmp_path.chmod(0o555)
    code = "import sys; from rawkomem.files.private import Lock; from rawkomem.model.errors import Unwritable\n"
    code += "try: Lock(sys.argv[1]).acquire(0)\nexcept Unwritable as failure: print(failure)"
    result = run_plain(code, tmp_path / "lock")
    tmp_path.chmod(0o755)
    assert "Permission denied" in result.stdout, result.stderr


def test_a_folder_in_place_of_the_lock_is_told(tmp_path):
    (tmp_path / "lock").mkdir()
    with pytest.raises(Unwritable):
        Lock(str(tmp_path / "lock")).acquire(0)
