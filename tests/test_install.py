"""Installing: from a built wheel with each installer, hints that work when pasted, one version, the Dockerfile."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from rawkomem import __version__
from rawkomem.model import installed

from tests.conftest import ROOT

MAX_INSTALLED_BYTES = 128e6  # of a default installation, without pip and bytecode, whose size depends on the path
NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")  # what a virtual environment brings
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DOCKERFILE = ROOT / "templates" / "docker" / "Dockerfile"


# --- Hints name a command for the installer in use ---


@pytest.fixture
def prefix(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(installed.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(installed.sys, "executable", "/opt/my tools/bin/python")
    return tmp_path


def test_each_installer_is_recognized(prefix, monkeypatch):
    assert installed.installer() == installed.PIP
    assert installed.how_to_install("a>=1", "b") == "'/opt/my tools/bin/python' -m pip install 'a>=1' b"
    monkeypatch.setattr(installed, "find_spec", lambda name: None)
    assert installed.how_to_install("b") == "uv pip install --python '/opt/my tools/bin/python' b"
    (prefix / "uv-receipt.toml").touch()
    assert installed.installer() == installed.UV_TOOL
    assert installed.how_to_install("b") == "uv pip install --python '/opt/my tools/bin/python' b"
    assert installed.how_to_reach() == "run: uv tool update-shell"
    (prefix / "pipx_metadata.json").touch()
    assert installed.how_to_install("a[x]>=1") == "pipx inject rawkomem 'a[x]>=1'"
    assert installed.how_to_reach() == "run: pipx ensurepath"


def test_an_extra_is_named_by_its_packages(monkeypatch):
    """rawkomem itself may come from a folder or a wheel, so its name may mean nothing to an index."""
    wanted = {re.split(r"[<>=]", one)[0] for one in PROJECT["project"]["optional-dependencies"]["lancedb"]}
    assert {re.split(r"[<>=]", one)[0] for one in installed.packages_of("lancedb")} == wanted
    assert installed.packages_of("nothing") == ["rawkomem[nothing]"]


def test_no_hint_names_an_installer_by_itself():
    """Only model/installed.py knows how packages are installed."""
    naming = [
        str(file.relative_to(ROOT))
        for file in (ROOT / "rawkomem").rglob("*.py")
        if re.search(r"pip install|pipx (install|inject)|uv (tool|pip) ", file.read_text("utf-8"))
    ]
    assert naming == ["rawkomem/model/installed.py"]


# --- One version ---


def test_the_version_has_one_place_and_the_changelog_begins_with_it():
    assert "version" not in PROJECT["project"] and PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "rawkomem/__init__.py"
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert first and first[1] == __version__


def test_the_command_prints_it(rawkomem):
    assert rawkomem("--version").stdout == f"rawkomem {__version__}\n"


def test_a_release_needs_a_tag_of_its_version_and_no_token():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    (checked,) = [step["run"] for step in jobs["build"]["steps"] if "tag" in step.get("name", "")]
    for tag, code in ((f"v{__version__}", 0), ("v9.9.9", 1)):
        done = subprocess.run(["sh", "-c", checked], cwd=ROOT, env={**os.environ, "GITHUB_REF_NAME": tag}, check=False)
        assert done.returncode == code
    assert {"run": "make dist"} in jobs["build"]["steps"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"} and jobs["publish"]["needs"] == "build"


# --- Each installer, from a built wheel ---


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> str:
    from hatchling.builders.wheel import WheelBuilder

    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("dist")), versions=["standard"])
    assert f"rawkomem-{__version__}-" in built
    return str(built)


class Installed:
    """An installation of the wheel: its programs, and the environment in which a person uses them."""

    def __init__(self, bin: Path, around: dict[str, str]):
        self.bin = bin
        tools = f"{bin}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        self.environment = {**kept, **around, "PATH": tools, "NO_COLOR": "1"}

    def run(self, line: str, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command line as a person pastes it."""
        done = subprocess.run(
            line, shell=True, cwd=cwd, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, f"{line}\n{done.stdout}{done.stderr}"
        return done


def by_pip(wheel: str, home: Path) -> Installed:
    subprocess.run([sys.executable, "-m", "venv", str(home / "env")], check=True)
    one = Installed(home / "env" / "bin", {})
    one.run(f"{one.bin / 'python'} -m pip install --quiet --no-compile {shlex.quote(wheel)}", home)
    return one


def by_pipx(wheel: str, home: Path) -> Installed:
    pytest.importorskip("pipx", reason="pipx is not installed: run 'make test-slow'")
    one = Installed(home / "bin", {"PIPX_HOME": str(home / "pipx"), "PIPX_BIN_DIR": str(home / "bin")})
    one.run(f"pipx install --quiet --python {sys.executable} {shlex.quote(wheel)}", home)
    return one


def by_uv(wheel: str, home: Path) -> Installed:
    pytest.importorskip("uv", reason="uv is not installed: run 'make test-slow'")
    places = {"UV_TOOL_DIR": "tools", "UV_TOOL_BIN_DIR": "bin", "UV_CACHE_DIR": "cache"}
    one = Installed(home / "bin", {name: str(home / folder) for name, folder in places.items()})
    one.run(f"uv tool install --quiet --python {sys.executable} {shlex.quote(wheel)}", home)
    return one


def bytes_of(one: Installed) -> int:
    """Return the size of what pip installed."""
    (packages,) = (one.bin.parent / "lib").glob("python3*/site-packages")
    found = [file for file in packages.rglob("*") if file.is_file() and not file.is_symlink()]
    found = [file for file in found if file.suffix != ".pyc"]
    return sum(file.stat().st_size for file in found if not file.relative_to(packages).parts[0].startswith(NOT_OURS))


@pytest.mark.slow
@pytest.mark.parametrize("install", [by_pip, by_pipx, by_uv], ids=lambda one: one.__name__)
def test_the_wheel_works_with_each_installer(install, wheel, tmp_path):
    """Everything works at once, and the hint for the extra that is missing works when it is pasted.

    A default installation is small: page and language server are in it, and the MCP server would make it too large.
    """
    one = install(wheel, tmp_path)
    assert install is not by_pip or 100e6 < bytes_of(one) < MAX_INSTALLED_BYTES
    project = tmp_path / "project"
    project.mkdir()
    one.run("rawkomem init", project)
    checked = {line["name"]: line for line in json.loads(one.run("rawkomem doctor --json", project).stdout)}
    assert checked["packages"]["ok"]
    hint = one.run("rawkomem mcp < /dev/null", project, code=1).stderr
    command = re.search(r"run: (.*?)\)?$", hint.strip())
    assert (
        command and {by_pip: "-m pip install", by_pipx: "pipx inject", by_uv: "uv pip install"}[install] in command[1]
    )
    one.run(command[1], project)
    one.run("rawkomem mcp < /dev/null", project)


def test_the_empty_extras_still_install():
    extras = PROJECT["project"]["optional-dependencies"]
    assert extras["page"] == extras["lsp"] == [] and extras["mcp"]


def test_an_older_pip_names_python_and_not_a_package():
    """pip 23.0 of Python 3.10 looks for the packages first: there is no watchdog 7 for it."""
    (watchdog,) = [one for one in PROJECT["project"]["dependencies"] if one.startswith("watchdog")]
    marker = Requirement(watchdog).marker
    assert marker and not marker.evaluate({"python_version": "3.10"}) and marker.evaluate()


@pytest.mark.parametrize(
    ("lane", "needs"),
    [
        ("test-hosts", ".[mcp]"), ("test-servers", ".[mcp]"), ("test-stores", ".[lancedb,postgres]"),
        ("test-page", "--group page"), ("test-editors", "--group page"), ("test-slow", "--group install --group site"),
    ],
)  # fmt: skip
def test_each_lane_installs_what_it_needs(lane, needs):
    """Its recipe does so before the tests start, and does not rely on another lane."""
    steps = subprocess.run(["make", "-n", lane], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    before, started, _ = steps.partition("/pytest ")
    assert started and needs in before


# --- The Dockerfile: parsed, and its commands run in a virtual environment (no Docker is needed) ---


def steps() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, continued lines joined."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in text.splitlines() if line.strip()]


def test_the_dockerfile_is_well_formed():
    known = {"FROM", "RUN", "COPY", "ENV", "WORKDIR", "ENTRYPOINT"}
    found = steps()
    assert {name for name, _ in found} == known and found[0] == ("FROM", "python:3.12-slim")
    version = tuple(map(int, re.findall(r"\d+", found[0][1])))
    assert version >= tuple(map(int, re.findall(r"\d+", PROJECT["project"]["requires-python"])))
    for name, words in found:
        if name == "COPY":
            *sources, target = words.split()
            assert all((ROOT / source).exists() for source in sources) and target.startswith("/src/")
    assert json.loads(found[-1][1]) == ["rawkomem", "-C", "/project", "mcp"]


@pytest.mark.slow
def test_the_commands_of_the_dockerfile_work(tmp_path):
    """What it copies is enough to install rawkomem, and what it starts speaks MCP. Its apt-get line is not run."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    one = Installed(tmp_path / "env" / "bin", {"HOME": str(tmp_path)})
    one.environment.pop("XDG_CONFIG_HOME", None)
    inside = {"/src": str(tmp_path / "src"), "/project": str(tmp_path / "project")}

    def here(text: str) -> str:
        return re.sub(r"/src|/project", lambda found: inside[found[0]], text)

    (tmp_path / "project").mkdir()
    for name, words in steps():
        if name == "COPY":
            *sources, target = words.split()
            for source in sources:
                to = Path(here(target)) / (source if target.endswith("/") else "")
                to.parent.mkdir(parents=True, exist_ok=True)
                copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
                copy(ROOT / source, to)
        elif name == "RUN" and "pip install" in words:
            one.run(here(words), tmp_path)
    one.run("rawkomem init", tmp_path / "project")
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
             "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}  # fmt: skip
    started = json.loads(here(steps()[-1][1]))
    done = subprocess.run(
        [str(one.bin / started[0]), *started[1:]], input=json.dumps(hello) + "\n", env=one.environment,
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    said = json.loads(done.stdout.splitlines()[0])
    assert said["result"]["serverInfo"] == {"name": "rawkomem", "version": __version__, **said["result"]["serverInfo"]}
