"""Fixtures of the lane of real hosts."""

from collections.abc import Callable

import pytest

from tests.git.gitting import Git
from tests.hosts.real.hosts import Host, Seat
from tests.hosts.real.model import Model


@pytest.fixture
def model():
    model = Model()
    yield model
    model.close()


@pytest.fixture
def home(tmp_path_factory, monkeypatch, own_home):
    """A home folder that the test, the host, its hooks and its MCP server share: it says whose local files are."""
    home = tmp_path_factory.mktemp("host-home")
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def seat(home, project, git: Git, model, rawkomem) -> Callable[..., Seat]:
    """Set up a host in the project, connected to its memories, which are committed."""

    def take(host: Host, *connected: str) -> Seat:
        seat = Seat(host, project, home, model.url)
        for name in connected or (host.name,):
            rawkomem("connect", name)
        git.commit("start")
        return seat

    return take
