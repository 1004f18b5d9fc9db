"""Record which memories are being purged, one file each, so that the next command can finish a purge after a crash.

An intent contains only the memory's id. It is on disk before the first text is removed, and is removed last.
"""

from __future__ import annotations

import os

from ...model.errors import Unwritable
from .private import local_path, open_local, replace_local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..layout import Layout

FOLDER = "purge"  # below .rawko/local
MAX_ID_BYTES = 4_096


def any_intents(layout: Layout) -> bool:
    """Tell whether there may be an intent; one stat call, because every command asks."""
    return os.path.isdir(os.path.join(layout.local, FOLDER))


def note_intent(layout: Layout, id: str) -> None:
    """Write an intent to disk; raise Unwritable if that fails."""
    from ..replace import make_folder, sync_folder

    try:
        folder = os.path.dirname(local_path(layout, _name(id)))
        make_folder(folder)
        replace_local(layout, _name(id), id.encode(), durable=True)
        sync_folder(folder)
    except OSError as failure:
        hint = "nothing was removed; check permissions and free space"
        raise Unwritable(f"cannot record the purge of {id}: {failure.strerror}", hint) from None


def open_intents(layout: Layout) -> list[str]:
    """Return the ids of memories whose purge has not finished."""
    try:
        names = sorted(os.listdir(os.path.dirname(local_path(layout, f"{FOLDER}/x"))))
    except FileNotFoundError:
        return []
    except OSError as failure:
        raise Unwritable(f"cannot read the intents of purges: {failure.strerror}", "check permissions") from None
    return [id for name in names if (id := _read(layout, f"{FOLDER}/{name}")) and _name(id) == f"{FOLDER}/{name}"]


def close_intent(layout: Layout, id: str) -> None:
    """Remove the intent of a finished purge."""
    path = local_path(layout, _name(id))
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as failure:
        raise Unwritable(f"cannot remove {path}: {failure.strerror}", "check permissions") from None


def clear_folder(layout: Layout) -> None:
    """Remove killed writers' temporary files from the folder, and the folder itself if no intent is in it."""
    folder = os.path.dirname(local_path(layout, f"{FOLDER}/x"))
    try:
        for name in os.listdir(folder):
            if name.endswith(".writing"):
                os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    except OSError:
        pass  # the next command tries again


def _name(id: str) -> str:
    from hashlib import sha256  # hashed because an id may be a path; imported here because most commands have no intent

    return f"{FOLDER}/{sha256(id.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}"


def _read(layout: Layout, name: str) -> str:
    try:
        with open_local(layout, name, "r") as stream:
            return stream.read(MAX_ID_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
