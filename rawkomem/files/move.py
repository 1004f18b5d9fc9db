"""Move memory files between the short-term folders and the archive, under the write lock, by atomic renames."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..model.errors import Unwritable
from ..model.record import record, replace
from .contents import is_plain_file
from .layout import Layout
from .replace import make_folder, refuse_links, sync_folder

TRACES, ARCHIVE = "traces", "archive"


@record
class Move:
    """A move of a file from one path to another, both below .rawko, and its reason."""

    source: str
    target: str
    why: str = ""


def to_archive(path: str, why: str = "") -> Move:
    """Return the move of a trace to the same path below the archive, so that an id made from its path stays valid."""
    return Move(path, f"{ARCHIVE}/{path.partition('/')[2]}", why)


def from_archive(path: str) -> Move:
    """Return the move of an archived trace back to the traces."""
    return Move(path, f"{TRACES}/{path.partition('/')[2]}")


def move_files(layout: Layout, moves: Sequence[Move]) -> list[Move]:
    """Move files for a caller that holds the write lock, and return the moves that were made; skip missing files.

    If the target's name is taken, add a number. Remove folders that become empty. Raise Unwritable on an I/O error.
    """
    try:
        done = [moved for move in moves if (moved := _move(layout, move))]
        for folder in sorted({os.path.dirname(path) for move in done for path in (move.target, move.source)}):
            if os.path.isdir(layout.path(folder)):
                sync_folder(layout.path(folder))
        for folder in {os.path.dirname(move.source) for move in done}:
            remove_empty(layout, folder)
    except OSError as failure:
        raise Unwritable(f"cannot move {failure.filename}: {failure.strerror}", "check permissions and space") from None
    return done


def _move(layout: Layout, move: Move) -> Move | None:
    source = layout.path(move.source)
    if not is_plain_file(source):
        return None
    target = _free(layout, move.target)
    folder = os.path.dirname(layout.path(target))
    make_folder(folder)
    for end in (folder, os.path.dirname(source)):
        refuse_links(layout, end)
    os.rename(source, layout.path(target))
    return replace(move, target=target)


def _free(layout: Layout, path: str) -> str:
    stem, number = path.removesuffix(".md"), 1
    while os.path.lexists(layout.path(path)):
        number += 1
        path = f"{stem}-{number}.md"
    return path


def remove_empty(layout: Layout, folder: str) -> None:
    """Remove a folder below an area if it is empty; ignore errors."""
    place = layout.path(folder)
    try:
        if "/" in folder and os.path.isdir(place) and not os.listdir(place):
            os.rmdir(place)
            sync_folder(os.path.dirname(place))
    except OSError:
        pass
