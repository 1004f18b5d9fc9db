"""Remove lines without content from a page: comments, links to other pages, HTML tags, badges."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from ..text.chunk import fence_after

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMENT = re.compile(r"^<!--.*?-->[ \t]*\n?", re.DOTALL | re.MULTILINE)  # on their own lines; hosts remove them, too
OPENING = re.compile(r"^This file provides guidance to [^\n]*\n?", re.MULTILINE)  # written by Claude Code's /init
# A reference to another page: alone on its line, or after one or two words ("See also: @docs/style.md").
INCLUDE = re.compile(
    r"^[ \t]*(?:[-*+>] )?(?:@[\w./~-]+|(?:[A-Za-z]+:? ){1,2}@[\w/~-]*(?:\.[\w/~-]+)+)[.,;]?[ \t]*$", re.MULTILINE
)
# A line of HTML tags only; `<https://…>` is a link, and four spaces start code.
TAG_LINE = re.compile(r"^ {0,3}(?:</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>[ \t]*)+$", re.MULTILINE)
IMAGE = r"!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)"
PICTURE = re.compile(rf"\[[ \t]?{IMAGE}[ \t]?\]\([^)\n]{{0,500}}\)|{IMAGE}|<img\b[^>\n]{{0,500}}>")
LINK = re.compile(r"\[([^\]\[\n]{1,200})\]\([^)\n]{0,500}\)")
# A line of linked pictures and badges only: they show the state of a build.
BADGE_IMAGE = r"!\[[^\]\n]{0,200}\]\([^)\n]{0,300}(?:badge|shields\.io)[^)\n]{0,300}\)"
BADGE = rf"\[[ \t]?{IMAGE}[ \t]?\]\([^)\n]{{0,500}}\)|{BADGE_IMAGE}"
BADGE_LINE = re.compile(rf"^ {{0,3}}(?:{BADGE})(?:[ \t]*(?:{BADGE}))*[ \t]*$", re.MULTILINE)
REFERENCE = re.compile(r"(?<!\S)@[\w./~-]+")


def strip_page(text: str) -> str:
    """Return a page without comments and, outside code, without includes, /init's opening, tags and badges."""
    return "\n".join(part if code else _strip_prose(part) for code, part in _parts(_without_comments(text)))


def count_words(text: str) -> int:
    """Return the number of words of a text, without `@` references to other pages."""
    return len(REFERENCE.sub("", text).split())


def _strip_prose(text: str) -> str:
    for noise in (OPENING, INCLUDE, TAG_LINE, BADGE_LINE):
        text = noise.sub("", text)
    return text


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield (is fenced code, text) for each part of a text."""
    for code, lines in groupby(_lines(text), key=lambda found: found[0]):
        yield code, "\n".join(line for _, line in lines)


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    fence = ""
    for line in text.split("\n"):
        before, fence = fence, fence_after(fence, line)
        yield bool(before or fence), line


def _without_comments(text: str) -> str:
    """Return a text without its comments; the search stops at the last `-->`, to keep its time linear."""
    end = text.rfind("-->") + 3
    return COMMENT.sub("", text[:end]) + text[end:] if end > 2 else text
