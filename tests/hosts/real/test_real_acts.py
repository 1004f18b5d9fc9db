"""Rules at the act with the hosts themselves: what a reminder, a question and a refusal do to a command and a write."""

from dataclasses import replace

import pytest

from tests.hosts.real.hosts import ALL, CODEX
from tests.hosts.real.model import Step, say, shell

pytestmark = pytest.mark.hosts

TITLE = "Leave the marker alone"
WHY = "Other programs wait for it, so make it with make marker."
PROMPT = "Do the next step, please."


@pytest.fixture
def rule(home, rawkomem):
    """A memory that applies to a command and to writes of a folder; the seat commits it."""

    def store(guard: str) -> None:
        given = ("--applies-to", "commands=touch*", "--applies-to", "paths=marked/**")
        rawkomem("add", "--title", TITLE, "--body", WHY, "--when", "zeppelin", *given, "--guard", guard)

    return store


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_reminder_reaches_the_model(host, rule, seat, model, project):
    rule("remind")
    model.script = [shell("touch marker.txt"), shell("touch marker.txt"), say("done")]
    said = seat(host).ask(PROMPT)
    assert (project / "marker.txt").exists(), said
    assert sum(WHY in body for body in model.asked) >= 1, said
    assert model.asked[-1].count(WHY) == 1, "once a session"


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_denied_command_does_not_run(host, rule, seat, model, project):
    rule("deny")
    model.script = [shell("cd . && touch marker.txt"), shell("echo kept > other.txt"), say("done")]
    said = seat(host).ask(PROMPT)
    assert not (project / "marker.txt").exists(), said
    assert (project / "other.txt").exists(), said
    assert any(WHY in body for body in model.asked), said


def write(host: str, path: str) -> Step:
    """Write a file with the host's own tool."""
    tools = {
        "claude": ("Write", {"file_path": path, "content": "x\n"}),
        "opencode": ("write", {"filePath": path, "content": "x\n"}),
        "gemini": ("write_file", {"file_path": path, "content": "x\n"}),
        "copilot": ("create", {"path": path, "file_text": "x\n"}),
        "codex": ("apply_patch", {"patch": f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"}),
    }
    name, given = tools[host]
    return Step(tool=name, given=given)


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_denied_write_does_not_happen(host, rule, seat, model, project):
    if host.name == "codex":  # it offers its tool for patches only to models that it knows
        host = replace(host, first=lambda prompt: ["exec", "-m", "gpt-5.5", *CODEX, prompt])
    rule("deny")
    names = ("marked/a.txt", "free.txt")
    model.script = [*(write(host.name, str(project / name)) for name in names), say("done")]
    said = seat(host).ask(PROMPT)
    assert [(project / name).exists() for name in names] == [False, True], said
    assert any(WHY in body for body in model.asked), said


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_question_waits_for_a_person(host, rule, seat, model, project):
    """Nobody is at the host, so that the command does not run; the reason is shown, or told to the model.

    A host that cannot ask lets the agent ask, and repeat the command.
    """
    rule("ask")
    model.script = [shell("touch marker.txt"), say("done")]
    said = seat(host).ask(PROMPT)
    assert not (project / "marker.txt").exists(), said
    assert WHY in said or any(WHY in body for body in model.asked), (said, model.asked[-1][-3000:])
