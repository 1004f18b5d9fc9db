"""The work of a session, recorded once: a trace, a line of the log, one of the personal log; and learnings when due."""

import os
from pathlib import Path

import pytest
from rawkomem.files.installation import make_personal_folder, plan_start, write_start
from rawkomem.files.layout import Layout, personal_root
from rawkomem.learn.turns import USER, Turn
from rawkomem.repository import Repository
from rawkomem.state.runs import outcome_of, run_of

from tests.learn.traces.test_from_session import GOAL, ran, said, wrote

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def personal():
    """The user's own repository."""
    place = os.path.dirname(personal_root())
    make_personal_folder(place)
    write_start(plan_start(place))
    return Layout(personal_root())


def asked(goal: str, *turns) -> list[Turn]:
    first, *rest = said(*turns)
    return [Turn(USER, goal, first.at), *rest]


def test_a_trace_and_a_line_of_the_log(repository, project):
    turns = said(wrote(f"{project}/a.py"), ran("pytest -q", False), "thanks")
    written = repository.traces.record_session(turns, "claude", "s-1")
    (trace,) = repository.traces.list()
    assert trace.id == written.entry.id and trace.path.startswith("traces/2026-01/") and trace.title == GOAL
    assert (trace.by, outcome_of(trace), trace.extra["session"], trace.extra["files_created"]) == (
        "claude", "success", "s-1", ["a.py"],
    )  # fmt: skip
    assert repository.beliefs.trust(trace).value < 0.6 and not repository.beliefs.is_vouched(trace.id)
    (line,) = repository.traces.experiences()
    assert (line.title, outcome_of(line), line.extra["project_name"]) == (GOAL, "success", project.name)
    assert GOAL in repository.traces.brief("add a retry to the payment client").text
    assert repository.warnings == [] and not any(file.problems for file in repository.check())


def test_a_session_is_recorded_once(repository, project):
    turns = said(wrote("a.py"), ran("pytest -q", False))
    assert repository.traces.record_session(turns, "claude", "s-1")
    assert repository.traces.record_session(turns, "claude", "s-1") is None
    more = [*turns, *said(wrote("b.py"), "no, that is wrong")[1:]]
    assert repository.traces.record_session(more, "claude", "s-1")
    assert repository.traces.record_session(more, "claude", "s-1") is None
    (trace,) = repository.traces.list()
    assert outcome_of(trace) == "failure" and trace.extra["files_created"] == ["a.py", "b.py"]
    assert "The person objected." in run_of(trace).results and "Write b.py" in trace.body
    (line,) = repository.traces.experiences()
    assert outcome_of(line) == "failure"
    assert len(list((project / ".rawko" / "traces").rglob("*.md"))) == 1


def test_the_last_turns_alone_add_to_what_is_recorded(repository, project):
    """OpenCode passes the last messages of a session, and no transcript."""
    repository.traces.record_session(said(wrote("a.py"), ran("make build", False)), "opencode", "s-1")
    (before,) = repository.traces.list()
    assert repository.traces.record_session(asked("now the other", wrote("b.py")), "opencode", "s-1")
    (trace,) = repository.traces.list()
    assert trace.title == GOAL and trace.extra["files_created"] == ["a.py", "b.py"]
    assert trace.extra["tools_used"] == before.extra["tools_used"]
    assert trace.extra["duration_ms"] == before.extra["duration_ms"]
    assert run_of(trace).steps == ("Write a.py - done", "`make build` - done", "Write b.py - done")


def test_what_cannot_be_recognized_again_is_not_recorded(repository):
    turns = [Turn(turn.role, turn.text, did=turn.did) for turn in said(wrote("a.py"))]
    assert repository.traces.record_session(turns, "chat", "") is None
    assert repository.traces.record_session(said("what is this?"), "claude", "s-1") is None
    assert not repository.traces.list() and not repository.traces.experiences()


def test_secrets_are_redacted(repository, project, personal):
    turns = asked(f"deploy with {SECRET} now", ran(f"deploy --token {SECRET}", True))
    assert repository.traces.record_session(turns, "claude", "s-1").redacted
    for root in (project / ".rawko", personal.root):
        texts = [file.read_text() for file in Path(root).rglob("*.md")]
        assert any("deploy with" in text for text in texts) and not any(SECRET in text for text in texts)


def test_the_personal_log_holds_all_projects(repository, project, personal, rawkomem, tmp_path_factory):
    repository.traces.record_session(said(wrote("a.py")), "claude", "s-1")
    with Repository.init(tmp_path_factory.mktemp("other") / "shop") as other:
        other.traces.record_session(asked("Translate the manual pages", wrote("man.md")), "codex", "s-2")
    lines = rawkomem.json("trace", "log", "--personal")
    assert {(line["goal"], line["project"]) for line in lines} == {
        (GOAL, project.name), ("Translate the manual pages", "shop"),
    }  # fmt: skip
    assert "Translate" in rawkomem("trace", "log", "--personal").stdout
    own = rawkomem("trace", "log").stdout
    assert GOAL[:18] in own and "Translate" not in own
    assert rawkomem("trace", "log", "--personal", "-n", "1").stdout.count("\n") == 1


def test_three_sessions_of_one_goal_make_a_learning(repository, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-01-24T10:30:00Z")
    lifecycle = repository.lifecycle
    for number, goal in enumerate((GOAL, "add a retry to our payment client", "Add retries to the payment client")):
        assert lifecycle.learn_when_due() is None
        repository.traces.record_session(asked(goal, wrote("a.py"), ran("pytest -q", False)), "claude", f"s-{number}")
    assert lifecycle.learn_when_due().written
    (row,) = repository.list(kind="learning")
    assert "3" in repository.get(row.id).body and lifecycle.learn_when_due() is None
    assert len(repository.traces.list()) == 3  # retention moves them, nobody else
    assert "`pytest -q`" in repository.traces.brief("add a retry to the payment client").text
