"""The part of `purge` in the ledger: what blocks tell of a memory is taken out, and the chain is made anew.

A chain that could be changed without a trace would be worth nothing: the head notes that it was, and when.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...model.clock import iso, now
from ...model.record import replace
from ...text.yamo import SECTIONS, emit_block, read_block
from .chain import BLOCKS, Head, blocks_file, chain, names, read_head, rows, seal_lock, write_durably, write_head
from .seal import seal_locked
from .spool import ledger_folder
from .verify import verify

if TYPE_CHECKING:
    from ...text.yamo import Block
    from ..layout import Layout
    from .chain import Row

WAIT = 30.0  # seconds for somebody who seals
PURGED = "[PURGED]"
STAYS = ("memory_id", "memory_type", "memory_stored", "memory_deleted", "lesson_id", "skill_id", "reflection_id",
         "timestamp", "content_length", "severity", "error_pattern")  # fmt: skip  # ids and numbers: no words


def forget(layout: Layout, memory: str) -> int:
    """Take the words of a memory out of the blocks that name it; how many those are."""
    if not os.path.isdir(ledger_folder(layout)):
        return 0
    with seal_lock(layout, WAIT):
        seal_locked(layout)
        known = list(rows(layout))
        kept = [_without(row, memory) for row in known]
        changed = sum(old != new for old, new in zip(known, kept, strict=True))
        if changed:
            _replace(layout, kept, f"{iso(now())}: {changed} blocks were purged, and the chain was made anew")
    return changed


def _without(row: Row, memory: str) -> Row:
    block = read_block(row.yamo_text)[0] if memory in row.yamo_text else None
    named = block and any(value == memory for name in SECTIONS for _, value in getattr(block, name))
    return replace(row, yamo_text=emit_block(_purged(block, memory))) if block and named else row


def _purged(block: Block, memory: str) -> Block:
    sections = {
        name: tuple((key, value if key in STAYS else PURGED) for key, value in getattr(block, name))
        for name in SECTIONS
    }
    return replace(block, **sections, log=(*block.log[:3], "purged", memory))


def _replace(layout: Layout, kept: list[Row], note: str) -> None:
    broken = len(verify(layout).problems)
    told = f"{note}; it was broken in {broken} places before" if broken else note
    old = read_head(layout) or Head()
    head, files = chain(Head(batch=old.batch, notes=(*old.notes, told)), kept)
    for name in names(layout, BLOCKS)[len(files) :]:
        os.unlink(os.path.join(ledger_folder(layout), name))
    for number, made in files.items():
        write_durably(blocks_file(layout, number), b"".join(made))
    write_head(layout, head)
