"""The VS Code extension: its package, and its compiled code against a real server."""

import json
import re
import subprocess
import sys
import zipfile

import pytest
from rawkomem.faces.lsp.editor_server import COMMANDS
from rawkomem.repository import Repository

from tests.conftest import ROOT

pytestmark = pytest.mark.editors
SOURCE = ROOT / "docs" / "editors" / "vscode"
BUILT = ROOT / ".editors" / "vscode"
PACKAGE = ROOT / "dist" / "rawkomem.vsix"


def test_the_package_holds_the_extension_and_what_it_needs():
    assert PACKAGE.exists(), "run 'make vsix'"
    with zipfile.ZipFile(PACKAGE) as package:
        names = set(package.namelist())
        manifest = json.loads(package.read("extension/package.json"))
    assert {"extension/out/extension.js", "extension/out/memories.js", "extension/LICENSE.txt"} <= names
    assert any(name.startswith("extension/node_modules/vscode-languageclient/") for name in names)
    assert not [name for name in names if (name.endswith(".ts") and "/src/" in name) or "typescript/" in name]
    assert manifest["main"] == "./out/extension.js"


def test_every_command_is_registered_and_on_the_page():
    commands = json.loads((SOURCE / "package.json").read_text())["contributes"]["commands"]
    registered = re.findall(r"register\('(\w+)'", (SOURCE / "src" / "extension.ts").read_text())
    assert [command["command"] for command in commands] == [f"rawkomem.editor.{name}" for name in registered]
    sent = re.findall(r"'(rawkomem\.\w+)'", (SOURCE / "src" / "memories.ts").read_text())
    assert len(sent) == len(commands) and {*sent} <= {*COMMANDS}
    page = (ROOT / "docs" / "editors.md").read_text()
    assert all(f'"rawkomem: {command["title"]}"' in page for command in commands)


def test_its_code_speaks_with_the_server(stored):
    Repository.open(str(stored)).sync()
    script = ROOT / "tests" / "faces" / "lsp" / "vscode_client.cjs"
    command = ["node", str(script), str(BUILT), str(stored), sys.executable, "-m", "rawkomem", "lsp"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    said = json.loads(done.stdout)
    created, filled = said["edits"][0]["documentChanges"]
    assert created["kind"] == "create" and created["uri"] == said["made"]["uri"] == filled["textDocument"]["uri"]
    assert said["refused"] and said["amended"]["id"] == "queue-limits" and len(said["edits"]) == 2
    assert said["found"][0]["title"] == "Retry with jitter" and said["why"]["recalled"] and said["code"] == 0
