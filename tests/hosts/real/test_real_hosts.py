"""The hosts themselves, as their vendors ship them, against a model on loopback: `make test-hosts` installs them.

What reaches the model, and what is learned from the transcript that the host wrote, is what a user gets.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rawkomem.repository import Repository
from tests.conftest import ROOT
from tests.git.gitting import Git
from tests.hosts.real.model import Model

pytestmark = pytest.mark.hosts

HOSTS = ROOT / ".hosts" / "node_modules"
PROMPT = "How do we load a sqlite extension? And remember: always run the linter before you push."
BODY = "Many Pythons are built without extension loading, so sqlite3 cannot load sqlite-vec."
LEARNED = "run the linter before you push"
PATIENCE = 120  # seconds for a whole session of one prompt
BEHIND = 30  # seconds for what a turn's end leaves behind


@dataclass
class Host:
    """How one host is set up and asked a single prompt."""

    name: str
    program: str  # below node_modules, a glob
    words: Callable[[str], list[str]]  # of a prompt
    env: Callable[[str], dict[str, str]]  # of the model's url
    files: Callable[[str, str], dict[str, str]] = field(default=lambda url, project: {})  # below the home folder

    def path(self) -> str:
        found = sorted(HOSTS.glob(self.program))
        if not found:
            pytest.skip(f"for want of {self.name}: make test-hosts")
        return str(found[0])


def codex_config(url: str, project: str) -> dict[str, str]:
    provider = f'name = "loopback"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "LOOPBACK_KEY"'
    lines = 'model = "loopback"\nmodel_provider = "loopback"\n[model_providers.loopback]\n' + provider
    return {".codex/config.toml": f'{lines}\n[projects."{project}"]\ntrust_level = "trusted"\n'}


def opencode_config(url: str, project: str) -> dict[str, str]:
    options = {"baseURL": f"{url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "loopback", "options": options, "models": {"loopback": {}}}
    config = {"model": "loopback/loopback", "small_model": "loopback/loopback", "provider": {"loopback": provider}}
    return {".config/opencode/opencode.json": json.dumps({"autoupdate": False, **config})}


def gemini_config(url: str, project: str) -> dict[str, str]:
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    return {".gemini/settings.json": json.dumps({**auth, "privacy": {"usageStatisticsEnabled": False}})}


ALL = [
    Host(
        "claude",
        "@anthropic-ai/claude-code-*/claude",
        lambda prompt: ["-p", prompt],
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        },
    ),
    Host(
        "codex",
        ".bin/codex",
        lambda prompt: ["exec", "--dangerously-bypass-hook-trust", prompt],
        lambda url: {"LOOPBACK_KEY": "none"},
        codex_config,
    ),
    Host(
        "opencode",
        "opencode-linux-*/bin/opencode",
        lambda prompt: ["run", prompt],
        lambda url: {"OPENCODE_DISABLE_MODELS_FETCH": "1"},
        opencode_config,
    ),
    Host(
        "copilot",
        ".bin/copilot",
        lambda prompt: ["-p", prompt, "--allow-all-tools"],
        lambda url: {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "loopback",
            "COPILOT_OFFLINE": "true",
        },
        lambda url, project: {".copilot/config.json": json.dumps({"trusted_folders": [project]})},
    ),
    Host(
        "gemini",
        ".bin/gemini",
        lambda prompt: ["--skip-trust", "-m", "gemini-2.5-pro", "-p", prompt],
        lambda url: {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        gemini_config,
    ),
]


@pytest.fixture
def model():
    model = Model()
    yield model
    model.close()


@pytest.fixture
def session(project, git: Git, model, tmp_path_factory, rawkomem):
    """Ask a host one prompt, in a project that holds one memory and is connected to it."""
    rawkomem("add", "--title", "Why apsw", "--when", "sqlite|apsw", "--importance", "high", "--body", BODY)

    def ask(host: Host, *connected: str) -> str:
        program = host.path()
        for name in connected or (host.name,):
            rawkomem("connect", name)
        git("add", "-A")
        git("commit", "-qm", "start")
        home = tmp_path_factory.mktemp("host-home")
        for name, text in host.files(model.url, str(project)).items():
            file = home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        path = os.pathsep.join([str(Path(sys.executable).parent), str(HOSTS / ".bin"), os.environ["PATH"]])
        env = {**os.environ, **host.env(model.url), "HOME": str(home), "PATH": path, "PWD": str(project)}
        env.pop("XDG_CONFIG_HOME", None)
        done = subprocess.run(
            [program, *host.words(PROMPT)],
            cwd=project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.stdout + done.stderr

    return ask


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_session(host, session, model, project):
    """The opening and the memory that fits reach the model, and what the person said is learned."""
    said = session(host)
    asked = [body for body in model.asked if "load a sqlite extension" in body]
    assert asked, said
    assert any(BODY in body for body in asked), "the memory"
    assert any("This project keeps what it has learned" in body for body in asked), "the opening"
    assert _learned(project), "what the person said"


def test_claude_and_copilot_connected_both(session, model, project):
    """Copilot CLI reads Claude Code's hooks too, and drops what they say to a prompt: its own must still answer."""
    host = next(host for host in ALL if host.name == "copilot")
    said = session(host, "claude", "copilot")
    asked = [body for body in model.asked if "load a sqlite extension" in body]
    assert asked, said
    assert [body.count(BODY) for body in asked] == [1] * len(asked)


def _learned(project: Path) -> bool:
    deadline = time.monotonic() + BEHIND
    while time.monotonic() < deadline:
        repository = Repository.open(str(project))
        try:
            rows = repository.list()
            if any(LEARNED in repository.get(row.id).body + row.title for row in rows):
                return True
        finally:
            repository.close()
        time.sleep(0.5)
    return False
