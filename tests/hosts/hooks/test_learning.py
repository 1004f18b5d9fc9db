"""At the end of a turn a background process looks for drafts. A later prompt asks the agent to store one."""

import io
import json
import os
import time
from datetime import UTC, datetime, timedelta

import pytest
from rawkomem.files.layout import find_layout
from rawkomem.files.machine_records import known_transcripts, note_transcript
from rawkomem.files.records import read
from rawkomem.hosts import hook_sessions
from rawkomem.hosts.known_hosts import LEARN, Call
from rawkomem.state.runs import outcome_of

from tests.hosts.hooks.conftest import until
from tests.hosts.hooks.payloads import CALLS, claude, codex, copilot, cursor, gemini
from tests.learn.session.sessions import SESSION, START, TALK, claude_code, gemini_lines, jsonl
from tests.learn.session.sessions import codex as codex_session
from tests.learn.session.sessions import opencode as opencode_session

RELEASE = "From now on we always deploy with make release, never by hand."


@pytest.fixture
def drafts(project):
    """What the drafts of the project hold, as text."""
    layout = find_layout(str(project))
    return lambda: "".join(text for (text,) in read(layout, "SELECT draft FROM drafts"))


def test_claude_learns_and_the_next_prompt_asks(hook, memories, drafts, tmp_path_factory, log):
    transcript = tmp_path_factory.mktemp("claude") / f"{SESSION}.jsonl"
    transcript.write_bytes(claude_code())
    call = {**CALLS["claude", "turn-end"][0], "session_id": SESSION}
    assert hook.process("claude", "turn-end", call, transcript=str(transcript)) == ""
    assert drafts() == ""  # the hook did not wait for it
    assert until(lambda: "Postgres" in drafts() and "use pnpm, not npm" in drafts())
    assert "Oracle" not in drafts() and '"text": "The migration' not in drafts() and [*memories.rglob("*.md")] == []
    prompt = {**claude("UserPromptSubmit", prompt="go on with the invoices"), "session_id": SESSION}
    told = json.loads(hook("claude", "prompt", prompt))["hookSpecificOutput"]["additionalContext"]
    assert "No, use pnpm, not npm" in told and "remember(title, text, reason, when, quote)" in told
    assert [line for line in log() if "building the index" not in line] == []


def cursor_session() -> bytes:
    lines = []
    for role, text in TALK:
        asked = f"<open_files>we decided to use vi because it is there</open_files><user_query>\n{text}\n</user_query>"
        said = {"type": "text", "text": asked if role == "user" else text}
        said = {"type": "tool_result", "content": text} if role == "tool" else said
        lines.append({"role": "user" if role == "user" else "assistant", "message": {"content": [said]}})
    return jsonl(lines)


def copilot_session() -> bytes:
    lines = [{"type": "session.start", "data": {"sessionId": "cp-1"}, "id": "1", "timestamp": START, "parentId": None}]
    for role, text in TALK:
        kind, data = f"{role}.message", {"content": text}
        if role == "tool":
            kind, data = "tool.execution_complete", {"result": {"content": text}}
        lines.append({"type": kind, "data": data, "id": "2", "timestamp": START, "parentId": "1"})
    return jsonl(lines)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("host", "name", "session"),
    [
        ("codex", codex("Stop"), codex_session),
        ("gemini", gemini("AfterAgent"), gemini_lines),
        ("cursor", cursor("stop"), cursor_session),
        ("copilot", copilot(transcriptPath="TRANSCRIPT"), copilot_session),
    ],
)
def test_other_transcripts(host, name, session, hook, drafts, tmp_path_factory):
    transcript = tmp_path_factory.mktemp(host) / "rollout.jsonl"
    transcript.write_bytes(session())
    hook(host, "turn-end", name, transcript=str(transcript))
    assert "Postgres" in drafts()
    assert "vi because" not in drafts() and "Oracle" not in drafts()


@pytest.mark.usefixtures("at_once")
def test_what_is_told_with_the_call_needs_no_file(hook, drafts):
    """OpenCode's plugin hands over messages; Gemini the prompt and the answer."""
    messages = json.loads(opencode_session())["messages"]
    hook("opencode", "turn-end", {"session_id": "oc", "cwd": "FOLDER", "messages": messages})
    assert "Postgres" in drafts()
    hook("gemini", "turn-end", gemini("AfterAgent", prompt=RELEASE, prompt_response="OK."))
    assert "make release" in drafts()


@pytest.mark.usefixtures("at_once")
def test_the_end_of_a_session_hears_the_transcript_that_a_turn_named(hook, drafts, project, transcripts):
    """Copilot names it at the end of a turn, and no longer at the end of the session."""
    transcript = transcripts / "events.jsonl"
    transcript.write_bytes(b"")
    hook("copilot", "agentStop", copilot(transcriptPath="TRANSCRIPT"), transcript=str(transcript))
    assert known_transcripts(find_layout(str(project))) == [str(transcript)]
    transcript.write_bytes(copilot_session())
    hook("copilot", "sessionEnd", {**copilot(reason="complete"), "sessionId": "another"})
    hook("copilot", "sessionEnd", copilot(reason="complete"))
    assert "Postgres" in drafts()


def test_a_growing_transcript_is_read_to_its_last_whole_line(repository, tmp_path, monkeypatch):
    monkeypatch.setattr(hook_sessions, "SETTLE_S", 0)
    transcript = tmp_path / "t.jsonl"
    whole = claude_code([*TALK, ("user", RELEASE)])
    lines = whole.splitlines(keepends=True)
    call = Call("claude", LEARN, {}, SESSION, transcript=str(transcript))

    def hear(data: bytes) -> set[str]:
        transcript.write_bytes(data)
        hook_sessions.learn_behind(repository, call, io.BytesIO())
        return {draft.id for draft in repository.drafts.all()}

    first = hear(b"".join(lines[:2]) + lines[2][:20])  # the last line is still being written
    assert len(first) == 1 and first < hear(whole) and len(hear(whole)) == 3


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("transcript", ["/dev/zero", "/nowhere", "/", ""])
def test_a_transcript_that_is_none(transcript, hook, memories, drafts, project):
    end = CALLS["claude", "session-end"][0]
    hook("claude", "session-end", end, transcript=transcript)
    assert [*memories.rglob("*.md")] == [] and drafts() == ""


@pytest.mark.usefixtures("at_once")
def test_a_transcript_that_cannot_be_learned_from_is_told_in_the_log(hook, memories, tmp_path_factory, log):
    transcript = tmp_path_factory.mktemp("claude") / "t.jsonl"
    transcript.write_bytes(b"\0\1\2" * 1000 + b"\n")
    hook("claude", "turn-end", CALLS["claude", "turn-end"][0], transcript=str(transcript))
    assert any("claude learn: the transcript is a binary file" in line for line in log())


# The work of sessions, from a host's hook to a trace, a brief and a learning
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
def recording(project):
    """Turn the recording of sessions on."""
    (project / ".rawko" / "config.yaml").write_text("recordSessions: on\n")


@pytest.fixture
def recorded(project, recording, transcripts):
    """Write the transcript of a session, and return its path."""

    def write(session: str, goal: str, **more: str) -> str:
        file = transcripts / f"{session}.jsonl"
        file.write_bytes(transcript(project, session, goal, **more))
        return str(file)

    return write


def files(project) -> list:
    return sorted((project / ".rawko" / "traces").rglob("*.md"))


def test_three_sessions_teach_the_fourth(recorded, hook, project, repository, rawkomem, log):
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


def test_a_turn_is_no_end(recorded, repository, project):
    file = recorded("s-1", GOALS[0])
    note_transcript(repository.layout, "s-1", file)
    _work(repository, file)
    assert not files(project)
    _work(repository, file, ended=True)
    assert len(files(project)) == 1


def test_a_session_without_an_end_is_recorded_after_a_while(recorded, repository, project):
    silent, present = recorded("s-1", GOALS[0]), recorded("s-2", "Translate the manual")
    for session, file in (("s-1", silent), ("s-2", present)):
        note_transcript(repository.layout, session, file)
    _work(repository, present)
    assert not files(project)
    long_ago = time.time() - hook_sessions.IDLE_S - 5
    os.utime(silent, (long_ago, long_ago))
    _work(repository, present)
    assert [trace.title for trace in repository.traces.list()] == [GOALS[0]]


def test_messages_of_a_host_without_transcripts(recording, repository, project):
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
