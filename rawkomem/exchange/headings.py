"""Split a Markdown text at its headings, because a page of instructions becomes many memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.record import record
from ..text.chunk import fence_after
from .strip import LINK, PICTURE

if TYPE_CHECKING:
    from collections.abc import Iterator

CUT_LEVEL = 2  # headings up to this level always split; deeper ones split long sections
MAX_SECTION_WORDS = 300  # longer sections are split further; a memory has 200 to 500 words (SPEC-0009)


@record
class Section:
    """The text below a heading; `trail` is the path of headings to it, outermost first."""

    trail: tuple[str, ...]
    body: str

    @property
    def title(self) -> str:
        """Return the heading; empty for the text before the first heading."""
        return self.trail[-1] if self.trail else ""


def cut(text: str) -> list[Section]:
    """Return the sections of a text that are not empty, in order."""
    return [section for section in _cut(text, CUT_LEVEL, ()) if section.body]


def heading_text(line: str) -> str:
    """Return the text of a heading without `#` signs, pictures and badges; links are replaced by their text."""
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
    """Yield (heading level, line); the level is 0 for a line that is not a heading."""
    fence = ""
    for line in text.split("\n"):
        before, fence = fence, fence_after(fence, line)
        yield (0 if before or fence else _level(line)), line


def _level(line: str) -> int:
    level = len(line) - len(line.lstrip("#"))
    return level if level <= 6 and line[level : level + 1] in (" ", "\t") else 0
