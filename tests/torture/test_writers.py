"""Many processes append to shared and to their own files while others search: none lost, none doubled, none locked out."""

import subprocess
import sys
from collections import Counter

import pytest
from rawkomem.files.layout import Layout, sweep
from rawkomem.files.reading import read_file

from tests.commands import ENVIRONMENT, cases
from tests.torture.helpers import assert_equals_rebuild, index_of

pytestmark = pytest.mark.slow

WRITER = """
import sys
from rawkomem.model.entries import Entry
from rawkomem.repository import Repository

repository = Repository.open(sys.argv[1])
writer, count = sys.argv[2], int(sys.argv[3])
for number in range(count):
    title = "Shared" if number % 2 else f"Own {writer}"
    repository.add(Entry(title=title, body=f"entry {writer}-{number}", by=writer))
    if number % 25 == 0:
        repository.search(f"entry {writer}")
"""
READER = """
import os, sys, time
from rawkomem.repository import Repository

repository = Repository.open(sys.argv[1])
answers, most, is_last = 0, 0, False
while not is_last:
    is_last = os.path.exists(sys.argv[2])
    found = repository.search("entry shared", limit=20)
    assert len(found) == len({hit.row.id for hit in found})
    count = len(repository.list())
    assert count >= most, f"{count} memories after {most}: something vanished"
    answers, most = answers + 1, count
    time.sleep(0.05)
print(answers)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )


def write_together(project, writers: int, each: int, readers: int) -> None:
    layout, end = Layout(str(project / ".rawko")), project / "end"  # of reading: when all writers are done
    index_of(layout).sync()
    processes = [start(WRITER, project, number, each) for number in range(writers)]
    reading = [start(READER, project, end) for _ in range(readers)]
    answers = 0
    try:
        for process in [*processes, *reading]:
            if process in reading:
                end.touch()
            out, err = process.communicate(timeout=600)
            assert process.returncode == 0, err[-2000:]
            assert "locked" not in err.lower() and "busy" not in err.lower(), err
            assert err == "", "nobody had anything to complain about"
            answers += int(out or 0)
    finally:
        for process in [*processes, *reading]:
            process.kill()
            process.communicate()
    assert answers >= readers
    bodies = Counter(
        entry.body
        for path in sweep(layout).paths
        for entry in read_file(layout.path(path), path).entries
    )  # fmt: skip
    assert bodies == Counter(f"entry {writer}-{number}" for writer in range(writers) for number in range(each))
    index = index_of(layout)
    index.refresh()
    assert len(index.catalogue.rows()) == writers * each
    assert_equals_rebuild(index)


def test_sixteen_writers(project):
    write_together(project, writers=16, each=cases(500, 100), readers=3)
