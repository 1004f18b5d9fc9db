"""Sealing: put the spool aside as a batch, append its blocks, fsync, write the head with its name, remove the batch.

Whoever is killed between two steps is found out by the next: blocks behind the head's end are made anew from their
batch, and a batch that the head names is done.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ....format.yamo import emit_block
from ....format.yamo_blocks import AGENT, build
from ....model.clock import iso, now
from ....model.errors import Refused, Unwritable
from ....model.record import replace
from .chain import (
    BATCH,
    BLOCKS,
    GENESIS,
    Head,
    Row,
    blocks_file,
    chain,
    lines,
    names,
    number_of,
    read_head,
    seal_lock,
    stated_hash,
    write_head,
)
from .spool import ledger_folder, spool_file, spool_lock

if TYPE_CHECKING:
    from ...layout import Layout


def seal(layout: Layout, wait: float = 0.0) -> int:
    """Make blocks of what waits; how many. Without `wait`, that is left to whoever seals now, or later."""
    if not os.path.isdir(ledger_folder(layout)):
        return 0
    lock = seal_lock(layout)
    if not lock.acquire(wait):
        return 0
    try:
        return seal_locked(layout)
    except OSError as failure:
        raise Unwritable(f"cannot write the ledger: {failure.strerror}", "check permissions and free space") from None
    finally:
        lock.release()


def seal_locked(layout: Layout) -> int:
    """The same by a caller that holds the lock."""
    _refuse_links(layout)
    _put_aside(layout)
    return sum(_seal_batch(layout, name) for name in names(layout, BATCH))


def _refuse_links(layout: Layout) -> None:
    """Links that came with a repository must not lead us to write elsewhere."""
    folder = ledger_folder(layout)
    if any(os.path.islink(path) for path in (folder, *(os.path.join(folder, name) for name in os.listdir(folder)))):
        raise Refused(f"{folder} holds a link, or is one", "remove it")


def _put_aside(layout: Layout) -> None:
    """Turn the spool into a batch: under its lock, so that nobody still writes to it."""
    with spool_lock(layout):
        if os.path.exists(spool_file(layout)):
            os.rename(spool_file(layout), os.path.join(ledger_folder(layout), f"{BATCH}{time.time_ns():020d}"))


def _seal_batch(layout: Layout, name: str) -> int:
    batch = os.path.join(ledger_folder(layout), name)
    head = read_head(layout)
    made: list[Row] = []
    if head is None or head.batch != name:
        start = _mended(layout, head) if head else _found(layout)
        with open(batch, encoding="utf-8", errors="replace", newline="\n") as stream:
            made = [row for line in stream.read().split("\n") if (row := waiting_row(line))]
        head, files = chain(start, made)
        for number, added in files.items():
            _append(blocks_file(layout, number), b"".join(added))
        write_head(layout, replace(head, batch=name))
    os.unlink(batch)
    return len(made)


def waiting_row(line: str) -> Row | None:
    """The block of a line that waited; None for one that was torn."""
    operation, at, agent, *said = (*line.split("\t"), "", "")
    values = dict(item.partition("=")[::2] for item in said if item)
    try:
        text = emit_block(build(operation, agent, int(at), **values))
    except (KeyError, ValueError, TypeError):
        return None
    return Row(f"yamo_{operation}_{at}_{os.urandom(3).hex()}", agent or AGENT, operation, int(at), text)


def _mended(layout: Layout, head: Head) -> Head:
    """The head to go on from, without the blocks behind it: those of a run that was killed.

    What is missing before it stays missing: the next block follows what the head knows, so that the gap shows for ever.
    """
    for name in names(layout, BLOCKS):
        if number_of(name) > head.file:
            os.unlink(os.path.join(ledger_folder(layout), name))
    file = blocks_file(layout, head.file)
    if os.path.exists(file) and os.path.getsize(file) > head.size:
        os.truncate(file, head.size)
    return replace(head, size=_end_line(file))


def _found(layout: Layout) -> Head:
    """A head for what is there, where there is none to trust. Written before anything else is."""
    known = lines(layout)
    head = Head()
    if known:
        file = number_of(names(layout, BLOCKS)[-1])
        note = f"{iso(now())}: the head was missing or damaged; {len(known)} blocks were there"
        last = stated_hash(known[-1][1]) or GENESIS
        head = Head(len(known), file, _end_line(blocks_file(layout, file)), last, notes=(note,))
    write_head(layout, head)
    return head


def _end_line(file: str) -> int:
    """End the last line, should it be torn; how long the file is now."""
    if not os.path.exists(file):
        return 0
    with open(file, "rb+") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        if stream.read(1) not in (b"", b"\n"):
            size += stream.write(b"\n")
    return size


def _append(file: str, data: bytes) -> None:
    with open(file, "ab") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
