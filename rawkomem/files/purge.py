"""Cut every entry about one memory out of its files: the only rewriter, for leaked secrets."""

from __future__ import annotations

import os
import re
from itertools import pairwise

from ..model.entry import Entry
from ..model.errors import Refused, Unwritable
from .layout import Layout
from .lock import lock
from .read import implicit_id, read_data
from .replace import Replacing

SEPARATOR_AT_END = re.compile(rb"\r?\n---[ \t]*(?:\r?\n)*\Z")


def purge(layout: Layout, id: str, paths: list[str]) -> list[str]:
    """Cut the entries about `id` out of these files, remove files left empty, and return the changed paths."""
    changed = []
    with lock(layout, "write"):
        for path in paths:
            try:
                if _rewrite(layout, path, id):
                    changed.append(path)
            except OSError as failure:
                raise Unwritable(f"cannot purge {path}: {failure.strerror}", "check its permissions") from None
    return changed


def _rewrite(layout: Layout, path: str, id: str) -> bool:
    file = layout.path(path)
    files = Replacing(layout)
    data = files.read(file)
    if data is None:
        raise Unwritable(f"cannot purge {path}: No such file", "run 'rawkomem sync', then try again")
    entries = read_data(data, path).entries
    kept = [entry for entry in entries if entry.target != id]
    if len(kept) == len(entries):
        return False
    if not kept:
        os.unlink(file)
        return True
    stem, new = implicit_id(path), _without(data, entries, id)
    nameless = any(entry.id.startswith(f"{stem}#") or entry.id == stem for entry in kept)
    if nameless and [entry.id for entry in kept] != [entry.id for entry in read_data(new, path).entries]:
        hint = "give them an 'id:' line first, or edit the file by hand"
        raise Refused(f"{path} holds entries without ids that would change their names", hint)
    files.put(file, new)
    if files.finish():
        raise Refused(f"{path} changed while we read it", "try again")
    return True


def _without(data: bytes, entries: tuple[Entry, ...], id: str) -> bytes:
    """Return the file's bytes without the lines of the entries about `id`; other entries keep every byte."""
    lines = data.splitlines(keepends=True)
    starts = [entry.line - 1 for entry in entries] + [len(lines)]
    pieces = [b"".join(lines[a:b]) for a, b in pairwise(starts)]
    text = b"".join(piece for piece, entry in zip(pieces, entries, strict=True) if entry.target != id)
    if entries[-1].target != id:
        return text
    trimmed = SEPARATOR_AT_END.sub(b"", text)  # it led to an entry that is no longer there
    return trimmed if trimmed.endswith(b"\n") else trimmed + b"\n"
