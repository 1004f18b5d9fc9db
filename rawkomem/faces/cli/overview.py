"""Show the state of the repository and the next step: `rawkomem` without a command."""

from __future__ import annotations

import os
from contextlib import suppress

from ...hosts.connect import connectable, is_connected
from ...model.errors import NotFound, RawkoError
from ...model.values import record
from ...repository import Repository
from ...text.chunks import counted
from .opening import open_repository
from .terminal import paint, say

KNOWLEDGE_FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")  # that `rawkomem import` reads
NO_REPOSITORY = """\
There is no memory repository in this folder or in a folder above it.

  rawkomem init    start one here
  rawkomem demo    see what rawkomem does, in a temporary folder

'rawkomem --help' lists the commands."""


@record
class RepositoryState:
    """The state of a repository: counts, connected hosts, and work that waits for the user."""

    root: str
    memories: int
    drafts: int
    waiting: int
    hosts: tuple[str, ...]
    uncommitted: int
    importable: str  # a file of the project that `rawkomem import` reads; empty if there is none


def show_overview(folder: str) -> None:
    """Print the state of the repository and the next useful step."""
    try:
        here = repository_state(open_repository(folder))
    except NotFound:
        say(NO_REPOSITORY)
        return
    facts = {
        "memories": f"{counted(here.memories, 'memory')} in {here.root}",
        "drafts": f"{counted(here.drafts, 'draft')} from your sessions" if here.drafts else "",
        "review": f"{here.waiting} waiting for your decision" if here.waiting else "",
        "agents": f"connected: {', '.join(here.hosts)}" if here.hosts else "none connected",
        "git": f"{counted(here.uncommitted, 'memory file')} not committed"
        if here.uncommitted
        else "",
    }
    for name, fact in facts.items():
        if fact:
            say(f"{paint(f'{name:10}', 'dim')}{fact}")
    command, reason = next_step(here)
    say(f"\n{paint('next', 'green')}      {command}\n          {reason}")
    say("\n'rawkomem --help' lists the commands.")


def repository_state(repository: Repository) -> RepositoryState:
    """Return the state of a repository."""
    layout, authors = repository.layout, repository.core.authors()
    statuses = repository.core.read(lambda: repository.core.index.catalogue.counts()[2])
    return RepositoryState(
        root=os.path.relpath(layout.root),
        memories=len(repository.list()),
        drafts=len(repository.drafts.all()),
        waiting=statuses.get("quarantined", 0) + len(repository.beliefs.proposals()),
        hosts=connected_hosts(layout.project),
        uncommitted=len(repository.core.read(authors.uncommitted_files)) if authors else 0,
        importable=next(
            (
                name
                for name in KNOWLEDGE_FILES
                if os.path.isfile(os.path.join(layout.project, name))
            ),
            "",
        ),
    )


def next_step(here: RepositoryState) -> tuple[str, str]:
    """Return the next useful command and what it does."""
    if here.waiting:
        return "rawkomem review", "Decide on changes and memories that wait for you."
    if here.drafts:
        return "rawkomem drafts", "Keep or drop the drafts from your sessions."
    if not here.memories and here.importable:
        what = f"Import the content of {here.importable} as memories."
        return f"rawkomem import {here.importable}", what
    if not here.memories:
        return 'rawkomem add "Run the tests with pnpm, never with npm."', "Store your first memory."
    if not here.hosts:
        return "rawkomem connect", "Let your coding agent read and store memories."
    if here.uncommitted:
        return "git add .rawko", "Then commit: your team gets the memories with the next pull."
    return 'rawkomem search "how do we run the tests"', "Find memories by words and by meaning."


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
