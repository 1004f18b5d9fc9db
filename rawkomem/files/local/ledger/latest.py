"""Read the last few operations of the ledger backwards, without a lock and without verifying the chain."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice

from ....model.errors import RawkoError
from ...layout import Layout
from ..private import LineFile
from .chain import BLOCKS, Head, Row, file_lines, names, number_of, read_head, row_of
from .seal import waiting_row
from .spool import BATCH, FOLDER, ledger_path

MAX_BLOCK_FILES = 2  # block files to read: some thousands of operations


def latest(layout: Layout, operation: str, most: int) -> list[Row]:
    """Return up to `most` operations of a kind, latest first: those not sealed yet, then blocks."""
    return [*islice((row for row in _backwards(layout) if row.operation_type == operation), most)]


def last_blocks(layout: Layout, most: int | None = None) -> list[Row]:
    """Return the last `most` sealed blocks, or all, oldest first."""
    found: list[Row] = []
    head = read_head(layout) or Head()
    for name in reversed(names(layout, BLOCKS)):
        if (most is not None and len(found) >= most) or number_of(name) < head.first_file:
            break
        found = [*(row for _, line in file_lines(layout, number_of(name)) if (row := row_of(line))), *found]
    return found if most is None else found[-most:] if most else []


def _backwards(layout: Layout) -> Iterator[Row]:
    """Yield operations that are not sealed yet, then those of the last blocks, latest first."""
    if os.path.islink(os.path.join(layout.local, FOLDER)):  # a link was not made by rawkomem
        return
    for name in ("spool.tsv", *reversed(names(layout, BATCH))):
        yield from (row for line in _lines(layout, name) if (row := waiting_row(line)))
    for name in names(layout, BLOCKS)[: -MAX_BLOCK_FILES - 1 : -1]:
        yield from (row for line in _lines(layout, name) if (row := row_of(line.encode())))


def _lines(layout: Layout, name: str) -> list[str]:
    """Return the lines of a file, last line first; empty if it cannot be opened."""
    try:
        return LineFile(ledger_path(layout, name)).lines()[::-1]
    except RawkoError:
        return []
