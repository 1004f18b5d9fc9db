"""`rawkomem connect` sets up the MCP server: in the right file of each host, and back out again."""

import json
import subprocess
import sys
import tomllib
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest
from click.testing import CliRunner
from rawkomem.faces.cli.connecting import host_command
from rawkomem.files.layout import find_layout
from rawkomem.hosts.connect import examine_hosts, first_step, hook_handlers, parsed
from rawkomem.hosts.known_hosts import HOSTS, MCP_ENTRY

from tests.hosts.connect.test_connect import home, tree  # noqa: F401

BOTH = ("claude", "codex", "opencode", "cursor", "copilot", "gemini")
ALONE = ("vscode", "zed")


def connect(project, name: str, *words: str, code: int = 0):
    done = CliRunner().invoke(host_command(name), words, obj=str(project))
    assert done.exit_code == code or code, (done.output, done.exception)
    return done


def server(project, name: str) -> object:
    mcp = HOSTS[name].mcp
    text = (project / mcp.project).read_text()
    return (tomllib.loads(text) if mcp.project.endswith(".toml") else json.loads(text))[mcp.key]["rawkomem"]


@pytest.mark.parametrize("name", BOTH)
def test_hooks_and_server_come_and_go(name, project, home):  # noqa: F811
    before = tree(project)
    told = connect(project, name).output
    assert f"connect {name} --mcp" in told and told.count("next: ") == 1 and first_step(name, str(project)) in told
    hooks_only = tree(project)
    told = connect(project, name, "--mcp").output
    assert "optional:" not in told and server(project, name) == HOSTS[name].mcp.entry
    both = tree(project)
    assert "already connected" in connect(project, name).output and tree(project) == both, "a server stays"
    assert hooks_only != both
    connect(project, name, "--remove")
    assert tree(project) == before


@pytest.mark.parametrize("name", ALONE)
def test_a_host_without_hooks_gets_the_server_alone(name, project, home):  # noqa: F811
    before = tree(project)
    connect(project, name)
    assert server(project, name) == HOSTS[name].mcp.entry
    connect(project, name, "--remove")
    assert tree(project) == before


def test_what_has_no_file_is_refused_with_the_command_to_run(project, home):  # noqa: F811
    for name, words in (("claude", ("--user", "--mcp")), ("vscode", ("--user",)), ("windsurf", ())):
        done = connect(project, name, *words, code=1)
        assert HOSTS[name].mcp.otherwise in done.exception.hint, name
    connect(project, "windsurf", "--user")
    file = home / ".codeium" / "windsurf" / "mcp_config.json"
    assert json.loads(file.read_text()) == {"mcpServers": {"rawkomem": MCP_ENTRY}}
    connect(project, "windsurf", "--user", "--remove")
    assert not file.exists()


def test_a_server_that_somebody_edited_stays(project, home):  # noqa: F811
    mine = '{"mcpServers": {"rawkomem": {"command": "rawkomem", "args": ["-C", "/x", "mcp"]}}}\n'
    (project / ".mcp.json").write_text(mine)
    connect(project, "claude", "--mcp")
    told = connect(project, "claude", "--remove").output
    assert (project / ".mcp.json").read_text() == mine and "remove it yourself" in told


def test_a_file_that_two_hosts_share_goes_with_the_last(project, home):  # noqa: F811
    connect(project, "claude", "--mcp")
    connect(project, "copilot", "--mcp")
    connect(project, "claude", "--remove")
    assert server(project, "copilot") == MCP_ENTRY
    connect(project, "copilot", "--remove")
    assert not (project / ".mcp.json").exists()


def test_a_file_with_comments_comes_back_to_the_byte(project, home):  # noqa: F811
    file, mcp = project / ".zed" / "settings.json", HOSTS["zed"].mcp
    file.parent.mkdir()
    file.write_text('// mine\n{"theme": "One", /* why */ }\n')
    connect(project, "zed")
    assert parsed(file.read_text()) == {"theme": "One", mcp.key: {"rawkomem": mcp.entry}}
    assert "// mine" in file.read_text() and "/* why */" in file.read_text()
    assert "already connected" in connect(project, "zed").output
    connect(project, "zed", "--remove")
    assert file.read_text() == '// mine\n{"theme": "One", /* why */ }\n'


def test_no_error_without_rawkomem_on_the_path(tmp_path):
    """The finding: an error at start and two at each prompt. A shell must end with 0 and print nothing on stdout."""
    for name in BOTH:
        for handler in hook_handlers(name).values():
            line = str(handler.get("command") or handler["bash"])
            done = subprocess.run(
                ["/bin/sh", "-c", line], env={"PATH": str(tmp_path)}, capture_output=True, check=False
            )
            assert (done.returncode, done.stdout) == (0, b""), line
    assert all(str(one["commandWindows"]).endswith("& exit /b 0") for one in hook_handlers("codex").values())


def test_a_toml_server_of_somebody_elses_is_left_alone(project, home):  # noqa: F811
    file = project / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text('[mcp_servers.rawkomem]\ncommand = "rawkomem"\nargs = ["-C", "/x", "mcp"]\n')
    before = tree(project)
    connect(project, "codex", "--mcp")
    assert file.read_text().count("mcp_servers") == 1
    assert "remove it yourself" in connect(project, "codex", "--remove").output and tree(project) == before


@pytest.mark.parametrize(("name", "words"), [("vscode", ()), ("zed", ()), ("gemini", ("--mcp",))])
def test_doctor_says_that_the_package_of_the_server_is_missing(name, words, project, home, monkeypatch):  # noqa: F811
    """A plain install has no package `mcp`: the host shows only that its server ended."""
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    connect(project, name, *words)

    def found():
        return next(one for one in examine_hosts(find_layout(str(project))) if one.name == name)

    monkeypatch.setitem(sys.modules, "mcp", None)
    assert not found().ok and "needs a package that is not installed" in found().text
    assert found().hint.startswith("run: ") and " 'mcp" in found().hint
    here = ModuleType("mcp")
    here.__spec__ = ModuleSpec("mcp", None)
    monkeypatch.setitem(sys.modules, "mcp", here)
    assert "not installed" not in found().text
