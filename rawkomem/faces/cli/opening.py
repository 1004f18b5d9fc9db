"""Open the repository that a command works on, and tell who gives the command; without click."""

from __future__ import annotations

from ...hosts import person
from ...repository import Repository

watched = False  # set by the demo in its own processes: they have no terminal, and a person looks on


def open_repository(folder: str) -> Repository:
    """Open the repository that a command works on."""
    return Repository.open(folder, via=arrival())


def arrival() -> str:
    """Return who writes: a person only at a terminal with no agent above, because a pipe means a program."""
    return person.PERSON if watched else person.arrival()
