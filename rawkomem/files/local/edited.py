"""Keep copies of edited files in `.rawko/local/edits` before `rawkomem check --staged --as-amendment` replaces them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...model.clock import iso, now
from ...model.errors import Unwritable
from ..purge import may_speak_of
from .private import local_path, open_private, replace_local
from .unsaved import shares_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..layout import Layout

FOLDER = "edits"


def keep_edited(layout: Layout, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Copy files under their paths below `.rawko`; return the copies' paths below `.rawko`, or raise Unwritable."""
    folder = f"{FOLDER}/{iso(now()).replace(':', '')}"
    try:
        for path, data in files.items():
            replace_local(layout, f"{folder}/{path}", data, durable=True)
    except OSError as failure:
        raise Unwritable(f"cannot keep a copy in local/{folder}: {failure.strerror}", "check free space") from None
    return tuple(f"local/{folder}/{path}" for path in files)


def forget_edited(layout: Layout, id: str, texts: Collection[str]) -> list[str]:
    """Remove each copy that may hold a purged memory or shares a line with its texts; return the removed paths."""
    kept = local_path(layout, FOLDER)
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
