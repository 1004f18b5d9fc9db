"""Check for each connected host whether its hooks ran recently and, if not, why."""

from __future__ import annotations

import os
import shutil

from ..files.layout import Layout
from ..model.errors import RawkoError
from ..model.installed import how_to_reach
from ..model.values import DAY, now
from ..repository.machine import Finding
from ..text.chunks import counted
from .connect import (
    connectable,
    is_connected,
    plan_connect,
    servers_file,
    settings_file,
)
from .hook_calls import Called, logged_calls, slow_calls
from .known_hosts import HOSTS, time_limit_s
from .our_entries import parsed
from .replay import sessions_of

HOUR, MINUTE = DAY // 24, DAY // 1440  # in milliseconds
SLOW_DAYS = 7  # older calls are ignored
LATE_MS = (
    10 * MINUTE
)  # a session that was active later than this after the last call did not call us
SWITCHED_OFF = "disableAllHooks"  # Claude Code's setting


def examine_hosts(layout: Layout) -> list[Finding]:
    """Return a finding for each host that is connected, in the project or for the user."""
    made = logged_calls(layout)
    found = []
    for name in connectable():
        for project in (layout.project, ""):
            try:
                if not is_connected(name, project):
                    continue
                found.append(
                    _examine(
                        layout,
                        name,
                        project,
                        [call for call in made if call.host == name],
                    )
                )
            except RawkoError as failure:
                found.append(Finding(name, False, failure.message, failure.hint))
    return found


def _examine(layout: Layout, name: str, project: str, made: list[Called]) -> Finding:
    connecting = f"rawkomem connect {name}" + ("" if project else " --user")
    if not shutil.which("rawkomem"):
        return Finding(
            name, False, "cannot call rawkomem: it is not on the PATH", how_to_reach()
        )
    if any(not change.is_none for change in plan_connect(name, project)):
        return Finding(
            name,
            False,
            "its settings differ from what 'connect' writes",
            f"run '{connecting}'",
        )
    if not HOSTS[name].has_hooks:
        return Finding(
            name, True, f"starts the MCP server ({servers_file(name, project)})"
        )
    if _is_switched_off(settings_file(name, project)):
        return Finding(
            name,
            False,
            "its hooks are switched off",
            f"remove '{SWITCHED_OFF}' in {settings_file(name, project)}",
        )
    if not made:
        is_used = bool(sessions_of(layout, name) or (project and shutil.which(name)))
        seen = "" if is_used else "; no session of it was found here"
        return Finding(
            name,
            not is_used,
            f"has not called a hook here yet{seen}",
            HOSTS[name].first_step,
        )
    return _judged(layout, name, made)


def _judged(layout: Layout, name: str, made: list[Called]) -> Finding:
    """Return a finding about the latest calls: missing in a later session, too slow, or fine."""
    last = made[-1]
    text = f"last call {_ago(last.at)} ({last.event})"
    latest = max(
        (os.path.getmtime(file) for file in sessions_of(layout, name)), default=0.0
    )
    if 1000 * latest > last.at + LATE_MS:
        active = f"but a session was active {_ago(int(1000 * latest))}"
        return Finding(name, False, f"{text}, {active}", HOSTS[name].first_step)
    slow = slow_calls([call for call in made if call.at > now() - SLOW_DAYS * DAY])
    if slow:
        worst = max(call.took_ms for call in slow)
        limit = time_limit_s(name, slow[-1].event)
        how = f"up to {worst / 1000:.1f} s" if worst > 0 else "stopped by the host"
        text += f"; {counted(len(slow), 'call')} took longer than its limit of {limit} s ({how})"
        return Finding(
            name,
            False,
            text,
            "run 'rawkomem index sync' after large changes; see .rawko/local/hook.log",
        )
    return Finding(name, True, text)


def _is_switched_off(file: str) -> bool:
    try:
        with open(file, encoding="utf-8-sig") as stream:
            return parsed(stream.read()).get(SWITCHED_OFF) is True
    except (OSError, ValueError):
        return False  # TOML and JavaScript have no such setting


def _ago(at: int) -> str:
    """Return how long ago a time was, in days, hours or minutes."""
    age = max(0, now() - at)
    for name, length in (("day", DAY), ("hour", HOUR), ("minute", MINUTE)):
        if age >= length:
            return f"{counted(age // length, name)} ago"
    return "just now"
