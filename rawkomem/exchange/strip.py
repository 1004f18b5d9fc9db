"""Takes out of a page what says nothing by itself: comments, lines that name other pages, lines of tags."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from ..text.chunk import fence_after

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMENT = re.compile(r"^<!--.*?-->[ \t]*\n?", re.DOTALL | re.MULTILINE)  # on lines of their own; hosts strip them, too
OPENING = re.compile(r"^This file provides guidance to [^\n]*\n?", re.MULTILINE)  # what Claude Code's /init writes
# Another page, which is imported by itself: alone on its line, or behind a word or two ("See also: @docs/style.md").
INCLUDE = re.compile(
    r"^[ \t]*(?:[-*+>] )?(?:@[\w./~-]+|(?:[A-Za-z]+:? ){1,2}@[\w/~-]*(?:\.[\w/~-]+)+)[.,;]?[ \t]*$", re.MULTILINE
)
# One or more tags and nothing else; `<https://…>` is a link, and four spaces start code.
TAG_LINE = re.compile(r"^ {0,3}(?:</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>[ \t]*)+$", re.MULTILINE)
IMAGE = r"!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)"
PICTURE = re.compile(rf"\[[ \t]?{IMAGE}[ \t]?\]\([^)\n]{{0,500}}\)|{IMAGE}|<img\b[^>\n]{{0,500}}>")
LINK = re.compile(r"\[([^\]\[\n]{1,200})\]\([^)\n]{0,500}\)")
# Pictures that lead elsewhere, or are badges, and nothing else: they say how a build went today.
BADGE_IMAGE = r"!\[[^\]\n]{0,200}\]\([^)\n]{0,300}(?:badge|shields\.io)[^)\n]{0,300}\)"
BADGE = rf"\[[ \t]?{IMAGE}[ \t]?\]\([^)\n]{{0,500}}\)|{BADGE_IMAGE}"
BADGE_LINE = re.compile(rf"^ {{0,3}}(?:{BADGE})(?:[ \t]*(?:{BADGE}))*[ \t]*$", re.MULTILINE)
REFERENCE = re.compile(r"(?<!\S)@[\w./~-]+")


def strip_page(text: str) -> str:
    """Return a page without comments and, outside of code, without includes, openings and lines of tags."""
    return "\n".join(part if code else _strip_prose(part) for code, part in _parts(_without_comments(text)))


def count_words(text: str) -> int:
    """Return how many words a text has, without the names of other pages."""
    return len(REFERENCE.sub("", text).split())


def _strip_prose(text: str) -> str:
    for noise in (OPENING, INCLUDE, TAG_LINE, BADGE_LINE):
        text = noise.sub("", text)
    return text


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield a text in pieces, each with whether it is a fenced block of code."""
    for code, lines in groupby(_lines(text), key=lambda found: found[0]):
        yield code, "\n".join(line for _, line in lines)


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    fence = ""
    for line in text.split("\n"):
        before, fence = fence, fence_after(fence, line)
        yield bool(before or fence), line


def _without_comments(text: str) -> str:
    """Return a text without its comments; behind the last end of a comment, none is searched for."""
    end = text.rfind("-->") + 3
    return COMMENT.sub("", text[:end]) + text[end:] if end > 2 else text
