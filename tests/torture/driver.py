"""Run command lines in forks of one warm process, with a fault at one point: a tenth of the time of new processes.

Started as `python -m tests.torture.driver`; each line on standard input is a job as JSON, and so is each answer. A point is
whatever a command asks of the disk below .rawko or of SQLite: opening, writing, syncing, renaming, removing, listing
files, and statements. `how` is the error that the point `at` meets once: ENOSPC, EIO, EACCES, or kill. With
`kill_after_s`, the command is killed after some seconds, wherever it is.
"""

import errno
import importlib
import io
import json
import os
import pkgutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import apsw
import rawkomem
from rawkomem.faces.cli import run
from rawkomem.faces.cli.terminal import complain
from rawkomem.files import private
from rawkomem.learn.traces import ToldExperience
from rawkomem.model.errors import RawkoError
from rawkomem.repository import Repository

from tests.torture.faults import prepare, remember

OPTIONAL = ("lance", "postgres", "faces.mcp", "__main__", "transformer")
EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.listdir", "os.scandir", "os.utime")
SQLITE = {"ENOSPC": apsw.FullError, "EIO": apsw.IOError, "EACCES": apsw.CantOpenError}


def log_three(folder: str) -> int:
    """Add to a log that keeps three entries, so that each addition rotates it."""
    with Repository.open(folder, via="agent") as repository:
        written = repository.traces.log(ToldExperience(goal="Ship the parcel"), by="me", keep=3)
        print(f"recorded  {written.entry.id}")
        repository.core.follow()
    return 0


def prepare_all(folder: str) -> int:
    """Make the repository that every case starts from."""
    prepare(Path(folder))
    return 0


def remember_all(folder: str) -> int:
    """Fill this machine's records of a case."""
    remember(Path(folder))
    return 0


ACTIONS = {"@log": log_three, "@prepare": prepare_all, "@remember": remember_all}


class Points:
    """Counts the points of a run, and fails one of them."""

    def __init__(self, root: str, at: int, how: str):
        self.root, self.at, self.how, self.count, self.busy = root + os.sep, at, how, 0, False
        self.hit = ""

    def pass_by(self, name: str, database: bool = False) -> None:
        """Count a point; fail here if it is the one."""
        self.count += 1
        if self.count != self.at:
            return
        self.hit = name
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if database:
            raise SQLITE[self.how](f"injected {self.how}")
        number = getattr(errno, self.how)
        raise OSError(number, os.strerror(number), name)

    def audit(self, event: str, arguments: tuple) -> None:
        """Count what Python is about to ask of a file below the project."""
        if event in EVENTS and isinstance(arguments[0], (str, bytes)):
            path = os.path.abspath(os.fsdecode(arguments[0]))
            if path.startswith(self.root):
                self.pass_by(f"{event} {path[len(self.root) :]}")


def install(points: Points) -> None:
    """Put the points into this process, which ends with the command."""
    fsync = os.fsync

    def counted_fsync(descriptor: int) -> None:
        points.pass_by("fsync")
        fsync(descriptor)

    class File(io.FileIO):
        def write(self, data: bytes) -> int:
            try:
                points.pass_by("write")
            except OSError:
                super().write(data[: len(data) // 2])  # a disk gets full in the middle
                raise
            return super().write(data)

    class Connection(apsw.Connection):
        def __init__(self, *arguments: object, **named: object):
            points.pass_by("connect", database=True)
            super().__init__(*arguments, **named)

        def execute(self, sql: str, *rest: object, **named: object) -> object:
            points.pass_by(f"execute {sql[:40]}", database=True)
            return super().execute(sql, *rest, **named)

        def executemany(self, sql: str, *rest: object, **named: object) -> object:
            points.pass_by(f"executemany {sql[:40]}", database=True)
            return super().executemany(sql, *rest, **named)

    os.fsync, private.FileIO, apsw.Connection = counted_fsync, File, Connection
    sys.addaudithook(points.audit)


def run_job(job: dict) -> dict:
    """Run one command line in a fork; return its exit code (-9: killed), output, and the points that it passed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as count:
        child = os.fork()
        if not child:
            _in_child(job, (out, err, count))
        started = time.monotonic()
        if "kill_after_s" in job:
            time.sleep(job["kill_after_s"])
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        took = time.monotonic() - started
        streams = [_text(stream) for stream in (out, err, count)]
    number, _, hit = streams[2].partition(" ")
    done = {"code": os.waitstatus_to_exitcode(status), "out": streams[0], "err": streams[1]}
    return {**done, "count": int(number or 0), "hit": hit, "took": took}


def _in_child(job: dict, files: tuple) -> None:
    code = 70
    try:
        given, written = os.pipe()
        os.write(written, job.get("input", "").encode())
        os.close(written)
        for number, file in enumerate((given, *(stream.fileno() for stream in files[:2]))):
            os.dup2(file, number)
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            raw = io.FileIO(number, "w" if number else "r", closefd=False)
            setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(raw) if number else io.BufferedReader(raw), "utf-8"))
        os.environ.update(job.get("env", {}))
        os.chdir(job["cwd"])
        words = job["argv"]
        sys.argv = ["rawkomem", *words]
        points = Points(os.path.join(job["cwd"], ".rawko"), job.get("at", 0), job.get("how", ""))
        install(points)
        try:
            code = ACTIONS[words[0]](job["cwd"]) if words[0] in ACTIONS else run(list(words))
        except RawkoError as failure:
            code = complain(failure)
        except OSError as failure:  # of a call of the library; a command says it in a line
            code = complain(RawkoError(str(failure)))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        points.at = 0
        os.write(files[2].fileno(), f"{points.count} {points.hit}".encode())
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _text(stream) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")


def main() -> None:
    """Load everything once, then answer jobs until standard input ends."""
    for module in pkgutil.walk_packages(rawkomem.__path__, "rawkomem."):
        if not any(part in module.name for part in OPTIONAL):
            importlib.import_module(module.name)
    for line in sys.stdin:
        print(json.dumps(run_job(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
