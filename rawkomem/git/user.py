"""Whose hand it is: the name that entries are signed with where the caller gives none."""

from __future__ import annotations

import getpass
import os

from .run import Git, GitFailed

TIMEOUT_S = 5.0  # for git to tell one setting


def user_name() -> str:
    """The account's name; in a container that knows none for its user, the one that git signs with, or nothing."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return _known_to_git()


def _known_to_git() -> str:
    try:
        told = Git(os.curdir, TIMEOUT_S).run("config", "--get", "user.name", fine=(0, 1))
        return told.decode("utf-8", "replace").strip()
    except (GitFailed, OSError):
        return ""
