"""Find the past sessions of a project: those that hooks noted, and those that hosts keep for its folder."""

from __future__ import annotations

import json
import os
import re
from glob import escape, glob
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

from ...files.local.private import local_path
from ...files.local.transcripts import SESSIONS, transcripts
from ..records import HOSTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...files.layout import Layout

NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9]")  # what Claude Code writes as a dash in the name of a project's folder
MAX_ROLLOUTS = 1_000  # of Codex, the latest, whose first line is read: it keeps those of all projects together
MAX_FIRST_LINE_BYTES = 2**20
KEEPERS = ("claude", "codex", "gemini", "specstory")  # who keeps sessions in a place that is known
PROJECT_ROOT = ".project_root"  # Gemini's file that names the project, where its folder is not named by a checksum


def places(layout: Layout) -> dict[str, str]:
    """Return where sessions of a project are looked for, by what is there."""
    project = os.path.realpath(layout.project)
    claude = os.path.join(_home("claude"), "projects", NOT_IN_NAMES.sub("-", project))
    return {
        "hooks": local_path(layout, SESSIONS),
        "claude": claude,
        "codex": os.path.join(_home("codex"), "sessions"),
        "gemini": os.path.join(_home("gemini"), "tmp"),
        "specstory": os.path.join(project, ".specstory", "history"),
    }


def find_sessions(layout: Layout) -> list[str]:
    """Return the transcripts of a project, the latest first, each once."""
    found = [*transcripts(layout), *(file for name in KEEPERS for file in sessions_of(layout, name))]
    return _latest_first({os.path.realpath(file) for file in found if os.path.isfile(file)})


def sessions_of(layout: Layout, name: str) -> list[str]:
    """Return the transcripts that a host, or SpecStory, keeps of a project; none for a host whose place is unknown."""
    project, where = os.path.realpath(layout.project), places(layout)
    if name == "claude":
        return _files(where[name], "*.jsonl")
    if name == "codex":
        return [*_rollouts(where[name], project)]
    if name == "gemini":
        return [*_chats(where[name], project)]
    return _files(where[name], "*.md") if name == "specstory" else []


def _home(host: str) -> str:
    variable, default = HOSTS[host].home
    return os.environ.get(variable) or os.path.expanduser(default)


def _latest_first(files: Iterable[str]) -> list[str]:
    return sorted(files, key=lambda file: (-os.path.getmtime(file), file))


def _files(folder: str, pattern: str) -> list[str]:
    return glob(os.path.join(escape(folder), pattern))


def _rollouts(folder: str, project: str) -> Iterator[str]:
    """Yield the rollouts of Codex that ran in a project."""
    files = glob(os.path.join(escape(folder), "**", "rollout-*.jsonl"), recursive=True)
    return (file for file in islice(_latest_first(files), MAX_ROLLOUTS) if _ran_in(file, project))


def _ran_in(file: str, project: str) -> bool:
    try:
        with open(file, "rb") as stream:
            payload = json.loads(stream.readline(MAX_FIRST_LINE_BYTES))["payload"]
        folder = os.path.realpath(str(payload["cwd"]))
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return folder == project or folder.startswith(project + os.sep)


def _chats(folder: str, project: str) -> Iterator[str]:
    """Yield the chats that Gemini CLI keeps of a project, in a folder named by a checksum or by a file in it."""
    checksum = sha256(project.encode()).hexdigest()
    for own in _files(folder, "*"):
        if os.path.basename(own) == checksum or _read(os.path.join(own, PROJECT_ROOT)) == project:
            yield from _files(own, "chats/*.json*")


def _read(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return os.path.realpath(stream.read(4096).strip())
    except OSError:
        return ""
