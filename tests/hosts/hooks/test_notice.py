"""The line that a host shows to the person: what was added, what was learned, what was slow."""

import io
import json

import pytest
from rawkomem.files.records import note, read
from rawkomem.hosts import hook_sessions
from rawkomem.hosts.known_hosts import LEARN, Call
from rawkomem.model.values import now

from tests.hosts.hooks.payloads import claude, cursor


def shown(out: str) -> str:
    return json.loads(out).get("systemMessage", "") if out else ""


def test_a_person_sees_what_was_learned_once(hook, repository, monkeypatch):
    monkeypatch.setattr(hook_sessions, "SETTLE_S", 0)
    said = {"messages": [{"role": "user", "content": "Remember that we deploy on Tuesdays only."}]}
    talk = io.BytesIO(json.dumps({"sessionId": "s", **said}).encode())
    hook_sessions.learn_behind(repository, Call("claude", LEARN, {}, "s"), talk)
    first = hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won the cup?"))
    assert "stored “" in shown(first) and "Tuesdays" in shown(first) and list(json.loads(first)) == ["systemMessage"]
    assert hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won the other cup?")) == ""


def test_a_host_that_shows_nothing_takes_nothing(hook, repository, project):
    note(repository.layout, "news", "1 new draft")
    hook("cursor", "prompt", cursor("beforeSubmitPrompt", prompt="Who won the cup?"))
    assert read(repository.layout, "SELECT line FROM news") == [("1 new draft",)]


@pytest.mark.parametrize("event", ["prompt", "session-start"])
def test_a_call_that_the_host_stopped_is_told_next_time(event, hook, repository):
    note(repository.layout, "calls", now() - 60_000, "claude", "prompt", -1, 0)
    told = {
        "prompt": claude("UserPromptSubmit", prompt="Who won?"),
        "session-start": claude("SessionStart", source="startup"),
    }
    said = "1 earlier hook call took longer than claude waits (prompt): run 'rawkomem doctor'"
    assert said in shown(hook("claude", event, told[event]))
    assert "took longer" not in hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won the other cup?"))
