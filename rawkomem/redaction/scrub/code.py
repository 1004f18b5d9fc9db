"""Separates prose from code in a text, so that a stage changes only prose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter

from ...text.chunk import fence_after
from ...text.prose import spans


def in_prose(text: str, change: Callable[[str], str]) -> str:
    """Return the text with its prose changed; repeat until nothing changes, because code may become prose."""
    while (changed := "".join(part if code else change(part) for part, code in _parts(text))) != text:
        text = changed
    return text


def paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each paragraph of a text, without blank lines around it, and whether it starts with a code fence.

    A fenced block belongs to one paragraph.
    """
    lines: list[str] = []
    fence = ""
    for line in [*text.split("\n"), ""]:
        if line.strip() or fence:
            fence = fence_after(fence, line)
            lines.append(line)
        elif lines:
            yield "\n".join(lines), fence_after("", lines[0]) != ""
            lines = []
    if lines:
        yield "\n".join(lines).rstrip("\n"), fence_after("", lines[0]) != ""


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield pieces of the text, each with whether it is code: fenced lines, or text between backticks in a line."""
    pieces: list[tuple[str, bool]] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        before, fence = fence, fence_after(fence, line.rstrip("\n"))
        pieces += [(line, True)] if before or fence else spans(line)
    for code, parts in groupby(pieces, key=itemgetter(1)):
        yield "".join(part for part, _ in parts), code
