"""Keep copies of edited files in `.rawko/local/edits` before `rawkomem check --staged --as-amendment` replaces them."""

from __future__ import annotations

import os
from shutil import rmtree
from typing import TYPE_CHECKING

from ...model.clock import DAY, iso, now
from ...model.errors import RawkoError, Unwritable
from ..layout import EDITS
from ..purge import may_speak_of
from .private import local_path, open_private, replace_local
from .unsaved import shares_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..layout import Layout

MAX_AGE_DAYS = 30  # after which copies are removed


def keep_edited(layout: Layout, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Copy files under their paths below `.rawko`, and remove old copies.

    Return the copies' paths below `.rawko`, or raise Unwritable.
    """
    folder = f"{EDITS}/{_name(now())}"
    try:
        for path, data in files.items():
            replace_local(layout, f"{folder}/{path}", data, durable=True)
    except OSError as failure:
        raise Unwritable(f"cannot keep a copy in local/{folder}: {failure.strerror}", "check free space") from None
    remove_old_edited(layout)
    return tuple(f"local/{folder}/{path}" for path in files)


def _name(at: int) -> str:
    return iso(at).replace(":", "")


def remove_old_edited(layout: Layout) -> list[str]:
    """Remove copies older than MAX_AGE_DAYS, except the newest; return their folders. What cannot be removed stays."""
    try:
        kept = local_path(layout, EDITS)
        *older, _ = sorted(os.listdir(kept))
    except (OSError, RawkoError, ValueError):
        return []
    oldest = _name(now() - MAX_AGE_DAYS * DAY)
    gone = [os.path.join(kept, name) for name in older if name < oldest]
    for folder in gone:
        rmtree(folder, ignore_errors=True)
    return gone


def forget_edited(layout: Layout, id: str, texts: Collection[str]) -> list[str]:
    """Remove each copy that may hold a purged memory or shares a line with its texts; return the removed paths."""
    kept = local_path(layout, EDITS)
    gone = []
    for folder, _, names in os.walk(kept):
        for name in names:
            path = os.path.join(folder, name)
            with open_private(path, "r") as stream:
                data = stream.readall()
            original = os.path.relpath(path, kept).replace(os.sep, "/").partition("/")[2]
            if may_speak_of(data, original, id) or shares_line(data.decode("utf-8", "replace"), texts):
                os.unlink(path)
                gone.append(path)
    return gone
