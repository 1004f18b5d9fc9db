"""Remove the oldest files of the chain; the head records the hash that the first remaining block follows."""

from __future__ import annotations

import os

from ....model.clock import DAY, iso, now
from ....model.record import replace
from ....text.count import count
from ...layout import Layout
from ...lock import lock
from .chain import BLOCKS, Head, file_lines, names, number_of, read_head, row_of, stated_hash, write_head
from .seal import seal
from .spool import ledger_path


def seal_and_trim(layout: Layout, days: int) -> None:
    """Turn waiting lines into blocks, then remove files whose blocks are all older than `days`."""
    seal(layout)
    trim(layout, days)


def trim(layout: Layout, days: int) -> int:
    """Remove files whose blocks are all older than `days` and return the number of blocks; with 0 days, remove none.

    Ignore errors: the next command tries again.
    """
    if not days or len(names(layout, BLOCKS)) < 2:
        return 0
    sealing = lock(layout, "ledger-seal")
    if not sealing.acquire(0.0):
        return 0
    try:
        head = read_head(layout)
        return _trim(layout, head, now() - days * DAY) if head else 0
    except OSError:
        return 0
    finally:
        sealing.release()


def _trim(layout: Layout, head: Head, before: int) -> int:
    """Remove block files that end before a time. The head is written first, so that readers ignore those files."""
    trimmed = head
    for number in range(head.first_file, head.file):
        lines = [line for _, line in file_lines(layout, number)]
        last = row_of(lines[-1]) if lines else None
        if last is None or last.timestamp >= before:
            break
        blocks, follows = trimmed.blocks - len(lines), stated_hash(lines[-1])
        trimmed = replace(trimmed, blocks=blocks, first_file=number + 1, follows=follows)
    gone = head.blocks - trimmed.blocks
    if gone:
        note = f"{iso(now())}: {count(gone, 'block')} older than {iso(before)[:10]} were removed"
        write_head(layout, replace(trimmed, notes=(*trimmed.notes, note)))
    for name in names(layout, BLOCKS):
        if number_of(name) < trimmed.first_file:
            os.unlink(ledger_path(layout, name))
    return gone
