"""The only rewriter: cuts every entry about one memory out of its files, for good. For leaked secrets."""

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
    """Cut the entries about `id` out of these files, removing a file left empty. Returns what changed."""
    changed = []
    with lock(layout, "write"):
        for path in paths:
            if _purge_file(layout, path, id):
                changed.append(path)
    return changed


def _purge_file(layout: Layout, path: str, id: str) -> bool:
    try:
        return _rewrite(layout, path, id)
    except OSError as failure:
        raise Unwritable(f"cannot purge {path}: {failure.strerror}", "check its permissions") from None


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
    stem = implicit_id(path)
    if any(entry.id.startswith(f"{stem}#") or entry.id == stem for entry in kept):
        kept_ids = [entry.id for entry in kept]
        if kept_ids != [entry.id for entry in read_data(_without(data, entries, id), path).entries]:
            raise Refused(
                f"{path} holds entries without ids that would change their names",
                "give them an 'id:' line first, or edit the file by hand",
            )
    files.put(file, _without(data, entries, id))
    if files.finish():
        raise Refused(f"{path} changed while we read it", "try again")
    return True


def _without(data: bytes, entries: tuple[Entry, ...], id: str) -> bytes:
    """The file's bytes without the lines of these entries; the others keep theirs to the byte."""
    lines = data.splitlines(keepends=True)
    starts = [entry.line - 1 for entry in entries] + [len(lines)]
    pieces = [b"".join(lines[a:b]) for a, b in pairwise(starts)]
    kept = [piece for piece, entry in zip(pieces, entries, strict=True) if entry.target != id]
    text = b"".join(kept)
    last = entries[-1].target == id
    return _trim_separator(text) if last else text


def _trim_separator(data: bytes) -> bytes:
    """Without the separator that led to an entry which is no longer there."""
    trimmed = SEPARATOR_AT_END.sub(b"", data)
    return trimmed if trimmed.endswith(b"\n") else trimmed + b"\n"
