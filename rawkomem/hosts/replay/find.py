"""Find the past sessions of a project: those that hooks recorded, and those that hosts store for its folder."""

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

NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9]")  # characters that Claude Code replaces by a dash in a project's folder name
MAX_ROLLOUTS = 1_000  # latest sessions of Codex; it stores those of all projects together, and each names its folder
MAX_FIRST_LINE_BYTES = 2**20
KEEPERS = ("claude", "codex", "gemini", "specstory")  # programs that store sessions in a known place
PROJECT_ROOT = ".project_root"  # the file that names the project, if Gemini's folder is not named by a checksum


def places(layout: Layout) -> dict[str, str]:
    """Return the files and folders in which sessions of a project are searched: name of the source → path."""
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
    """Return the transcripts of a project, the latest first, without duplicates."""
    found = [*transcripts(layout), *(file for name in KEEPERS for file in sessions_of(layout, name))]
    return _latest_first({os.path.realpath(file) for file in found if os.path.isfile(file)})


def sessions_of(layout: Layout, name: str) -> list[str]:
    """Return the transcripts of a project that a host or SpecStory stores; empty for other hosts."""
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
    """Yield the session files of Codex that ran in a project."""
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
    """Yield the chats of a project that Gemini CLI stores.

    Their folder has a checksum of the project's path as its name, or a file PROJECT_ROOT that holds the path.
    """
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
