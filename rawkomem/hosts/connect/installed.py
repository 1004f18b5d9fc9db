"""Find the agent hosts that are installed on this machine."""

from __future__ import annotations

import os
import shutil

from ..records import ALIASES, HOSTS
from .settings import connectable

SHARED_HOMES = ("~", "~/.config")  # folders that many programs share; the host's own folder is inside


def installed_hosts() -> list[str]:
    """Return the hosts whose program is on the PATH or whose user folder exists, in the order of the records."""
    return [name for name in connectable() if _has_program(name) or _has_folder(name)]


def _has_program(name: str) -> bool:
    names = (name, *(alias for alias, host in ALIASES.items() if host == name))
    return any(shutil.which(one) for one in names)


def _has_folder(name: str) -> bool:
    variable, default = HOSTS[name].home
    own, inside, _ = HOSTS[name].user.partition("/")
    below = (own,) if default in SHARED_HOMES and inside else ()
    if default in SHARED_HOMES and not below:
        return False
    return os.path.isdir(os.path.join(os.environ.get(variable) or os.path.expanduser(default), *below))
