"""What a newcomer tries first: the demo, the README as written, the picture of the day, and leaving again."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from types import ModuleType

import pytest
from rawkomem.faces.cli import manual
from rawkomem.files.kept_texts import keep_text
from rawkomem.files.layout import user_cache, user_config
from rawkomem.files.session_records import DraftRecords
from rawkomem.model.entries import Draft
from rawkomem.model.values import now

from tests.conftest import ROOT

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_HERE = (
    "make ",
    "pipx install",
    "pip install",
    "cd ",
    "/plugin ",
    "claude ",
)  # set-up of the machine, done for the tests already


ARRIVALS = """
from rawkomem.files.layout import find_layout
from rawkomem.files.records import read
print(read(find_layout("."), "SELECT DISTINCT how FROM arrivals"))
"""


@pytest.mark.slow
def test_the_demo_shows_every_step_as_a_person_typed_it(rawkomem, tmp_path, monkeypatch):
    """Although no terminal is involved, none of what the demo writes may count as an agent's word."""
    last = manual.DemoStep("How it arrived.", (shlex.join([sys.executable, "-c", ARRIVALS]),))
    monkeypatch.setattr(manual, "DEMO_STEPS", (*manual.DEMO_STEPS, last))
    told = rawkomem("demo", env={"TMPDIR": str(tmp_path)}).stdout
    steps = re.findall(r"^(\d)\. ", told, re.MULTILINE)
    assert steps == [str(number) for number in range(1, 10) if number != 8 or shutil.which("git")]
    for real in ("stored  mem_", "whenToUse fired", "conflicts with mem_", "supersedes mem_", "reinforcements: 0 → 1"):
        assert real in told
    assert told.strip().endswith("[('person',)]")


def test_the_demo_cleans_up(rawkomem, tmp_path, monkeypatch):
    monkeypatch.setattr(manual, "DEMO_STEPS", manual.DEMO_STEPS[:2])
    before = set(os.listdir(tmp_path))
    assert "stored  mem_" in rawkomem("demo", env={"TMPDIR": str(tmp_path)}).stdout
    assert set(os.listdir(tmp_path)) == before


def test_a_fresh_repository_is_healthy(tmp_path, rawkomem):
    """With the default embedder, as a newcomer has it."""
    plain = {"RAWKOMEM_EMBEDDER": ""}
    folder = tmp_path / "fresh"
    folder.mkdir()
    rawkomem("init", "--here", cwd=folder, env=plain)
    assert "!!" not in rawkomem("doctor", cwd=folder, env=plain).stdout


@pytest.mark.skipif(bool(find_spec("sentence_transformers")), reason="it is installed")
def test_an_embedder_that_does_not_open_is_a_finding(rawkomem):
    told = rawkomem("doctor", env={"RAWKOMEM_EMBEDDER": "sentence-transformers"}, check=1).stdout
    assert "!!  embedder     static" in told and "sentence-transformers did not open" in told


def readme_commands() -> list[str]:
    """The command lines of the README's quick start, those over several lines as one."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start = text.index("## Start")
    quick = text[start : text.index("\n## ", start + 1)]
    lines = "".join(SHELL.findall(quick)).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def test_the_readme_works_as_written(tmp_path, monkeypatch):
    """In a fresh folder, by a shell, with nothing but the installed commands."""
    commands = [line for line in readme_commands() if not line.startswith(NOT_HERE)]
    assert len(commands) >= 4 and any(line.startswith("rawkomem init") for line in commands)
    folder = tmp_path / "your-project"
    folder.mkdir()
    (folder / "CLAUDE.md").write_text("# Us\n\n## Tests\n\nRun the tests with pnpm, never with npm.\n")
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")
    told = {}
    for command in commands:
        done = subprocess.run(
            ["bash", "-ec", command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        told[command] = done.stdout
    recalled = [text for command, text in told.items() if command.startswith(("rawkomem search", "rawkomem inject"))]
    assert recalled and all(text.strip() for text in recalled), "a first recall that finds nothing teaches nothing"


def test_pictures_of_the_readme_are_there_and_small():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]+\]\((docs/images/[^)]+)\)", text)
    assert pictures
    for path in pictures:
        assert 0 < (ROOT / path).stat().st_size < 400_000, path


def test_the_recording_is_what_the_tool_makes_of_real_output():
    from runpy import run_path
    from xml.etree import ElementTree

    file = ROOT / "docs" / "images" / "first-minutes.svg"
    text = file.read_text(encoding="utf-8")
    ElementTree.fromstring(text)  # it is XML
    assert file.stat().st_size < 60_000 and "<script" not in text and "prefers-color-scheme" in text
    tool = run_path(str(ROOT / "tools" / "record_terminal.py"))
    for command in tool["COMMANDS"]:
        shown = command.split(" ")[1]
        assert shown in text, "record it again: python tools/record_terminal.py"


def test_every_page_is_in_the_index_of_docs():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    pages = {file.name for file in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert linked == pages


def on_terminal(words: list[str], folder) -> str:
    """What a command prints to a pseudo-terminal."""
    pty = pytest.importorskip("pty", reason="no terminals to open here")
    host, guest = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(words, cwd=folder, env=env, stdin=guest, stdout=guest, stderr=guest) as process:
        os.close(guest)
        told = b""
        while True:
            try:
                part = os.read(host, 65536)
            except OSError:
                break
            if not part:
                break
            told += part
        process.wait(60)
    os.close(host)
    return told.decode()


def test_uninstalling_leaves_only_markdown(project, rawkomem):
    rawkomem("add", "--title", "Keep me", "--body", "Mine.")
    os.makedirs(user_cache(), exist_ok=True)
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text('{"hooks": "rawkomem hook claude prompt"}')
    dry = rawkomem("uninstall", "--dry-run")
    assert (project / ".rawko" / "local").exists() and "nothing was removed" in dry.stderr
    assert "mentions .claude/settings.json" in dry.stdout
    assert "stopped" in rawkomem("uninstall", check=1).stderr, "it asks"
    rawkomem("uninstall", "--yes")
    left = [
        file.relative_to(project / ".rawko").as_posix() for file in (project / ".rawko").rglob("*") if file.is_file()
    ]
    assert left == ["memories/keep-me.md"] and not os.path.exists(user_cache())
    assert "Keep me" in rawkomem("list").stdout, "whoever changes their mind has lost nothing"


def test_an_uninstalled_repository_without_memories_does_not_hide_the_one_above(rawkomem, project):
    rawkomem("add", "--title", "Above", "--body", "Mine.")
    web = project / "web"
    web.mkdir()
    rawkomem("-C", str(web), "init", "--here")
    rawkomem("-C", str(web), "uninstall", "--yes")
    assert not (web / ".rawko").exists() and "Above" in rawkomem("-C", str(web), "list").stdout


def test_what_a_person_changed_stays(project, rawkomem):
    (project / ".rawko" / "config.yaml").write_text("embedder: static\n")
    os.makedirs(os.path.dirname(user_config()), exist_ok=True)
    with open(user_config(), "w", encoding="utf-8") as stream:
        stream.write("embedder: static\n")
    told = rawkomem("uninstall", "--yes").stdout
    assert (project / ".rawko" / "config.yaml").exists() and os.path.exists(user_config())
    assert f"stays    {os.path.dirname(user_config())}" in told, "keys and stores of repositories lie there too"


def test_drafts_are_named_before_they_are_removed(project, rawkomem, repository):
    for number in range(3):
        DraftRecords(repository.layout).put([Draft(id=f"drf_{number}", kind="rule", text=f"Rule {number}.", at=now())])
    keep_text(repository.layout, "add", "Not stored yet.")
    repository.add("Text", title="T", via="person")
    told = rawkomem("uninstall", check=1)
    assert "no other copy: 3 drafts, 1 unsaved text, 1 undoable change, 1 typed entry, 1 ledger block" in told.stdout
    told = rawkomem("uninstall", "--yes", check=1).stderr
    assert "a person has to decide about 3 drafts and 1 unsaved text first" in told, "an agent does not"
    assert len(DraftRecords(repository.layout).all()) == 3


def test_uninstalling_leaves_nothing_in_the_folder_of_git(git, project, rawkomem):
    rawkomem("add", "--title", "Keep me", "--body", "Mine.")
    before = set(os.listdir(project / ".git")) - {"rawkomem"}
    rawkomem("uninstall", "--yes")
    assert set(os.listdir(project / ".git")) == before and not (project / ".rawko" / "local").exists()


def test_broken_settings_of_a_host_stay_and_are_named(project, rawkomem):
    rawkomem("connect", "cursor")
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text('{"hooks": {rawkomem')
    told = rawkomem("uninstall", "--yes").stdout
    assert "mentions .claude/settings.json" in told
    assert not (project / ".cursor").exists() and not (project / ".rawko" / "local").exists()


def test_everything_that_connect_wrote_is_removed(git, project, rawkomem, tmp_path_factory, monkeypatch):
    """What connects all projects of the user stays and is named, also where a host's own variable leads elsewhere."""
    home = tmp_path_factory.mktemp("user")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.setenv(name, str(home / "moved" / name))
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text('{\n  "model": "opus"\n}\n')
    before = contents(project)
    settings = git("config", "--local", "--list")
    rawkomem("connect", "git")
    for host in ("claude", "codex", "opencode", "cursor", "copilot", "gemini"):
        rawkomem("connect", host, "--mcp")
        rawkomem("connect", host, "--user")
    ours = {project / name for name in contents(project).keys() - before.keys()}
    own = {home / name for name in contents(home) if "XDG_CACHE_HOME" not in name}
    told = rawkomem("uninstall", "--yes").stdout
    rows = [line.split() for line in told.splitlines()]
    listed = {(word, (project / os.path.expanduser(path)).resolve()) for word, path, *_ in rows}
    assert len(ours) >= 11 and {path for word, path in listed if word == "remove"} >= ours
    assert ("change", project / ".claude" / "settings.json") in listed
    assert len(own) >= 6 and {path for word, path in listed if word == "mentions"} == own
    assert contents(project) == before and git("config", "--local", "--list") == settings


def contents(folder) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file() and ".rawko" not in file.parts]
    kept = {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
    return {name: data for name, data in kept.items() if name != ".git/config"}


# docs/first-hour.md is what tools/first_hour.py records: the same commands, and nothing of one machine
TOOL, PAGE = ROOT / "tools" / "first_hour.py", ROOT / "docs" / "first-hour.md"
PROMPT = re.compile(r"^(~\S*)\$ (.+)$", re.MULTILINE)


@pytest.fixture
def tool(monkeypatch) -> ModuleType:
    spec = spec_from_file_location("first_hour", TOOL)
    assert spec and spec.loader
    loaded = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "first_hour", loaded)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_page_shows_the_commands_of_the_script(tool):
    commands = [command.line for step in tool.steps() for command in step.commands]
    assert [line for _, line in PROMPT.findall(PAGE.read_text(encoding="utf-8"))] == commands


def test_the_page_names_no_path_of_a_machine():
    assert re.findall(r"(?<![\w.~/])/(?:tmp|home|root|work|Users|dev/shm)\b\S*", PAGE.read_text(encoding="utf-8")) == []


@pytest.mark.slow
def test_every_command_of_the_page_works(tool, tmp_path):
    """Builds the wheel, installs it, and runs the whole page; needs the package index."""
    out = tmp_path / "page.md"
    done = subprocess.run([sys.executable, str(TOOL), "--out", str(out)], capture_output=True, text=True, check=False)
    if done.returncode == tool.NO_INDEX_EXIT_CODE:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    recorded, page = (PROMPT.findall(file.read_text(encoding="utf-8")) for file in (out, PAGE))
    assert recorded == page
