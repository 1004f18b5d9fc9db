"""Hash YAMO blocks by RFC-0011 §2.3: a block's hash is that of its text, and each block names the previous hash.

The package @yamo/memory-mesh leaves both fields empty until its `anchor` function fills them by another rule: the hash
of the text and the previous hash together. Blocks of both rules are verified.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..model.problem import Problem, error
from ..model.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CHANGED = "block-changed"  # a Problem code
RFC, ANCHORED = "RFC-0011", "anchored"  # the two rules


@record
class BlocksVerdict:
    """The number of blocks, the number with a hash by each rule, and the Problems."""

    blocks: int
    by_rfc: int
    anchored: int
    problems: tuple[Problem, ...]


def text_hash(text: str) -> str:
    """Return the hash of a block by the RFC's rule."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def chained(texts: Iterable[str], before: str | None = None) -> list[tuple[str, str | None]]:
    """Return (block_hash, prev_hash) of blocks in order; `before` is the text of the block before them."""
    previous = None if before is None else text_hash(before)
    hashes: list[tuple[str, str | None]] = []
    for text in texts:
        hashes.append((text_hash(text), previous))
        previous = hashes[-1][0]
    return hashes


def verify_blocks(rows: Sequence[Mapping[str, Any]]) -> BlocksVerdict:
    """Verify the rows of a table yamo_blocks, in any order. A block without a hash cannot be verified: no Problem."""
    held = {row["block_hash"] for row in rows if row["block_hash"]}
    rules = [_rule(row) for row in rows]
    problems = [
        error(CHANGED, f"block {row['id']} does not match its hash", "do not trust it: its text was changed")
        for row, rule in zip(rows, rules, strict=True)
        if rule is None
    ]
    strays = [row for row in rows if row["block_hash"] and row["prev_hash"] and row["prev_hash"] not in held]
    firsts = [row for row in rows if row["block_hash"] and not row["prev_hash"]]
    problems += [
        error("block-order", f"block {row['id']} follows a block that is not here", "blocks were removed or changed")
        for row in strays[0 if firsts else 1 :]  # the oldest may follow blocks that were removed because of their age
    ]
    return BlocksVerdict(len(rows), rules.count(RFC), rules.count(ANCHORED), tuple(problems))


def _rule(row: Mapping[str, Any]) -> str | None:
    """Return the rule of a block's hash; an empty text if it has no hash, None if the hash is wrong."""
    stated, text = row["block_hash"], row["yamo_text"]
    if not stated:
        return ""
    if stated == text_hash(text):
        return RFC
    return ANCHORED if stated == text_hash(text + (row["prev_hash"] or "")) else None
