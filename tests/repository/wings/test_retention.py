"""Retention: what leaves after a day, what is compressed after a year, and the way back of both."""

import re

import pytest
from rawkomem.model.values import DAY, read_time

from tests.learn.traces.runs import GOALS, START, fill, trace
from tests.seeds import by_case
from tests.torture.helpers import write

BUNDLE = re.compile(r"2026-05\.[0-9a-f]{12}\.tar\.gz")


@pytest.fixture(autouse=True)
def fixed_clock(monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-06-01T12:00:00Z")


def names(project, area: str) -> list[str]:
    root = project / ".rawko" / area
    return sorted(file.relative_to(root).as_posix() for file in root.rglob("*.*")) if root.exists() else []


def test_idle_traces_that_were_learned_from_leave(project, rawkomem):
    files = fill(project, 4, goals=GOALS[:1])
    write(project / ".rawko", "traces/2026-06/fresh.md", trace(50, GOALS[0], at=read_time("2026-06-01T10:00:00Z")[0]))
    write(project / ".rawko", "traces/2026-05/alone.md", trace(51, "Repair the coffee machine"))
    dry = rawkomem("tidy", "retention")
    assert "+ learning" in dry.stdout and dry.stdout.count("→") == 4 and "nothing was written" in dry.stderr
    assert names(project, "archive") == []
    done = rawkomem.json("tidy", "retention", "--apply")
    assert len(done["entries"]) == 1 and len(done["moves"]) == 4
    assert names(project, "traces") == ["2026-05/alone.md", "2026-06/fresh.md"]  # not learned from; not idle
    moved = {name: (project / ".rawko" / "archive" / name).read_text() for name in names(project, "archive")}
    assert moved == {path.removeprefix("traces/"): text for path, text in files.items()}
    assert "nothing to do" in rawkomem("tidy", "retention", "--apply").stderr


@by_case("llmos", "archiveOldTraces")
def test_only_consolidated_traces_are_archived(case, project, rawkomem, repository):
    given = case["input"]
    old = START - given["olderThanDays"] * DAY
    for number, _ in enumerate(given["consolidated"]):
        write(project / ".rawko", f"traces/2026-05/c{number}.md", trace(number, GOALS[0], at=old + number))
    repository.lifecycle.learn_traces()
    for number, id in enumerate(given["active"]):
        write(project / ".rawko", f"traces/2026-05/{id}.md", trace(90 + number, "Repair the coffee machine", at=old))
    rawkomem("tidy", "retention", "--apply")
    found = [repository.get(f"trace-{number}-aaaaaa").status for number in (0, 1, 90)]
    assert found == [state or "active" for state in case["expected"]["states"]]
    assert len(names(project, "archive")) == case["expected"]["archived"]


def test_a_setting_lets_unlearned_traces_leave(project, rawkomem):
    write(project / ".rawko", "traces/2026-05/alone.md", trace(1, "Repair the coffee machine"))
    assert "nothing to do" in rawkomem("tidy", "retention", "--apply", env={"RAWKOMEM_NOW": "2027-06-01"}).stderr
    (project / ".rawko" / "config.yaml").write_text("keepDays:\n  traces: 30\n")
    assert "nothing to do" in rawkomem("tidy", "retention", "--apply").stderr
    assert (
        "idle for more than 30 days"
        in rawkomem("tidy", "retention", "--apply", env={"RAWKOMEM_NOW": "2026-07-15"}).stdout
    )


def test_a_year_later_months_are_compressed_and_come_back(project, repository, rawkomem):
    files = fill(project, 4, goals=GOALS[:1])
    rawkomem("consolidate", "--apply")
    later = {"RAWKOMEM_NOW": "2027-06-02T00:00:00Z"}
    assert "compressed: archive/2026-05" in rawkomem("tidy", "retention", env=later).stdout
    assert names(project, "archive") == [f"2026-05/t{n}.md" for n in range(4)]
    rawkomem("tidy", "retention", "--apply", env=later)
    (bundle,) = names(project, "archive")
    assert BUNDLE.fullmatch(bundle) and "nothing to do" in rawkomem("tidy", "retention", "--apply", env=later).stderr
    gone = rawkomem("show", "trace-1-aaaaaa", check=1).stderr
    assert "retention restore trace-1-aaaaaa" in gone and f"archive/{bundle}" in gone
    assert "unpacked" in rawkomem("tidy", "retention", "restore", "2026-05").stdout
    assert names(project, "archive") == [f"2026-05/t{n}.md" for n in range(4)]
    assert rawkomem("tidy", "retention", "restore", "2026-05").stdout.count("restored") == 4
    assert {
        f"traces/{name}": (project / ".rawko/traces" / name).read_text() for name in names(project, "traces")
    } == files
    assert repository.get("trace-1-aaaaaa").status == "active"


def test_one_trace_comes_back_from_a_bundle(project, repository, rawkomem):
    fill(project, 3, goals=GOALS[:1])
    rawkomem("consolidate", "--apply")
    rawkomem("tidy", "retention", "--apply", env={"RAWKOMEM_NOW": "2027-06-02"})
    done = rawkomem.json("tidy", "retention", "restore", "trace-2-aaaaaa")
    assert done["unpacked"] == ["archive/2026-05"] and done["moves"][0]["to"] == "traces/2026-05/t2.md"
    assert names(project, "traces") == ["2026-05/t2.md"] and repository.get("trace-2-aaaaaa").status == "active"


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [("2020-01", 1, "no month 2020-01"), ("nonsense", 1, "no memory"), ("trace-0-aaaaaa", 2, "not in the archive")],
)
def test_what_cannot_be_restored_is_told(project, rawkomem, what, code, said):
    fill(project, 1)
    assert said in rawkomem("tidy", "retention", "restore", what, check=code).stderr
