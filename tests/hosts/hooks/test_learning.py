"""The end of a turn: a process is left behind, learns from what was said, and the next prompt knows it."""

from __future__ import annotations

import io
import json
import time

import pytest

from rawkomem.hosts.hooks import behind
from rawkomem.files.local.transcripts import news_of
from rawkomem.model.errors import BadInput, Busy
from tests.cpu import cpu_seconds
from tests.hosts.hooks.conftest import until
from tests.hosts.hooks.payloads import CALLS, claude, codex, copilot, cursor, gemini
from tests.learn.session.sessions import SESSION, START, TALK, claude_code, gemini_lines, jsonl
from tests.learn.session.sessions import codex as codex_session
from tests.learn.session.sessions import opencode as opencode_session

QUESTION = "Which database do we use, Postgres or MySQL?"


def titles(memories) -> set[str]:
    return {file.stem for file in memories.glob("*.md")}


def learned(memories) -> bool:
    return "use-postgres-instead-of-mysql" in titles(memories)


@pytest.mark.parametrize("event", ["turn-end", "session-end"])
def test_claude_learns_and_the_next_prompt_knows(event, hook, memories, tmp_path_factory, log):
    transcript = tmp_path_factory.mktemp("claude") / f"{SESSION}.jsonl"
    transcript.write_bytes(claude_code())
    assert hook.process("claude", event, CALLS["claude", event][0], transcript=str(transcript)) == ""
    assert not learned(memories)  # the hook did not wait for it
    assert until(lambda: learned(memories))
    told = {**claude("UserPromptSubmit", prompt=QUESTION), "session_id": "the next one"}
    assert until(lambda: "partial indexes" in hook("codex", "prompt", {**told, "session_id": str(time.time())}))
    assert [line for line in log() if "making the index" not in line] == []


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


@pytest.mark.parametrize(
    ("host", "name", "session"),
    [
        ("codex", codex("Stop"), codex_session),
        ("gemini", gemini("AfterAgent"), gemini_lines),
        ("cursor", cursor("stop"), cursor_session),
        ("copilot", copilot(transcriptPath="TRANSCRIPT"), copilot_session),
    ],
)
def test_other_transcripts(host, name, session, hook, memories, tmp_path_factory):
    transcript = tmp_path_factory.mktemp(host) / "rollout.jsonl"
    transcript.write_bytes(session())
    hook(host, "stop", name, transcript=str(transcript))
    assert until(lambda: learned(memories))
    assert not any("vi" in title.split("-") or "oracle" in title for title in titles(memories))


def test_what_is_told_with_the_call_needs_no_file(hook, memories):
    """OpenCode's plugin hands over messages; Gemini the prompt and the answer."""
    messages = json.loads(opencode_session())["messages"]
    hook("opencode", "turn-end", {"session_id": "oc", "cwd": "FOLDER", "messages": messages})
    assert until(lambda: learned(memories))
    told = gemini(
        "AfterAgent", prompt="From now on we always deploy with make release, never by hand.", prompt_response="OK."
    )
    hook("gemini", "turn-end", told)
    assert until(lambda: any("make-release" in title for title in titles(memories)))


def test_turns_that_end_shortly_after_each_other_are_both_learned(hook, memories):
    """OpenCode's plugin tells no transcript and no reply: the messages tell turns apart."""
    told = {"session_id": "oc", "cwd": "FOLDER", "messages": [{"role": "user", "content": "Hello."}]}
    hook("opencode", "turn-end", told)
    hook("opencode", "turn-end", {**told, "messages": json.loads(opencode_session())["messages"]})
    assert until(lambda: learned(memories))


def test_the_end_of_a_session_hears_the_transcript_that_a_turn_named(hook, memories, project, tmp_path_factory):
    """Copilot names it at the end of a turn, and no longer at the end of the session."""
    transcript = tmp_path_factory.mktemp("copilot") / "events.jsonl"
    transcript.write_bytes(b"")
    hook("copilot", "agentStop", copilot(transcriptPath="TRANSCRIPT"), transcript=str(transcript))
    assert until((project / ".rawko" / "local" / "heard.tsv").exists)
    transcript.write_bytes(copilot_session())
    hook("copilot", "sessionEnd", {**copilot(reason="complete"), "sessionId": "another"})
    hook("copilot", "sessionEnd", copilot(reason="complete"))
    assert until(lambda: learned(memories))


@pytest.mark.parametrize(
    ("failure", "heard"),
    [
        (Busy("another writes"), False),
        (OSError(28, "No space left on device"), False),
        (BadInput("a binary file"), True),
    ],
)
def test_what_may_pass_is_tried_again(failure, heard, repository, tmp_path, monkeypatch):
    transcript = tmp_path / "t.jsonl"
    transcript.write_bytes(claude_code())

    def fail(*_):
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(repository.learning, "learn", fail)
        patch.setattr(behind, "SETTLE_S", 0)
        with pytest.raises(type(failure)):
            behind.learn_behind(repository, "claude", str(transcript), io.BytesIO())
    news, _ = news_of(repository.layout, str(transcript))
    assert (news.read() == b"") == heard


def test_a_growing_transcript_is_heard_once(hook, memories, project, tmp_path_factory):
    transcript = tmp_path_factory.mktemp("claude") / "t.jsonl"
    whole = claude_code([*TALK, ("user", "From now on we always deploy with make release, never by hand.")])
    lines = whole.splitlines(keepends=True)
    heard = project / ".rawko" / "local" / "heard.tsv"

    def hear(part: bytes, end: int) -> None:
        transcript.write_bytes(part)
        hook("claude", "turn-end", CALLS["claude", "turn-end"][0], transcript=str(transcript))
        assert until(lambda: heard.exists() and heard.read_text() == f"{end}\t{transcript}\n"), heard.read_text()

    before = b"".join(lines[:3])
    hear(before + lines[3][:20], len(before))  # the last line is still being written
    first = titles(memories)
    assert learned(memories)
    hear(whole, len(whole))
    assert until(lambda: any("make-release" in title for title in titles(memories)))
    assert first < titles(memories)


@pytest.mark.parametrize("transcript", ["/dev/zero", "/nowhere", "/", ""])
def test_a_transcript_that_is_none(transcript, hook, memories, project):
    end = CALLS["claude", "session-end"][0]
    assert cpu_seconds(lambda: hook("claude", "session-end", end, transcript=transcript)) < 5
    assert titles(memories) == set()
    assert until((project / ".rawko" / "local" / "heard.lock").exists)


def test_a_transcript_that_cannot_be_learned_from_is_told_in_the_log(hook, memories, tmp_path_factory, log):
    transcript = tmp_path_factory.mktemp("claude") / "t.jsonl"
    transcript.write_bytes(b"\0\1\2" * 1000 + b"\n")
    hook("claude", "turn-end", CALLS["claude", "turn-end"][0], transcript=str(transcript))
    assert until(lambda: any("claude learn: the transcript is a binary file" in line for line in log()))
