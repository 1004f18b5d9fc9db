"""The usage file keeps its history; what was counted in it once is not counted again."""

from __future__ import annotations

import os
import random

import pytest
from rawkomem.files import session_records
from rawkomem.files.layout import Layout
from rawkomem.files.private import make_private_folder
from rawkomem.files.session_records import Access, accesses, last_access, note_use, uses
from rawkomem.model.values import DAY, now

from tests.cpu import cpu_seconds, start_seconds

MAX_STATS_STARTS = 30


@pytest.fixture
def layout(project) -> Layout:
    make_private_folder(str(project / ".rawko" / "local"))
    return Layout(str(project / ".rawko"))


def private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def write_year(project, days: int = 365, a_day: int = 200) -> None:
    """Write what 200 injections a day of five memories each leave behind."""
    chance = random.Random(1)
    start = now() - days * DAY
    with open(project / ".rawko" / "local" / "usage.tsv", "w", opener=private) as stream:
        for number in range(days * a_day):
            ids = " ".join(f"mem_{min(1999, int(chance.expovariate(1 / 300))):06}" for _ in range(5))
            stream.write(f"{start + number * DAY // a_day}\tsession {number // 20}\t{number % 2000}\t{ids}\n")


def counted_slowly(layout: Layout) -> dict[str, Access]:
    found: dict[str, Access] = {}
    for use in uses(layout):
        for id in use.ids:
            known = found.get(id, Access())
            found[id] = Access(known.count + 1, max(known.last, use.at))
    return found


def test_counts_are_those_of_all_lines_with_and_without_the_cache(layout, project):
    write_year(project, days=20)
    expected = counted_slowly(layout)
    assert sum(access.count for access in expected.values()) == 20 * 200 * 5
    assert accesses(layout) == expected and (project / ".rawko/local/usage-counts.tsv").exists()
    note_use(layout, now(), "s", 10, ["mem_000001", "mem_new"])
    assert accesses(layout) == counted_slowly(layout) != expected
    assert last_access(layout) == {id: access.last for id, access in accesses(layout).items()}


@pytest.mark.parametrize("damage", ["12\tx\nmem\t1\t1\n", "x", "", "99999999\tabc\nmem\t1\t1\n", "0\t\nmem\tx\t1\n"])
def test_a_cache_of_another_file_is_not_used(damage, layout, project):
    write_year(project, days=20)
    expected = accesses(layout)
    (project / ".rawko/local/usage-counts.tsv").write_text(damage)
    assert accesses(layout) == expected
    write_year(project, days=10)
    assert accesses(layout) == counted_slowly(layout)


def test_the_cache_is_written_as_the_file_grows(layout, project, monkeypatch):
    monkeypatch.setattr(session_records, "MAX_UNCOUNTED_BYTES", 500)
    for number in range(60):
        note_use(layout, now() + number, "s", 10, [f"mem_{number % 7}"])
    assert (project / ".rawko/local/usage-counts.tsv").exists() and accesses(layout) == counted_slowly(layout)


def test_uses_since_a_time_are_those_that_a_whole_reading_finds(layout, project):
    write_year(project, days=8)
    every = uses(layout)
    for since in (every[0].at, every[-1].at, every[len(every) // 2].at + 1, every[-1].at + 1, 1):
        assert uses(layout, since) == [use for use in every if use.at >= since]


@pytest.mark.time
@pytest.mark.parametrize("cached", [True, False])
def test_stats_over_a_year_of_uses_stays_fast(layout, project, rawkomem, tmp_path_factory, cached):
    """Compiled modules are kept between the processes, as in an installation."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("compiled"))}
    rawkomem("add", "--title", "Deploy", input="Deploy with care.")
    rawkomem.process("stats", env=compiled)
    write_year(project)
    if cached:
        accesses(layout)  # what two thousand injections before has cached
    starts = cpu_seconds(lambda: rawkomem.process("stats", env=compiled)) / start_seconds()
    assert starts <= MAX_STATS_STARTS
