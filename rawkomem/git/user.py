"""Find the name of this machine's user, to sign entries and to anonymize texts."""

from __future__ import annotations

import getpass
import os
from typing import TYPE_CHECKING

from ..files.contents import read_bytes
from .head import find_git

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..redaction.anonymize import Person

TIMEOUT_S = 5.0  # for git to print its settings
ROLES = ("AUTHOR", "COMMITTER")
COMMIT_VARIABLES = tuple(f"GIT_{role}_{part}" for role in ROLES for part in ("NAME", "EMAIL"))
USER_VARIABLES = ("USER", "LOGNAME", "USERNAME")


def user_name() -> str:
    """Return git's user name in this folder, else the account name, else an empty text."""
    named = os.environ.get("GIT_AUTHOR_NAME", "").strip() or _name_in_settings()
    if named:
        return named
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""


def _name_in_settings() -> str:
    """Return `user.name` from git's settings files; run git only if a file includes others."""
    for file in _settings_files():
        try:
            text = read_bytes(file).decode("utf-8", "replace")
        except OSError:
            continue
        if "[include" in text.lower():
            return next(iter(_known_to_git(os.curdir, "user.name")), "")
        if name := _name_in(text):
            return name
    return ""


def _settings_files() -> Iterator[str]:
    """Yield git's settings files, highest priority first."""
    git = find_git(os.curdir)
    if git:
        yield os.path.join(git.common, "config")
    if "GIT_CONFIG_GLOBAL" in os.environ:
        yield os.environ["GIT_CONFIG_GLOBAL"]
        return
    home = os.path.expanduser("~")
    yield os.path.join(home, ".gitconfig")
    yield os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git", "config")


def _name_in(settings: str) -> str:
    """Return the last `user.name` in the text of a settings file."""
    section, found = "", ""
    for line in settings.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.partition("]")[0][1:].strip().lower()
        key, _, value = line.partition("=")
        if section == "user" and key.strip().lower() == "name":
            found = value.strip().strip('"').strip()
    return found


def committing(folder: str) -> str:
    """Return `author<tab>committer` of the commit that a hook runs for, each as `Name <e-mail>`; empty if git fails."""
    from .run import Git, GitFailed

    given = {name: os.environ[name] for name in COMMIT_VARIABLES if os.environ.get(name)}
    try:
        git = Git(folder, TIMEOUT_S, given)
        idents = [git.run("var", f"GIT_{role}_IDENT", fine=(0, 128)).decode("utf-8", "replace") for role in ROLES]
    except (GitFailed, OSError):
        return ""
    return "\t".join(f"{ident.rpartition('>')[0]}>" for ident in idents if ">" in ident)


def people_here(project: str, others: Sequence[str]) -> list[Person]:
    """Return the user, known by git's e-mail address and name and by account names, and the people in `others`."""
    from ..redaction.anonymize import person  # commands that only sign entries do not need its patterns

    accounts = [os.environ.get(name, "") for name in USER_VARIABLES]
    home = os.path.basename(os.path.expanduser("~").rstrip("/\\"))
    known = _known_to_git(project, "user.email", "user.name")
    everybody = [person([*known, *accounts, home]), *(person([name]) for name in others)]
    return [somebody for somebody in everybody if somebody]


def _known_to_git(folder: str, *keys: str) -> list[str]:
    from .run import Git, GitFailed  # most commands do not run git

    try:
        git = Git(folder, TIMEOUT_S)
        told = [git.run("config", "--get", key, fine=(0, 1)) for key in keys]
    except (GitFailed, OSError):
        return []
    return [name.decode("utf-8", "replace").strip() for name in told]
