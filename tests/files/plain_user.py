"""Runs code without root's power over permissions, so that EACCES is real in a container too."""

import ctypes
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

DROP_FROM_BOUNDING_SET = 24  # prctl
OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def drop_power() -> None:
    """In the child, before it starts: root keeps its name, and is asked for permissions like anybody else."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in OVERRIDES:
            libc.prctl(DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)


def run_plain(code: str, *arguments: object, limit_file: int = 0) -> subprocess.CompletedProcess[str]:
    """Run Python code as a user whom permissions bind; `limit_file`: bytes after which a write fails."""
    if sys.platform != "linux":
        pytest.skip("needs Linux capabilities")

    def prepare() -> None:
        drop_power()
        if limit_file:
            import resource
            import signal

            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_file, limit_file))

    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=prepare,
        timeout=60,
    )
