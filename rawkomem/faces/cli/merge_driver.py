"""Implement `rawkomem merge-driver`, which git runs to merge a memory file after `rawkomem connect
git`.
"""

from __future__ import annotations

from ...git.merge import merge_files
from ...model.errors import BadInput


def run_merge_driver(folder: str, arguments: list[str], marker_size: int) -> None:
    """Merge three files into the second; raise an error with its own exit code on a conflict."""
    if not 3 <= len(arguments) <= 4:
        raise BadInput(
            "merge-driver takes the arguments BASE OURS THEIRS [PATH]",
            "git sets these arguments: %O %A %B %P; run 'rawkomem connect git' to set up the driver",
        )
    base, ours, theirs, *path = arguments
    merge_files(base, ours, theirs, path[0] if path else "", marker_size)
