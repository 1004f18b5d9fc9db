"""Read and write the files of the chain, in `.rawko/local/ledger/`.

blocks-000001.jsonl …  one block per line: a row of RFC-0011 §2.3 as JSON. Its first key is `block_hash`, the SHA-256 of
                       the bytes after it, which include `prev_hash`: every byte of a file is part of the chain
head.json              the number of blocks, the first file and the hash before its first block, the position and hash
                       of the last block; then the SHA-256 of that line. With it, `verify` detects a lost tail
purged-…               the blocks and the head after a purge, until they replace the old files
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from ....format.yamo_blocks import OPERATIONS
from ....model.problem import Problem, error
from ....model.record import as_dict, record, replace
from ...layout import Layout
from ...replace import TEMPORARY_SUFFIX
from ..private import open_local, replace_local
from .spool import FOLDER, ledger_path

GENESIS = "0" * 64  # the `prev_hash` of the first block
MAX_FILE_BYTES = 4 * 2**20  # some four thousand blocks; then a new file is started
LINE_START, HASH_END, REST_START = b'{"block_hash": "', 80, 83  # then 64 digits, `", ` and the hashed bytes
FIELDS = ("id", "operation_type", "yamo_text")  # required in every row
HEAD = "head.json"
BLOCKS = "blocks-"  # prefix of the names of block files
STAGED = "purged-"  # prefix of files that will replace the files of the same name


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
    first_file: int = 1  # older files were removed, see trim.py
    follows: str = GENESIS  # the `prev_hash` of the first block


def blocks_name(number: int) -> str:
    """Return the path of the n-th block file, below `.rawko/local`."""
    return f"{FOLDER}/{BLOCKS}{number:06d}.jsonl"


def number_of(name: str) -> int:
    """Return the number in the name of a block file; 0 if there is none."""
    digits = name.removeprefix(BLOCKS).removesuffix(".jsonl")
    return int(digits) if digits.isdecimal() else 0


def names(layout: Layout, start: str) -> list[str]:
    """Return the sorted names of the ledger's files with this prefix, without leftover temporary files."""
    folder = ledger_path(layout)
    found = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(name for name in found if name.startswith(start) and not name.endswith(TEMPORARY_SUFFIX))


def chain(head: Head, rows: Iterable[Row], max_file_bytes: int = 0) -> tuple[Head, dict[int, list[bytes]]]:
    """Append rows to the chain; return the new head, and the new lines by file number.

    A file of `max_file_bytes` or more (0: MAX_FILE_BYTES) gets no more lines.
    """
    files: dict[int, list[bytes]] = {}
    for row in rows:
        if head.size >= (max_file_bytes or MAX_FILE_BYTES):
            head = replace(head, file=head.file + 1, size=0)
        line = _line(replace(row, prev_hash=head.last))
        files.setdefault(head.file, []).append(line)
        head = replace(head, blocks=head.blocks + 1, size=head.size + len(line), last=stated_hash(line))
    return head, files


def _line(row: Row) -> bytes:
    fields = {key: value for key, value in as_dict(row).items() if key != "block_hash"}
    rest = json.dumps(fields, ensure_ascii=False)[1:].encode("utf-8", "replace")
    return LINE_START + sha256(rest).hexdigest().encode() + b'", ' + rest + b"\n"


def stated_hash(line: bytes) -> str:
    """Return the hash that a line states for itself."""
    return line[len(LINE_START) : HASH_END].decode("ascii", "replace")


def is_whole(line: bytes) -> bool:
    """Tell whether a line, without its line end, matches the hash that it states."""
    framed = line.startswith(LINE_START) and line[HASH_END:REST_START] == b'", '
    return framed and sha256(line[REST_START:]).hexdigest().encode() == line[len(LINE_START) : HASH_END]


def lines(layout: Layout) -> list[tuple[str, bytes]]:
    """Return (file and line number, line without its line end) of every block, in order."""
    head = read_head(layout) or Head()
    numbers = [number for name in names(layout, BLOCKS) if (number := number_of(name)) >= head.first_file]
    return [line for number in numbers for line in file_lines(layout, number)]


def file_lines(layout: Layout, number: int) -> list[tuple[str, bytes]]:
    """Return the blocks of one file, as `lines` does."""
    name = blocks_name(number)
    with open_local(layout, name, "r") as stream:
        parts = stream.read().split(b"\n")
    last = parts.pop()
    if last:
        parts.append(last + b" (torn)")  # a line without its line end is incomplete: make its hash invalid
    return [(f"{os.path.basename(name)}:{at}", line) for at, line in enumerate(parts, 1)]


def fields_of(line: bytes) -> dict[str, Any]:
    """Return the fields of a line; empty if it cannot be parsed."""
    try:
        fields = json.loads(line)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def row_problems(fields: dict[str, Any]) -> list[Problem]:
    """Return a Problem for each missing or invalid field of a row."""
    problems = [error("missing-field", f"Missing required field: {name}") for name in FIELDS if not fields.get(name)]
    operation = fields.get("operation_type")
    if operation and operation not in OPERATIONS:
        message = f"Invalid operation_type: {operation}. Must be one of: {', '.join(OPERATIONS)}"
        problems.append(error("bad-operation", message))
    return problems


def rows(layout: Layout) -> Iterator[Row]:
    """Yield every block that can be parsed, in order; `verify` checks whether they are intact."""
    return (row for _, line in lines(layout) if (row := row_of(line)))


def row_of(line: bytes) -> Row | None:
    """Return the block of a line; None if it cannot be parsed."""
    fields = fields_of(line)
    if row_problems(fields):
        return None
    known = {name: str(fields.get(name, "")) for name in Row.__annotations__ if name != "timestamp"}
    at = fields.get("timestamp")
    return Row(**known, timestamp=at if isinstance(at, int) else 0)


def read_head(layout: Layout) -> Head | None:
    """Return the head; None if it is missing or damaged."""
    try:
        with open_local(layout, f"{FOLDER}/{HEAD}", "r") as stream:
            line, _, rest = stream.read().partition(b"\n")
        if rest != sha256(line).hexdigest().encode() + b"\n":
            return None
        fields = json.loads(line)
        return Head(**{**fields, "notes": tuple(fields["notes"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_head(layout: Layout, head: Head, name: str = HEAD) -> None:
    """Replace the head, and wait until it is on disk."""
    line = json.dumps({**as_dict(head), "notes": list(head.notes)}).encode()
    replace_local(layout, f"{FOLDER}/{name}", line + b"\n" + sha256(line).hexdigest().encode() + b"\n", durable=True)


def replace_chain(layout: Layout, head: Head, files: Mapping[int, Iterable[bytes]]) -> None:
    """Replace the blocks and the head; after a kill, either all are replaced or none."""
    for number, made in files.items():
        name = os.path.basename(blocks_name(number))
        replace_local(layout, f"{FOLDER}/{STAGED}{name}", b"".join(made), durable=True)
    write_head(layout, head, STAGED + HEAD)
    end_replacing(layout)


def end_replacing(layout: Layout) -> None:
    """Finish a replacement that a kill interrupted: with a staged head, move all files; without it, discard them."""
    staged = names(layout, STAGED)
    whole = STAGED + HEAD in staged
    for name in sorted(staged, key=lambda name: name == STAGED + HEAD):
        if whole:
            os.replace(ledger_path(layout, name), ledger_path(layout, name.removeprefix(STAGED)))
        else:
            os.unlink(ledger_path(layout, name))
