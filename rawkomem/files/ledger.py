"""Keep the ledger: operations on memories as a chain of YAMO blocks in `.rawko/local/ledger/`.

blocks-000001.jsonl …  one block per line: a row of RFC-0011 §2.3 as JSON. Its first key is `block_hash`, the SHA-256 of
                       the bytes after it, which include `prev_hash`: every byte of a file is part of the chain
head.json              the number of blocks, the first file and the hash before its first block, the position and hash
                       of the last block; then the SHA-256 of that line. With it, a lost tail is detected
purged-…               the blocks and the head after a purge, until they replace the old files

Sealing renames the spool to a batch, appends its blocks, writes the head that names it, and removes
the batch. After a kill the next run rebuilds blocks after the end that the head states, and only
removes a batch that the head names.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import groupby
from typing import Any

from ..format.mesh_fields import lesson_context, lesson_pattern, lesson_wire_values
from ..format.yamo import (
    PREVIEW_LENGTH,
    UNNAMED_AGENT,
    YAMO_OPERATIONS,
    YAMO_SECTIONS,
    build_block,
    emit_yamo,
    read_yamo_block,
)
from ..model.entries import Entry
from ..model.errors import Busy, RawkoError, Unwritable
from ..model.values import DAY, Problem, as_dict, error, iso, now, record, replace
from ..state.fold import new_memory
from ..state.strength import memory_type
from ..state.trust import sources_in, type_of
from ..text.chunks import counted
from ..text.language import language
from .layout import Layout
from .machine_records import operation_of
from .private import (
    BATCH_PREFIX,
    LEDGER_FOLDER,
    SPOOL,
    LineFile,
    append_to_spool,
    ledger_path,
    local_path,
    lock,
    open_local,
    replace_local,
    spool_line,
    write_all,
)
from .replace import TEMPORARY_SUFFIX, remove_temporary

# Read and write the files of the chain, in `.rawko/local/ledger/`.
#
# blocks-000001.jsonl …  one block per line: a row of RFC-0011 §2.3 as JSON. Its first key is
# `block_hash`, the SHA-256 of
#                        the bytes after it, which include `prev_hash`: every byte of a file is part of the chain
# head.json              the number of blocks, the first file and the hash before its first block, the position and hash
#                        of the last block; then the SHA-256 of that line. With it, `verify` detects a lost tail
# purged-…               the blocks and the head after a purge, until they replace the old files

GENESIS = "0" * 64  # the `prev_hash` of the first block
MAX_BLOCKS_BYTES = 4 * 2**20  # some four thousand blocks; then a new file is started
LINE_START, HASH_END, REST_START = (
    b'{"block_hash": "',
    80,
    83,
)  # then 64 digits, `", ` and the hashed bytes
ROW_FIELDS = ("id", "operation_type", "yamo_text")  # required in every row
HEAD_FILE = "head.json"
BLOCKS_PREFIX = "blocks-"  # prefix of the names of block files
STAGED_PREFIX = "purged-"  # prefix of files that will replace the files of the same name


@record
class Row:
    """One operation, with the column names of the RFC's table of blocks; `timestamp` is in milliseconds."""

    id: str
    agent_id: str
    operation_type: str
    timestamp: int
    yamo_text: str
    prev_hash: str = ""
    block_hash: str = ""


@record
class Head:
    """The end of the chain; `batch` is the last sealed batch, `notes` record repairs and purges."""

    blocks: int = 0
    file: int = 1
    size: int = 0
    last: str = GENESIS
    batch: str = ""
    notes: tuple[str, ...] = ()
    first_file: int = 1  # older files were removed
    follows: str = GENESIS  # the `prev_hash` of the first block


def blocks_name(number: int) -> str:
    """Return the path of the n-th block file, below `.rawko/local`."""
    return f"{LEDGER_FOLDER}/{BLOCKS_PREFIX}{number:06d}.jsonl"


def number_of(name: str) -> int:
    """Return the number in the name of a block file; 0 if there is none."""
    digits = name.removeprefix(BLOCKS_PREFIX).removesuffix(".jsonl")
    return int(digits) if digits.isdecimal() else 0


def ledger_names(layout: Layout, start: str) -> list[str]:
    """Return the sorted names of the ledger's files with this prefix, without leftover temporary files."""
    folder = ledger_path(layout)
    found = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(
        name for name in found if name.startswith(start) and not name.endswith(TEMPORARY_SUFFIX)
    )


def chain_rows(
    head: Head, rows: Iterable[Row], max_file_bytes: int = 0
) -> tuple[Head, dict[int, list[bytes]]]:
    """Append rows to the chain; return the new head, and the new lines by file number.

    A file of `max_file_bytes` or more (0: MAX_FILE_BYTES) gets no more lines.
    """
    files: dict[int, list[bytes]] = {}
    for row in rows:
        if head.size >= (max_file_bytes or MAX_BLOCKS_BYTES):
            head = replace(head, file=head.file + 1, size=0)
        line = _block_line(replace(row, prev_hash=head.last))
        files.setdefault(head.file, []).append(line)
        head = replace(
            head, blocks=head.blocks + 1, size=head.size + len(line), last=stated_hash(line)
        )
    return head, files


def _block_line(row: Row) -> bytes:
    fields = {key: value for key, value in as_dict(row).items() if key != "block_hash"}
    rest = json.dumps(fields, ensure_ascii=False)[1:].encode("utf-8", "replace")
    return LINE_START + sha256(rest).hexdigest().encode() + b'", ' + rest + b"\n"


def stated_hash(line: bytes) -> str:
    """Return the hash that a line states for itself."""
    return line[len(LINE_START) : HASH_END].decode("ascii", "replace")


def block_lines(layout: Layout) -> list[tuple[str, bytes]]:
    """Return (file and line number, line without its line end) of every block, in order."""
    head = read_head(layout) or Head()
    numbers = [
        number
        for name in ledger_names(layout, BLOCKS_PREFIX)
        if (number := number_of(name)) >= head.first_file
    ]
    return [line for number in numbers for line in lines_of_file(layout, number)]


def lines_of_file(layout: Layout, number: int) -> list[tuple[str, bytes]]:
    """Return the blocks of one file, as `lines` does."""
    name = blocks_name(number)
    with open_local(layout, name, "r") as stream:
        parts = stream.read().split(b"\n")
    last = parts.pop()
    if last:
        parts.append(
            last + b" (torn)"
        )  # a line without its line end is incomplete: make its hash invalid
    return [(f"{os.path.basename(name)}:{at}", line) for at, line in enumerate(parts, 1)]


def fields_in_line(line: bytes) -> dict[str, Any]:
    """Return the fields of a line; empty if it cannot be parsed."""
    try:
        fields = json.loads(line)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def row_problems(fields: dict[str, Any]) -> list[Problem]:
    """Return a Problem for each missing or invalid field of a row."""
    problems = [
        error("missing-field", f"Missing required field: {name}")
        for name in ROW_FIELDS
        if not fields.get(name)
    ]
    operation = fields.get("operation_type")
    if operation and operation not in YAMO_OPERATIONS:
        message = (
            f"Invalid operation_type: {operation}. Must be one of: {', '.join(YAMO_OPERATIONS)}"
        )
        problems.append(error("bad-operation", message))
    return problems


def row_of(line: bytes) -> Row | None:
    """Return the block of a line; None if it cannot be parsed."""
    fields = fields_in_line(line)
    if row_problems(fields):
        return None
    known = {name: str(fields.get(name, "")) for name in Row.__annotations__ if name != "timestamp"}
    at = fields.get("timestamp")
    return Row(**known, timestamp=at if isinstance(at, int) else 0)


def read_head(layout: Layout) -> Head | None:
    """Return the head; None if it is missing or damaged."""
    try:
        with open_local(layout, f"{LEDGER_FOLDER}/{HEAD_FILE}", "r") as stream:
            line, _, rest = stream.read().partition(b"\n")
        if rest != sha256(line).hexdigest().encode() + b"\n":
            return None
        fields = json.loads(line)
        return Head(**{**fields, "notes": tuple(fields["notes"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_head(layout: Layout, head: Head, name: str = HEAD_FILE) -> None:
    """Replace the head, and wait until it is on disk."""
    line = json.dumps({**as_dict(head), "notes": list(head.notes)}).encode()
    replace_local(
        layout,
        f"{LEDGER_FOLDER}/{name}",
        line + b"\n" + sha256(line).hexdigest().encode() + b"\n",
        durable=True,
    )


def replace_chain(layout: Layout, head: Head, files: Mapping[int, Iterable[bytes]]) -> None:
    """Replace the blocks and the head; after a kill, either all are replaced or none."""
    for number, made in files.items():
        name = os.path.basename(blocks_name(number))
        replace_local(
            layout, f"{LEDGER_FOLDER}/{STAGED_PREFIX}{name}", b"".join(made), durable=True
        )
    write_head(layout, head, STAGED_PREFIX + HEAD_FILE)
    end_replacing(layout)


def end_replacing(layout: Layout) -> None:
    """Finish a replacement that a kill interrupted: with a staged head, move all files; without it, discard them."""
    staged = ledger_names(layout, STAGED_PREFIX)
    whole = STAGED_PREFIX + HEAD_FILE in staged
    for name in sorted(staged, key=lambda name: name == STAGED_PREFIX + HEAD_FILE):
        if whole:
            os.replace(
                ledger_path(layout, name), ledger_path(layout, name.removeprefix(STAGED_PREFIX))
            )
        else:
            os.unlink(ledger_path(layout, name))


# Seal the spool: rename it to a batch, append its blocks, fsync, write the head that names it,
# remove the batch.
#
# After a kill the next run recovers: blocks after the end that the head states are rebuilt from
# their batch, and a batch that the head names is only removed.


def seal_ledger(layout: Layout, wait: float = 0.0) -> int:
    """Turn waiting lines into blocks and return their number; 0 if another process holds the lock past `wait` seconds.

    Raise Unwritable on an I/O error.
    """
    if not os.path.isdir(ledger_path(layout)):
        return 0
    with _sealing(layout, wait) as held:
        return seal_locked(layout) if held else 0


@contextmanager
def _sealing(layout: Layout, wait: float) -> Iterator[bool]:
    """Hold the lock of the blocks; yield False if another process holds it past `wait` seconds.

    Raise Unwritable on an I/O error.
    """
    sealing = lock(layout, "ledger-seal")
    try:
        yield sealing.acquire(wait)
    except OSError as failure:
        raise Unwritable(
            f"cannot write the ledger: {failure.strerror}", "check permissions and free space"
        ) from None
    finally:
        sealing.release()


def append_to_ledger(layout: Layout, rows: Sequence[Row], wait: float) -> int:
    """Append blocks of another ledger whose ids are new; return their number.

    Raise Busy if another process holds the lock past `wait` seconds, Unwritable on an I/O error.
    """
    with _sealing(layout, wait) as held:
        if not held:
            raise Busy("another process writes to the ledger", "try again")
        seal_locked(layout)
        known = {fields_in_line(line).get("id") for _, line in block_lines(layout)}
        new = [row for row in rows if row.id not in known]
        _append_blocks(layout, new)
    return len(new)


def _append_blocks(layout: Layout, rows: Sequence[Row], batch: str = "") -> None:
    """Append blocks, then write the head; `batch` names the spool file that they come from."""
    head = read_head(layout)
    start = _without_unsealed(layout, head) if head else _rebuilt_head(layout)
    end, files = chain_rows(start, rows)
    for number, added in files.items():
        with open_local(layout, blocks_name(number), "a") as stream:
            write_all(stream, b"".join(added), durable=True)
    write_head(layout, replace(end, batch=batch or end.batch))


def seal_locked(layout: Layout) -> int:
    """Turn waiting lines into blocks and return their number; the caller holds the lock."""
    end_replacing(layout)
    with lock(layout, "ledger-spool"):  # so that no process is writing to it
        spool = local_path(layout, SPOOL)
        if os.path.exists(spool):
            os.rename(spool, ledger_path(layout, f"{BATCH_PREFIX}{time.time_ns():020d}"))
    return sum(_seal_batch(layout, name) for name in ledger_names(layout, BATCH_PREFIX))


def _seal_batch(layout: Layout, name: str) -> int:
    head = read_head(layout)
    made: list[Row] = []
    if head is None or head.batch != name:
        made = LineFile(ledger_path(layout, name)).parsed(waiting_row)
        _append_blocks(layout, made, name)
    os.unlink(ledger_path(layout, name))
    return len(made)


def waiting_row(line: str) -> Row | None:
    """Return the block of a waiting line; None for an incomplete line."""
    operation, at, agent, *said = (*line.split("\t"), "", "")
    values = dict(item.partition("=")[::2] for item in said if item)
    try:
        text = emit_yamo(build_block(operation, agent, int(at), **values))
    except (KeyError, ValueError, TypeError):
        return None
    return Row(
        f"yamo_{operation}_{at}_{os.urandom(3).hex()}",
        agent or UNNAMED_AGENT,
        operation,
        int(at),
        text,
    )


def _without_unsealed(layout: Layout, head: Head) -> Head:
    """Remove blocks after the head's end, which a killed run left, and return the head to continue from.

    Blocks that are missing before it stay missing: the next block gets the head's last hash, so `verify` finds the gap.
    """
    for name in ledger_names(layout, BLOCKS_PREFIX):
        if number_of(name) > head.file:
            os.unlink(ledger_path(layout, name))
    return replace(head, size=_end_line(layout, head.file, head.size))


def _rebuilt_head(layout: Layout) -> Head:
    """Rebuild a missing or invalid head from the blocks, write it, and return it."""
    known = block_lines(layout)
    head = Head()
    if known:
        file = number_of(ledger_names(layout, BLOCKS_PREFIX)[-1])
        note = f"{iso(now())}: the head was missing or damaged; {len(known)} blocks were there"
        last = stated_hash(known[-1][1]) or head.last
        first_file = number_of(ledger_names(layout, BLOCKS_PREFIX)[0])
        follows = (
            str(fields_in_line(known[0][1]).get("prev_hash", ""))
            if first_file > 1
            else head.follows
        )
        head = Head(
            len(known), file, _end_line(layout, file), last, "", (note,), first_file, follows
        )
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


# Remove the oldest files of the chain; the head records the hash that the first remaining block
# follows.


def seal_and_trim(layout: Layout, days: int) -> None:
    """Turn waiting lines into blocks, then remove files whose blocks are all older than `days`."""
    seal_ledger(layout)
    trim_ledger(layout, days)


def trim_ledger(layout: Layout, days: int) -> int:
    """Remove files whose blocks are all older than `days` and return the number of blocks; with 0 days, remove none.

    Ignore errors: the next command tries again.
    """
    if not days or len(ledger_names(layout, BLOCKS_PREFIX)) < 2:
        return 0
    try:
        with _sealing(layout, 0.0) as held:
            head = read_head(layout) if held else None
            return _trim_before(layout, head, now() - days * DAY) if head else 0
    except Unwritable:
        return 0


def _trim_before(layout: Layout, head: Head, before: int) -> int:
    """Remove block files that end before a time. The head is written first, so that readers ignore those files."""
    trimmed = head
    for number in range(head.first_file, head.file):
        lines = [line for _, line in lines_of_file(layout, number)]
        last = row_of(lines[-1]) if lines else None
        if last is None or last.timestamp >= before:
            break
        blocks, follows = trimmed.blocks - len(lines), stated_hash(lines[-1])
        trimmed = replace(trimmed, blocks=blocks, first_file=number + 1, follows=follows)
    gone = head.blocks - trimmed.blocks
    if gone:
        note = f"{iso(now())}: {counted(gone, 'block')} older than {iso(before)[:10]} were removed"
        write_head(layout, replace(trimmed, notes=(*trimmed.notes, note)))
    for name in ledger_names(layout, BLOCKS_PREFIX):
        if number_of(name) < trimmed.first_file:
            os.unlink(ledger_path(layout, name))
    return gone


# Verify the chain of the ledger from the first block to the head, and locate each break.


@record
class Verdict:
    """The length of the chain, its start time, its last hash, its broken places, and the notes of its head."""

    blocks: int
    since: int  # time of its first block, in milliseconds since 1970; 0 if there is none
    last_hash: str
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


def verify_ledger(layout: Layout) -> Verdict:
    """Check the chain and return the Verdict; write nothing."""
    head = read_head(layout)
    known = block_lines(layout)
    if head and ledger_names(layout, BATCH_PREFIX) and len(known) > head.blocks:
        known = known[: head.blocks]  # left by a killed run: the next run rebuilds them
    problems: list[Problem] = []
    expected, since = head.follows if head else GENESIS, 0
    for number, (place, line) in enumerate(known, 1):
        fields = fields_in_line(line)
        if wrong := _wrong_block(line, fields, expected):
            id = f" ({fields['id']})" if "id" in fields else ""
            problems.append(
                replace(wrong, message=f"block {number}{id}: {wrong.message}", path=place)
            )
        since = since or int(fields.get("timestamp", 0))
        expected = stated_hash(line)
    problems += _against_head(layout, head, len(known), expected)
    return Verdict(len(known), since, expected, tuple(problems), head.notes if head else ())


def _wrong_block(line: bytes, fields: dict[str, Any], expected: str) -> Problem | None:
    """Return the Problem of a block; None if it is intact and follows the block before it."""
    framed = line.startswith(LINE_START) and line[HASH_END:REST_START] == b'", '
    if not framed or sha256(line[REST_START:]).hexdigest() != stated_hash(line):
        what = "was changed: its bytes do not match its hash"
        return error(
            "block-changed", what, "do not trust its text: it differs from what rawkomem wrote"
        )
    problems = row_problems(fields)
    if problems:
        return error(
            "bad-block",
            "; ".join(problem.message for problem in problems),
            "it was not written by rawkomem",
        )
    if fields.get("prev_hash") != expected:
        hint = "blocks were removed, inserted or moved here"
        return error("block-order", "does not follow the block before it", hint)
    return None


def _against_head(layout: Layout, head: Head | None, blocks: int, last: str) -> list[Problem]:
    """Return a Problem if the head is missing or states another end of the chain."""
    if head is None:
        if not blocks and not os.path.exists(ledger_path(layout, HEAD_FILE)):
            return []  # no ledger was written, or all of it was removed
        hint = "blocks at the end may be missing: their number is not known"
        return [error("no-head", "the head is missing or damaged", hint, path=HEAD_FILE)]
    if (blocks, last) == (head.blocks, head.last):
        return []
    what = f"{head.blocks} blocks were written, {blocks} were found"
    if blocks == head.blocks:
        what = "the last block is not the one that was written last"
    return [error("wrong-end", what, "the end of the chain was cut off or changed", path=HEAD_FILE)]


# Read the last operations of the ledger, without a lock and without verifying the chain.

MAX_RECENT_BLOCKS = 5_000  # that are searched for the last operations


def latest_operations(layout: Layout, operation: str, most: int) -> list[Row]:
    """Return up to `most` operations of a kind, latest first: those not sealed yet, then blocks."""
    if os.path.islink(os.path.join(layout.local, LEDGER_FOLDER)):  # a link was not made by rawkomem
        return []
    rows = last_blocks(layout, MAX_RECENT_BLOCKS)
    for name in (*ledger_names(layout, BATCH_PREFIX), os.path.basename(SPOOL)):
        with suppress(RawkoError):
            rows += LineFile(ledger_path(layout, name)).parsed(waiting_row)
    return [row for row in reversed(rows) if row.operation_type == operation][:most]


def last_blocks(layout: Layout, most: int | None = None) -> list[Row]:
    """Return the last `most` sealed blocks, or all, oldest first."""
    found: list[Row] = []
    head = read_head(layout) or Head()
    for name in reversed(ledger_names(layout, BLOCKS_PREFIX)):
        if (most is not None and len(found) >= most) or number_of(name) < head.first_file:
            break
        found = [
            *(row for _, line in lines_of_file(layout, number_of(name)) if (row := row_of(line))),
            *found,
        ]
    return found if most is None else found[-most:] if most else []


# Remove a purged memory's text from the ledger and rebuild the chain; the head records that this
# was done.
#
# Queries that share a content word with the memory are removed as well, since they may contain the
# secret.

PURGED_TEXT = "[PURGED]"
KEPT_KEYS = ("memory_id", "memory_type", "memory_stored", "memory_deleted", "lesson_id", "skill_id", "reflection_id",
         "timestamp", "content_length", "severity", "error_pattern")  # fmt: skip  # ids and numbers, no text


def forget_in_ledger(layout: Layout, memory: str, texts: Iterable[str] = ()) -> int:
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
            placed = (
                (number_of(place.partition(":")[0]), row_of(line))
                for place, line in block_lines(layout)
            )
            known = [(number, row) for number, row in placed if row]
            kept = [(number, _without_text(row, memory, telling)) for number, row in known]
            changed = sum(old != new for old, new in zip(known, kept, strict=True))
            if changed:
                _rebuild_chain(
                    layout,
                    kept,
                    f"{iso(now())}: {changed} blocks were purged, and the chain was rebuilt",
                )
            return changed
    except OSError as failure:
        raise Unwritable(
            f"cannot purge the ledger: {failure.strerror}", f"delete {ledger_path(layout)}"
        ) from None


def _without_text(row: Row, memory: str, telling: set[str]) -> Row:
    if row.operation_type != "recall" and memory not in row.yamo_text:
        return row
    block = read_yamo_block(row.yamo_text)[0]
    if block is None:
        return row
    named = any(value == memory for name in YAMO_SECTIONS for _, value in getattr(block, name))
    if not named and telling.isdisjoint(language().words(block.value("context", "query"))):
        return row
    sections = {
        name: tuple(
            (key, value if key in KEPT_KEYS else PURGED_TEXT) for key, value in getattr(block, name)
        )
        for name in YAMO_SECTIONS
    }
    return replace(
        row, yamo_text=emit_yamo(replace(block, **sections, log=(*block.log[:3], "purged", memory)))
    )


def _rebuild_chain(layout: Layout, kept: list[tuple[int, Row]], note: str) -> None:
    """Rebuild the chain. Each block stays in its file, even if the file exceeds the usual size."""
    broken = len(verify_ledger(layout).problems)
    whole_note = f"{note}; it was broken in {broken} places before" if broken else note
    old = read_head(layout) or Head()
    head = replace(old, blocks=0, last=old.follows, notes=(*old.notes, whole_note))
    files: dict[int, list[bytes]] = {}
    for number, some in groupby(kept, key=lambda pair: pair[0]):
        head, made = chain_rows(
            replace(head, file=number, size=0), (row for _, row in some), sys.maxsize
        )
        files |= made
    replace_chain(layout, head, files)


# Record a written entry in the ledger: as a retain, a lesson, a reflection, a synthesis or a
# deletion.


def note_written(layout: Layout, entries: Iterable[Entry], keep_days: int = 0) -> None:
    """Record entries as they are on disk, redacted; seal them; remove blocks older than `keep_days`.

    Raise Unwritable if the spool cannot be written.
    """
    lines = [
        spool_line(operation, entry.at, entry.by, _block_values(operation, entry))
        for entry in entries
        if (operation := operation_of(entry))
    ]
    if not lines:
        return
    if not append_to_spool(layout, lines):
        raise Unwritable(
            f"cannot write {local_path(layout, SPOOL)}", "check permissions and free space"
        )
    seal_and_trim(layout, keep_days)


def _block_values(operation: str, entry: Entry) -> dict[str, str]:
    """Return the values that a block of this operation may need."""
    if operation == "lesson":
        context = lesson_context(entry.title, entry.importance, entry.extra, entry.body)
        return lesson_wire_values(entry.id, lesson_pattern(entry.extra), context)
    text, sure = entry.body or entry.title, _extra_text(entry, "confidence")
    preview = _extra_text(entry, "intent") if operation == "synthesize" else ""
    return {
        "id": entry.target,
        "type": _retained_type(entry),
        "length": str(len(text.encode())),
        "preview": (preview or text)[: 4 * PREVIEW_LENGTH],
        "hypothesis": _extra_text(entry, "hypothesis"),
        "topic": _extra_text(entry, "topic") or entry.title,
        "name": entry.title,
        "sources": str(len(sources_in(entry.extra))),
        "confidence": str(int(sure) / 100) if sure.isdecimal() else "0.5",  # files use 0 to 100
        "reason": _extra_text(entry, "reason"),
    }


def _retained_type(entry: Entry) -> str:
    """Return the type of a retained memory in the RFC's terms: the stated type, else one of five derived ones."""
    if not entry.creates:
        return "amend"  # the memory already has a type
    memory = new_memory(entry)
    return type_of(memory) or memory_type(memory)


def _extra_text(entry: Entry, key: str) -> str:
    value = entry.extra.get(key, "")
    return value if isinstance(value, str) else ""
