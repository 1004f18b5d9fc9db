"""The ledger's end, read backwards: for who wants the last few operations at once, and neither a lock nor a proof."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ....model.errors import RawkoError
from ..private import LineFile
from .chain import BATCH, BLOCKS, Row, names, row_of
from .seal import waiting_row
from .spool import ledger_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...layout import Layout

MAX_BLOCK_FILES = 2  # that are looked at: some thousands of operations


def latest(layout: Layout, operation: str, most: int) -> list[Row]:
    """The last operations of a kind, the latest first: what waits to be sealed, then blocks."""
    return [*islice((row for row in _backwards(layout) if row.operation_type == operation), most)]


def _backwards(layout: Layout) -> Iterator[Row]:
    """Read what waits and the last blocks, latest first; nothing through a link, and nothing of a file that is gone."""
    for name in ("spool.tsv", *reversed(_names(layout, BATCH))):
        yield from (row for line in _lines(layout, name) if (row := waiting_row(line)))
    for name in _names(layout, BLOCKS)[: -MAX_BLOCK_FILES - 1 : -1]:
        yield from (row for line in _lines(layout, name) if (row := row_of(line.encode())))


def _names(layout: Layout, start: str) -> list[str]:
    try:
        return names(layout, start)
    except RawkoError:
        return []


def _lines(layout: Layout, name: str) -> list[str]:
    try:
        return LineFile(ledger_path(layout, name)).lines()[::-1]
    except RawkoError:
        return []
