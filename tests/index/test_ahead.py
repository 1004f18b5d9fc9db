"""Reading ahead in a second process: the same index, whatever happens to that process and wherever it starts."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from rawkomem.files.layout import Layout
from rawkomem.index import ingest, sync
from rawkomem.index.ingest import ReadAhead
from rawkomem.index.readings import read_for_index

from tests.torture.helpers import assert_equals_rebuild, change, index_of, memory, write


@pytest.fixture
def layout(project, monkeypatch) -> Layout:
    monkeypatch.setattr(ingest, "MIN_FILES_AHEAD", 1)
    return Layout(str(project / ".rawko"))


def batches_of(layout: Layout, count: int, each: int) -> list[list[str]]:
    paths = [f"memories/m{number:04}.md" for number in range(count)]
    for path in paths:
        write(Path(layout.root), path, memory(path, f"apple {path}"))
    return [paths[start : start + each] for start in range(0, count, each)]


def take_all(reading: ReadAhead) -> list[dict]:
    try:
        return [reading.take() for _ in reading.batches]
    finally:
        reading.close()


def expected(layout: Layout, batches: list[list[str]]) -> list[dict]:
    return [{path: read_for_index(layout, path) for path in batch} for batch in batches]


def test_what_is_read_ahead_is_what_would_be_read_here(layout):
    batches = batches_of(layout, 40, 7)
    assert take_all(ReadAhead(layout, batches)) == expected(layout, batches)


def test_the_index_is_the_same(layout, monkeypatch):
    monkeypatch.setattr(sync, "BATCH_FILES", 5)
    batches_of(layout, 40, 7)
    write(Path(layout.root), "memories/z.md", change("amend", "m0003", "zebra"))
    write(Path(layout.root), "memories/y.md", "\0")
    made = index_of(layout)
    made.sync()
    monkeypatch.setattr(ingest, "MIN_FILES_AHEAD", 10**9)
    assert_equals_rebuild(made)


def test_files_that_vanish_are_left_out(layout):
    batches = batches_of(layout, 10, 5)
    Path(layout.path(batches[1][2])).unlink()
    taken = take_all(ReadAhead(layout, batches))
    assert len(taken[0]) == 5 and sorted(taken[1]) == sorted(set(batches[1]) - {batches[1][2]})


def test_a_killed_reader_costs_nothing_but_time(layout, monkeypatch):
    monkeypatch.setattr(sync, "BATCH_FILES", 5)
    batches_of(layout, 40, 7)
    take = ReadAhead.take

    def kill_first(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        return take(self)

    monkeypatch.setattr(ReadAhead, "take", kill_first)
    made = index_of(layout)
    made.sync()
    monkeypatch.setattr(ReadAhead, "take", take)
    assert_equals_rebuild(made)


def test_long_paths_and_long_files_do_not_make_both_sides_wait(layout):
    """More paths than a pipe holds on one side, more text than a pipe holds on the other."""
    folder = "/".join(["memories", "x" * 200, "y" * 200, "z" * 200])
    paths = [f"{folder}/{number:04}{'n' * 150}.md" for number in range(400)]
    for path in paths:
        write(Path(layout.root), path, memory("Long", "apple " * 100))
    batches = [paths[:200], paths[200:]]
    results: list[list[dict]] = []
    thread = threading.Thread(target=lambda: results.append(take_all(ReadAhead(layout, batches))), daemon=True)
    thread.start()
    thread.join(30)
    assert results and [len(batch) for batch in results[0]] == [200, 200], "the two processes wait for each other"


def test_the_second_process_runs_no_code_from_the_folder_it_starts_in(layout, tmp_path, monkeypatch):
    """A project is not to be trusted: it may hold modules with the names of ours."""
    trap = "import pathlib; pathlib.Path(__file__).with_name('pwned').touch()"
    for name in (
        "pickle.py",
        "struct.py",
        "rawkomem/__init__.py",
        "rawkomem/index/__init__.py",
        "rawkomem/index/ingest.py",
    ):
        write(tmp_path / "trap", name, trap)
    monkeypatch.chdir(tmp_path / "trap")
    batches = batches_of(layout, 6, 3)
    assert take_all(ReadAhead(layout, batches)) == expected(layout, batches)
    assert not list((tmp_path / "trap").rglob("pwned"))
