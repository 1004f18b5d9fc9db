"""Remove a purged memory's text from the ledger and rebuild the chain; the head records that this was done.

Queries that share a content word with the memory are removed as well, since they may contain the secret.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from ....format.yamo import SECTIONS, Block, emit_block, read_block
from ....model.clock import iso, now
from ....model.errors import Unwritable
from ....model.record import replace
from ....text.language import language
from ...layout import Layout
from ...lock import lock
from ..private import replace_local
from .chain import BLOCKS, Head, Row, blocks_name, chain, names, number_of, read_head, rows, write_head
from .seal import seal_locked
from .spool import ledger_path
from .verify import verify

PURGED = "[PURGED]"
KEPT_KEYS = ("memory_id", "memory_type", "memory_stored", "memory_deleted", "lesson_id", "skill_id", "reflection_id",
         "timestamp", "content_length", "severity", "error_pattern")  # fmt: skip  # ids and numbers: no words


def forget(layout: Layout, memory: str, texts: Iterable[str] = ()) -> int:
    """Remove the text of a memory from blocks that name it or query for its texts; return how many blocks changed."""
    telling = {word for text in texts for word in language().content_words(text)}
    if not os.path.isdir(ledger_path(layout)):
        return 0
    try:
        with lock(layout, "ledger-seal"):
            seal_locked(layout)
            known = list(rows(layout))
            kept = [_without(row, memory, telling) for row in known]
            changed = sum(old != new for old, new in zip(known, kept, strict=True))
            if changed:
                _replace(layout, kept, f"{iso(now())}: {changed} blocks were purged, and the chain was made anew")
            return changed
    except OSError as failure:
        raise Unwritable(f"cannot purge the ledger: {failure.strerror}", f"delete {ledger_path(layout)}") from None


def _without(row: Row, memory: str, telling: set[str]) -> Row:
    if row.operation_type != "recall" and memory not in row.yamo_text:
        return row
    block = read_block(row.yamo_text)[0]
    if block is None or not _tells(block, memory, telling):
        return row
    sections = {
        name: tuple((key, value if key in KEPT_KEYS else PURGED) for key, value in getattr(block, name))
        for name in SECTIONS
    }
    return replace(row, yamo_text=emit_block(replace(block, **sections, log=(*block.log[:3], "purged", memory))))


def _tells(block: Block, memory: str, telling: set[str]) -> bool:
    named = any(value == memory for name in SECTIONS for _, value in getattr(block, name))
    return named or not telling.isdisjoint(language().words(block.value("context", "query")))


def _replace(layout: Layout, kept: list[Row], note: str) -> None:
    broken = len(verify(layout).problems)
    told = f"{note}; it was broken in {broken} places before" if broken else note
    old = read_head(layout) or Head()
    start = Head(0, old.first_file, 0, old.follows, old.batch, (*old.notes, told), old.first_file, old.follows)
    head, files = chain(start, kept)
    for name in names(layout, BLOCKS):
        if number_of(name) not in files:
            os.unlink(ledger_path(layout, name))
    for number, made in files.items():
        replace_local(layout, blocks_name(number), b"".join(made), durable=True)
    write_head(layout, head)
