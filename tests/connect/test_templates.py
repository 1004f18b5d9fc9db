"""The files that hosts want: valid, in step with what `connect` writes, and in every installation."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from rawkomem.connect.hosts import items
from rawkomem.text.frontmatter import read_frontmatter
from tests.conftest import ROOT

AGENTS = ROOT / "templates" / "agents"
PLUGIN = AGENTS / "claude" / "plugins" / "rawkomem"


def test_the_plugin_calls_what_connect_does():
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())
    assert set(hooks) == {"description", "hooks"}
    assert hooks["hooks"] == {event: [item] for event, item in items("claude").items()}


def test_the_marketplace_names_the_plugin():
    market = json.loads((AGENTS / "claude" / ".claude-plugin" / "marketplace.json").read_text())
    plugin = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    (entry,) = market["plugins"]
    assert entry["name"] == plugin["name"] and (AGENTS / "claude" / entry["source"]).resolve() == PLUGIN
    assert (PLUGIN / plugin["hooks"]).is_file()


def test_the_skill_is_portable_and_the_same_everywhere():
    skill = (AGENTS / "skills" / "rawkomem" / "SKILL.md").read_text()
    fields, _ = read_frontmatter(skill.split("---\n")[1])
    assert set(fields) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert fields["name"].value == "rawkomem" and len(fields["description"].value) < 1024
    assert (PLUGIN / "skills" / "rawkomem" / "SKILL.md").read_text() == skill


def test_what_the_templates_tell_to_run_exists(rawkomem):
    """Every command of the skill and the snippet is one."""
    from rawkomem.cli.commands import COMMANDS

    text = (AGENTS / "skills" / "rawkomem" / "SKILL.md").read_text() + (AGENTS / "AGENTS.md").read_text()
    named = {
        part.split()[0]
        for part in text.replace("`", "\n").split("\n")
        if part.startswith("rawkomem ")
        for part in [part[9:]]
    }
    assert len(named) >= 6 and named <= set(COMMANDS)


@pytest.mark.skipif(not shutil.which("node"), reason="no node here")
def test_the_opencode_plugin_is_javascript(tmp_path):
    file = tmp_path / "rawkomem.mjs"
    shutil.copy(AGENTS / "opencode" / "rawkomem.js", file)
    subprocess.run(["node", "--check", str(file)], check=True)
