"""Verify the chain of the ledger from the first block to the head, and locate each break."""

from __future__ import annotations

import os
from typing import Any

from ....model.problem import Problem, error
from ....model.record import record, replace
from ...layout import Layout
from .chain import GENESIS, HEAD, Head, fields_of, is_whole, lines, names, read_head, row_problems, stated_hash
from .spool import BATCH, ledger_path


@record
class Verdict:
    """The length of the chain, its start time, its last hash, its broken places, and the notes of its head."""

    blocks: int
    since: int  # time of its first block, in milliseconds since 1970; 0 if there is none
    last_hash: str
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


def verify(layout: Layout) -> Verdict:
    """Check the chain and return the Verdict; write nothing."""
    head = read_head(layout)
    known = lines(layout)
    if head and names(layout, BATCH) and len(known) > head.blocks:
        known = known[: head.blocks]  # left by a killed run: the next run rebuilds them
    problems: list[Problem] = []
    expected, since = head.follows if head else GENESIS, 0
    for number, (place, line) in enumerate(known, 1):
        fields = fields_of(line)
        if wrong := _wrong(line, fields, expected):
            id = f" ({fields['id']})" if "id" in fields else ""
            problems.append(replace(wrong, message=f"block {number}{id}: {wrong.message}", path=place))
        since = since or int(fields.get("timestamp", 0))
        expected = stated_hash(line)
    problems += _against_head(layout, head, len(known), expected)
    return Verdict(len(known), since, expected, tuple(problems), head.notes if head else ())


def _wrong(line: bytes, fields: dict[str, Any], expected: str) -> Problem | None:
    """Return the Problem of a block; None if it is intact and follows the block before it."""
    if not is_whole(line):
        what = "was changed: its bytes do not match its hash"
        return error("block-changed", what, "do not trust its text: it differs from what rawkomem wrote")
    problems = row_problems(fields)
    if problems:
        return error("bad-block", "; ".join(problem.message for problem in problems), "it was not written by rawkomem")
    if fields.get("prev_hash") != expected:
        hint = "blocks were removed, inserted or moved here"
        return error("block-order", "does not follow the block before it", hint)
    return None


def _against_head(layout: Layout, head: Head | None, blocks: int, last: str) -> list[Problem]:
    """Return a Problem if the head is missing or states another end of the chain."""
    if head is None:
        if not blocks and not os.path.exists(ledger_path(layout, HEAD)):
            return []  # no ledger was written, or all of it was removed
        hint = "blocks at the end may be missing: their number is not known"
        return [error("no-head", "the head is missing or damaged", hint, path=HEAD)]
    if (blocks, last) == (head.blocks, head.last):
        return []
    what = f"{head.blocks} blocks were written, {blocks} were found"
    if blocks == head.blocks:
        what = "the last block is not the one that was written last"
    return [error("wrong-end", what, "the end of the chain was cut off or changed", path=HEAD)]
