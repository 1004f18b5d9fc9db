"""Name change files, which hold one change each: `changes/2026-11/deploy-feedback-3fa2c1.md`.

Two branches never write the same file, so git merges them without a merge driver. `rawkomem tidy gather` moves the
changes into the files of their memories.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..model.clock import iso
from ..model.entry import Entry
from .contents import is_memory_name
from .layout import CHANGED, Layout
from .replace import Replacing

ID_DIGITS = 6  # hexadecimal digits of the change's id in the name of its file
STEM_BYTES = 120  # of the memory's file name: some file systems allow only 143 bytes for a name
KEPT = ".gitkeep"  # keeps each month's folder: git's rename detection would move new files out of a removed folder


def change_path(entry: Entry) -> str:
    """Return the path of a change's own file; `entry.path` is the file of its memory."""
    return f"{_month(entry.at)}/{_stem(entry)}{_digits(entry.id)}.md"


def is_change_file(path: str) -> bool:
    """Tell whether a path below .rawko is in the folder of change files."""
    return path.startswith(f"{CHANGED}/")


def amendments_near(layout: Layout, entry: Entry, ms: int) -> Iterator[str]:
    """Yield the change files of an entry's memory and kind, from the months of the `ms` milliseconds before it."""
    start = _stem(entry)
    for month in dict.fromkeys((_month(entry.at - ms), _month(entry.at))):
        folder = layout.path(month)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        yield from (f"{month}/{name}" for name in names if name.startswith(start) and is_memory_name(name))


def keep_folder(layout: Layout, files: Replacing, path: str) -> None:
    """Stage a .gitkeep in the folder of a change file, if there is none."""
    kept = os.path.join(os.path.dirname(layout.path(path)), KEPT)
    if not os.path.lexists(kept) and files.read(kept) is None:  # a link keeps the folder, too
        files.put(kept, b"")


def with_kept(layout: Layout, path: str) -> tuple[str, ...]:
    """Return an entry's path; for a change file, also the path of its folder's .gitkeep if that exists."""
    kept = f"{path.rpartition('/')[0]}/{KEPT}"
    return (path, kept) if is_change_file(path) and os.path.exists(layout.path(kept)) else (path,)


def _month(at: int) -> str:
    return f"{CHANGED}/{iso(at)[:7]}"


def _stem(entry: Entry) -> str:
    """Return the common prefix of the file names of all changes of this kind to the same memory file."""
    stem = entry.path.rpartition("/")[2].removesuffix(".md").encode()[:STEM_BYTES].decode("utf-8", "ignore")
    return f"{stem}-{entry.kind}-"


def _digits(id: str) -> str:
    """Return the random digits at the end of an id that rawkomem made; for other ids, digits of their hash."""
    end = id.rpartition("_")[2]
    if len(end) == ID_DIGITS and not end.strip("0123456789abcdef"):
        return end
    from hashlib import sha256

    return sha256(id.encode()).hexdigest()[:ID_DIGITS]
