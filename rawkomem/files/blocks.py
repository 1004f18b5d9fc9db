"""Hash the blocks of the ledger: each together with the hash of the block before it."""

from __future__ import annotations

import os
import sys

from ..model.values import record, replace

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

    columns = (
        row.prev_hash,
        row.id,
        row.agent_id,
        row.operation_type,
        str(row.timestamp),
    )
    return str(
        sha256(
            "\n".join((*columns, row.yamo_text)).encode("utf-8", "replace")
        ).hexdigest()
    )


def chained(row: LedgerRow, last_hash: str) -> LedgerRow:
    """Return a row as the block after the block with this hash."""
    id, agent = " ".join(row.id.split()), " ".join(row.agent_id.split())
    row = replace(row, id=id, agent_id=agent, prev_hash=last_hash)
    return replace(row, block_hash=row_hash(row))
