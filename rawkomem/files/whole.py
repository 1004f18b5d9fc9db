"""Read and replace files of other programs as a whole: a kill or a full disk leaves the old file."""

from __future__ import annotations

import os
import tempfile

from ..model.errors import BadInput
from .replace import mode_of

UNFINISHED_PREFIX = ".rawkomem-"  # what names of our temporary files beside a file begin with


def remove_unfinished(folder: str) -> None:
    """Remove what killed processes left beside the files of a folder. Raises OSError."""
    for name in os.listdir(folder):
        if name.startswith(UNFINISHED_PREFIX):
            os.unlink(os.path.join(folder, name))


def read_whole(path: str) -> bytes | None:
    """Return the bytes of a file; None if there is none."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise BadInput(f"cannot read {path}: {failure.strerror}", "nothing was changed; check permissions") from None


def replace_whole(path: str, data: bytes, executable: bool = False) -> None:
    """Write a file by a temporary one and a rename; a link is followed, permissions stay. Raises OSError."""
    file = os.path.realpath(path)
    folder = os.path.dirname(file)
    os.makedirs(folder, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=UNFINISHED_PREFIX)
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
