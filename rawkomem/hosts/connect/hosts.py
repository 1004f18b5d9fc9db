"""What each host's settings say to call us, and where these lie. Events, units and shapes: docs/hosts.md."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...model.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS = {"session-start": 10, "prompt": 5, "turn-end": 10, "session-end": 5}  # the last two leave a worker behind
SKILL = "rawkomem/SKILL.md"  # below a folder of skills
SHOWN = {"session-start": "Loading project memories", "prompt": "Recalling project memories"}


@record
class Host:
    """A host: where its settings lie in a project and for a user, and its names of our events."""

    project: str
    user: str  # below the folder that `home` names in the environment, else below the user's own
    home: tuple[str, str]  # environment variable, default
    events: tuple[tuple[str, str], ...] = ()  # its name → ours
    version: int = 0  # that its settings file must name
    skills: str = ""  # where it looks for skills in a project


CLAUDE_EVENTS = (
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "prompt"),
    ("Stop", "turn-end"),
    ("SessionEnd", "session-end"),
)
HOSTS = {
    "claude": Host(
        ".claude/settings.json",
        "settings.json",
        ("CLAUDE_CONFIG_DIR", "~/.claude"),
        CLAUDE_EVENTS,
        skills=".claude/skills",
    ),
    "codex": Host(
        ".codex/config.toml", "config.toml", ("CODEX_HOME", "~/.codex"), CLAUDE_EVENTS, skills=".agents/skills"
    ),
    "opencode": Host(
        ".opencode/plugins/rawkomem.js",
        "opencode/plugins/rawkomem.js",
        ("XDG_CONFIG_HOME", "~/.config"),
        skills=".agents/skills",
    ),
    "cursor": Host(
        ".cursor/hooks.json",
        "hooks.json",
        ("", "~/.cursor"),
        (
            ("sessionStart", "session-start"),
            ("beforeSubmitPrompt", "prompt"),
            ("stop", "turn-end"),
            ("sessionEnd", "session-end"),
        ),
        version=1,
    ),
    "copilot": Host(
        ".github/hooks/rawkomem.json",
        "hooks/rawkomem.json",
        ("COPILOT_HOME", "~/.copilot"),
        (
            ("sessionStart", "session-start"),
            ("userPromptTransformed", "prompt"),
            ("agentStop", "turn-end"),
            ("sessionEnd", "session-end"),
        ),
        version=1,
    ),
    "gemini": Host(
        ".gemini/settings.json",
        "settings.json",
        ("", "~/.gemini"),
        (
            ("SessionStart", "session-start"),
            ("BeforeAgent", "prompt"),
            ("AfterAgent", "turn-end"),
            ("SessionEnd", "session-end"),
        ),
        skills=".agents/skills",
    ),
}


def settings_file(name: str, project: str) -> str:
    """Where a host's settings lie: of a project, or of the user where no project is given."""
    host = HOSTS[name]
    if project:
        return os.path.join(project, *host.project.split("/"))
    variable, default = host.home
    folder = os.environ.get(variable) or os.path.expanduser(default)
    return os.path.join(folder, *host.user.split("/"))


def hooks_file(project: str) -> str:
    """The file beside its settings that Codex takes hooks from too."""
    return os.path.join(os.path.dirname(settings_file("codex", project)), "hooks.json")


def skill_file(name: str, project: str) -> str:
    """Where a host finds our skill in a project."""
    return os.path.join(project, *HOSTS[name].skills.split("/"), *SKILL.split("/"))


def written_files(project: str) -> list[str]:
    """Every file that connecting hosts may have written, in a project and for the user."""
    settings = [settings_file(name, where) for name in HOSTS for where in (project, "")]
    skills = [skill_file(name, project) for name, host in HOSTS.items() if host.skills]
    return [*settings, hooks_file(project), hooks_file(""), *skills]


def handlers(name: str) -> dict[str, Mapping[str, object]]:
    """The host's event → the handler that calls us. The command line never changes: Codex asks again if it does."""
    return {event: _handler(name, ours) for event, ours in HOSTS[name].events}


def items(name: str) -> dict[str, object]:
    """The host's event → the item in its list: a handler, or a group that holds one."""
    if name in ("cursor", "copilot"):
        return dict(handlers(name))
    return {event: {"hooks": [dict(handler)]} for event, handler in handlers(name).items()}


def _handler(name: str, event: str) -> Mapping[str, object]:
    command, seconds = f"rawkomem hook {name} {event}", SECONDS[event]
    if name == "cursor":
        return {"command": command, "timeout": seconds}
    if name == "copilot":
        return {"type": "command", "bash": command, "powershell": command, "timeoutSec": seconds}
    if name == "gemini":  # milliseconds, of all hosts only here
        return {"name": f"rawkomem-{event}", "type": "command", "command": command, "timeout": 1000 * seconds}
    if name == "codex" and event == "session-end":
        seconds = 3  # its most
    shown = {"statusMessage": SHOWN[event]} if event in SHOWN else {}
    return {"type": "command", "command": command, "timeout": seconds, **shown}
