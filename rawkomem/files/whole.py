"""A file replaced as a whole: who is killed, or finds the disk full, leaves what was there and nothing beside it."""

from __future__ import annotations

import os
import tempfile

from .replace import mode_of


def replace_whole(path: str, data: bytes, executable: bool = False) -> None:
    """Write a file by a temporary one and a rename; a link is followed, permissions stay. Raises OSError."""
    file = os.path.realpath(path)
    folder = os.path.dirname(file)
    os.makedirs(folder, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".rawkomem-")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode_of(file) | (0o111 if executable else 0))
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise
