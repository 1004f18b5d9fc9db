"""What docs/mcp.md offers for copying can be read by the hosts, and starts the server."""

import json
import re
import tomllib

import pytest

from tests.conftest import ROOT

HOSTS = {
    "Claude Code": (".mcp.json", "mcpServers"),
    "Codex": ("~/.codex/config.toml", "mcp_servers"),
    "OpenCode": ("opencode.json", "mcp"),
    "Cursor": (".cursor/mcp.json", "mcpServers"),
    "Copilot CLI": (".mcp.json", "mcpServers"),
    "Gemini CLI": (".gemini/settings.json", "mcpServers"),
    "VS Code": (".vscode/mcp.json", "servers"),
    "Zed": ("settings.json", "context_servers"),
}


@pytest.mark.parametrize("host", HOSTS)
def test_every_host_has_a_snippet(host):
    text = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    file, section = HOSTS[host]
    blocks = re.findall(r"((?:^[^\n]+\n)+)\n```(json|toml)\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    where, language, snippet = next(block for block in blocks if f"**{host}**" in block[0])
    entry = (json if language == "json" else tomllib).loads(snippet)[section]["rawkomem"]
    command = entry["command"]
    assert (command if isinstance(command, list) else [command, *entry["args"]]) == ["rawkomem", "mcp"]
    assert f"`{file}`" in where
