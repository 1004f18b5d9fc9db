"""Where sinks keep their files, and how they append to them: never through a link that somebody laid there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...model.errors import Refused, Unwritable

if TYPE_CHECKING:
    from ...files.layout import Layout

NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def sinks_folder(layout: Layout) -> str:
    """`.rawko/local/sinks`: git-ignored. A repository may come with links of these names, so they are refused."""
    folder = os.path.join(layout.local, "sinks")
    if os.path.realpath(folder) != os.path.join(os.path.realpath(layout.root), "local", "sinks"):
        raise Refused(f"{folder} is a link", "put a folder in its place")
    return folder


def append(file: str, data: bytes) -> None:
    """Append to a file, readable by the user alone where it is new."""
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with os.fdopen(open_to_append(file), "ab") as stream:
            stream.write(data)
    except OSError as failure:
        raise _unusable(file, failure) from None


def open_to_append(file: str) -> int:
    """A descriptor of a file, readable by the user alone where it is new."""
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | NO_LINKS, 0o600)


def replace_file(file: str, data: bytes) -> None:
    """Put new contents in the place of a file in one step; no contents, no file."""
    temporary = f"{file}.{os.getpid()}.writing"
    try:
        if data:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_LINKS, 0o600), "wb") as stream:
                stream.write(data)
            os.replace(temporary, file)
        elif os.path.lexists(file):
            os.unlink(file)
    except OSError as failure:
        raise _unusable(file, failure) from None


def read(file: str) -> str:
    """A file's text; empty where there is none."""
    try:
        with open(os.open(file, os.O_RDONLY | NO_LINKS), encoding="utf-8", errors="replace", newline="") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""
    except OSError as failure:
        raise _unusable(file, failure) from None


def _unusable(file: str, failure: OSError) -> Unwritable:
    return Unwritable(
        f"cannot use {file}: {failure.strerror}", "check that it is a plain file, permissions, free space"
    )
