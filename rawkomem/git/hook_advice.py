"""Write the lines to add if another program manages a project's hooks, in the format of its settings file.

These lines are committed, so they must succeed on machines without rawkomem.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping

from ..model.record import record

Commands = Mapping[str, str]  # event → command line

LEFTHOOK = tuple(
    f"{start}lefthook.{end}" for start in ("", ".", ".config/") for end in ("yml", "yaml", "toml", "json", "jsonc")
)
# manager → files that show that a project uses it; searched in this order
MANAGERS = {
    "pre-commit": (".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"),
    "lefthook": LEFTHOOK,
    "husky": (".husky",),
}


@record
class Manager:
    """A program that runs a project's hooks, and its settings file or folder."""

    name: str
    file: str


def find_manager(top: str) -> Manager | None:
    """Return the program that manages the hooks of a work tree; None if there is none."""
    for name, files in MANAGERS.items():
        for file in files:
            if os.path.exists(os.path.join(top, *file.split("/"))):
                return Manager(name, file)
    return None


def advice(manager: Manager, commands: Commands) -> str:
    """Return instructions for the user: which lines to add to which file."""
    guarded = {
        event: f"if command -v {shlex.split(command)[0]} >/dev/null 2>&1; then {command} || exit $?; fi"
        for event, command in commands.items()
    }
    return f"{manager.name} runs this project's hooks: {ADVICE[manager.name](manager.file, guarded)}"


def _pre_commit(file: str, commands: Commands) -> str:
    """Return the advice for pre-commit and prek: one hook for each command, with all its events as stages."""
    events: dict[str, list[str]] = {}
    for event, command in commands.items():
        events.setdefault(command, []).append(event)
    hooks = [_pre_commit_hook(command, stages) for command, stages in events.items()]
    toml = file.endswith(".toml")
    types = " ".join(f"--hook-type {event}" for event in commands)
    install = f"then run '{'prek' if toml else 'pre-commit'} install {types}'"
    if toml:
        tables = "\n".join(f"  {line}" for hook in hooks for line in ("[[repos.hooks]]", *_toml(hook)))
        return f'add to {file}:\n  [[repos]]\n  repo = "local"\n{tables}\n{install}'
    lines = [line for hook in hooks for line in _yaml_item(hook, "      ")]
    return "\n".join([f"add to the 'repos:' of {file}:", "  - repo: local", "    hooks:", *lines, install])


def _pre_commit_hook(command: str, stages: list[str]) -> dict[str, object]:
    what = "check" if "--staged" in command else "index sync"
    ours = {"id": f"rawkomem-{what.split()[-1]}", "name": f"rawkomem {what}", "entry": f"sh -c {shlex.quote(command)}"}
    return {**ours, "language": "system", "pass_filenames": False, "always_run": True, "stages": stages}


def _toml(values: Mapping[str, object]) -> list[str]:
    return [f"{key} = {json.dumps(value)}" for key, value in values.items()]  # these JSON values are valid TOML


def _yaml_item(values: Mapping[str, object], indent: str) -> list[str]:
    """Return the lines of a list item; JSON values are valid YAML."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in values.items()]
    return [f"{indent}- {lines[0]}", *(f"{indent}  {line}" for line in lines[1:])]


def _lefthook(file: str, commands: Commands) -> str:
    lines: list[str] = []
    for event, command in commands.items():
        job = {"name": "rawkomem", "run": command}
        if file.endswith((".json", ".jsonc")):
            lines += [f"{json.dumps(event)}: {json.dumps({'jobs': [job]})},"]
        elif file.endswith(".toml"):
            lines += [f"[[{event}.jobs]]", *_toml(job)]
        else:
            lines += [f"{event}:", "  jobs:", *_yaml_item(job, "    ")]
    return "\n".join([f"add to {file}:", *(f"  {line}" for line in lines), "then run 'lefthook install'"])


def _husky(file: str, commands: Commands) -> str:
    return "\n".join(f"add a line to {file}/{event}:\n  {command}" for event, command in commands.items())


ADVICE: dict[str, Callable[[str, Commands], str]] = {"pre-commit": _pre_commit, "lefthook": _lefthook, "husky": _husky}
