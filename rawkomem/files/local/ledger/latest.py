"""The ledger's end, read backwards: for who wants the last few operations at once, and neither a lock nor a proof."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from .chain import BATCH, BLOCKS, Row, names, row_of
from .seal import waiting_row
from .spool import ledger_folder, spool_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...layout import Layout

FILES = 2  # of blocks that are looked at: some thousands of operations


def latest(layout: Layout, operation: str, most: int) -> list[Row]:
    """The last operations of a kind, the latest first: what waits to be sealed, then blocks."""
    return [*islice((row for row in _backwards(layout) if row.operation_type == operation), most)]


def _backwards(layout: Layout) -> Iterator[Row]:
    folder = ledger_folder(layout)
    if os.path.islink(folder):  # it came with the repository
        return
    waiting = [spool_file(layout), *(os.path.join(folder, name) for name in reversed(names(layout, BATCH)))]
    for file in waiting:
        yield from (row for line in _lines(file) if (row := waiting_row(line.decode("utf-8", "replace"))))
    for name in names(layout, BLOCKS)[: -FILES - 1 : -1]:
        yield from (row for line in _lines(os.path.join(folder, name)) if (row := row_of(line)))


def _lines(file: str) -> Iterator[bytes]:
    """The lines of a file from its end; none of one that is gone, or is no plain file."""
    if os.path.islink(file) or not os.path.isfile(file):
        return iter(())
    try:
        with open(file, "rb") as stream:
            return reversed(stream.read().split(b"\n"))
    except OSError:
        return iter(())
