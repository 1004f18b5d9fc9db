"""Find a host's settings files, and build the entries that call us."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..records import HOSTS, time_limit_s
from .ours import guarded

SKILL = "rawkomem/SKILL.md"  # below a folder of skills


def connectable() -> list[str]:
    """Return the names of the hosts that can be connected."""
    return [name for name, host in HOSTS.items() if host.about]


def settings_file(name: str, project: str) -> str:
    """Return the path of a host's settings, in a project or (if `project` is empty) of the user; empty if none."""
    host = HOSTS[name]
    return _below(name, project, host.project if project else host.user)


def servers_file(name: str, project: str) -> str:
    """Return the path of the file with a host's MCP servers, in a project or of the user; empty if there is none."""
    mcp = HOSTS[name].mcp
    return _below(name, project, mcp.project if project else mcp.user) if mcp else ""


def _below(name: str, project: str, file: str) -> str:
    variable, default = HOSTS[name].home
    folder = project or os.environ.get(variable) or os.path.expanduser(default)
    return os.path.join(folder, *file.split("/")) if file else ""


def hooks_file(name: str, project: str) -> str:
    """Return the path of the second file from which a host reads hooks, next to its settings; empty if none."""
    beside = HOSTS[name].hooks_beside
    return os.path.join(os.path.dirname(settings_file(name, project)), beside) if beside else ""


def skill_file(name: str, project: str) -> str:
    """Return the path of our skill for a host in a project; empty if the host has no skills."""
    skills = HOSTS[name].skills
    return os.path.join(project, *skills.split("/"), *SKILL.split("/")) if skills else ""


def files_to_remove(project: str) -> list[str]:
    """Return all files of hosts that may name rawkomem: those that `connect` writes, and those that people edit."""
    files = [skill_file(name, project) for name in connectable()]
    for place in (project, ""):
        files += [file(name, place) for name in connectable() for file in (settings_file, hooks_file, servers_file)]
    files += [_mentioned(path, project) for host in HOSTS.values() for path in host.mentions]
    return [file for file in files if file]


def _mentioned(path: str, project: str) -> str:
    return os.path.expanduser(path) if path.startswith("~/") else os.path.join(project, *path.split("/"))


def handlers(name: str) -> dict[str, Mapping[str, object]]:
    """Return event → the handler that calls us. Changing a command line makes Codex ask the person for trust again."""
    return {event: _handler(name, ours) for event, ours in HOSTS[name].events}


def _handler(name: str, event: str) -> Mapping[str, object]:
    host, call = HOSTS[name], f"rawkomem hook {name} {event}"
    handler = host.handler(event, guarded(call), time_limit_s(name, event))
    return {**handler, host.cmd_key: guarded(call, host.cmd_key)} if host.cmd_key else handler


def items(name: str) -> dict[str, object]:
    """Return event → our item in its list: a handler, or a group that holds one."""
    grouped = HOSTS[name].grouped
    return {event: {"hooks": [dict(one)]} if grouped else dict(one) for event, one in handlers(name).items()}
