"""Traces and the log are records, not memories: nobody gets them who did not ask."""

import io

import pytest
from rawkomem.files.machine_records import note_transcript
from rawkomem.hosts import hook_sessions

from tests.hosts.hooks.test_learning import GOALS, transcript

GOAL, LOGGED = "Run the tests of the date parser", "Run the tests of the mail parser"


@pytest.fixture
def recorded(repository, git):
    """A trace, a line of the log and a memory, committed by a person."""
    trace = repository.traces.add(GOAL, steps=("pytest tests/test_dates.py - done",), via="agent").entry.id
    line = repository.traces.log(LOGGED, via="agent").entry.id
    repository.add("The date parser of sqlite3 cannot load extensions.", title="Why apsw", when=("sqlite",))
    git.commit("memories")
    return trace, line


def test_a_prompt_gets_no_record(recorded, repository):
    for task in (GOAL, "run the tests", *recorded):
        injection = repository.inject(task)
        shown = {item.memory.id for item in (*injection.items, *injection.pointers)}
        assert shown.isdisjoint(recorded), task
    assert [item.memory.id for item in repository.inject(GOAL, kind="trace").items] == [recorded[0]]


def test_why_says_that_a_record_is_not_injected(recorded, rawkomem):
    for id, kind in zip(recorded, ("trace", "experience"), strict=True):
        assert f"only with --kind {kind}" in rawkomem("why", id, GOAL, check=1).stdout


def test_a_plain_search_finds_no_record(recorded, repository, rawkomem):
    assert {found.row.id for found in repository.search(GOAL)}.isdisjoint(recorded)
    for id, kind in zip(recorded, ("trace", "experience"), strict=True):
        assert [found.row.id for found in repository.search(GOAL, kind=kind)] == [id]
    assert all(id in rawkomem("context", "--goal", GOAL).stdout for id in recorded)


def test_no_commit_vouches_for_a_record(recorded, repository, git, rawkomem):
    assert [repository.beliefs.is_vouched(id) for id in recorded] == [False, False]
    assert rawkomem("context", "--goal", GOAL).stdout.count("[not verified]") == 2
    assert "nothing waits" in rawkomem("review").stderr, "and nobody is asked to review them"
    repository.beliefs.review(recorded[0], "activate")
    git.commit("a person's review")
    assert repository.beliefs.is_vouched(recorded[0])


def test_records_stay_unvouched_in_a_rebuilt_index(recorded, repository):
    before = [(row.id, row.vouched) for row in repository.list()]
    repository.store.rebuild()
    assert [(row.id, row.vouched) for row in repository.list()] == before


def test_the_start_of_a_session_counts_memories_only(recorded, repository):
    assert "(1 in use)" in hook_sessions.opening(repository).text


def _end_of_a_session(project, repository, folder) -> None:
    file = folder / "s-1.jsonl"
    file.write_bytes(transcript(project, "s-1", GOALS[0]))
    note_transcript(repository.layout, "s-1", str(file))
    hook_sessions.record_work(repository, "claude", str(file), io.BytesIO(), ended=True)


@pytest.mark.parametrize("setting", ["", "recordSessions: off\n", "recordSessions: on\n"])
def test_a_session_leaves_nothing_unless_it_was_asked_for(setting, project, git, repository, tmp_path_factory):
    (project / ".rawko" / "config.yaml").write_text(setting)
    git.commit("start")
    _end_of_a_session(project, repository, tmp_path_factory.mktemp("claude"))
    changed = [line.split()[-1] for line in git("status", "--porcelain", "-uall").splitlines()]
    assert [path.split("/")[1] for path in changed] == (["log", "traces"] if ": on" in setting else [])


def test_traces_of_an_earlier_version_stay_and_are_used(recorded, project, repository, rawkomem, tmp_path_factory):
    _end_of_a_session(project, repository, tmp_path_factory.mktemp("claude"))
    listed = rawkomem.json("trace", "list")
    assert [one["trace_id"] for one in listed] == [recorded[0]], "no new one, and the old one is there"
    repository.traces.add(GOAL, via="agent")
    assert "learning" in rawkomem("tidy", "consolidate").stdout
