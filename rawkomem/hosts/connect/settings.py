"""Find a host's settings, and build the entries that call us."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..host import COMPACT, END, PROMPT, START, TURN
from ..records import HOSTS

TIME_LIMITS_S = {START: 10, PROMPT: 5, COMPACT: 5, TURN: 10, END: 5}  # the last two leave a process behind
SKILL = "rawkomem/SKILL.md"  # below a folder of skills


def connectable() -> list[str]:
    """Return the names of the hosts that can be connected."""
    return [name for name, host in HOSTS.items() if host.about]


def settings_file(name: str, project: str) -> str:
    """Return the path of a host's settings in a project, or of the user's own if no project is given."""
    host = HOSTS[name]
    variable, default = host.home
    folder = project or os.environ.get(variable) or os.path.expanduser(default)
    return os.path.join(folder, *(host.project if project else host.user).split("/"))


def hooks_file(name: str, project: str) -> str:
    """Return the path of the file beside its settings that a host takes hooks from, too; empty if it has none."""
    beside = HOSTS[name].hooks_beside
    return os.path.join(os.path.dirname(settings_file(name, project)), beside) if beside else ""


def skill_file(name: str, project: str) -> str:
    """Return where a host finds our skill in a project; empty if it knows no skills."""
    skills = HOSTS[name].skills
    return os.path.join(project, *skills.split("/"), *SKILL.split("/")) if skills else ""


def files_to_remove(project: str) -> list[str]:
    """Return every file of a host that may name us: those that `connect` writes, and those that people write."""
    files = [skill_file(name, project) for name in connectable()]
    for place in (project, ""):
        files += [file(name, place) for name in connectable() for file in (settings_file, hooks_file)]
    files += [_mentioned(path, project) for host in HOSTS.values() for path in host.mentions]
    return [file for file in files if file]


def _mentioned(path: str, project: str) -> str:
    return os.path.expanduser(path) if path.startswith("~/") else os.path.join(project, *path.split("/"))


def handlers(name: str) -> dict[str, Mapping[str, object]]:
    """Return for each event of a host the handler that calls us. Command lines never change: Codex would ask again."""
    host = HOSTS[name]
    limits = {**TIME_LIMITS_S, **dict(host.max_seconds)}
    return {event: host.handler(ours, f"rawkomem hook {name} {ours}", limits[ours]) for event, ours in host.events}


def items(name: str) -> dict[str, object]:
    """Return for each event of a host the item in its list: a handler, or a group that holds one."""
    grouped = HOSTS[name].grouped
    return {event: {"hooks": [dict(one)]} if grouped else dict(one) for event, one in handlers(name).items()}
