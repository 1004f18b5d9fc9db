"""Fixtures: a fresh repository in a temporary project, commands in it, and the shared corpora or samples of them."""

import itertools
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import rawkomem.embed.minilm_pass  # before a test imports numpy: waiting threads of OpenBLAS use the processor
from hypothesis import HealthCheck, settings
from rawkomem.files.installation import plan_start, write_start
from rawkomem.files.layout import Layout
from rawkomem.model.values import replace
from rawkomem.recall.scoring import PROFILES
from rawkomem.repository import Repository
from rawkomem.repository.core import Core

from tests.commands import ENVIRONMENT, FULL, ROOT, Command
from tests.git.gitting import Git
from tests.terminals import terminal_in

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell ignores it for what it starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

BUSY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("whole", **BUSY)
settings.register_profile("default lane", max_examples=15, **BUSY)
MEMORY = "/dev/shm"  # a file system in memory: a write to disk waits for the disk, thousands of times
MIN_MEMORY_BYTES = 4 << 30

SHARED = ROOT.parent / "shared"
SAMPLES = ROOT / "tests" / "data"  # see its README.md
LANE = re.compile(r"^pytestmark = pytest\.mark\.(\w+)$", re.MULTILINE)


def pytest_configure(config):
    """Run fewer examples in the default lane, and keep the folders of tests in memory where there is room."""
    is_default = "not slow" in config.option.markexpr and not FULL
    settings.load_profile("default lane" if is_default else "whole")
    if _has_room(MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)


def _has_room(folder: str) -> bool:
    """Return whether a folder can hold the files of a whole run, also programs that tests start."""
    if not os.access(folder, os.W_OK):
        return False
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize >= MIN_MEMORY_BYTES and not room.f_flag & os.ST_NOEXEC


def pytest_ignore_collect(collection_path, config):
    """Do not import a module of a lane that `-m` leaves out: it may need packages that are not installed."""
    if collection_path.suffix == ".py":
        lane = LANE.search(collection_path.read_text(encoding="utf-8"))
        if lane and f"not {lane[1]}" in config.option.markexpr:
            return True
    return None


@pytest.fixture(scope="session")
def homes(tmp_path_factory) -> Iterator[Path]:
    """Names of folders that are not there; `mktemp` would look through the folders of all tests before."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_home(homes, monkeypatch):
    """No test reads or writes the user's real config and cache folders, nor git's settings."""
    home = next(homes)
    home.mkdir()
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(home / name))
        monkeypatch.setitem(ENVIRONMENT, name, str(home / name))
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "static")  # no worker is left behind, but where a test asks for it
    monkeypatch.delenv("RAWKOMEM_DIR", raising=False)


@pytest.fixture(autouse=True)
def believed(request, monkeypatch):
    """`via="person"` in a test stands for what a person typed at a terminal; `unbelieved` tests that it does not vouch."""
    if "unbelieved" not in request.fixturenames:
        monkeypatch.setattr(Core, "claimed", lambda core, via: via)


@pytest.fixture
def unbelieved() -> None:
    """Let programs claim no more than they may outside of tests."""


@pytest.fixture
def project(tmp_path) -> Path:
    """A project folder with an empty repository."""
    write_start(plan_start(str(tmp_path)))
    return tmp_path


@pytest.fixture
def five(monkeypatch) -> None:
    """Inject up to five memories by default, for tests of something else than how many there are."""
    monkeypatch.setitem(PROFILES, "fit", replace(PROFILES["fit"], max_injected=5))


@pytest.fixture
def memories(project) -> Path:
    """The folder for memory files."""
    return project / ".rawko" / "memories"


@pytest.fixture
def layout(project) -> Layout:
    """Where the repository of `project` lies."""
    return Layout(str(project / ".rawko"))


@pytest.fixture
def git(project) -> Git:
    """git in `project`, which is a repository of its own."""
    git = Git(project)
    git("init", "-q")
    return git


@pytest.fixture
def repository(project):
    """The repository of `project`; its warnings are collected in `.warnings`."""
    warnings: list[str] = []
    opened = Repository.open(str(project), warn=warnings.append)
    opened.warnings = warnings  # type: ignore[attr-defined]
    yield opened
    opened.close()


@pytest.fixture
def terminal(tmp_path_factory) -> str:
    """A program that a process tree shows as a terminal emulator; see tests/terminals.py."""
    return terminal_in(tmp_path_factory.mktemp("bin"))


@pytest.fixture
def rawkomem(project) -> Command:
    """Run commands in `project`: `rawkomem("list")` in this process, `rawkomem.process("list")` in a new one."""
    return Command(project)


def shared(path: str) -> Path:
    """Return a file or folder of the shared corpora, or its sample in tests/data; skip the test without either."""
    found = _at_hand(path)
    if found is None:
        pytest.skip(f"for want of data: ../shared/{path}")
    return found


def evaluation_sets(*names: str) -> list[str]:
    """Return those of some evaluation sets that are at hand; the names must hold one that lies in tests/data."""
    found = [name for name in names if _at_hand(f"data/eval/{name}.json")]
    assert found, names
    return found


def _at_hand(path: str) -> Path | None:
    places = (SHARED / path, SAMPLES / path.removeprefix("data/"))
    return next((place for place in places if place.exists()), None)
