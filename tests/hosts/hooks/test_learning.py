"""At the end of a turn a background process looks for drafts. A later prompt asks the agent to store one."""

import io
import json

import pytest
from rawkomem.files.layout import find_layout
from rawkomem.files.machine_records import known_transcripts
from rawkomem.files.records import read
from rawkomem.hosts import hook_sessions
from rawkomem.hosts.known_hosts import LEARN, Call

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
    assert "Postgres instead of MySQL" in told and "remember(title, text, reason, when, quote)" in told
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
def test_the_end_of_a_session_hears_the_transcript_that_a_turn_named(hook, drafts, project, tmp_path_factory):
    """Copilot names it at the end of a turn, and no longer at the end of the session."""
    transcript = tmp_path_factory.mktemp("copilot") / "events.jsonl"
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
