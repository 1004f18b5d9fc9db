"""Implement `rawkomem merge-driver`, which git runs to merge a memory file after `rawkomem connect git`."""

from __future__ import annotations

from ....git.merge.driver import merge_files
from ....model.errors import BadInput


def run(folder: str, arguments: list[str], marker_size: int) -> None:
    """Merge three files into the second; a conflict raises an error with its own exit code."""
    if not 3 <= len(arguments) <= 4:
        raise BadInput("merge-driver takes BASE OURS THEIRS and perhaps PATH", "git fills them in: %O %A %B %P")
    base, ours, theirs, *path = arguments
    merge_files(base, ours, theirs, path[0] if path else "", marker_size)
