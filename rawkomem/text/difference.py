"""Compares two values of a memory for a reviewer: all that changes, in words, and what looks dangerous in the added
text. Every view of a change uses `compare`: review, diff, the page, the editor and MCP.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import takewhile

from ..model.values import record
from .chunks import counted
from .clean import clean
from .risks import Risk, risks_in

SAME = "same"
OLD = "old"
NEW = "new"
Parts = list[tuple[str, str]]  # SAME, OLD (removed) or NEW (added), and the text

# of one text; texts with more words are compared line by line, with more lines not at all
MAX_COMPARED = 8_000
WORDS = re.compile(r"\S+|\s+")
LINES = re.compile(r"[^\n]*\n|[^\n]+")
# least share in common; below it, both texts are shown in full
MIN_ALIKE = 0.55
MAX_VALUES_CHARS = 160  # of both texts on one line, shown as `old → new`
CONTEXT_WORDS = 3  # shown before and after a change
# a text could imitate the marks of a change with these
MARKERS = re.compile(r"(?<=\[)-|-(?=\])|(?<=\{)\+|\+(?=\})")
LAYOUT_ONLY = "only spaces, line breaks or invisible characters change"


@record
class Compared:
    """How a text changes: its parts in reading order, and what looks dangerous in the added parts."""

    parts: tuple[tuple[str, str], ...]
    risks: tuple[Risk, ...]

    def lines(self, most: int = 0, opens: str = "") -> list[str]:
        """Return what a reviewer reads: the changes, `Push to [-main-] {+staging+} first`, then what looks dangerous.

        With `most`, only changes within so many characters are returned, and a line that says what is left out and what
        `opens` it. Dangerous words are never left out.
        """
        groups = [*_groups(self.parts)] or [(LAYOUT_ONLY, 1)]
        shown = len(groups)
        while most and shown and sum(len(text) for text, _ in groups[:shown]) > most:
            shown -= 1
        texts = [text for text, _ in groups[:shown]]
        if left := groups[shown:]:
            rest = counted(sum(changes for _, changes in left), "more change")
            if not shown:
                texts = [f"{left[0][0][:most]} …"]
                rest = f"{sum(len(text) for text, _ in left) - most:,} more characters"
            texts.append(f"({rest}: {opens})")
        found = [line for text in texts for line in text.split("\n")]
        return [*found, *risk_lines(self.risks)]


def compare(old: object, new: object) -> Compared:
    """Return how a value changes. An empty `old` value: everything is added."""
    was = value_text(old)
    now = value_text(new)
    parts = difference(clean(was), clean(now))
    added = []
    at = 0
    for what, text in parts:
        if what == NEW:
            added.append((at, at + len(text)))
        at += len(text) if what != OLD else 0
    # hidden characters have no place
    known = [risk for risk in risks_in(was) if not risk.end] if was else []
    risks = []
    for risk in risks_in(now):
        if risk in known:
            known.remove(risk)
        elif not risk.end or any(a < risk.end and risk.start < b for a, b in added):
            risks.append(risk)
    return Compared(tuple(parts), tuple(risks))


def risk_lines(risks: Iterable[Risk]) -> list[str]:
    """Return a line for each thing that looks dangerous: why, and the words."""
    return [*dict.fromkeys(f"!! {risk.why}: {risk.text}" for risk in risks)]


def value_text(value: object) -> str:
    """Return a value of a memory as a text: a line for each item of a list, and for each key of a dictionary."""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {value_text(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "\n".join(map(value_text, value))
    return str(value)


def difference(old: str, new: str) -> Parts:
    """Return the parts of both texts in reading order; together they hold both texts completely."""
    whole = [(OLD, old), (NEW, new)]
    for units in (WORDS, LINES):
        one = units.findall(old)
        other = units.findall(new)
        total = len(one) + len(other)
        start = _shared_start(one, other)
        one = one[len(start) :]
        other = other[len(start) :]
        end = _shared_start(one[::-1], other[::-1])[::-1]
        one = one[: len(one) - len(end)]
        other = other[: len(other) - len(end)]
        if max(len(one), len(other)) <= MAX_COMPARED:
            steps = SequenceMatcher(None, one, other)
            alike = sum(block.size for block in steps.get_matching_blocks())
            if 2 * (len(start) + alike + len(end)) >= MIN_ALIKE * total:
                changed = _changed_parts(steps, one, other)
                whole = [(SAME, "".join(start)), *changed, (SAME, "".join(end))]
            break
    return [part for part in whole if part[1]]


def _shared_start(one: list[str], other: list[str]) -> list[str]:
    pairs = zip(one, other, strict=False)
    return [unit for unit, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _changed_parts(
    steps: SequenceMatcher[str], one: list[str], other: list[str]
) -> Parts:
    parts = []
    removed = ""
    added = ""
    for what, i, j, k, m in steps.get_opcodes():
        before = "".join(one[i:j])
        after = "".join(other[k:m])
        if what == "equal" and before.strip():
            parts += [(OLD, removed), (NEW, added), (SAME, before)]
            removed = added = ""
        else:  # spaces between two changed words are part of the change
            removed = removed + before
            added = added + after
    return [*parts, (OLD, removed), (NEW, added)]


def _groups(parts: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, int]]:
    """Yield the changes that are close to each other as one text, with their number. Many words between are left out."""
    before, after = (
        "".join(words for what, words in parts if what in (SAME, side))
        for side in (OLD, NEW)
    )
    is_short = len(before) + len(after) <= MAX_VALUES_CHARS
    is_short = is_short and "\n" not in before + after
    if before and after and before != after and is_short:
        yield f"{before} → {after}", 1
        return
    if after and not (before or is_short):
        yield after, 1
        return
    text = ""
    changes = 0
    before = SAME
    for place, (what, words) in enumerate(parts):
        kept = words.split()
        if what != SAME and not kept:
            text += words if what == NEW else ""
            continue
        if what != SAME:
            changes += before == SAME
            marked = MARKERS.sub(r"\\\g<0>", words)
            gap = " " if before == OLD and what == NEW else ""
            text += gap + (f"[-{marked}-]" if what == OLD else f"{{+{marked}+}}")
        elif len(kept) <= CONTEXT_WORDS * 2 and 0 < place < len(parts) - 1:
            text += words
        else:
            if changes:
                ending = " ".join(kept[:CONTEXT_WORDS])
                cut = " …" if len(kept) > CONTEXT_WORDS else ""
                yield f"{text} {ending}{cut}".strip(), changes
            cut = "… " if len(kept) > CONTEXT_WORDS else ""
            text = f"{cut}{' '.join(kept[-CONTEXT_WORDS:])} "
            changes = 0
        before = what
    if changes:
        yield text.strip(), changes
