"""The chain of the ledger: each block is hashed together with the hash of the block before it.

The table `blocks` holds the chain. The table `chain` states the number of blocks and the last hash, so that a lost end
is detected.
"""

from __future__ import annotations

import os
import sys

from ..model.values import TYPE_CHECKING, record, replace

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from apsw import Connection

GENESIS = "0" * 64  # the `prev_hash` of the first block


@record
class LedgerRow:
    """One operation, with the column names of the RFC's table of blocks; `timestamp` is in milliseconds."""

    id: str
    agent_id: str
    operation_type: str
    timestamp: int
    yamo_text: str
    prev_hash: str = ""
    block_hash: str = ""


def new_row(operation: str, agent: str, at: int, text: str) -> LedgerRow:
    """Return the row of an operation, with a new id and without hashes."""
    return LedgerRow(
        f"yamo_{operation}_{at}_{os.urandom(3).hex()}", agent, operation, at, text
    )


def row_hash(row: LedgerRow) -> str:
    """Return the SHA-256 of a row's other columns, one on each line, with the text last."""
    try:
        # hashlib loads OpenSSL, which takes a quarter of a start; Python 3.12 renamed the module
        sha256 = __import__(
            "_sha2" if sys.version_info >= (3, 12) else "_sha256"
        ).sha256
    except ImportError:
        from hashlib import sha256

    start = (row.prev_hash, row.id, row.agent_id, row.operation_type)
    text = "\n".join((*start, str(row.timestamp), row.yamo_text))
    return str(sha256(text.encode("utf-8", "replace")).hexdigest())


def chained(row: LedgerRow, last_hash: str) -> LedgerRow:
    """Return a row as the block after the block with this hash."""
    id = " ".join(row.id.split())
    agent = " ".join(row.agent_id.split())
    row = replace(row, id=id, agent_id=agent, prev_hash=last_hash)
    return replace(row, block_hash=row_hash(row))


def chain_rows(db: Connection, rows: Iterable[LedgerRow]) -> None:
    """Append rows to the chain, in a transaction of the caller."""
    stated: list[Any] = db.execute("SELECT last_hash FROM chain").fetchall()
    last = stated[0][0] if stated else GENESIS
    for row in rows:
        row = chained(row, last)
        last = row.block_hash
        columns = [*row.__dict__.values()]
        db.execute(f"INSERT INTO blocks VALUES (NULL{', ?' * len(columns)})", columns)
        db.execute("UPDATE chain SET blocks = blocks + 1, last_hash = ?", (last,))
