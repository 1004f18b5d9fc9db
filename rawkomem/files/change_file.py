"""Name the files of single changes: `changes/2026-11/deploy-feedback-3fa2c1.md`.

Two branches never write the same one, so plain git merges them. `gather` moves such changes into the memories' files.
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
STEM_BYTES = 120  # bytes of the memory's file name that are kept: some file systems allow 143
KEPT = ".gitkeep"  # in each month: git takes new files of a vanished folder for files that were moved elsewhere


def change_path(entry: Entry) -> str:
    """Return the file of a change; the entry's path is the file of the memory that it is about."""
    return f"{_month(entry.at)}/{_stem(entry)}{_digits(entry.id)}.md"


def is_change_file(path: str) -> bool:
    """Tell whether a path below .rawko lies in the area of single changes."""
    return path.startswith(f"{CHANGED}/")


def amendments_near(layout: Layout, entry: Entry, ms: int) -> Iterator[str]:
    """Yield the change files with changes of an entry's kind of the same memory, of the months of the last `ms`."""
    start = _stem(entry)
    for month in dict.fromkeys((_month(entry.at - ms), _month(entry.at))):
        folder = layout.path(month)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        yield from (f"{month}/{name}" for name in names if name.startswith(start) and is_memory_name(name))


def keep_folder(layout: Layout, files: Replacing, path: str) -> None:
    """Put a file that stays into the folder of a change file."""
    kept = os.path.join(os.path.dirname(layout.path(path)), KEPT)
    if not os.path.lexists(kept) and files.read(kept) is None:  # whatever is there keeps the folder, also a link
        files.put(kept, b"")


def with_kept(layout: Layout, path: str) -> tuple[str, ...]:
    """Return the path of an entry, and of the file that keeps its folder if it is the file of a single change."""
    kept = f"{path.rpartition('/')[0]}/{KEPT}"
    return (path, kept) if is_change_file(path) and os.path.exists(layout.path(kept)) else (path,)


def _month(at: int) -> str:
    return f"{CHANGED}/{iso(at)[:7]}"


def _stem(entry: Entry) -> str:
    """Return how the names of all changes of an entry's kind about the same file begin."""
    stem = entry.path.rpartition("/")[2].removesuffix(".md").encode()[:STEM_BYTES].decode("utf-8", "ignore")
    return f"{stem}-{entry.kind}-"


def _digits(id: str) -> str:
    """Return the random end of an id that we made, else as many digits of a hash."""
    end = id.rpartition("_")[2]
    if len(end) == ID_DIGITS and not end.strip("0123456789abcdef"):
        return end
    from hashlib import sha256

    return sha256(id.encode()).hexdigest()[:ID_DIGITS]
