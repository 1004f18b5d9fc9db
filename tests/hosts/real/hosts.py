"""How each host is set up, and asked a prompt in a new session or in the last one, without a person at it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands import ROOT

HOSTS = ROOT / ".hosts" / "node_modules"
PATIENCE = 120  # seconds for one prompt
MCP = {"command": "rawkomem", "args": ["mcp"]}
SERVERS = json.dumps({"mcpServers": {"rawkomem": MCP}})


@dataclass
class Host:
    """What differs between hosts."""

    name: str
    program: str  # below node_modules, a glob
    first: Callable[[str], list[str]]  # the words that ask a prompt in a new session
    again: Callable[[str], list[str]]  # … and in the last one
    env: Callable[[str], dict[str, str]]  # of the model's url
    files: Callable[[str, str], dict[str, str]]  # of the model's url and the project, below the home folder

    def path(self) -> str:
        found = sorted(HOSTS.glob(self.program))
        if not found:
            pytest.skip(f"{self.name} is not installed: run make test-hosts")
        return str(found[0])


@dataclass
class Seat:
    """A host in a project, with a home folder of its own and a model on loopback."""

    host: Host
    project: Path
    home: Path
    url: str

    def __post_init__(self) -> None:
        self.program = self.host.path()
        for name, text in self.host.files(self.url, str(self.project)).items():
            _write(self.home / name, text)
        _write(self.home / "bin" / "rawkomem", f'#!/bin/sh\n{_checkout()} exec {sys.executable} -m rawkomem "$@"\n')
        (self.home / "bin" / "rawkomem").chmod(0o755)

    def ask(self, prompt: str, again: bool = False) -> str:
        """Ask a prompt, wait for the end of the turn, and return what the host printed."""
        words = (self.host.again if again else self.host.first)(prompt)
        done = subprocess.run(
            [self.program, *words],
            cwd=self.project,
            env=self.env(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.stdout + done.stderr

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the host as a program that is spoken with; the caller ends it."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen([self.program, *words], cwd=self.project, env=self.env(), text=True, **pipes)

    def env(self) -> dict[str, str]:
        """Return the environment of the host; the home folder is that of the test."""
        path = os.pathsep.join([str(self.home / "bin"), str(HOSTS / ".bin"), os.environ["PATH"]])
        return {**os.environ, **self.host.env(self.url), "PATH": path, "PWD": str(self.project)}


def _checkout() -> str:
    """Return the variables of this checkout's rawkomem: hosts do not pass all of theirs to an MCP server."""
    return f"PYTHONPATH={ROOT} RAWKOMEM_EMBEDDER=static NO_COLOR=1"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _codex_files(url: str, project: str) -> dict[str, str]:
    provider = f'name = "loopback"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "LOOPBACK_KEY"'
    lines = 'model = "loopback"\nmodel_provider = "loopback"\n[model_providers.loopback]\n' + provider
    server = f'[mcp_servers.rawkomem]\ncommand = "rawkomem"\nargs = ["mcp"]\ncwd = "{project}"\nrequired = true'
    return {".codex/config.toml": f'{lines}\n{server}\n[projects."{project}"]\ntrust_level = "trusted"\n'}


def _opencode_files(url: str, project: str) -> dict[str, str]:
    options = {"baseURL": f"{url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "loopback", "options": options, "models": {"loopback": {}}}
    config = {"model": "loopback/loopback", "small_model": "loopback/loopback", "provider": {"loopback": provider}}
    server = {"type": "local", "command": ["rawkomem", "mcp"], "enabled": True}
    config = {"autoupdate": False, **config, "mcp": {"rawkomem": server}}
    return {".config/opencode/opencode.json": json.dumps(config)}


def _gemini_files(url: str, project: str) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "mcpServers": {"rawkomem": {**MCP, "timeout": 60_000}},
    }
    return {".gemini/settings.json": json.dumps(settings)}


def _copilot_files(url: str, project: str) -> dict[str, str]:
    trusted = json.dumps({"trusted_folders": [project]})
    return {".copilot/config.json": trusted, ".copilot/mcp-config.json": SERVERS}


CLAUDE = ["--dangerously-skip-permissions", "--mcp-config", SERVERS]
CODEX = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"]
GEMINI = ["--skip-trust", "--yolo", "-m", "gemini-2.5-pro"]

ALL = [
    Host(
        "claude",
        "@anthropic-ai/claude-code-*/claude",
        lambda prompt: ["-p", prompt, *CLAUDE],
        lambda prompt: ["-c", "-p", prompt, *CLAUDE],
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
            "MCP_CONNECTION_NONBLOCKING": "0",
        },
        lambda url, project: {},
    ),
    Host(
        "codex",
        ".bin/codex",
        lambda prompt: ["exec", *CODEX, prompt],
        lambda prompt: ["exec", "resume", "--last", *CODEX, prompt],
        lambda url: {"LOOPBACK_KEY": "none"},
        _codex_files,
    ),
    Host(
        "opencode",
        "opencode-linux-*/bin/opencode",
        lambda prompt: ["run", *prompt.split(" ")],
        lambda prompt: ["run", "-c", *prompt.split(" ")],
        # it fetches a package for each folder with plugins, and waits more than a minute where it cannot
        lambda url: {"OPENCODE_DISABLE_MODELS_FETCH": "1", "npm_config_offline": "true"},
        _opencode_files,
    ),
    Host(
        "copilot",
        ".bin/copilot",
        lambda prompt: ["-p", prompt, "--allow-all-tools"],
        lambda prompt: ["--continue", "-p", prompt, "--allow-all-tools"],
        lambda url: {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "loopback",
            "COPILOT_OFFLINE": "true",
        },
        _copilot_files,
    ),
    Host(
        "gemini",
        ".bin/gemini",
        lambda prompt: [*GEMINI, "-p", prompt],
        lambda prompt: [*GEMINI, "--resume", "latest", "-p", prompt],
        lambda url: {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        _gemini_files,
    ),
]
