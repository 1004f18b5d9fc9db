"""Cuts a Markdown text at its headings: a page of instructions is many memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.record import record
from ..text.chunk import fence_after
from .strip import LINK, PICTURE

if TYPE_CHECKING:
    from collections.abc import Iterator

CUT_LEVEL = 2  # level of headings that always cut; deeper ones cut what is long
MAX_SECTION_WORDS = 300  # words of a section that is cut further: two to five hundred make a memory (SPEC-0009)


@record
class Section:
    """The text below a heading; `trail` names it within its page, from the outermost heading on."""

    trail: tuple[str, ...]
    body: str

    @property
    def title(self) -> str:
        """Return the heading; empty for what stands before the first one."""
        return self.trail[-1] if self.trail else ""


def cut(text: str) -> list[Section]:
    """Return the sections of a text that say something, in order."""
    return [section for section in _cut(text, CUT_LEVEL, ()) if section.body]


def heading_text(line: str) -> str:
    """Return what a heading says: without its signs, pictures and badges, and with the words of its links."""
    said = LINK.sub(r"\1", PICTURE.sub("", line.lstrip("#")))
    return " ".join(said.strip(" #\t").split())


def _cut(text: str, deepest: int, above: tuple[str, ...]) -> Iterator[Section]:
    trail: list[tuple[int, str]] = []
    said: list[str] = []
    for level, line in _lines(text):
        if 0 < level <= deepest:
            yield from _closed(said, (*above, *(name for _, name in trail)), deepest)
            trail = [(at, name) for at, name in trail if at < level] + [(level, heading_text(line))]
            said = []
        else:
            said.append(line)
    yield from _closed(said, (*above, *(name for _, name in trail)), deepest)


def _closed(said: list[str], trail: tuple[str, ...], deepest: int) -> Iterator[Section]:
    body = "\n".join(said).strip("\n").rstrip()
    deeper = [level for level, _ in _lines(body) if level]
    if len(body.split()) > MAX_SECTION_WORDS and deeper and deepest < 6:
        yield from _cut(body, min(deeper), trail)
    else:
        yield Section(trail, body)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its heading level; 0 for a line that is no heading."""
    fence = ""
    for line in text.split("\n"):
        before, fence = fence, fence_after(fence, line)
        yield (0 if before or fence else _level(line)), line


def _level(line: str) -> int:
    level = len(line) - len(line.lstrip("#"))
    return level if level <= 6 and line[level : level + 1] in (" ", "\t") else 0
