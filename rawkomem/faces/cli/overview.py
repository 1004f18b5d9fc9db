"""Show the state of the repository and the next step: `rawkomem` without a command."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from ...hosts.connect import connectable, is_connected
from ...model.errors import NotFound, RawkoError
from ...text.chunks import counted
from .answers import Fields
from .opening import open_repository
from .terminal import paint, say

# that `rawkomem import` reads
KNOWLEDGE_FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
NO_REPOSITORY = """\
There is no memory repository in this folder or in a folder above it.

  rawkomem init    start one here
  rawkomem demo    see what rawkomem does, in a temporary folder

'rawkomem --help' lists the commands."""


FACTS = Fields(
    "memories drafts waiting hosts uncommitted",
    """\
memories  {memories:n memory} in {0.root}
{drafts:?drafts    % from your sessions}
{waiting:?review    % waiting for your decision}
agents    {hosts:?connected: %|~none connected}
{uncommitted:?git       % not committed}""",
)


def show_overview(folder: str) -> None:
    """Print the state of the repository and the next useful step."""
    try:
        repository = open_repository(folder)
    except NotFound:
        say(NO_REPOSITORY)
        return
    layout, authors = repository.layout, repository.core.authors()
    statuses = repository.core.read(lambda: repository.core.index.catalogue.counts()[2])
    files = [
        name
        for name in KNOWLEDGE_FILES
        if os.path.isfile(os.path.join(layout.project, name))
    ]
    files_left = repository.core.read(authors.uncommitted_files) if authors else ()
    state = {
        "root": os.path.relpath(layout.root),
        "memories": len(repository.list()),
        "drafts": len(repository.drafts.all()),
        "waiting": statuses.get("quarantined", 0) + len(repository.beliefs.proposals()),
        "hosts": connected_hosts(layout.project),
        "uncommitted": counted(len(files_left), "memory file") if files_left else "",
    }
    FACTS.say(state, False)
    command, reason = next_step(state, files)
    say(f"\n{paint('next', 'green')}      {command}\n          {reason}")
    say("\n'rawkomem --help' lists the commands.")


def next_step(state: dict[str, Any], files: list[str]) -> tuple[str, str]:
    """Return the next useful command and what it does; `files` can be imported."""
    if state["waiting"]:
        return "rawkomem review", "Decide on changes and memories that wait for you."
    if state["drafts"]:
        return "rawkomem drafts", "Keep or drop the drafts from your sessions."
    if not state["memories"] and files:
        return (
            f"rawkomem import {files[0]}",
            f"Import the content of {files[0]} as memories.",
        )
    if not state["memories"]:
        return (
            'rawkomem add "Run the tests with pnpm, never with npm."',
            "Store your first memory.",
        )
    if not state["hosts"]:
        return "rawkomem connect", "Let your coding agent read and store memories."
    if state["uncommitted"]:
        return (
            "git add .rawko",
            "Then commit: your team gets the memories with the next pull.",
        )
    return (
        'rawkomem search "how do we run the tests"',
        "Find memories by words and by meaning.",
    )


def connected_hosts(project: str) -> tuple[str, ...]:
    """Return the agent hosts that are connected to a project, or for all projects of the user."""
    return tuple(name for name in connectable() if _is_connected_host(name, project))


def _is_connected_host(name: str, project: str) -> bool:
    """Return whether a host is connected; settings that cannot be read connect nothing."""
    for place in (project, ""):
        with suppress(RawkoError, OSError):
            if is_connected(name, place):
                return True
    return False
