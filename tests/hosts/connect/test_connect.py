"""`rawkomem connect`: as a user runs it, in a project and for the user."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from rawkomem.hosts.known_hosts import HOSTS as HOSTS_RECORDS

from tests.commands import spread
from tests.conftest import ROOT
from tests.hosts.connect.test_merge import FILES

HOSTS = ("claude", "codex", "opencode", "cursor", "copilot", "gemini")
SETTINGS = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
    "copilot": ".github/hooks/rawkomem.json",
    "gemini": ".gemini/settings.json",
}


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder beside the repository."""
    found = (path for path in folder.rglob("*") if ".rawko" not in path.parts)
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


@pytest.fixture
def home(tmp_path_factory, monkeypatch) -> Path:
    folder = tmp_path_factory.mktemp("user")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.mark.parametrize("host", HOSTS)
def test_connect_and_remove_leave_nothing(host, project, rawkomem, home):
    before = tree(project)
    shown = rawkomem("connect", host, "--dry-run")
    assert "+" in shown.stdout and "nothing was written" in shown.stderr and tree(project) == before
    rawkomem("connect", host)
    connected = tree(project)
    assert connected != before and any(f"hook {host}".encode() in (data or b"") for data in connected.values())
    assert f"{host} is already connected" in rawkomem("connect", host).stderr and tree(project) == connected
    rawkomem("connect", host, "--remove", "--dry-run")
    assert tree(project) == connected
    rawkomem("connect", host, "--remove")
    assert tree(project) == before
    assert f"{host} is not connected" in rawkomem("connect", host, "--remove").stderr and tree(project) == before


@pytest.mark.parametrize(
    ("host", "text"), spread([*SETTINGS], [b'{"hooks": ', b"\xff\xfe{}", b"hello", b'{"hooks": 3}'])
)
def test_settings_that_cannot_be_read_are_refused(text, host, project, rawkomem, home):
    file = project / SETTINGS[host]
    file.parent.mkdir(parents=True)
    file.write_bytes(text)
    before = tree(project)
    told = rawkomem("connect", host, check=2).stderr
    assert told.count("\n") == 1 and str(file) in told and "nothing was changed" in told
    assert tree(project) == before


def test_a_skill_that_several_hosts_read_goes_with_the_last(project, rawkomem, home):
    skill = project / ".agents" / "skills" / "rawkomem" / "SKILL.md"
    rawkomem("connect", "codex")
    rawkomem("connect", "gemini")
    rawkomem("connect", "codex", "--remove")
    assert skill.exists()
    rawkomem("connect", "gemini", "--remove")
    assert not skill.exists() and not (project / ".agents").exists()


def test_a_file_of_somebody_elses_is_left_alone(project, rawkomem, home):
    file = project / ".opencode" / "plugins" / "rawkomem.js"
    file.parent.mkdir(parents=True)
    file.write_text("export const Mine = 1\n")
    assert "rawkomem did not write it" in rawkomem("connect", "opencode", check=1).stderr
    rawkomem("connect", "opencode", "--remove")
    assert file.read_text() == "export const Mine = 1\n" and not (project / ".agents").exists()


@pytest.mark.parametrize("host", ["claude", "opencode"])
def test_what_a_person_made_of_our_files_stays(host, project, rawkomem, home):
    rawkomem("connect", host)
    ours = [
        file for file in project.rglob("*") if file.name in ("SKILL.md", "rawkomem.js") and ".rawko" not in file.parts
    ]
    assert len(ours) == (1 if host == "claude" else 2)
    for file in ours:
        file.write_text(file.read_text() + "\n// Mine.\n")
    edited = tree(project)
    assert rawkomem("connect", host).stderr.count("stays as it is: it was edited") == len(ours)
    assert tree(project) == edited
    told = rawkomem("connect", host, "--remove").stderr
    assert all(f"{file.relative_to(project)} stays as it is" in told for file in ours)
    assert all(file.read_text().endswith("// Mine.\n") for file in ours)


@pytest.mark.parametrize("host", HOSTS)
def test_for_the_user(host, project, rawkomem, home, tmp_path_factory):
    before = tree(home)
    elsewhere = tmp_path_factory.mktemp("no repository")
    told = rawkomem.json("connect", host, "--user", cwd=elsewhere)
    assert [change["what"] for change in told["changes"]] == ["new"]
    assert told["changes"][0]["path"].startswith(str(home)) and tree(elsewhere) == {}
    assert "one connection is enough" in rawkomem("connect", host).stderr
    rawkomem("connect", host, "--user", "--remove", cwd=elsewhere)
    assert {path for path, data in tree(home).items() if data is not None} == {
        path for path, data in before.items() if data
    }


def test_a_linked_settings_file_stays_a_link(project, rawkomem, home, tmp_path_factory):
    real = tmp_path_factory.mktemp("dotfiles") / "settings.json"
    real.write_text('{\n  "model": "opus"\n}\n')
    link = project / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    assert "RAWKOMEM_FOLLOW_LINKS=1" in rawkomem("connect", "claude", check=1).stderr
    assert real.read_text() == '{\n  "model": "opus"\n}\n'
    follow = {"RAWKOMEM_FOLLOW_LINKS": "1"}
    rawkomem("connect", "claude", env=follow)
    assert link.is_symlink() and "rawkomem hook claude prompt" in real.read_text()
    rawkomem("connect", "claude", "--remove", env=follow)
    assert link.is_symlink() and real.read_text() == '{\n  "model": "opus"\n}\n'


def test_without_a_repository(rawkomem, tmp_path_factory, home):
    told = rawkomem("connect", "claude", cwd=tmp_path_factory.mktemp("bare"), check=1)
    assert "rawkomem init" in told.stderr


def test_the_command_that_settings_name_works(project, rawkomem, home):
    """What a host runs: each command line of the settings, through a shell, with rawkomem on its PATH."""
    (project / ".rawko" / "memories" / "pnpm.md").write_text(
        "---\ntitle: Use pnpm\nwhenToUse: [npm]\n---\n\nNot npm.\n"
    )
    rawkomem("sync")
    rawkomem("connect", "claude")
    hooks = json.loads((project / ".claude" / "settings.json").read_text())["hooks"]
    command = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
    assert command == "rawkomem hook claude prompt; exit 0"
    told = json.dumps({"session_id": "s", "cwd": str(project), "prompt": "run npm install"})
    path = f"{Path(os.sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, shell=True, input=told, capture_output=True, text=True, env=env, check=True)
    assert "Use pnpm" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize(("host", "name"), spread([*SETTINGS], [*FILES]))
def test_settings_that_are_there_come_back_to_the_byte(name, host, project, rawkomem, home):
    file = project / SETTINGS[host]
    file.parent.mkdir(parents=True)
    file.write_bytes(FILES[name].encode())
    file.chmod(0o600)
    before = tree(project)
    rawkomem("connect", host)
    assert b"rawkomem hook" in file.read_bytes() and file.stat().st_mode & 0o777 == 0o600
    rawkomem("connect", host, "--remove")
    if HOSTS_RECORDS[host].version and "version" not in FILES[name] and file.exists():  # it may stay
        file.write_text(re.sub(r',\s*"version": 1', "", file.read_text()))
    assert tree(project) == before


def test_broken_settings_of_one_host_do_not_hold_another(project, rawkomem, home):
    rawkomem("connect", "codex")
    (project / ".gemini").mkdir()
    (project / ".gemini" / "settings.json").write_text("{broken")
    rawkomem("connect", "codex", "--remove")
    assert not (project / ".codex").exists() and (project / ".gemini" / "settings.json").read_text() == "{broken"


@pytest.mark.parametrize("host", ["claude", "gemini", "codex"])
def test_a_host_that_is_started_in_a_subfolder(host, project, rawkomem, home, monkeypatch):
    """Claude Code and Gemini CLI read settings only where they are started: connect and doctor say what to do."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name == "rawkomem" else None)
    below = project / "packages" / "api"
    below.mkdir(parents=True)
    told = rawkomem("connect", host, cwd=below).stderr
    assert f"next: start '{host}' in {project} and" in told
    help, reads_above = f"'rawkomem connect {host} --user'", host == "codex"
    assert (f"{help} works in every folder" in told) != reads_above
    assert "in this folder and" in rawkomem("connect", host).stderr

    def found(folder: Path, code: int) -> list[str]:
        rows = rawkomem.json("doctor", cwd=folder, check=code)
        return [f"{row['text']} ({row['hint']})" for row in rows if row["name"] == host]

    assert all("no hook if you start it" not in row for row in found(project, 0))
    (row,) = found(below, 0 if reads_above else 1)
    assert (f"only if you start it there (start it there, or run {help})" in row) != reads_above
    rawkomem("connect", host, "--user", cwd=below)
    assert all("no hook if you start it" not in row for row in found(below, 0))
