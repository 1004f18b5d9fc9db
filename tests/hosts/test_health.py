"""`rawkomem doctor` says for each connected host whether its hooks ran lately, and otherwise why not."""

import json
import os
import re

import pytest
from rawkomem.files.layout import find_layout
from rawkomem.files.records import note
from rawkomem.hosts import health, hook_calls
from rawkomem.hosts.connect import carry_out, plan_connect
from rawkomem.model.values import DAY, now

from tests.hosts.connect.test_connect import home  # noqa: F401


@pytest.fixture
def connected(project, home, monkeypatch):  # noqa: F811
    """A project that claude is connected in, with rawkomem on the PATH."""
    carry_out(plan_connect("claude", str(project)), str(project))
    monkeypatch.setattr(health.shutil, "which", lambda name: f"/usr/bin/{name}")
    return find_layout(str(project))


def found(layout):
    (one,) = health.examine_hosts(layout)
    assert one.name == "claude"
    return one


def called(layout, event: str = "prompt", took_ms: int | None = 40, ago_ms: int = 0) -> None:
    """Note a call as the hook does, at an earlier time."""
    note(layout, "calls", now() - ago_ms, "claude", event, -1 if took_ms is None else took_ms, 0)


def test_a_host_that_calls_is_well(connected):
    called(connected, ago_ms=3 * 3_600_000)
    assert found(connected).ok and found(connected).text == "last call 3 hours ago (prompt)"


def test_a_host_that_never_called(connected):
    one = found(connected)
    assert not one.ok and "has not called" in one.text and "trust the folder" in one.hint


def test_a_host_that_is_not_installed_is_no_failure(connected, monkeypatch):
    """Its settings are committed; a colleague may use another host."""
    monkeypatch.setattr(health.shutil, "which", lambda name: "/usr/bin/rawkomem" if name == "rawkomem" else None)
    assert found(connected).ok and "no session of it" in found(connected).text


def test_settings_that_somebody_changed(connected, project):
    file = project / ".claude" / "settings.json"
    text = file.read_text()
    file.write_text(re.sub(r'"timeout": 5\b', '"timeout": 1', text))
    assert not found(connected).ok and found(connected).hint == "run 'rawkomem connect claude'"
    file.write_text(json.dumps({"disableAllHooks": True, **json.loads(text)}))
    assert not found(connected).ok and "disableAllHooks" in found(connected).hint


def test_a_session_that_went_on_without_a_call(connected, project, home):  # noqa: F811
    called(connected, ago_ms=2 * DAY)
    folder = home / ".claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", os.path.realpath(project))
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_text("{}\n")
    one = found(connected)
    assert not one.ok and one.text == "last call 2 days ago (prompt), but a session was active just now"


@pytest.mark.parametrize(("took_ms", "said"), [(7_200, "up to 7.2 s"), (None, "stopped by the host")])
def test_slow_calls(took_ms, said, connected):
    called(connected, took_ms=took_ms, ago_ms=60_000)
    called(connected)
    one = found(connected)
    assert not one.ok and "1 call took longer than its limit of 5 s" in one.text and said in one.text


def test_a_slow_call_is_told_once(connected):
    called(connected, took_ms=9_000)
    assert [call.took_ms for call in hook_calls.untold_slow_calls(connected)] == [9_000]
    assert hook_calls.untold_slow_calls(connected) == []


def test_a_call_that_just_began_is_not_slow(connected):
    hook_calls.note_begin(connected, "claude", "prompt")
    assert hook_calls.slow_calls(hook_calls.logged_calls(connected)) == []
