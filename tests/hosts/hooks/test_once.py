"""A hook that is set up twice answers once."""

import json

from rawkomem.files.records import read
from rawkomem.hosts import hook_calls

from tests.hosts.hooks.payloads import ASK, claude, copilot, vscode


def test_the_same_prompt_of_a_session_is_answered_once(hook, remembered):
    told = claude("UserPromptSubmit", prompt=ASK)
    assert "Use pnpm" in hook("claude", "prompt", told)
    assert hook("claude", "prompt", told) == ""
    assert "Use pnpm" in hook("claude", "prompt", {**told, "session_id": "another"})


def test_the_same_session_told_in_two_dialects_is_answered_once(hook, remembered):
    assert "Use pnpm" in hook("claude", "prompt", vscode("UserPromptSubmit", prompt=ASK))
    assert hook("vscode", "prompt", vscode("UserPromptSubmit", prompt=ASK)) == ""


def test_copilot_hears_its_own_hook_though_it_ran_that_of_claude_code_before(hook, remembered):
    """It runs the hooks of .claude/settings.json too, and drops what they say to a prompt."""
    snake = {"session_id": "cp-1", "cwd": "FOLDER", "hook_event_name": "UserPromptSubmit", "prompt": ASK}
    assert "Use pnpm" in hook("claude", "prompt", snake)
    assert hook("copilot", "prompt", copilot(prompt=ASK)) == ""
    told = copilot(prompt=ASK, transformedPrompt=ASK)
    assert "Use pnpm" in hook("copilot", "prompt", told) and hook("copilot", "prompt", told) == ""
    start = {**snake, "hook_event_name": "SessionStart", "source": "startup"}
    assert hook("claude", "session-start", start)
    told = copilot(source="startup")
    assert hook("copilot", "session-start", told) and hook("copilot", "session-start", told) == ""


def test_a_session_that_starts_again_is_told_again(hook, remembered):
    assert hook("claude", "session-start", claude("SessionStart", source="startup"))
    assert hook("claude", "session-start", claude("SessionStart", source="startup")) == ""
    assert hook("claude", "session-start", claude("SessionStart", source="compact"))


def test_of_many_at_once_one_answers(hook, remembered, project):
    told = json.dumps({**claude("UserPromptSubmit", prompt=ASK, prompt_id="p1"), "cwd": str(project)}).encode()
    started = [hook.start("claude", "prompt") for _ in range(4)]
    for process in started:
        process.stdin.write(told)
        process.stdin.close()
        process.stdin = None
    answers = [hook.finish(process, None) for process in started]
    assert sum("Use pnpm" in answer for answer in answers) == 1


def test_it_is_forgotten_after_a_while(repository, monkeypatch):
    at = 1_000_000.0
    monkeypatch.setattr(hook_calls.time, "time", lambda: at)
    assert hook_calls.is_first_call(repository.layout, "a", "b") and not hook_calls.is_first_call(
        repository.layout, "a", "b"
    )
    assert hook_calls.is_first_call(repository.layout, "ab", "")
    at += hook_calls.COPIES_S
    assert not hook_calls.is_first_call(repository.layout, "a", "b")
    assert hook_calls.is_first_call(repository.layout, "a", "b", within_s=hook_calls.COPIES_S)
    at += hook_calls.WINDOW_S
    assert hook_calls.is_first_call(repository.layout, "a", "b")


def test_old_calls_are_forgotten(repository, monkeypatch):
    at = 1_000_000.0
    monkeypatch.setattr(hook_calls.time, "time", lambda: at)
    for number in range(500):
        at += 1.0
        assert hook_calls.is_first_call(repository.layout, str(number))
    assert not hook_calls.is_first_call(repository.layout, "499")
    assert read(repository.layout, "SELECT count(*) FROM seen")[0][0] <= hook_calls.WINDOW_S + 1
