"""Fixtures of the stories: hooks as a host calls them, and what the README promises."""

import json
import re

import pytest

from tests.commands import ROOT, START
from tests.hosts.hooks.conftest import at_once, hook, no_host  # noqa: F401  fixtures
from tests.hosts.hooks.payloads import claude
from tests.learn.session.sessions import SESSION, claude_code
from tests.terminals import converse, scrubbed

README = " ".join(re.sub(r"[*`]", "", (ROOT / "README.md").read_text(encoding="utf-8")).split())


class Talk:
    """A session of Claude Code: every event goes through the hook command, and the transcript grows."""

    def __init__(self, calls, folder, session: str):
        self.hook, self.session, self.transcript = calls, session, folder / f"{session}.jsonl"
        self.talk: list[tuple[str, str]] = []

    def prompt(self, text: str) -> str:
        """Return what the agent gets with a prompt."""
        said = self._call("UserPromptSubmit", prompt=text)
        self.talk.append(("user", text))
        return json.loads(said or "{}").get("hookSpecificOutput", {}).get("additionalContext", "")

    def answer(self, text: str) -> None:
        self.talk.append(("assistant", text))
        self._call("Stop", stop_hook_active=False)

    def end(self) -> None:
        self._call("SessionEnd", reason="exit")

    def _call(self, event: str, **fields) -> str:
        data = claude_code(self.talk).replace(SESSION.encode(), self.session.encode())
        self.transcript.write_bytes(data)
        call = {**claude(event, **fields), "session_id": self.session}
        return self.hook("claude", event, call, transcript=str(self.transcript))


@pytest.fixture
def talk(hook, at_once, tmp_path_factory):  # noqa: F811
    """Start a session: `talk("s-1")`."""
    folder = tmp_path_factory.mktemp("claude")
    return lambda session: Talk(hook, folder, session)


@pytest.fixture
def person(terminal, project):
    """Run a command at a terminal, where a person presses a key at each question; return what it shows."""

    def run(*words: str, keys: tuple[tuple[str, str], ...] = ()) -> str:
        return converse(terminal, [*START, *words], list(keys), project, scrubbed(NO_COLOR="1"))

    return run
