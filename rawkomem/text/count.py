"""Write numbers with their nouns."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `2,000 files`, `3 memories`."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"
