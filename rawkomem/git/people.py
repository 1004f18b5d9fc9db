"""Who uses this machine: the names that must not end up in what is written without a person looking at it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..redaction.anonymize import Person, person
from .run import Git, GitFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMEOUT_S = 5.0  # for git to tell two settings
VARIABLES = ("USER", "LOGNAME", "USERNAME")


def people_here(project: str, others: Sequence[str]) -> list[Person]:
    """Return the user, by git's address and name and the system's account, and others whom the user names."""
    accounts = [os.environ.get(name, "") for name in VARIABLES]
    home = os.path.basename(os.path.expanduser("~").rstrip("/\\"))
    everybody = [person([*_known_to_git(project), *accounts, home]), *(person([name]) for name in others)]
    return [somebody for somebody in everybody if somebody]


def _known_to_git(project: str) -> list[str]:
    """The address first: it is the same on all of a person's machines."""
    try:
        git = Git(project, TIMEOUT_S)
        told = [git.run("config", "--get", key, fine=(0, 1)) for key in ("user.email", "user.name")]
    except GitFailed:
        return []
    return [name.decode("utf-8", "replace").strip() for name in told]
