"""Open the repository of a command and find out whether a person runs the command. Does not import click."""

from __future__ import annotations

import os

from ...files.layout import personal_root
from ...hosts import person
from ...model.errors import NotFound
from ...repository import Repository

watched = False  # set by the demo in its subprocesses: they have no terminal, but a person runs the demo


def open_repository(folder: str, layers: bool = False) -> Repository:
    """Open the repository of a folder. With `layers`, also use personal and shared memories, even without a project."""
    return Repository.open(folder, via=arrival(), layers=layers)


def open_personal() -> Repository:
    """Open the user's personal repository; raise NotFound if there is none."""
    if not os.path.isdir(personal_root()):
        raise NotFound("you have no personal repository yet", "run 'rawkomem init --personal'")
    return open_repository(personal_root())


def open_owner(folder: str, name: str) -> tuple[Repository, str]:
    """Open the repository that holds a memory; return it and the memory's name in that repository.

    Other layers are searched only if the project has no memory with this id.
    """
    repository = open_repository(folder, layers=True)
    if not repository.core.is_layered or (":" not in name and repository.core.holds(name)):
        return repository, name
    return repository.layers.owner(name)


def arrival() -> str:
    """Return PERSON if a person at a terminal runs the command and no agent is a parent process, else AGENT."""
    return person.PERSON if watched else person.arrival()
