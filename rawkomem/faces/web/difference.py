"""Compare two texts word by word, so that a reviewer sees what changes."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

MAX_WORDS = 4_000  # of one text; longer texts are compared line by line
MAX_LINES = 4_000  # of one text; longer texts are not compared: both are shown in full
WORD = re.compile(r"\s+|\w+|[^\w\s]")
LINE = re.compile(r"[^\n]*\n|[^\n]+")
MIN_SHARED = 0.4  # least common share of the shorter text; below it, both texts are shown in full
SAME, OLD, NEW = "same", "old", "new"


def difference(old: str, new: str) -> list[tuple[str, str]]:
    """Return the parts of both texts in reading order, each marked as SAME, OLD (removed) or NEW (added)."""
    for pattern, most in ((WORD, MAX_WORDS), (LINE, MAX_LINES)):
        one, other = pattern.findall(old), pattern.findall(new)
        if max(len(one), len(other)) <= most:
            parts = _joined(_compared(one, other))
            shared = sum(len(text) for what, text in parts if what == SAME)
            if shared >= MIN_SHARED * min(len(old), len(new)):
                return parts
            break
    return [part for part in ((OLD, old), (NEW, new)) if part[1]]


def _compared(one: list[str], other: list[str]) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    for what, i, j, k, m in SequenceMatcher(None, one, other).get_opcodes():
        if what == "equal":
            parts.append((SAME, "".join(one[i:j])))
        else:
            parts += [(OLD, "".join(one[i:j])), (NEW, "".join(other[k:m]))]
    return parts


def _joined(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Join changes that only white space separates: one replaced phrase is easier to read than several words."""
    joined: list[tuple[str, str]] = []
    old = new = ""
    for number, (what, text) in enumerate(parts):
        is_gap = what == SAME and text.isspace() and "\n" not in text and 0 < number < len(parts) - 1
        if what == SAME and not (is_gap and (old or new)):
            joined += [(OLD, old), (NEW, new), (SAME, text)]
            old = new = ""
            continue
        old += text if what != NEW else ""
        new += text if what != OLD else ""
    joined += [(OLD, old), (NEW, new)]
    return [part for part in joined if part[1]]
