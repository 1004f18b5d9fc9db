"""Check that this user made a local folder on this machine: its marker holds a secret from the user's config folder."""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISREG

from ..layout import is_own, user_config

FILE_MODE, FOLDER_MODE = 0o600, 0o700
FOR_OTHERS = 0o077  # permissions of everybody except the owner
# Do not follow links and do not wait for pipes; on Windows, do not translate line ends.
SAFE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
MARKER = ".made"
MAX_SECRET_BYTES = 100


def is_made_here(local: str) -> bool:
    """Tell whether this user made a local folder on this machine. Raise OSError if `.rawko` is a link."""
    if os.path.islink(os.path.dirname(local)):
        raise OSError(0, f"{os.path.dirname(local)} is a link")
    seen = os.lstat(local)
    if not S_ISDIR(seen.st_mode) or not is_own(seen):
        return False
    secret = read_secret(secret_path(seen.st_ino))
    return secret != b"" and secret == read_secret(os.path.join(local, MARKER))


def secret_path(inode: int) -> str:
    """Return the path of the secret for a local folder with this inode, in the user's config folder."""
    return os.path.join(os.path.dirname(user_config()), "local", str(inode))


def read_secret(path: str) -> bytes:
    """Return the bytes of a small regular file that belongs to this user; empty if there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | SAFE_FLAGS)
    except OSError:
        return b""
    try:
        seen = os.fstat(descriptor)
        fits = S_ISREG(seen.st_mode) and is_own(seen) and seen.st_size <= MAX_SECRET_BYTES
        return os.read(descriptor, MAX_SECRET_BYTES) if fits else b""
    finally:
        os.close(descriptor)


def check_file(seen: os.stat_result, private: bool) -> None:
    """Raise OSError unless this is a regular file of this user and, with `private`, others may not read it."""
    if not S_ISREG(seen.st_mode):
        raise OSError(0, "it is not a regular file")
    if not is_own(seen):
        raise OSError(0, "it belongs to another user")
    if private and seen.st_mode & FOR_OTHERS:  # git or another program wrote it
        raise OSError(0, "it was not made by rawkomem, because others may read it: remove it")
