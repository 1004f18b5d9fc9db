"""Traces to learnings in real files, by command: what is written, what is put away, what a review sees, how long it takes."""

import pytest
from rawkomem.state.trust import derived_from

from tests.learn.traces.runs import GOALS, fill, trace
from tests.torture.helpers import write


@pytest.fixture(autouse=True)
def fixed_clock(monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-06-01T12:00:00Z")


def paths(project, area: str) -> dict[str, str]:
    root = project / ".rawko"
    return {file.relative_to(root).as_posix(): file.read_text() for file in sorted((root / area).rglob("*.md"))}


def learnings(repository):
    rows = [row for row in repository.list() if row.kind == "learning"]
    return [repository.get(row.id) for row in rows]


def test_consolidate(project, repository, rawkomem):
    files = fill(project, 12)
    assert "nothing was written" in rawkomem("consolidate").stderr
    dry = rawkomem("consolidate")
    assert dry.stdout.count("+ learning ") == 4 and "    + ## Recommended Approach" in dry.stdout
    assert dry.stdout.count(" → archive/") == 12 and "nothing was written" in dry.stderr
    assert paths(project, "traces") == files and not learnings(repository)
    told = rawkomem("consolidate", "--apply").stdout
    assert told.count("+ learning ") == 4 and " → archive/2026-05/" in told
    assert paths(project, "traces") == {}
    assert paths(project, "archive") == {path.replace("traces/", "archive/"): text for path, text in files.items()}
    after = paths(project, ".")
    assert "nothing to do" in rawkomem("consolidate", "--apply").stderr and paths(project, ".") == after
    for goal in GOALS:
        assert repository.search(goal, 5)[0].row.kind == "learning"


def test_a_learning_is_believed_no_more_than_its_traces_and_names_them(project, repository, rawkomem):
    fill(project, 4, goals=GOALS[:1])
    rawkomem("consolidate", "--apply")
    (learning,) = learnings(repository)
    assert derived_from(learning) == tuple(f"trace-{n}-aaaaaa" for n in range(4))
    sources = [repository.beliefs.trust(repository.get(id)).value for id in derived_from(learning)]
    assert repository.beliefs.trust(learning).value <= min(sources)
    assert "came by distilled" in rawkomem("show", learning.id).stdout


def test_later_traces_amend_the_learning(project, repository, rawkomem):
    fill(project, 4, goals=GOALS[:1])
    rawkomem("consolidate", "--apply")
    (before,) = learnings(repository)
    fill(project, 2, start=10, goals=GOALS[:1])
    assert "~ amend" in rawkomem("consolidate", "--apply").stdout
    (after,) = learnings(repository)
    assert after.id == before.id and "Observed in 6 executions" in after.body and paths(project, "traces") == {}


def test_if_due(project, rawkomem):
    fill(project, 9)
    said = rawkomem.json("consolidate", "--apply", "--if-due")
    assert said == {"schema": 1, "due": False, "new_traces": 9, "least": 10, "last_run": ""}
    assert "not due: 9 new traces" in rawkomem("consolidate", "--apply", "--if-due").stdout
    fill(project, 10)
    assert "+ learning" in rawkomem("consolidate", "--apply", "--if-due").stdout
    later = {"RAWKOMEM_NOW": "2026-06-09T12:00:00Z"}
    write(project / ".rawko", "traces/2026-05/new.md", trace(77, "Something else entirely"))
    assert "not due: 1 new trace;" in rawkomem("consolidate", "--apply", "--if-due").stdout
    assert "not due" not in rawkomem("consolidate", "--apply", "--if-due", env=later).stdout


def test_a_file_with_another_memory_in_it_stays(project, rawkomem):
    fill(project, 3, goals=GOALS[:1])
    file = project / ".rawko" / "traces" / "2026-05" / "t1.md"
    file.write_text(file.read_text() + "\n---\n\n---\ntitle: A note\n---\n\nBeside it.\n")
    rawkomem("consolidate", "--apply")
    assert list(paths(project, "traces")) == ["traces/2026-05/t1.md"]


@pytest.mark.slow
def test_many_traces_are_consolidated_and_a_second_run_changes_nothing(project, repository, rawkomem):
    count = 500
    goals = [f"{verb} the {what}" for verb in ("Deploy", "Test", "Document") for what in
             ("billing service", "audio plot", "customer import", "search index", "login page", "sales report")]  # fmt: skip
    files = fill(project, count, goals=goals)
    repository.sync()
    rawkomem("consolidate", "--apply")
    assert len(paths(project, "traces")) + len(paths(project, "archive")) == len(files)
    assert sum(len(derived_from(one)) for one in learnings(repository)) == count == len(paths(project, "archive"))
    after = paths(project, ".")
    rawkomem("consolidate", "--apply")
    assert paths(project, ".") == after
