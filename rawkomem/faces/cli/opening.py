"""Open the repository that a command works on, and tell who gives the command; without click."""

from __future__ import annotations

import os

from ...files.layout import personal_root
from ...hosts import person
from ...model.errors import NotFound
from ...repository import Repository

watched = False  # set by the demo in its own processes: they have no terminal, and a person looks on


def open_repository(folder: str, layers: bool = False) -> Repository:
    """Open the repository that a command works on; with `layers`, the user's own where there is no project."""
    return Repository.open(folder, via=arrival(), layers=layers)


def open_personal() -> Repository:
    """Open the user's own repository."""
    if not os.path.isdir(personal_root()):
        raise NotFound("you have no personal repository yet", "run 'rawkomem init --personal'")
    return open_repository(personal_root())


def open_owner(folder: str, name: str) -> tuple[Repository, str]:
    """Open the repository that holds the memory of a name; return it and the name in it.

    Other layers are asked only where the project holds no memory of that id.
    """
    repository = open_repository(folder, layers=True)
    if not repository.core.is_layered or (":" not in name and repository.core.holds(name)):
        return repository, name
    return repository.layers.owner(name)


def arrival() -> str:
    """Return who writes: a person only at a terminal with no agent above, because a pipe means a program."""
    return person.PERSON if watched else person.arrival()
