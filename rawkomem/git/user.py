"""Name the user of this machine: to sign entries, and to anonymize texts."""

from __future__ import annotations

import getpass
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..redaction.anonymize import Person

TIMEOUT_S = 5.0  # for git to print its settings
ROLES = ("AUTHOR", "COMMITTER")
COMMIT_VARIABLES = tuple(f"GIT_{role}_{part}" for role in ROLES for part in ("NAME", "EMAIL"))
USER_VARIABLES = ("USER", "LOGNAME", "USERNAME")


def user_name() -> str:
    """Return the account's name; in a container without one, the name that git signs with, or nothing."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return next(iter(_known_to_git(os.curdir, "user.name")), "")


def committing(folder: str) -> str:
    """Return author and committer of the commit that a hook runs for, as `Name <e-mail>`, a tab between them."""
    from .run import Git, GitFailed

    given = {name: os.environ[name] for name in COMMIT_VARIABLES if os.environ.get(name)}
    try:
        git = Git(folder, TIMEOUT_S, given)
        idents = [git.run("var", f"GIT_{role}_IDENT", fine=(0, 128)).decode("utf-8", "replace") for role in ROLES]
    except (GitFailed, OSError):
        return ""
    return "\t".join(f"{ident.rpartition('>')[0]}>" for ident in idents if ">" in ident)


def people_here(project: str, others: Sequence[str]) -> list[Person]:
    """Return the user, by git's address (the same on all machines) and name and the account, and `others`."""
    from ..redaction.anonymize import person  # here: a command that only signs needs no patterns

    accounts = [os.environ.get(name, "") for name in USER_VARIABLES]
    home = os.path.basename(os.path.expanduser("~").rstrip("/\\"))
    known = _known_to_git(project, "user.email", "user.name")
    everybody = [person([*known, *accounts, home]), *(person([name]) for name in others)]
    return [somebody for somebody in everybody if somebody]


def _known_to_git(folder: str, *keys: str) -> list[str]:
    from .run import Git, GitFailed  # here: a command that signs with the account's name runs no git

    try:
        git = Git(folder, TIMEOUT_S)
        told = [git.run("config", "--get", key, fine=(0, 1)) for key in keys]
    except (GitFailed, OSError):
        return []
    return [name.decode("utf-8", "replace").strip() for name in told]
