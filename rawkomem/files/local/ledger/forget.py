"""Remove a purged memory's text from the ledger and rebuild the chain; the head records that this was done.

Queries that share a content word with the memory are removed as well, since they may contain the secret.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from itertools import groupby

from ....format.yamo import SECTIONS, Block, emit_block, read_block
from ....model.clock import iso, now
from ....model.errors import Unwritable
from ....model.record import replace
from ....text.language import language
from ...layout import Layout
from ...lock import lock
from ...replace import remove_temporary
from .chain import Head, Row, chain, lines, number_of, read_head, replace_chain, row_of
from .seal import seal_locked
from .spool import ledger_path
from .verify import verify

PURGED = "[PURGED]"
KEPT_KEYS = ("memory_id", "memory_type", "memory_stored", "memory_deleted", "lesson_id", "skill_id", "reflection_id",
         "timestamp", "content_length", "severity", "error_pattern")  # fmt: skip  # ids and numbers, no text


def forget(layout: Layout, memory: str, texts: Iterable[str] = ()) -> int:
    """Remove a memory's text from blocks that name it or share words with its texts; return how many changed.

    Raise Unwritable on an I/O error.
    """
    telling = {word for text in texts for word in language().content_words(text)}
    if not os.path.isdir(ledger_path(layout)):
        return 0
    try:
        with lock(layout, "ledger-seal"):
            remove_temporary(ledger_path(layout))
            seal_locked(layout)
            placed = ((number_of(place.partition(":")[0]), row_of(line)) for place, line in lines(layout))
            known = [(number, row) for number, row in placed if row]
            kept = [(number, _without(row, memory, telling)) for number, row in known]
            changed = sum(old != new for old, new in zip(known, kept, strict=True))
            if changed:
                _replace(layout, kept, f"{iso(now())}: {changed} blocks were purged, and the chain was rebuilt")
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


def _replace(layout: Layout, kept: list[tuple[int, Row]], note: str) -> None:
    """Rebuild the chain. Each block stays in its file, even if the file exceeds the usual size."""
    broken = len(verify(layout).problems)
    whole_note = f"{note}; it was broken in {broken} places before" if broken else note
    old = read_head(layout) or Head()
    head = Head(0, old.first_file, 0, old.follows, old.batch, (*old.notes, whole_note), old.first_file, old.follows)
    files: dict[int, list[bytes]] = {}
    for number, some in groupby(kept, key=lambda pair: pair[0]):
        head, made = chain(replace(head, file=number, size=0), (row for _, row in some), sys.maxsize)
        files |= made
    replace_chain(layout, head, files)
