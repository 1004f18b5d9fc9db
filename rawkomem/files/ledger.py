"""Read, verify and purge the ledger: operations on memories as a chain of YAMO blocks (journal.py appends them).

The table `blocks` of `local-….db` has the columns of RFC-0011 §2.3. `block_hash` is the SHA-256 of the
other columns, which include `prev_hash`. The table `chain` states the number of blocks, the last hash, and the hash
that the first block follows. `chain_notes` records purges and the removal of old blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
from ..model.values import Problem, as_dict, error, iso, now, record, replace, text_of
from ..state.fold import new_memory
from ..state.strength import memory_type
from ..state.trust import sources_in, type_of
from ..text.language import language
from .blocks import LedgerRow, chained, new_row, row_hash
from .journal import append_blocks
from .layout import Layout
from .machine_records import operation_of
from .records import change, insert, read

COLUMNS = ", ".join(LedgerRow.__annotations__)
REQUIRED_COLUMNS = ("id", "operation_type", "yamo_text")


# Read blocks, and append those of another ledger.


def last_blocks(layout: Layout, most: int = -1) -> list[LedgerRow]:
    """Return the last `most` blocks, or all, oldest first."""
    sql = f"SELECT {COLUMNS} FROM blocks ORDER BY number DESC LIMIT ?"
    return [LedgerRow(*values) for values in reversed(read(layout, sql, most))]


def latest_recalls(layout: Layout, most: int) -> list[LedgerRow]:
    """Return up to `most` recalls, latest first."""
    where = "WHERE operation_type = 'recall' ORDER BY number DESC LIMIT ?"
    rows = read(layout, f"SELECT {COLUMNS} FROM blocks {where}", most)
    return [LedgerRow(*values) for values in rows]


def count_blocks(layout: Layout) -> int:
    """Return the number of blocks."""
    return sum(count for (count,) in read(layout, "SELECT count(*) FROM blocks"))


def append_to_ledger(layout: Layout, rows: Sequence[LedgerRow]) -> int:
    """Append blocks of another ledger whose ids are new; return their number. Raise Unwritable."""
    known = {id for (id,) in read(layout, "SELECT id FROM blocks")}
    new = [row for row in rows if row.id not in known]
    append_blocks(layout, new)
    return len(new)


# Verify the chain of the ledger from the first block to its stated end, and locate each break.


@record
class Verdict:
    """The length of the chain, its start time, its last hash, its broken places, and the notes of its head."""

    blocks: int
    # time of its first block, in milliseconds since 1970; 0 if there is none
    since: int
    last_hash: str
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


def verify_ledger(layout: Layout) -> Verdict:
    """Check the chain and return the Verdict; write nothing."""
    chain = read(layout, "SELECT blocks, last_hash, follows FROM chain")
    rows = last_blocks(layout)
    problems: list[Problem] = []
    expected = chain[0][2] if chain else ""
    for number, row in enumerate(rows, 1):
        if wrong := _wrong_block(row, expected):
            message = f"block {number} ({row.id}): {wrong.message}"
            problems.append(replace(wrong, message=message))
        expected = row.block_hash
    if rows and not chain:
        hint = "blocks at the end may be missing: their number is not known"
        problems.append(
            error("no-head", "the stated end of the chain is missing", hint)
        )
    elif chain and (len(rows), expected) != chain[0][:2]:
        what = f"{chain[0][0]} blocks were written, {len(rows)} were found"
        if len(rows) == chain[0][0]:
            what = "the last block is not the one that was written last"
        hint = "the end of the chain was cut off or changed"
        problems.append(error("wrong-end", what, hint))
    since = rows[0].timestamp if rows else 0
    notes = tuple(
        text for (text,) in read(layout, "SELECT note FROM chain_notes ORDER BY number")
    )
    return Verdict(len(rows), since, expected, tuple(problems), notes)


def _wrong_block(row: LedgerRow, expected: str) -> Problem | None:
    """Return the Problem of a block; None if it is intact and follows the block before it."""
    if row_hash(row) != row.block_hash:
        what = "was changed: it does not match its hash"
        hint = "do not trust its text: it differs from what rawkomem wrote"
        return error("block-changed", what, hint)
    problems = row_problems(as_dict(row))
    if problems:
        what = "; ".join(problem.message for problem in problems)
        return error("bad-block", what, "it was not written by rawkomem")
    if row.prev_hash != expected:
        hint = "blocks were removed, inserted or moved here"
        return error("block-order", "does not follow the block before it", hint)
    return None


def row_problems(fields: dict[str, Any]) -> list[Problem]:
    """Return a Problem for each missing or invalid field of a row, in the words of the RFC's validator."""
    problems = [
        error("missing-field", f"Missing required field: {name}")
        for name in REQUIRED_COLUMNS
        if not fields.get(name)
    ]
    operation = fields.get("operation_type")
    if operation and operation not in YAMO_OPERATIONS:
        allowed = ", ".join(YAMO_OPERATIONS)
        message = f"Invalid operation_type: {operation}. Must be one of: {allowed}"
        problems.append(error("bad-operation", message))
    return problems


# Remove a purged memory's text from the ledger and hash the chain again; a note records that this
# was done.
#
# Queries that share a content word with the memory are removed as well, since they may contain the
# secret.

PURGED_TEXT = "[PURGED]"
KEPT_KEYS = ("memory_id", "memory_type", "memory_stored", "memory_deleted", "lesson_id", "skill_id", "reflection_id",
         "timestamp", "content_length", "severity", "error_pattern")  # fmt: skip  # ids and numbers, no text


def forget_in_ledger(
    layout: Layout,
    memory: str,
    texts: Iterable[str] = (),
    holds: Callable[[str], bool] = lambda text: False,
) -> int:
    """Remove the text of blocks that name a memory, share words with its texts, or pass `holds`; return their number.

    Raise Unwritable on an I/O error.
    """
    telling = {word for text in texts for word in language().content_words(text)}
    with change(layout) as db:
        sql = f"SELECT number, {COLUMNS} FROM blocks ORDER BY number"
        rows = {int(number): LedgerRow(*values) for number, *values in db.execute(sql)}
        purged = {
            number: _without_text(row, memory, telling, holds)
            for number, row in rows.items()
        }
        purged = {number: row for number, row in purged.items() if row != rows[number]}
        if not purged:
            return 0
        broken = len(verify_ledger(layout).problems)
        last = rows[min(purged)].prev_hash
        sql = "UPDATE blocks SET yamo_text = ?, prev_hash = ?, block_hash = ? WHERE number = ?"
        for number in (number for number in rows if number >= min(purged)):
            row = chained(purged.get(number, rows[number]), last)
            db.execute(sql, (row.yamo_text, row.prev_hash, row.block_hash, number))
            last = row.block_hash
        db.execute("UPDATE chain SET blocks = ?, last_hash = ?", (len(rows), last))
        note = (
            f"{iso(now())}: {len(purged)} blocks were purged, and the chain was rebuilt"
        )
        if broken:
            note += f"; it was broken in {broken} places before"
        insert(db, "chain_notes", note)
    return len(purged)


def _without_text(
    row: LedgerRow, memory: str, telling: set[str], holds: Callable[[str], bool]
) -> LedgerRow:
    held = holds(row.yamo_text)
    named = memory and memory in row.yamo_text
    if not (held or named or (telling and row.operation_type == "recall")):
        return row
    block = read_yamo_block(row.yamo_text)[0]
    if block is None:
        return replace(row, yamo_text=PURGED_TEXT) if held else row
    values = [value for name in YAMO_SECTIONS for _, value in getattr(block, name)]
    if (
        not held
        and memory not in values
        and telling.isdisjoint(language().words(block.value("context", "query")))
    ):
        return row
    sections = {
        name: tuple(
            (key, value if key in KEPT_KEYS and not holds(value) else PURGED_TEXT)
            for key, value in getattr(block, name)
        )
        for name in YAMO_SECTIONS
    }
    return replace(
        row,
        yamo_text=emit_yamo(
            replace(block, **sections, log=(*block.log[:3], "purged", memory))
        ),
    )


# Record a written entry in the ledger: as a retain, a lesson, a reflection, a synthesis or a
# deletion.


def note_written(layout: Layout, entries: Iterable[Entry], keep_days: int = 0) -> None:
    """Record entries as they are on disk, redacted; remove blocks older than `keep_days`. Raise Unwritable."""
    rows = []
    for entry in entries:
        if operation := operation_of(entry):
            values = _block_values(operation, entry)
            text = emit_yamo(build_block(operation, entry.by, entry.at, **values))
            rows.append(new_row(operation, entry.by or UNNAMED_AGENT, entry.at, text))
    if rows:
        append_blocks(layout, rows, keep_days, durable=True)


def _block_values(operation: str, entry: Entry) -> dict[str, str]:
    """Return the values that a block of this operation may need."""
    if operation == "lesson":
        context = lesson_context(entry)
        return lesson_wire_values(entry.id, lesson_pattern(entry.extra), context)
    text = entry.body or entry.title
    sure = text_of(entry.extra.get("confidence"))
    preview = text_of(entry.extra.get("intent")) if operation == "synthesize" else ""
    return {
        "id": entry.target,
        "type": _retained_type(entry),
        "length": str(len(text.encode())),
        "preview": (preview or text)[: 4 * PREVIEW_LENGTH],
        "hypothesis": text_of(entry.extra.get("hypothesis")),
        "topic": text_of(entry.extra.get("topic")) or entry.title,
        "name": entry.title,
        "sources": str(len(sources_in(entry.extra))),
        # files use 0 to 100
        "confidence": str(int(sure) / 100) if sure.isdecimal() else "0.5",
        "reason": text_of(entry.extra.get("reason")),
    }


def _retained_type(entry: Entry) -> str:
    """Return the type of a retained memory in the RFC's terms: the stated type, else one of five derived ones."""
    if not entry.creates:
        return "amend"  # the memory already has a type
    memory = new_memory(entry)
    return type_of(memory) or memory_type(memory)
