"""Read and hash a file's bytes. The parser is elsewhere, so that a sweep of unchanged files does not load it."""

from __future__ import annotations

import os
import stat

MAX_FILE_BYTES = 5 * 1024 * 1024  # a larger file is not a memory


def is_plain_file(file: str) -> bool:
    """Tell whether this is a regular file and not a link."""
    return os.path.isfile(file) and not os.path.islink(file)


def is_memory_name(name: str) -> bool:
    """Tell whether a file of this name is read as memories; names that start with a dot belong to other programs."""
    return name.endswith(".md") and not name.startswith(".")


def read_bytes(file: str) -> bytes:
    """Return the first MAX_FILE_BYTES + 1 bytes of a file; raise OSError unless it is a regular file."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a regular file")
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return stream.read(MAX_FILE_BYTES + 1)
    finally:
        os.close(descriptor)


def hash_of(file: str) -> str:
    """Return the hash of the bytes that read_bytes returns; empty if the file cannot be read."""
    from hashlib import sha256

    try:
        return sha256(read_bytes(file)).hexdigest()
    except OSError:
        return ""
