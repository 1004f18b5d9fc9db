"""kill -9 while traces are consolidated, moved and compressed: every trace stays, and the next run ends the work."""

import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from rawkomem.files.archive import bundles, read_bundle
from rawkomem.files.installation import plan_start, write_start
from rawkomem.files.layout import Layout, sweep
from rawkomem.files.reading import QUARANTINE, read_file
from rawkomem.index.catalogue import memory_of
from rawkomem.repository import Repository
from rawkomem.state.trust import derived_from

from tests.commands import ENVIRONMENT, cases
from tests.learn.traces.runs import fill

pytestmark = pytest.mark.slow

CLOCK = {"consolidate": "2026-06-01T12:00:00Z", "retention": "2027-07-01T12:00:00Z"}


def command(project, name: str) -> subprocess.Popen:
    words = [name] if name == "consolidate" else ["tidy", name]
    run = [sys.executable, "-m", "rawkomem", *words, "--apply"]
    env = {**ENVIRONMENT, "RAWKOMEM_NOW": CLOCK[name]}
    return subprocess.Popen(run, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env, text=True)


def finish(project, name: str) -> float:
    started = time.monotonic()
    child = command(project, name)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    return time.monotonic() - started


def kept(project) -> list[str]:
    """The texts of all traces, wherever they lie; each file must be whole."""
    layout = Layout(str(project / ".rawko"))
    texts = {}
    for path in sweep(layout).paths:
        reading = read_file(layout.path(path), path)
        assert reading.verdict != QUARANTINE and not any(entry.draft for entry in reading.entries), (
            path,
            reading.problems,
        )
        if reading.entries[0].kind == "trace":
            texts[reading.entries[0].id] = (project / ".rawko" / path).read_text()
    for bundle in bundles(layout):
        texts |= {data.decode().split("\n")[1]: data.decode() for data in read_bundle(layout, bundle).values()}
    return sorted(set(texts.values()))


def outcome(project) -> list[object]:
    """What everything came to, but for ids that are made anew."""
    repository = Repository.open(str(project), warn=lambda message: None)
    memories = repository.core.read(lambda: [memory_of(doc) for doc in repository.core.index.catalogue.docs()])
    repository.close()
    said = [(m.kind, m.title, m.status, m.body, sorted(derived_from(m)), m.path) for m in memories]
    files = sorted(file.relative_to(project).as_posix() for file in (project / ".rawko" / "archive").rglob("*.*"))
    return [sorted(said), files]


def torture(folder, kills: int, seed: int) -> None:
    source = random.Random(seed)
    start, whole = folder / "start", folder / "whole"
    write_start(plan_start(str(start)))
    files = sorted(fill(start, 24).values())
    shutil.copytree(start, whole)
    took = {name: finish(whole, name) for name in CLOCK}
    wanted = outcome(whole)
    assert kept(whole) == files
    for round in range(kills):
        project = folder / f"killed{round}"
        shutil.copytree(start, project)
        for name in CLOCK:
            child = command(project, name)
            time.sleep(source.uniform(0.2, 1) * took[name])
            child.send_signal(signal.SIGKILL)
            child.communicate()
            assert kept(project) == files, (round, name)
            finish(project, name)
            assert kept(project) == files, (round, name)
        assert outcome(project) == wanted, round
        shutil.rmtree(project)


@pytest.mark.parametrize("seed", [2, 3])
def test_many_kills(tmp_path, seed):
    torture(tmp_path, cases(30, 4), seed)
