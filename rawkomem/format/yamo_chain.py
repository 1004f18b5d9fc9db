"""Hashes of YAMO blocks by RFC-0011 §2.3: a block's hash is that of its text, and each block names the one before it.

The package @yamo/memory-mesh leaves both empty until its `anchor` fills them by a rule of its own: the hash of the text
and the previous hash together. Both rules are verified.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..model.problem import Problem, error
from ..model.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CHANGED = "block-changed"  # the code of a problem
RFC, ANCHORED = "RFC-0011", "anchored"  # the two rules


@record
class BlocksVerdict:
    """How many blocks there are, how many of them carry a hash by each rule, and what is wrong."""

    blocks: int
    by_rfc: int
    anchored: int
    problems: tuple[Problem, ...]


def text_hash(text: str) -> str:
    """Return the hash of a block by the RFC's rule."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def chained(texts: Iterable[str], before: str | None = None) -> list[tuple[str, str | None]]:
    """Return (block_hash, prev_hash) of blocks in order; `before`: the text of the block that they follow."""
    previous = None if before is None else text_hash(before)
    hashes: list[tuple[str, str | None]] = []
    for text in texts:
        hashes.append((text_hash(text), previous))
        previous = hashes[-1][0]
    return hashes


def verify_blocks(rows: Sequence[Mapping[str, Any]]) -> BlocksVerdict:
    """Verify the rows of a table yamo_blocks, in any order. A block without a hash proves nothing: no problem."""
    held = {row["block_hash"] for row in rows if row["block_hash"]}
    rules = [_rule(row) for row in rows]
    problems = [
        error(CHANGED, f"block {row['id']} does not have the hash that it states", "its text was changed")
        for row, rule in zip(rows, rules, strict=True)
        if rule is None
    ]
    strays = [row for row in rows if row["block_hash"] and row["prev_hash"] and row["prev_hash"] not in held]
    firsts = [row for row in rows if row["block_hash"] and not row["prev_hash"]]
    problems += [
        error("block-order", f"block {row['id']} follows a block that is not here", "blocks were removed or changed")
        for row in strays[0 if firsts else 1 :]  # the oldest one may follow blocks that were removed for their age
    ]
    return BlocksVerdict(len(rows), rules.count(RFC), rules.count(ANCHORED), tuple(problems))


def _rule(row: Mapping[str, Any]) -> str | None:
    """Return the rule that a block's hash follows, an empty text where it has no hash; None where it is wrong."""
    stated, text = row["block_hash"], row["yamo_text"]
    if not stated:
        return ""
    if stated == text_hash(text):
        return RFC
    return ANCHORED if stated == text_hash(text + (row["prev_hash"] or "")) else None
