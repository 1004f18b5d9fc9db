"""Append operations to the ledger (ledger.py reads and verifies it)."""

from __future__ import annotations

from ..model.errors import RawkoError
from ..model.values import DAY, TYPE_CHECKING, iso, now
from .blocks import LedgerRow, chain_rows, new_row
from .layout import Layout
from .records import change, insert

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from apsw import Connection


LEDGER_KEEP_DAYS = 400  # default age at which blocks are removed: more than a year
# blocks are removed when the oldest is so much older: about once a month
TRIM_DAYS = 30


def append_blocks(
    layout: Layout, rows: Iterable[LedgerRow], keep_days: int = 0, durable: bool = False
) -> None:
    """Append rows to the chain; remove blocks that are much older than `keep_days`. Raise Unwritable."""
    with change(layout, durable) as db:
        chain_rows(db, rows)
        if keep_days:
            _trim_blocks(db, keep_days)


def _trim_blocks(db: Connection, keep_days: int) -> None:
    """Remove blocks older than `keep_days`, if the oldest is TRIM_DAYS older; the chain then starts later."""
    oldest: list[Any] = db.execute(
        "SELECT timestamp FROM blocks ORDER BY number LIMIT 1"
    ).fetchall()
    before = now() - keep_days * DAY
    if not oldest or oldest[0][0] >= before - TRIM_DAYS * DAY:
        return
    db.execute(
        "DELETE FROM blocks WHERE number < (SELECT min(number) FROM blocks WHERE timestamp >= ?)",
        (before,),
    )
    gone = db.changes()
    if not gone:
        return
    db.execute(
        "UPDATE chain SET blocks = blocks - ?,"
        " follows = (SELECT prev_hash FROM blocks ORDER BY number LIMIT 1)",
        (gone,),
    )
    insert(
        db,
        "chain_notes",
        f"{iso(now())}: {gone} blocks older than {iso(before)[:10]} were removed",
    )


# Record a recall in the ledger: the query, without secrets, and the quality of the answer.

MAX_SCANNED_CHARS = 4_000  # of a query, searched for secrets
MAX_KEPT_CHARS = 500  # of a query: the ledger does not store long prompts
MIN_KEY_CHARS = 20  # a shorter word of letters only is not a key
# The block that format/yamo.py builds for a recall; loading that module takes longer than a search.
RECALL_BLOCK = """\
agent: MemoryMesh_{agent};
intent: recall_relevant_memories;
context:
  query;{query};
  limit;{limit};
  filter;{filter};
  timestamp;{timestamp};
output:
  results_found;{found};
  top_score;{score:.4f};
meta:
  rationale;Retrieved most semantically relevant memories for current context;
  confidence;{confidence:.4f};
log: memory_recalled;timestamp;{timestamp};query;{query};results;{found};
handoff: End;
"""
UNNAMED_AGENT = "YAMO_AGENT"  # the RFC's name for an unnamed agent
NOT_IN_VALUES = (
    ("\r\n", " "),
    ("\r", " "),
    ("\n", " "),
    ("%3B", ","),
    ("%3b", ","),
    (";", ","),
)


def recall_row(
    at: int,
    agent: str,
    query: str,
    limit: int,
    filter: str,
    found: int,
    score: float,
    confidence: float,
) -> LedgerRow:
    """Return the block of a query and the quality of its answer."""
    name = (agent or UNNAMED_AGENT).strip()
    text = RECALL_BLOCK.format(
        agent="".join(
            c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name
        ),
        query=_block_value(_without_secrets(query)[:MAX_KEPT_CHARS]),
        limit=limit,
        filter=_block_value(_without_secrets(filter)[:MAX_KEPT_CHARS]) or "none",
        timestamp=iso(at),
        found=found,
        score=score,
        confidence=confidence,
    )
    return new_row("recall", agent or UNNAMED_AGENT, at, text)


def note_recalls(layout: Layout, rows: Iterable[LedgerRow], keep_days: int = 0) -> None:
    """Append recalls, and remove blocks older than `keep_days`. Ignore errors: an answer does not need them."""
    try:
        append_blocks(layout, rows, keep_days)
    except RawkoError:
        pass


def _block_value(text: str) -> str:
    """Return a text that fits into a block, as `yamo_value` does."""
    for sign, other in NOT_IN_VALUES:
        text = text.replace(sign, other)
    return text.strip()


def _without_secrets(text: str) -> str:
    """Redact a text. Plain words contain no key, number or address, so only other texts load the rules."""
    text = text[:MAX_SCANNED_CHARS]
    if all(
        len(word) < MIN_KEY_CHARS and word.strip(".,?!").isalpha()
        for word in text.split()
    ):
        return text
    from ..redaction.find import redact  # takes a quarter of a command's start time

    return redact(text)
