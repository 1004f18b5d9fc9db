"""Seal the spool: rename it to a batch, append its blocks, fsync, write the head that names it, remove the batch.

After a kill the next run recovers: blocks after the end that the head states are rebuilt from their batch, and a batch
that the head names is only removed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from ....format.yamo import emit_block
from ....format.yamo_blocks import AGENT, build
from ....model.clock import iso, now
from ....model.errors import Busy, Unwritable
from ....model.record import replace
from ...layout import Layout
from ...lock import lock
from ..private import LineFile, local_path, open_local, write_all
from .chain import (
    BLOCKS,
    Head,
    Row,
    blocks_name,
    chain,
    end_replacing,
    fields_of,
    lines,
    names,
    number_of,
    read_head,
    stated_hash,
    write_head,
)
from .spool import BATCH, SPOOL, ledger_path


def seal(layout: Layout, wait: float = 0.0) -> int:
    """Turn waiting lines into blocks and return their number; 0 if another process holds the lock past `wait` seconds.

    Raise Unwritable on an I/O error.
    """
    if not os.path.isdir(ledger_path(layout)):
        return 0
    sealing = lock(layout, "ledger-seal")
    if not sealing.acquire(wait):
        return 0
    try:
        return seal_locked(layout)
    except OSError as failure:
        raise Unwritable(f"cannot write the ledger: {failure.strerror}", "check permissions and free space") from None
    finally:
        sealing.release()


def append_rows(layout: Layout, rows: Sequence[Row], wait: float) -> int:
    """Append blocks of another ledger whose ids are new; return their number.

    Raise Busy if another process holds the lock past `wait` seconds, Unwritable on an I/O error.
    """
    sealing = lock(layout, "ledger-seal")
    if not sealing.acquire(wait):
        raise Busy("another process writes to the ledger", "try again")
    try:
        seal_locked(layout)
        head = read_head(layout)
        start = _without_unsealed(layout, head) if head else _rebuilt_head(layout)
        known = {fields_of(line).get("id") for _, line in lines(layout)}
        new = [row for row in rows if row.id not in known]
        head, files = chain(start, new)
        for number, added in files.items():
            with open_local(layout, blocks_name(number), "a") as stream:
                write_all(stream, b"".join(added), durable=True)
        write_head(layout, head)
    except OSError as failure:
        raise Unwritable(f"cannot write the ledger: {failure.strerror}", "check permissions and free space") from None
    finally:
        sealing.release()
    return len(new)


def seal_locked(layout: Layout) -> int:
    """Turn waiting lines into blocks and return their number; the caller holds the lock."""
    end_replacing(layout)
    _put_aside(layout)
    return sum(_seal_batch(layout, name) for name in names(layout, BATCH))


def _put_aside(layout: Layout) -> None:
    """Rename the spool to a batch, under the spool's lock, so that no process is writing to it."""
    with lock(layout, "ledger-spool"):
        spool = local_path(layout, SPOOL)
        if os.path.exists(spool):
            os.rename(spool, ledger_path(layout, f"{BATCH}{time.time_ns():020d}"))


def _seal_batch(layout: Layout, name: str) -> int:
    head = read_head(layout)
    made: list[Row] = []
    if head is None or head.batch != name:
        start = _without_unsealed(layout, head) if head else _rebuilt_head(layout)
        made, _ = LineFile(ledger_path(layout, name)).read(waiting_row)
        head, files = chain(start, made)
        for number, added in files.items():
            with open_local(layout, blocks_name(number), "a") as stream:
                write_all(stream, b"".join(added), durable=True)
        write_head(layout, replace(head, batch=name))
    os.unlink(ledger_path(layout, name))
    return len(made)


def waiting_row(line: str) -> Row | None:
    """Return the block of a waiting line; None for an incomplete line."""
    operation, at, agent, *said = (*line.split("\t"), "", "")
    values = dict(item.partition("=")[::2] for item in said if item)
    try:
        text = emit_block(build(operation, agent, int(at), **values))
    except (KeyError, ValueError, TypeError):
        return None
    return Row(f"yamo_{operation}_{at}_{os.urandom(3).hex()}", agent or AGENT, operation, int(at), text)


def _without_unsealed(layout: Layout, head: Head) -> Head:
    """Remove blocks after the head's end, which a killed run left, and return the head to continue from.

    Blocks that are missing before it stay missing: the next block gets the head's last hash, so `verify` finds the gap.
    """
    for name in names(layout, BLOCKS):
        if number_of(name) > head.file:
            os.unlink(ledger_path(layout, name))
    return replace(head, size=_end_line(layout, head.file, head.size))


def _rebuilt_head(layout: Layout) -> Head:
    """Rebuild a missing or invalid head from the blocks, write it, and return it."""
    known = lines(layout)
    head = Head()
    if known:
        file = number_of(names(layout, BLOCKS)[-1])
        note = f"{iso(now())}: the head was missing or damaged; {len(known)} blocks were there"
        last = stated_hash(known[-1][1]) or head.last
        first_file = number_of(names(layout, BLOCKS)[0])
        follows = str(fields_of(known[0][1]).get("prev_hash", "")) if first_file > 1 else head.follows
        head = Head(len(known), file, _end_line(layout, file), last, "", (note,), first_file, follows)
    write_head(layout, head)
    return head


def _end_line(layout: Layout, number: int, max_bytes: int | None = None) -> int:
    """Truncate a block file to `max_bytes`, add a missing line end, and return its size; 0 if there is no file."""
    try:
        with open_local(layout, blocks_name(number), "r+") as stream:
            if max_bytes is not None and stream.seek(0, os.SEEK_END) > max_bytes:
                stream.truncate(max_bytes)
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - 1))
            if stream.read(1) not in (b"", b"\n"):
                size += stream.write(b"\n")
            return size
    except FileNotFoundError:
        return 0
