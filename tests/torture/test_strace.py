"""Each system call of a command on a file below .rawko fails once, by strace: SQLite's own calls, too.

RAWKOMEM_SYSCALLS says how many calls of each command fail; by default 4.
"""

import os
import random
import re
import shutil
import subprocess
import sys

import pytest

from tests.torture.faults import CLOCK, COMMANDS, NOW, Case

pytestmark = pytest.mark.slow

CALLS = "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,ftruncate,fchmod"
FAULTS = ("error=ENOSPC", "error=EIO", "error=EACCES", "signal=KILL")
LINE = re.compile(r"^(\d+)\s+(\w+)\(")
TRIES = 6  # for each wanted fault: how often a command reads a file depends on the clock, which shifts the numbers
COUNT = int(os.environ.get("RAWKOMEM_SYSCALLS", "4"))
OPTIONAL = "?"  # strace: a call that this machine may lack


def _works() -> bool:
    command = ["strace", "-o", os.devnull, "true"]
    return bool(shutil.which("strace")) and subprocess.run(command, capture_output=True, check=False).returncode == 0


def strace(case: Case, log, *options: str) -> dict:
    """Run the case's command in a new process below strace."""
    words, given = COMMANDS[case.name]
    calls = ",".join(OPTIONAL + call for call in CALLS.split(","))
    command = ["strace", "-f", "-y", "-o", str(log), "-e", f"trace={calls}", *options]
    env = {**case.driver.env, "RAWKOMEM_NOW": CLOCK.get(case.name, NOW), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*command, sys.executable, "-m", "rawkomem", *words],
        cwd=case.folder, env=env, input=given, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    code = -9 if done.returncode in (-9, 137) else done.returncode
    return {"code": code, "out": done.stdout, "err": done.stderr, "hit": "", "count": 0}


def calls_of(log, folder) -> list[tuple[str, int]]:
    """Return (call, which one of its name) for each call of the main thread on a file below .rawko."""
    lines = log.read_text("utf-8", "replace").splitlines()
    main = LINE.match(lines[0])[1]
    seen: dict[str, int] = {}
    found = []
    for line in lines:
        call = LINE.match(line)
        if call and call[1] == main:
            seen[call[2]] = seen.get(call[2], 0) + 1
            if f"{folder}/.rawko/" in line:
                found.append((call[2], seen[call[2]]))
    return found


@pytest.mark.skipif(not _works(), reason="strace is not installed, or may not trace here")
@pytest.mark.parametrize("name", [name for name, (words, _) in COMMANDS.items() if not words[0].startswith("@")])
def test_each_system_call_fails_once(name, driver, left, tmp_path):
    once, log = left[name][0], tmp_path / "log"
    case = Case(driver, name, once)
    assert strace(case, log)["code"] == 0
    calls = calls_of(log, case.folder)
    shutil.rmtree(case.folder)
    source, met = random.Random(name), 0
    wanted = min(COUNT, len(calls))
    for call, number in source.sample(calls, min(TRIES * COUNT, len(calls))):
        fault = source.choice(FAULTS)
        case = Case(driver, name, once)
        done = strace(case, log, "-e", f"inject={call}:{fault}:when={number}")
        injected = [line for line in log.read_text("utf-8", "replace").splitlines() if "INJECTED" in line]
        if done["code"] == -9 or any(f"{case.folder}/.rawko/" in line for line in injected):
            met += 1
            case.check({**done, "hit": injected or f"{call} {number} {fault}"})
        else:
            shutil.rmtree(case.folder)  # another call was the n-th this time
        if met == wanted:
            break
    print(f"{name}: {met} faults in {len(calls)} calls")
    assert met >= wanted / 2
