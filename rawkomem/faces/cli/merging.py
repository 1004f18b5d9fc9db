"""Implement `merge-driver`, which git starts once for each file: import little if the sides changed different parts."""

from __future__ import annotations

import os

from ...git.merge_parts import merge_parts, read_side, write_merged
from ...model.errors import BadInput, NewerFormat, RawkoError
from .terminal import note


def run_merge_driver(folder: str, arguments: list[str], marker_size: int) -> None:
    """Merge three files into the second; raise an error with its own exit code on a conflict."""
    if not 3 <= len(arguments) <= 4:
        raise BadInput(
            "merge-driver takes the arguments BASE OURS THEIRS [PATH]",
            "git sets these arguments: %O %A %B %P; run 'rawkomem connect git' to set up the driver",
        )
    base, ours, theirs, *path = arguments
    merged = merge_parts(read_side(base), read_side(ours), read_side(theirs))
    if merged is not None:
        write_merged(ours, merged)
        return
    from ...files.layout import find_layout
    from ...git.merge import merge_files
    from ...repository.settings import load_settings

    place = path[0] if path else ""
    by_lines = False
    try:
        layout = find_layout(os.path.join(folder, os.path.dirname(place)))
        load_settings(layout, lambda _: None)
    except NewerFormat as failure:
        by_lines = True
        note(f"{failure.in_full}; merging lines instead of entries")
    except RawkoError:
        pass  # the driver needs no repository
    merge_files(base, ours, theirs, place, marker_size, by_lines)
