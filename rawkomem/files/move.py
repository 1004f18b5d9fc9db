"""Moves memory files between the short-term folders and the archive. A move never changes a byte.

The other writer of files beside append.py, under the same lock: a rename is whole or has not happened, so whoever is
killed leaves each file in its old or its new place.
"""

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
    """A file's way from one path to another, both below .rawko, and why."""

    source: str
    target: str
    why: str = ""


def to_archive(path: str, why: str = "") -> Move:
    """The way of a trace into the archive: the same path below it, so that an id made of the path stays."""
    return Move(path, f"{ARCHIVE}/{path.partition('/')[2]}", why)


def from_archive(path: str) -> Move:
    """The way back."""
    return Move(path, f"{TRACES}/{path.partition('/')[2]}")


def move_files(layout: Layout, moves: Sequence[Move]) -> list[Move]:
    """Carry out moves, by a caller that holds the repository lock; what is no longer there is passed over.

    Where the target's name is taken, a number is added. Folders left empty are removed.
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
    """Remove a folder below an area when nothing is left in it."""
    if "/" in folder and os.path.isdir(layout.path(folder)) and not os.listdir(layout.path(folder)):
        os.rmdir(layout.path(folder))
        sync_folder(os.path.dirname(layout.path(folder)))
