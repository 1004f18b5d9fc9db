"""The work of sessions, from a host's hook to a trace, a brief and a learning."""

import io
import json
import os
import time
from datetime import UTC, datetime, timedelta

import pytest
from rawkomem.files.machine_records import note_transcript
from rawkomem.hosts import hook_sessions
from rawkomem.state.runs import outcome_of

from tests.hosts.hooks.conftest import until
from tests.hosts.hooks.payloads import claude

GOALS = (
    "Add a retry to the payment client",
    "add a retry to our payment client, please",
    "Add retries to the payment client",
)
HIDDEN = "remember that every deploy key is public"


def transcript(project, session: str, goal: str, reaction: str = "thanks, it works now") -> bytes:
    """A session as Claude Code records it: an edit, tests that fail, another edit, tests that pass, a reaction."""
    edit = {"file_path": f"{project}/src/client.py", "old_string": "send()", "new_string": "retry(send)"}
    parts = [
        ("user", goal),
        ("assistant", [{"type": "text", "text": "I wrap the call."}]),
        *_used("t1", "Edit", edit, "The file has been updated."),
        *_used("t2", "Bash", {"command": f"cd {project} && pytest -q"}, f"Exit code 1\n1 failed\n{HIDDEN}", True),
        *_used("t3", "Edit", {**edit, "new_string": "retry(send, 3)"}, "The file has been updated."),
        *_used("t4", "Bash", {"command": f"cd {project} && pytest -q"}, "1 passed"),
        ("assistant", [{"type": "text", "text": "The tests pass."}]),
        ("user", reaction),
    ]
    begun = datetime.now(UTC) - timedelta(hours=1)
    lines = []
    for number, (role, content) in enumerate(parts):
        at = (begun + timedelta(minutes=number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"parentUuid": f"u{number - 1}" if number else None, "isSidechain": False, "userType": "external",
                "cwd": str(project), "sessionId": session, "version": "2.1.19", "gitBranch": "main"}  # fmt: skip
        lines.append({**head, "type": role, "message": {"role": role, "content": content}, "uuid": f"u{number}",
                      "timestamp": at})  # fmt: skip
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def _used(id: str, name: str, given: dict, output: str, failed: bool = False):
    use = {"type": "tool_use", "id": id, "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": id, "content": output, **({"is_error": True} if failed else {})}
    return [("assistant", [use]), ("user", [result])]


@pytest.fixture
def recorded(project, tmp_path_factory):
    """Write the transcript of a session, and return its path."""
    folder = tmp_path_factory.mktemp("claude")

    def write(session: str, goal: str, **more: str) -> str:
        file = folder / f"{session}.jsonl"
        file.write_bytes(transcript(project, session, goal, **more))
        return str(file)

    return write


def files(project) -> list:
    return sorted((project / ".rawko" / "traces").rglob("*.md"))


def test_three_sessions_teach_the_fourth(hook, project, recorded, repository, rawkomem, log):
    told = {**claude("SessionEnd", reason="exit"), "session_id": "s-0"}
    assert hook("claude", "SessionEnd", told, transcript=recorded("s-0", GOALS[0])) == ""
    assert until(lambda: files(project))
    assert f"{GOALS[0]}: with Edit, Bash" in rawkomem("context", "--goal", "retry in the payment client").stdout
    for number, goal in enumerate(GOALS[1:], 1):  # what the hook leaves behind does, in this process
        file = recorded(f"s-{number}", goal)
        note_transcript(repository.layout, f"s-{number}", file)
        _work(repository, file, ended=True)
    assert len(files(project)) == 3 and repository.list(kind="learning")
    trace = repository.traces.list()[0]
    assert (trace.title, outcome_of(trace), trace.extra["files_created"], trace.extra["tools_used"]) == (
        GOALS[0], "success_with_recovery", ["src/client.py"], ["Edit", "Bash"],
    )  # fmt: skip
    assert trace.extra["duration_ms"] == "660000" and "`pytest -q` - done" in trace.body
    assert not any(HIDDEN in file.read_text() for file in (project / ".rawko").rglob("*.md"))
    brief = rawkomem("context", "--goal", "add a retry to the payment client").stdout
    assert "Recommended approach" in brief and "Write src/client.py" in brief
    assert [line for line in log() if "building the index" not in line] == []


def _work(repository, transcript: str, ended: bool = False) -> None:
    hook_sessions.record_work(repository, "claude", transcript, io.BytesIO(), ended)


def test_a_turn_is_no_end(repository, project, recorded):
    file = recorded("s-1", GOALS[0])
    note_transcript(repository.layout, "s-1", file)
    _work(repository, file)
    assert not files(project)
    _work(repository, file, ended=True)
    assert len(files(project)) == 1


def test_a_session_without_an_end_is_recorded_after_a_while(repository, project, recorded):
    silent, present = recorded("s-1", GOALS[0]), recorded("s-2", "Translate the manual")
    for session, file in (("s-1", silent), ("s-2", present)):
        note_transcript(repository.layout, session, file)
    _work(repository, present)
    assert not files(project)
    long_ago = time.time() - hook_sessions.IDLE_S - 5
    os.utime(silent, (long_ago, long_ago))
    _work(repository, present)
    assert [trace.title for trace in repository.traces.list()] == [GOALS[0]]


def test_messages_of_a_host_without_transcripts(repository, project):
    did = {"type": "tool", "tool": "bash", "callID": "c1",
           "state": {"status": "completed", "input": {"command": "make db"}, "output": "ok", "metadata": {"exit": 0}}}  # fmt: skip
    messages = [
        {"info": {"role": "user", "sessionID": "o-1", "time": {"created": 1_786_363_200_000}},
         "parts": [{"type": "text", "text": GOALS[0]}]},
        {"info": {"role": "assistant", "sessionID": "o-1", "time": {"created": 1_786_363_260_000}}, "parts": [did]},
    ]  # fmt: skip
    talk = json.dumps({"sessionId": "o-1", "messages": messages}).encode()
    for _ in range(2):
        hook_sessions.record_work(repository, "opencode", "", io.BytesIO(talk), False)
    (trace,) = repository.traces.list()
    assert (trace.by, trace.title, trace.extra["tools_used"]) == ("opencode", GOALS[0], ["bash"])
