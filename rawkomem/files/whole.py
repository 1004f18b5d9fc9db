"""Read and replace whole files of other programs; after a kill or on a full disk the old file is intact."""

from __future__ import annotations

import os
import tempfile

from ..model.errors import BadInput, Refused
from .contents import MAX_FILE_BYTES, read_bytes
from .replace import mode_of

GIT_FOLDER = ".git"
FOLLOW_LINKS = "RAWKOMEM_FOLLOW_LINKS"  # environment variable: 1 allows links out of a project
UNFINISHED_PREFIX = ".rawkomem-"  # of our temporary files, which are in the folder of the new file


def remove_unfinished(folder: str) -> None:
    """Remove the temporary files that killed processes left in a folder. Raises OSError."""
    for name in os.listdir(folder):
        if name.startswith(UNFINISHED_PREFIX):
            os.unlink(os.path.join(folder, name))


def refuse_exit(path: str, folder: str) -> None:
    """Raise Refused if a path below a folder leads out of it, or to git's own files, through a link.

    A path that does not begin with the folder was named by the user, so it may lead anywhere.
    """
    if leads_out(path, folder):
        hint = f"remove the link; or, if you made it, run the command again with {FOLLOW_LINKS}=1 in the environment"
        raise Refused(f"{path} leads out of {folder} through a link, to {os.path.realpath(path)}", hint)


def leads_out(path: str, folder: str) -> bool:
    """Tell whether a path below a folder leads out of it, or to git's own files, through a link."""
    named, real = os.path.abspath(path), os.path.realpath(path)
    top = os.path.realpath(folder)
    if os.environ.get(FOLLOW_LINKS) == "1":
        return False
    if not is_below(named, os.path.abspath(folder)) and not is_below(named, top):
        return False
    inner = real[len(top.rstrip(os.sep)) :].split(os.sep)
    return not is_below(real, top) or (GIT_FOLDER in inner and GIT_FOLDER not in named.split(os.sep))


def is_below(path: str, folder: str) -> bool:
    """Tell whether a path is a folder or a path below it, as both are written."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def read_whole(path: str, within: str = "") -> bytes | None:
    """Return a file's bytes; None if it does not exist. `within` is a folder that no link may lead out of."""
    if within:
        refuse_exit(path, within)
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise BadInput(f"cannot read {path}: {failure.strerror}", "nothing was changed; check permissions") from None
    if len(data) > MAX_FILE_BYTES:
        raise BadInput(f"{path} is larger than {MAX_FILE_BYTES >> 20} MiB", "nothing was changed; shorten it")
    return data


def replace_whole(path: str, data: bytes, executable: bool = False, within: str = "") -> None:
    """Write a file atomically; follow a link and keep its permissions. Raises OSError.

    `within` is a folder that no link may lead out of.
    """
    if within:
        refuse_exit(path, within)
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
