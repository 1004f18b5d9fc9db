"""Tells prose from code in a text, so that a stage changes prose only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...text.chunk import fence_after

BACKTICKS = re.compile(r"`+")


def in_prose(text: str, change: Callable[[str], str]) -> str:
    """The text with its prose changed, until nothing changes any more: what is left can look like prose once more."""
    while (changed := "".join(part if code else change(part) for part, code in _parts(text))) != text:
        text = changed
    return text


def paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the paragraphs of a text, without blank lines around them, and whether one begins with a code fence.

    A fence and all that it holds belong to one paragraph.
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
    """Yield the text in pieces, each with whether it is code: fenced lines, and spans between backticks in a line."""
    prose: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        before, fence = fence, fence_after(fence, line.rstrip("\n"))
        if before or fence:
            yield from _spans("".join(prose))
            prose = []
            yield line, True
        else:
            prose.append(line)
    yield from _spans("".join(prose))


def _spans(prose: str) -> Iterator[tuple[str, bool]]:
    at = 0
    opening = BACKTICKS.search(prose)
    while opening:
        end = prose.find("\n", opening.end())
        runs = BACKTICKS.finditer(prose, opening.end(), end if end >= 0 else len(prose))
        closing = next((run for run in runs if len(run[0]) == len(opening[0])), None)
        if closing:
            yield prose[at : opening.start()], False
            yield prose[opening.start() : closing.end()], True
            at = closing.end()
        opening = BACKTICKS.search(prose, (closing or opening).end())
    yield prose[at:], False
