"""A file's bytes and their hash. Apart from the parser, which a sweep that finds files merely touched need not load."""

from __future__ import annotations

import os
import stat

MAX_FILE_BYTES = 5 * 1024 * 1024  # a memory is a page, not an archive


def is_plain_file(file: str) -> bool:
    """Return whether this is a regular file and no link to one."""
    return os.path.isfile(file) and not os.path.islink(file)


def read_bytes(file: str) -> bytes:
    """The file's bytes, at most one more than the cap; only regular files are opened for reading."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a regular file")
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return stream.read(MAX_FILE_BYTES + 1)
    finally:
        os.close(descriptor)


def hash_of(file: str) -> str:
    """The hash of what read_bytes reads; empty where it cannot be read."""
    from hashlib import sha256

    try:
        return sha256(read_bytes(file)).hexdigest()
    except OSError:
        return ""
