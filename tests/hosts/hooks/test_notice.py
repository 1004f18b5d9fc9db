"""The line that a host shows to the person: what was added, what was learned, what was slow."""

from __future__ import annotations

import io
import json

import pytest
from rawkomem.hosts import hook_calls, hook_sessions
from rawkomem.hosts.hook_calls import NEWS_FILE
from rawkomem.hosts.known_hosts import LEARN, Call
from rawkomem.model.values import now

from tests.hosts.hooks.payloads import ASK, claude, cursor


def shown(out: str) -> str:
    return json.loads(out).get("systemMessage", "") if out else ""


def test_a_person_sees_what_was_added(hook, remembered):
    assert shown(hook("claude", "prompt", claude("UserPromptSubmit", prompt=ASK))) == "rawkomem: added “Use pnpm”"
    assert hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won the cup?")) == ""


def test_a_person_sees_what_was_learned_once(hook, repository, monkeypatch):
    monkeypatch.setattr(hook_sessions, "SETTLE_S", 0)
    said = {"messages": [{"role": "user", "content": "Remember that we deploy on Tuesdays only."}]}
    talk = io.BytesIO(json.dumps({"sessionId": "s", **said}).encode())
    hook_sessions.learn_behind(repository, Call("claude", LEARN, {}, "s"), talk)
    first = hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won the cup?"))
    assert "stored “" in shown(first) and "Tuesdays" in shown(first) and list(json.loads(first)) == ["systemMessage"]
    assert hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won the other cup?")) == ""


def test_a_host_that_shows_nothing_takes_nothing(hook, repository, project):
    hook_calls.LineFile(hook_calls.local_path(repository.layout, NEWS_FILE)).append("1 new draft")
    hook("cursor", "prompt", cursor("beforeSubmitPrompt", prompt="Who won the cup?"))
    assert (project / ".rawko" / "local" / NEWS_FILE).read_text() == "1 new draft\n"


@pytest.mark.parametrize("event", ["prompt", "session-start"])
def test_a_call_that_the_host_stopped_is_told_next_time(event, hook, repository):
    line = f"{now() - 60_000}\tbegan\tclaude\tprompt\t1"
    hook_calls.LineFile(hook_calls.local_path(repository.layout, hook_calls.CALLS_FILE)).append(line)
    told = {
        "prompt": claude("UserPromptSubmit", prompt="Who won?"),
        "session-start": claude("SessionStart", source="startup"),
    }
    said = "1 earlier hook call took longer than claude waits (prompt): run 'rawkomem doctor'"
    assert said in shown(hook("claude", event, told[event]))
    assert "took longer" not in hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won the other cup?"))


def test_each_call_is_noted(hook, remembered, repository):
    hook("claude", "prompt", claude("UserPromptSubmit", prompt=ASK))
    (call,) = hook_calls.logged_calls(repository.layout)
    assert (call.host, call.event) == ("claude", "prompt") and call.took_ms >= 0


def test_a_stopped_call_is_told_although_others_came_after_it(hook, repository):
    """A host that stops the prompt hook runs the hook at the turn's end before the next prompt."""
    line = f"{now() - 60_000}\tbegan\tclaude\tprompt\t1"
    hook_calls.LineFile(hook_calls.local_path(repository.layout, hook_calls.CALLS_FILE)).append(line)
    for _ in range(3):
        hook_calls.note_end(
            repository.layout, "claude", "turn-end", hook_calls.note_begin(repository.layout, "claude", "turn-end")
        )
    assert "took longer than claude waits" in shown(
        hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won?"))
    )


def test_a_long_call_is_told(hook, repository):
    hook_calls.note_begin(repository.layout, "claude", "prompt")
    hook_calls.note_call(repository.layout, hook_calls.ENDED, "claude", "prompt", "6100")
    assert "took longer than claude waits" in shown(
        hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won?"))
    )
