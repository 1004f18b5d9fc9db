"""Create a local folder and the secret that proves its origin; set aside folders that this user did
not make here.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .layout import (
    FILE_MODE,
    FOLDER_MODE,
    MARKER,
    SAFE_FLAGS,
    drop_lock,
    is_made_here,
    read_secret,
    secret_path,
    try_lock,
    user_config,
)

SECRET_BYTES = 32
IGNORE_ALL = b"*\n"  # a branch without memories has no .rawko/.gitignore
LOCK_FILE = "secret.lock"  # in the user's config folder
LOCK_WAIT_S, PAUSE_S = 30.0, 0.003
ASIDE = "aside-"  # prefix of folders that were set aside, inside the new local folder
MAX_ASIDE = 1_000  # names to try


def install_local(local: str) -> None:
    """Create a missing local folder, or replace one that was not made here. Raises OSError."""
    with _secrets_locked():
        if not os.path.lexists(local):
            os.rename(_new_folder(local), local)
        elif not is_made_here(local):
            _set_aside(local)


def adopt_local(local: str) -> None:
    """Accept a folder that this user made with another config folder: store its marker as its secret."""
    with _secrets_locked():
        _keep(secret_path(os.lstat(local).st_ino), read_secret(os.path.join(local, MARKER)))


def user_secret(name: str) -> bytes:
    """Return the random secret of this name from the user's config folder; create it if missing. Raises OSError."""
    with _secrets_locked():
        return _secret(os.path.join(os.path.dirname(user_config()), name))


@contextmanager
def _secrets_locked() -> Iterator[None]:
    """Allow only one process at a time to make secrets and to replace `.rawko/local`. Raises OSError."""
    folder = os.path.dirname(user_config())
    try:
        os.makedirs(folder, FOLDER_MODE, exist_ok=True)
        descriptor = os.open(
            os.path.join(folder, LOCK_FILE), os.O_RDWR | os.O_CREAT | SAFE_FLAGS, FILE_MODE
        )
    except OSError as failure:
        advice = "set XDG_CONFIG_HOME to a folder that you can write"
        raise OSError(
            0, f"no secret can be kept in {folder}: {failure.strerror}; {advice}"
        ) from None
    deadline = time.monotonic() + LOCK_WAIT_S
    try:
        while not try_lock(descriptor):
            if time.monotonic() > deadline:
                raise OSError(0, f"another process holds {os.path.join(folder, LOCK_FILE)}")
            time.sleep(PAUSE_S)
        yield
        drop_lock(descriptor)
    finally:
        os.close(descriptor)


def _secret(file: str) -> bytes:
    return read_secret(file) or _keep(file, os.urandom(SECRET_BYTES))


def _keep(file: str, secret: bytes) -> bytes:
    """Write a secret to disk, replacing an older one, and return it."""
    os.makedirs(os.path.dirname(file), FOLDER_MODE, exist_ok=True)
    temporary = f"{file}.{os.urandom(4).hex()}"
    _create(temporary, secret)
    os.replace(temporary, file)
    return secret


def _create(file: str, data: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    with open(descriptor, "wb", buffering=0) as stream:
        stream.write(data)
        os.fsync(descriptor)


def _new_folder(local: str) -> str:
    """Create a folder with a marker next to the path of a local folder; return its path."""
    fresh = f"{local}.{os.urandom(4).hex()}"
    os.makedirs(os.path.dirname(local), exist_ok=True)
    os.mkdir(fresh, FOLDER_MODE)
    _create(os.path.join(fresh, MARKER), _secret(secret_path(os.lstat(fresh).st_ino)))
    _create(os.path.join(fresh, ".gitignore"), IGNORE_ALL)
    return fresh


def _set_aside(local: str) -> None:
    """Move a foreign folder into a new local folder, or into one of ours that another user or machine set aside."""
    own = next((path for path in _asides(local) if is_made_here(path)), "")
    if own:
        fresh = f"{local}.{os.urandom(4).hex()}"
        os.rename(own, fresh)
    else:
        fresh = _new_folder(local)
    names = (f"{ASIDE}{number}" for number in range(1, MAX_ASIDE))
    name = next(name for name in names if not os.path.lexists(os.path.join(fresh, name)))
    try:
        try:
            os.rmdir(local)
        except OSError:  # it is not empty
            os.rename(local, os.path.join(fresh, name))
    except OSError:
        shutil.rmtree(fresh) if not own else os.rename(fresh, own)
        raise
    os.rename(fresh, local)
    if not own and os.path.lexists(os.path.join(local, name)):
        path = ascii(os.path.join(local, name))[1:-1]
        sys.stderr.write(
            f"rawkomem: the folder .rawko/local was not made on this machine and is not used: it is now {path};"
            " delete it, or see 'rawkomem docs format' to keep its usage counts and ledger\n"
        )


def _asides(local: str) -> list[str]:
    if os.path.islink(local):
        return []
    try:
        return [entry.path for entry in os.scandir(local) if entry.name.startswith(ASIDE)]
    except OSError:
        return []
